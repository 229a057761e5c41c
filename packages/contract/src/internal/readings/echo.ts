/** Whether a response repeats one of the texts that it should not. */
import * as Either from "effect/Either"
import escapeHtml from "escape-html"
import type { Response } from "../exchange.ts"

const base64 = (text: string): string => Buffer.from(text).toString("base64").replace(/=+$/, "")

const replaceNonAscii = (text: string, replace: (codePoint: number) => string): string =>
  text.replaceAll(/[^\x00-\x7f]/gu, (char) => replace(char.codePointAt(0) ?? 0))

const jsonEscape = (codeUnit: string): string => `\\u${codeUnit.charCodeAt(0).toString(16).padStart(4, "0")}`

/** The encodings in which a service may repeat a text. The search ignores case. */
const encodings: ReadonlyArray<(text: string) => string> = [
  (text) => text,
  base64,
  // In a JSON string, also with everything that is not ASCII escaped.
  (text) => JSON.stringify(text).slice(1, -1),
  (text) => JSON.stringify(text).slice(1, -1).replaceAll(/[^\x00-\x7f]/g, jsonEscape),
  // In the path, or in the query of a URL or a form.
  encodeURIComponent,
  (text) => encodeURIComponent(text).replaceAll("%20", "+"),
  // In HTML, with decimal, hexadecimal or named references. `ë` is the only such letter of the test people.
  escapeHtml,
  (text) => replaceNonAscii(escapeHtml(text), (codePoint) => `&#${codePoint};`),
  (text) => replaceNonAscii(escapeHtml(text), (codePoint) => `&#x${codePoint.toString(16)};`),
  (text) => escapeHtml(text).replaceAll("ë", "&euml;")
]

const folded = (text: string): string => text.normalize("NFC").toLowerCase()

/** All names and strings of a JSON value. */
const textsOf = (json: unknown): ReadonlyArray<string> =>
  typeof json === "string"
    ? [json]
    : typeof json === "object" && json !== null
    ? [...Object.keys(json), ...Object.values(json).flatMap(textsOf)]
    : []

const jsonTexts = (body: string): ReadonlyArray<string> =>
  Either.match(Either.try((): unknown => JSON.parse(body)), { onLeft: () => [], onRight: textsOf })

/** Searches the headers, the body, and the decoded texts of a JSON body. */
export const echo = ({ body, headers }: Response, secrets: ReadonlyArray<string>): string => {
  const text = Buffer.from(body).toString()
  const searched = folded([text, ...jsonTexts(text), ...Object.values(headers)].join("\n"))
  const isRepeated = (secret: string) => encodings.some((encode) => searched.includes(folded(encode(secret))))
  return secrets.some(isRepeated) ? "echoed" : "silent"
}
