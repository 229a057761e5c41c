/** The request of a step as a curl command. */
import type { MaskedRequest } from "../maskedExchange.ts"

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** A longer body is cut, because a line should stay readable. */
const maxLength = 160

const cut = (text: string): string => text.length > maxLength ? `${text.slice(0, maxLength)}…` : text

export const of = ({ body, headers, method, url }: MaskedRequest): string => {
  if (url.startsWith("$")) return `curl "${url}"`
  return [
    `curl -X ${method} ${quoted(url)}`,
    ...headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data-raw ${quoted(cut(body))}`])
  ].join(" ")
}
