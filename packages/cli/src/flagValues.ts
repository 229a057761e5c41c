/** The values of flags. Each schema decodes the text of a flag, and its error states what is allowed. */
import { isLoopback } from "@effect-idv/core/Loopback"
import * as Violation from "@effect-idv/core/Violation"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as Text from "./textField.ts"

/** One of several texts. */
export const oneOf = <const Names extends readonly [string, ...Array<string>]>(...names: Names) =>
  Schema.Literal(...names).annotations(Violation.expecting(`one of ${names.join(", ")}`))

const fromText = <A>(expected: string, type: Schema.Schema<A>, parse: (text: string) => Option.Option<A>) =>
  Schema.transformOrFail(Schema.String.annotations({ description: expected }), type, {
    strict: true,
    decode: (text, _, ast) =>
      Option.match(parse(text), {
        onNone: () => ParseResult.fail(new ParseResult.Type(ast, text)),
        onSome: (value) => ParseResult.succeed(value)
      }),
    encode: (value) => ParseResult.succeed(`${value}`)
  }).annotations(Violation.expecting(expected))

const isBetween = (min: number, max: number) => (value: number): boolean => value >= min && value <= max

/** A whole number in a range. */
export const wholeNumber = (min: number, max: number) =>
  fromText(
    `a whole number from ${min} to ${max}`,
    Schema.Number,
    (text) => /^\d+$/.test(text) ? Option.filter(Option.some(Number(text)), isBetween(min, max)) : Option.none()
  )

/** A number in a range, such as `0.5`. */
export const number = (min: number, max: number) =>
  fromText(
    `a number from ${min} to ${max}`,
    Schema.Number,
    (text) => /^\d+(\.\d+)?$/.test(text) ? Option.filter(Option.some(Number(text)), isBetween(min, max)) : Option.none()
  )

/** The longest time in milliseconds that a timer can wait. */
const longestWait = 2 ** 31 - 1

/** A duration that a timer waits, of at least `min` milliseconds: a number of milliseconds, or a text. */
export const wait = (min: number) =>
  fromText(
    `a number of milliseconds from ${min} to ${longestWait} (24.8 days), or a text such as "2 seconds"`,
    Schema.DurationFromSelf,
    (text) =>
      text.startsWith("-")
        ? Option.none()
        : Duration.decodeUnknown(/^\d+(\.\d+)?$/.test(text) ? Number(text) : text).pipe(
          Option.filter((duration) => isBetween(min, longestWait)(Duration.toMillis(duration)))
        )
  )

/** An address must not contain a secret, because reports and errors show it. */
const isAddress = (text: string) => {
  if (!URL.canParse(text) || /[?#]/.test(text)) return false
  const { password, protocol, username } = new URL(text)
  return /^https?:$/.test(protocol) && username === "" && password === ""
}

/** The address of a server. */
export const Address = Schema.String.pipe(Schema.filter(isAddress)).annotations(
  Violation.expecting("an address such as http://127.0.0.1:4010, without a user, password, query or fragment")
)

/** Whether requests to the address cross the network unencrypted. */
export const isUnencrypted = (address: string): boolean => {
  const { hostname, protocol } = new URL(address)
  return protocol === "http:" && !isLoopback(hostname)
}

/** A customer key. */
export const Key = Schema.Redacted(
  Text.matching(/^[^\p{Cc}]{1,256}$/u, "1 to 256 characters, without control characters")
)

/** A control token. Only visible ASCII characters are allowed, because it is sent in a header. */
export const Token = Schema.Redacted(Text.matching(/^[\x21-\x7e]{1,256}$/, "1 to 256 visible characters of ASCII"))
