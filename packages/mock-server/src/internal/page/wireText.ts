/** Requests and responses as HTTP text. */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { STATUS_CODES } from "node:http"

const decodeJson = Schema.decodeUnknownOption(Schema.parseJson())

/** A message whose body is indented, if it is JSON. */
export const indented = <Message extends { readonly body: string }>(message: Message): Message => ({
  ...message,
  body: Option.match(decodeJson(message.body), {
    onNone: () => message.body,
    onSome: (json) => JSON.stringify(json, null, 2)
  })
})

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
