/** Texts that a journal shows: what replaces a hidden one, and the limits of a long one. */

/** The text that replaces what a journal hides. */
export const hiddenText = "***"

/** Limits the length of a text. A truncated text ends with an ellipsis. */
export const truncate = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text

/** Makes a record. The hidden names get numbers, so that no entry replaces another. */
export const recordOf = <A>(entries: ReadonlyArray<readonly [name: string, value: A]>): Record<string, A> => {
  let count = 0
  return Object.fromEntries(entries.map(([name, value]) => {
    if (name !== hiddenText) return [name, value]
    count++
    return [count === 1 ? hiddenText : `${hiddenText} ${count}`, value]
  }))
}

export const maxBodyBytes = 16 * 1024

const utf8 = { encoder: new TextEncoder(), decoder: new TextDecoder("utf-8", { ignoreBOM: true }) }

/**
 * Shortens a body, never in the middle of a character. The result shares no memory with the body, so that the long text
 * can be freed.
 */
export const shorten = (body: string): string => {
  if (body.length * 3 <= maxBodyBytes) return body
  const bytes = Buffer.byteLength(body)
  if (bytes <= maxBodyBytes) return body
  const shortened = new Uint8Array(maxBodyBytes)
  const { written } = utf8.encoder.encodeInto(body, shortened)
  return `${utf8.decoder.decode(shortened.subarray(0, written))}… (${bytes} bytes in all)`
}
