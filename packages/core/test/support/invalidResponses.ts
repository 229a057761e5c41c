/** Changes to a valid response, from small to absurd. */
import { Person } from "@effect-idv/core"
import { Arbitrary, Either, FastCheck, Predicate, Redacted } from "effect"
import * as JsonTree from "./jsonTree.ts"
import type * as Responses from "./responses.ts"

export const people = Arbitrary.make(Person.Person)
export const utf8 = (text: string) => new TextEncoder().encode(text)

export type Change = (tree: JsonTree.Tree) => JsonTree.Tree

export const nearMisses: ReadonlyArray<unknown> = [
  ..." No|No |no|NO|nO|N\u043e|\u039do|N\u00f3|No\u0301|No\u200b|\u200bNo|\ufeffNo|No\u0000|No\n|\tNo|No.|\"No\"|'No'|N|o|oN"
    .split("|"),
  ..."None|Not|no match|No match|No potential match|NoNo|No,No|Nо|Ｎｏ|No\u00a0|No\u00ad|N\u200do|false|0|null|nil|n"
    .split("|"),
  ..."Potential match |Potential  match|Potential Match|potential match|POTENTIAL MATCH|Potential\u00a0match".split(
    "|"
  ),
  ..."Potential_match|PotentialMatch|Potential|match|Potential match.|Potential matc|Yes|yes|Match|Clear|clear".split(
    "|"
  ),
  "",
  " ",
  0,
  1,
  -0,
  false,
  true,
  null,
  [],
  {},
  ["No"],
  [["No"]],
  { "0": "N", "1": "o", length: 2 },
  { value: "No" },
  { toString: "No" },
  { match_found: "No" }
]

export const junk = FastCheck.oneof(
  FastCheck.constantFrom(...nearMisses).map(JsonTree.from),
  FastCheck.constantFrom(
    "1e999",
    "-0",
    "1.0",
    "9007199254740993",
    "NaN",
    "undefined",
    "'No'",
    "No",
    "",
    "tru",
    "\"\\ud800\""
  )
    .map(JsonTree.leaf),
  FastCheck.fullUnicodeString().map(JsonTree.from),
  FastCheck.jsonValue({ maxDepth: 1 }).map(JsonTree.from)
)

const nearKeys: ReadonlyArray<(key: string) => string> = [
  (key) => key.toUpperCase(),
  (key) => key.replaceAll("_", ""),
  (key) => key.replaceAll("_", "-"),
  (key) => key.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
  (key) => ` ${key}`,
  (key) => `${key}\u200b`,
  (key) => `${key}s`,
  (key) => key.slice(1),
  (key) => key.replaceAll("a", "\u0430"),
  () => "",
  () => "__proto__",
  () => "constructor",
  () => "toString",
  () => "extra"
]

const parse = (text: string): unknown => Either.getOrUndefined(Either.try((): unknown => JSON.parse(text)))

const editString = (edit: (text: string) => string) => (tree: JsonTree.Tree): JsonTree.Tree => {
  if (tree._tag !== "Leaf") return tree
  const value = parse(tree.text)
  return Predicate.isString(value) ? JsonTree.from(edit(value)) : tree
}

const stringEdits: ReadonlyArray<(text: string) => string> = [
  (text) => text.toUpperCase(),
  (text) => text.toLowerCase(),
  (text) => ` ${text}`,
  (text) => `${text} `,
  (text) => `${text}\u00a0\u3000`,
  (text) => `${text}\n`,
  (text) => `${text}\u200b`,
  (text) => `\ufeff${text}`,
  (text) => text.replaceAll(" ", "  "),
  (text) => text.replaceAll(" ", ""),
  (text) => text.normalize("NFD"),
  (text) => text.normalize("NFKD").replaceAll(/\p{M}/gu, ""),
  (text) => text.slice(1),
  (text) => text.slice(0, -1),
  (text) => Array.from(text).reverse().join(""),
  (text) => text + text,
  (text) => text.split(" ").reverse().join(" "),
  (text) => `${text}\u0000`,
  (text) => JSON.stringify(text)
]

/** Replacements of one member at any depth. */
const memberChange: FastCheck.Arbitrary<(member: JsonTree.Member) => ReadonlyArray<JsonTree.Member>> = FastCheck
  .oneof(
    FastCheck.constant(() => []),
    junk.map((value) => ({ key }: JsonTree.Member) => [{ key, value }]),
    FastCheck.constantFrom(...nearKeys).map((rename) => ({ key, value }: JsonTree.Member) => [
      JsonTree.member(rename(key.slice(1, -1)), value)
    ]),
    // The same key with an escape sequence.
    FastCheck.constant(({ key, value }: JsonTree.Member) => [{ key: key.replaceAll("_", "\\u005f"), value }]),
    junk.map((value) => (member: JsonTree.Member) => [member, { ...member, value }]),
    junk.map((value) => (member: JsonTree.Member) => [{ ...member, value }, member]),
    FastCheck.constant((member: JsonTree.Member) => [member, member]),
    junk.map((value) => (member: JsonTree.Member) => [
      { key: member.key.replaceAll("_", "\\u005f"), value },
      member
    ]),
    FastCheck.constantFrom(...stringEdits).map((edit) => ({ key, value }: JsonTree.Member) => [
      { key, value: editString(edit)(value) }
    ]),
    FastCheck.constant(({ key, value }: JsonTree.Member) => [{ key, value: JsonTree.array(value) }]),
    FastCheck.constant(({ key, value }: JsonTree.Member) => [{ key, value: JsonTree.object({ key, value }) }]),
    FastCheck.constant(({ key, value }: JsonTree.Member) => [
      { key, value: JsonTree.from(JsonTree.print(value)) }
    ]),
    FastCheck.constant((member: JsonTree.Member) => member.value._tag === "Object" ? member.value.members : []),
    FastCheck.tuple(
      FastCheck.constantFrom("extra", "matches", "error", "match_found_2", "matchFound", "__proto__"),
      junk
    )
      .map(([key, value]) => (member: JsonTree.Member) => [member, JsonTree.member(key, value)])
  )

