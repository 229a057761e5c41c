/** Shortens the body of an entry. */

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
