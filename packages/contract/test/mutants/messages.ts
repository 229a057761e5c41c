/** Reads and writes requests and responses. */
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import type { Request, Response } from "./model.ts"

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

export const textOf = ({ body }: Pick<Response, "body">): string => new TextDecoder().decode(body)

export const pathOf = ({ target }: Request): string => target.split("?")[0] ?? ""

export const isToken = (request: Request): boolean => pathOf(request) === "/oauth/service"

export const isAml = (request: Request): boolean => pathOf(request) === "/api/aml"

export const isProfile = (request: Request): boolean => pathOf(request).startsWith("/aml-profiles/")

export const isControl = (request: Request): boolean => /^\/_mock(\/|$)/.test(pathOf(request))

export const isSuccess = ({ status }: Response): boolean => status < 300

const decodeJson = Schema.decodeOption(Schema.parseJson(Schema.Unknown))

/** The JSON value of a body. */
export const jsonOf = (message: Pick<Response, "body">): Option.Option<unknown> => decodeJson(textOf(message))

/** A field of a body that is a JSON object. */
export const fieldOf = (message: Pick<Response, "body">, name: string): unknown => {
  const json = Option.getOrUndefined(jsonOf(message))
  return Predicate.isRecord(json) ? json[name] : undefined
}

/** The access token in a response of the mock server. */
export const grantOf = (response: Response): Option.Option<string> =>
  Option.liftPredicate(Predicate.isString)(fieldOf(response, "access_token"))

/** The media type without its parameters. */
export const typeOf = ({ headers }: Request): string =>
  headers["content-type"]?.toLowerCase().split(";")[0]?.trim() ?? ""

export const authorizationOf = ({ headers }: Request): string => headers["authorization"] ?? ""

/** The text after the scheme of the Authorization header. */
export const credentialOf = (request: Request): string => authorizationOf(request).split(" ").at(-1) ?? ""

/** The id and the key of a Basic header, or two empty strings. */
export const basicOf = (request: Request): readonly [customerId: string, customerKey: string] => {
  const encoded = /^basic (.*)$/i.exec(authorizationOf(request))?.[1] ?? ""
  const decoded = Either.getOrElse(Encoding.decodeBase64String(encoded), () => "")
  const [customerId = "", ...key] = decoded.split(":")
  return [customerId, key.join(":")]
}

export const basic = (customerId: string, customerKey: string): string =>
  `Basic ${Encoding.encodeBase64(`${customerId}:${customerKey}`)}`

/** Sets a header, or removes it if `value` is `undefined`. */
export const withHeader = <A extends Request | Response>(message: A, name: string, value: string | undefined): A => ({
  ...message,
  headers: value === undefined ? Record.remove(message.headers, name) : { ...message.headers, [name]: value }
})

export const withAuthorization = (request: Request, value: string): Request =>
  withHeader(request, "authorization", value)

/** Changes the fields of a JSON body. `undefined` omits a field. */
export const withFields = (request: Request, fields: { readonly [name: string]: unknown }): Request => {
  const json = Option.getOrUndefined(jsonOf(request))
  return { ...request, body: utf8(JSON.stringify({ ...(Predicate.isRecord(json) && json), ...fields })) }
}

export const formType = "application/x-www-form-urlencoded"

export const form = utf8("grant_type=client_credentials")

/** The body of a documented check. */
export const person = utf8(JSON.stringify({ entity_type: "person", name: "Ada Testclear", dob: "01-02-1990" }))