const anywhere = FastCheck.tuple(FastCheck.nat(), memberChange).map(([index, change]): Change => (tree) => {
  const members = JsonTree.membersOf(tree)
  const member = members[index % Math.max(1, members.length)]
  return member === undefined ? tree : JsonTree.replace(tree, member, change(member))
})

export const ofKey = (key: string, value: JsonTree.Tree): Change => (tree) => {
  const member = JsonTree.membersOf(tree).find((member) => member.key === JSON.stringify(key))
  return member === undefined ? tree : JsonTree.replace(tree, member, [{ ...member, value }])
}

const swapped = FastCheck.tuple(FastCheck.nat(), FastCheck.nat()).map(([first, second]): Change => (tree) => {
  const leaves = JsonTree.membersOf(tree).filter(({ value }) => value._tag === "Leaf")
  const [a, b] = [leaves[first % leaves.length], leaves[second % leaves.length]]
  return a === undefined || b === undefined || a === b
    ? tree
    : JsonTree.replace(JsonTree.replace(tree, a, [{ ...a, value: b.value }]), b, [{ ...b, value: a.value }])
})

/** Adds a "No" in a wrong place. */
const decoy = FastCheck.tuple(
  FastCheck.constantFrom("credential_type", "issuer_id", "credentials", "attributes"),
  FastCheck.constantFrom("match_found", "matchFound", "result", "attributes"),
  FastCheck.constantFrom<unknown>("No", { match_found: "No" }, ["No"])
).map(([beside, key, value]): Change => (tree) => {
  const member = JsonTree.membersOf(tree).find((member) => member.key === JSON.stringify(beside))
  return member === undefined
    ? tree
    : JsonTree.replace(tree, member, [member, JsonTree.member(key, JsonTree.from(value))])
})

const ofWholeTree = FastCheck.constantFrom<Change>(
  (tree) => JsonTree.array(tree),
  (tree) => JsonTree.object(JsonTree.member("data", tree)),
  (tree) => JsonTree.from(JsonTree.print(tree)),
  (tree) => JsonTree.leaf(`${JsonTree.print(tree)}${JsonTree.print(tree)}`),
  (tree) => JsonTree.leaf(` \n\t${JsonTree.print(tree).replaceAll("\":", "\" : ")}\r\n`),
  (tree) => JsonTree.leaf(`\ufeff${JsonTree.print(tree)}`),
  (tree) => JsonTree.leaf(`callback(${JsonTree.print(tree)})`),
  (tree) => JsonTree.leaf(JsonTree.print(tree).replace("{", "{/* no */")),
  (tree) => JsonTree.leaf(JsonTree.print(tree).replace(/}$/, ",}")),
  () => JsonTree.leaf(""),
  () => JsonTree.leaf("null"),
  () => JsonTree.leaf("\"No\""),
  () => JsonTree.object()
)

const otherPerson = FastCheck.tuple(people, FastCheck.constantFrom("name", "year", "both")).map(
  ([{ dateOfBirth, name }, which]): Change => (tree) => {
    const named = which === "year" ? tree : ofKey("name", JsonTree.from(Redacted.value(name)))(tree)
    return which === "name" ? named : ofKey("birth_year", JsonTree.from(String(dateOfBirth.year)))(named)
  }
)

/** Changes the name to the same name in another form, or to a similar one. */
const nameEdit = FastCheck.constantFrom(...stringEdits).map((edit): Change => (tree) => {
  const name = JsonTree.membersOf(tree).find(({ key }) => key === "\"name\"")
  return name === undefined
    ? tree
    : JsonTree.replace(tree, name, [{ ...name, value: editString(edit)(name.value) }])
})

export const changes = FastCheck.oneof(
  { weight: 2, arbitrary: nameEdit },
  { weight: 6, arbitrary: anywhere },
  { weight: 2, arbitrary: swapped },
  { weight: 2, arbitrary: otherPerson },
  { weight: 1, arbitrary: decoy },
  { weight: 1, arbitrary: ofWholeTree }
)

export const applied = (changes: ReadonlyArray<Change>, wire: Responses.Wire) =>
  utf8(JsonTree.print(changes.reduce((tree, change) => change(tree), JsonTree.from(wire))))
