/**
 * Parses JSON and refuses duplicate keys in an object, because one reader would use the first value and another the
 * last.
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

/**
 * How many duplicate keys are reported, and how many keys of a path are shown. A short text thus cannot cause a long
 * response.
 */
const limits = { paths: 20, keys: 64 }

const pathOf = (openContainers: ReadonlyArray<OpenContainer>): string =>
  openContainers.slice(0, limits.keys).map(({ position }) => position).join(".") +
  (openContainers.length > limits.keys ? "…" : "")

/** An object or a list that the scan has not closed yet. */
interface OpenContainer {
  readonly keys: Set<string> | undefined
  /** The current key of an object, or the index in a list. */
  position: string | number
}

/**
 * Returns the paths of the duplicate keys in a text that is JSON. It keeps a stack in a list, because a text may be
 * nested deeper than the call stack allows.
 */
const duplicates = (text: string): ReadonlyArray<string> => {
  const openContainers: Array<OpenContainer> = []
  const foundPaths = new Set<string>()
  for (const { 0: token, 1: colon } of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|[[\]{},]/g)) {
    const container = openContainers.at(-1)
    switch (token) {
      case "{":
        openContainers.push({ keys: new Set(), position: "" })
        break
      case "[":
        openContainers.push({ keys: undefined, position: 0 })
        break
      case "}":
      case "]":
        openContainers.pop()
        break
      case ",":
        if (typeof container?.position === "number") container.position++
        break
      default:
        if (colon === undefined || container?.keys === undefined) break
        container.position = String(JSON.parse(token.slice(0, -colon.length)))
        if (container.keys.has(container.position)) foundPaths.add(pathOf(openContainers))
        container.keys.add(container.position)
    }
    if (foundPaths.size === limits.paths) break
  }
  return Array.from(foundPaths)
}
