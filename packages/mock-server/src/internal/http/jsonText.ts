/**
 * Parses JSON and refuses duplicate keys in an object, because one reader would take the first value and
 * another the last.
 */
import * as Violation from "@effect-idv/core/Violation"
import * as Arr from "effect/Array"
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"

/** Why a text was refused. Each duplicate key has a violation with its path. */
export type Problem = Data.TaggedEnum<{
  NotJson: { readonly violations: Violation.Violations }
  DuplicateKeys: { readonly violations: Violation.Violations }
}>

const { DuplicateKeys, NotJson } = Data.taggedEnum<Problem>()

const decode = Violation.decodeJson(Schema.Unknown)

const isJson = (text: string): boolean => Either.isRight(Either.try((): unknown => JSON.parse(text)))

/** Parses bytes as JSON in UTF-8. */
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

/** The duplicates reported and the keys shown of a path, so that a short text cannot cause a long response. */
const max = { paths: 20, keys: 64 }

const pathOf = (open: ReadonlyArray<Open>): string =>
  open.slice(0, max.keys).map(({ at }) => at).join(".") + (open.length > max.keys ? "…" : "")

/** An object or a list that the scan has not closed yet. */
interface Open {
  readonly keys: Set<string> | undefined
  /** The current key of an object, or the index in a list. */
  at: string | number
}

/**
 * Returns the paths of the duplicate keys in a text that is JSON. It keeps a stack of its own, because a
 * text may be nested deeper than the stack of the program.
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
    if (found.size === max.paths) break
  }
  return Array.from(found)
}
