/** Requests and responses as HTTP text. */
import { STATUS_CODES } from "node:http"

type Headers = Readonly<Record<string, string>>

const message = (first: string, headers: Headers, body: string): string =>
  [first, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`), "", body].join("\n")

export const request = (
  { body, headers, method, target }: {
    readonly method: string
    readonly target: string
    readonly headers: Headers
    readonly body: string
  }
): string => message(`${method} ${target} HTTP/1.1`, headers, body)

export const response = (
  { body, headers, status }: { readonly status: number; readonly headers: Headers; readonly body: string }
): string => message(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`.trimEnd(), headers, body)
