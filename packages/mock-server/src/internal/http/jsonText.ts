/** JSON in which each key stands once in its object: of two, one reader would take the first, and one the last. */
import * as Violation from "@effect-idv/core/Violation"
import * as Arr from "effect/Array"
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"

/** What is wrong with a text. A duplicate key has a violation with its path. */
export type Problem = Data.TaggedEnum<{
  NotJson: { readonly violations: Violation.Violations }
  DuplicateKeys: { readonly violations: Violation.Violations }
}>

const { DuplicateKeys, NotJson } = Data.taggedEnum<Problem>()

const decode = Violation.decodeJson(Schema.Unknown)

const isJson = (text: string): boolean => Either.isRight(Either.try((): unknown => JSON.parse(text)))

/** Bytes as JSON. */
export const parse = (bytes: Uint8Array): Either.Either<unknown, Problem> =>
  Either.mapLeft(decode(bytes), (violations) => {
    const text = new TextDecoder().decode(bytes)
    const paths = isJson(text) ? duplicates(text) : []
    return Arr.isNonEmptyReadonlyArray(paths)
      ? DuplicateKeys({ violations: Arr.map(paths, duplicate) })
      : NotJson({ violations })
  })

const duplicate = (path: string) =>
  new Violation.Violation({ path, problem: "invalid", expected: "each key once in an object: this is a duplicate key" })

/** Of more duplicates, the first ones, and of a longer path its beginning: a short text gets no long answer. */
const most = { paths: 20, keys: 64 }

const pathOf = (open: ReadonlyArray<Open>): string =>
  open.slice(0, most.keys).map(({ at }) => at).join(".") + (open.length > most.keys ? "…" : "")

/** An object or a list that is not closed yet. */
interface Open {
  readonly keys: Set<string> | undefined
  /** The last key, or the index in a list. */
  at: string | number
}

/**
 * The paths of the keys that stand twice or more often in their object, in a text that is JSON. With a
 * stack of its own: a text may be nested deeper than that of the program.
 */
const duplicates = (text: string): ReadonlyArray<string> => {
  const open: Array<Open> = []
  const found = new Set<string>()
  for (const { 0: token, 1: colon } of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|[[\]{},]/g)) {
    const inside = open.at(-1)
    switch (token) {
      case "{":
        open.push({ keys: new Set(), at: "" })
        break
      case "[":
        open.push({ keys: undefined, at: 0 })
        break
      case "}":
      case "]":
        open.pop()
        break
      case ",":
        if (typeof inside?.at === "number") inside.at++
        break
      default:
        if (colon === undefined || inside?.keys === undefined) break
        inside.at = String(JSON.parse(token.slice(0, -colon.length)))
        if (inside.keys.has(inside.at)) found.add(pathOf(open))
        inside.keys.add(inside.at)
    }
    if (found.size === most.paths) break
  }
  return Array.from(found)
}
