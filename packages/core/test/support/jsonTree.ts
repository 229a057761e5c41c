/** JSON as a syntax tree, which can also represent text that `JSON.stringify` does not produce. */
import { Predicate } from "effect"

/** `key` and `text` are JSON texts, such as `"match_found"` with its quotes. */
export type Tree =
  | { readonly _tag: "Object"; readonly members: ReadonlyArray<Member> }
  | { readonly _tag: "Array"; readonly items: ReadonlyArray<Tree> }
  | { readonly _tag: "Leaf"; readonly text: string }

export interface Member {
  readonly key: string
  readonly value: Tree
}

export const leaf = (text: string): Tree => ({ _tag: "Leaf", text })
export const array = (...items: ReadonlyArray<Tree>): Tree => ({ _tag: "Array", items })
export const object = (...members: ReadonlyArray<Member>): Tree => ({ _tag: "Object", members })
export const member = (key: string, value: Tree): Member => ({ key: JSON.stringify(key), value })

export const from = (value: unknown): Tree =>
  Predicate.isRecord(value)
    ? object(...Object.entries(value).map(([key, value]) => member(key, from(value))))
    : Array.isArray(value)
    ? array(...value.map(from))
    : leaf(JSON.stringify(value))

export const print = (tree: Tree): string => {
  switch (tree._tag) {
    case "Object":
      return `{${tree.members.map(({ key, value }) => `${key}:${print(value)}`).join(",")}}`
    case "Array":
      return `[${tree.items.map(print).join(",")}]`
    case "Leaf":
      return tree.text
  }
}

/** All members at any depth, outer members before inner ones. */
export const membersOf = (tree: Tree): ReadonlyArray<Member> =>
  tree._tag === "Object" ? tree.members.flatMap((member) => [member, ...membersOf(member.value)]) : []

/** Replaces one member with others. */
export const replace = (tree: Tree, place: Member, by: ReadonlyArray<Member>): Tree =>
  tree._tag === "Object"
    ? object(...tree.members.flatMap((member) =>
      member === place ? by : [{ ...member, value: replace(member.value, place, by) }]
    ))
    : tree
