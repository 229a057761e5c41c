/** Parses the bytes of a JSON text (RFC 8259), and refuses what two readers could read differently. */

import * as Either from "effect/Either"

/** Parses UTF-8, in which a byte order mark is ignored. A failure says what the bytes should be. */
export const parse = (bytes: Uint8Array): Either.Either<unknown, string> =>
  Either.flatMap(
    Either.try({
      try: () => {
        // A new decoder each time, because a decoder keeps state between two texts.
        const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes)
        const value: unknown = JSON.parse(text)
        return { value, isUnambiguous: countWrittenKeys(text) === countParsedKeys(value) }
      },
      catch: () => "JSON text in UTF-8"
    }),
    ({ isUnambiguous, value }) =>
      isUnambiguous ? Either.right(value) : Either.left("JSON text with each key once in an object")
  )

const quote = 0x22
const backslash = 0x5c
const colon = 0x3a

/** Counts the keys of a valid JSON text: outside of strings, only a key is followed by a colon. */
const countWrittenKeys = (text: string): number => {
  let count = 0
  let isInString = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) isInString = !isInString
    else if (isInString && code === backslash) at++
    else if (!isInString && code === colon) count++
  }
  return count
}

/** Counts without recursion, because a body may be nested deeper than the stack. */
const countParsedKeys = (root: unknown): number => {
  const values = [root]
  let count = 0
  for (const value of values) {
    if (typeof value !== "object" || value === null) continue
    const isArray = Array.isArray(value)
    for (const child of Object.values(value)) {
      if (!isArray) count++
      if (typeof child === "object") values.push(child)
    }
  }
  return count
}
