/** Whether an answer repeats what it should not, however it is written there. */
import * as Either from "effect/Either"
import type { Answered } from "../run/wire.ts"

const names: Readonly<Record<string, string>> = { amp: "&", apos: "'", euml: "ë", gt: ">", lt: "<", quot: "\"" }

const point = (digits: string, base: number, or: string): string => {
  const code = parseInt(digits, base)
  return code <= 0x10ffff ? String.fromCodePoint(code) : or
}

const withoutHtml = (text: string): string =>
  text
    .replaceAll(/&#x([\da-f]{1,6});/gi, (all, digits: string) => point(digits, 16, all))
    .replaceAll(/&#(\d{1,7});/g, (all, digits: string) => point(digits, 10, all))
    .replaceAll(/&([a-z]+);/gi, (all, name: string) => names[name.toLowerCase()] ?? all)

const withoutPercent = (text: string): string =>
  text.replaceAll("+", " ").replaceAll(
    /(?:%[\da-f]{2})+/gi,
    (bytes) => Buffer.from(bytes.replaceAll("%", ""), "hex").toString()
  )

const withoutEscapes = (text: string): string =>
  text.replaceAll(/\\u([\da-f]{4})/gi, (_all, digits: string) => String.fromCharCode(parseInt(digits, 16)))

/** Every text in a JSON value, and every name. */
const textsOf = (json: unknown): ReadonlyArray<string> =>
  typeof json === "string"
    ? [json]
    : typeof json === "object" && json !== null
    ? [...Object.keys(json), ...Object.values(json).flatMap(textsOf)]
    : []

const parsed = (text: string): ReadonlyArray<string> =>
  Either.match(Either.try((): unknown => JSON.parse(text)), { onLeft: () => [], onRight: textsOf })

const base64 = (text: string): string => Buffer.from(text).toString("base64").replace(/=+$/, "")

const folded = (text: string): string => text.normalize("NFC").toLowerCase()

export const echo = ({ body, headers }: Answered, secrets: ReadonlyArray<string>): string => {
  const raw = Buffer.from(body).toString()
  const written = [raw, ...parsed(raw), ...Object.values(headers)].join("\n")
  const read = [withoutEscapes, withoutPercent, withoutHtml].flatMap((
    decode
  ) => [decode(written), decode(decode(written))])
  const text = folded([written, ...read].join("\n"))
  return secrets.flatMap((secret) => [secret, base64(secret)]).some((secret) => text.includes(folded(secret)))
    ? "echoed"
    : "silent"
}
