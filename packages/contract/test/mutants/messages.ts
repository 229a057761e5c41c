/** What mutants look at in a request, and how they write one. */
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import type { Answer, Request } from "./wire.ts"

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

export const textOf = ({ body }: Pick<Answer, "body">): string => new TextDecoder().decode(body)

export const pathOf = ({ target }: Request): string => target.split("?")[0] ?? ""

export const isToken = (request: Request): boolean => pathOf(request) === "/oauth/service"

export const isAml = (request: Request): boolean => pathOf(request) === "/api/aml"

export const isProfile = (request: Request): boolean => pathOf(request).startsWith("/aml-profiles/")

export const isControl = (request: Request): boolean => /^\/_mock(\/|$)/.test(pathOf(request))

export const isSuccess = ({ status }: Answer): boolean => status < 300

const decodeJson = Schema.decodeOption(Schema.parseJson(Schema.Unknown))

/** What a body says, if it is JSON. */
export const jsonOf = (message: Pick<Answer, "body">): Option.Option<unknown> => decodeJson(textOf(message))

/** A field of a body that is a JSON object. */
export const fieldOf = (message: Pick<Answer, "body">, name: string): unknown => {
  const json = Option.getOrUndefined(jsonOf(message))
  return Predicate.isRecord(json) ? json[name] : undefined
}

/** The access token that an answer of the right server gives. */
export const grantOf = (answer: Answer): Option.Option<string> =>
  Option.liftPredicate(Predicate.isString)(fieldOf(answer, "access_token"))

/** The media type without its parameters. */
export const typeOf = ({ headers }: Request): string =>
  headers["content-type"]?.toLowerCase().split(";")[0]?.trim() ?? ""

export const authorizationOf = ({ headers }: Request): string => headers["authorization"] ?? ""

/** What stands after the scheme, whatever the scheme. */
export const credentialOf = (request: Request): string => authorizationOf(request).split(" ").at(-1) ?? ""

/** The id and the key of a Basic header, or two empty texts. */
export const basicOf = (request: Request): readonly [customerId: string, customerKey: string] => {
  const encoded = /^basic (.*)$/i.exec(authorizationOf(request))?.[1] ?? ""
  const decoded = Either.getOrElse(Encoding.decodeBase64String(encoded), () => "")
  const [customerId = "", ...key] = decoded.split(":")
  return [customerId, key.join(":")]
}

export const basic = (customerId: string, customerKey: string): string =>
  `Basic ${Encoding.encodeBase64(`${customerId}:${customerKey}`)}`

/** A header is left out by `undefined`. */
export const withHeader = <A extends Request | Answer>(message: A, name: string, value: string | undefined): A => ({
  ...message,
  headers: value === undefined ? Record.remove(message.headers, name) : { ...message.headers, [name]: value }
})

export const withAuthorization = (request: Request, value: string): Request =>
  withHeader(request, "authorization", value)

/** Of a body that is a JSON object, with other fields. A field is left out by `undefined`. */
export const withFields = (request: Request, fields: { readonly [name: string]: unknown }): Request => {
  const json = Option.getOrUndefined(jsonOf(request))
  return { ...request, body: utf8(JSON.stringify({ ...(Predicate.isRecord(json) && json), ...fields })) }
}

export const formType = "application/x-www-form-urlencoded"

export const form = utf8("grant_type=client_credentials")

/** A check that the right server answers. */
export const person = utf8(JSON.stringify({ entity_type: "person", name: "Ada Testclear", dob: "01-02-1990" }))
