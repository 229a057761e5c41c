/**
 * What a request sent, unmasked, so that a verification can compare it. It exists only in the server's memory, redacted.
 * Nothing prints, encodes or returns it.
 */
import { type DateOfBirth, FromWire } from "@effect-idv/core/DateOfBirth"
import * as Violation from "@effect-idv/core/Violation"
import * as Either from "effect/Either"
import { constant } from "effect/Function"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Request from "../wire/request.ts"
import { once } from "./once.ts"
import { maxBodyBytes } from "./shownText.ts"

interface Person {
  readonly name: Option.Option<string>
  readonly dateOfBirth: Option.Option<DateOfBirth>
}

interface Values {
  readonly target: string
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The customer id of a token request. */
  readonly customerId: () => Option.Option<string>
  readonly person: () => Person
}

/** `Redacted`, so that nothing prints them. */
export type Sent = Redacted.Redacted<Values>

const Body = Schema.Record({ key: Schema.String, value: Schema.Unknown })
const decodeBody = Violation.decodeJson(Body)
const decodeName = Schema.decodeUnknownOption(Schema.String)
const decodeDate = Schema.decodeUnknownOption(FromWire)

/** Decodes each field by itself, because the other fields of a refused request may be invalid. */
const decodePerson = (body: Uint8Array): Person => {
  const { dob, name } = Either.getOrElse(decodeBody(body), (): Schema.Schema.Type<typeof Body> => ({}))
  return { name: decodeName(name), dateOfBirth: decodeDate(dob) }
}

/** Decodes a body when it is first needed. A longer body is decoded at once, so that the journal does not keep it. */
const lazyPerson = (body: Uint8Array): () => Person =>
  body.length > maxBodyBytes ? constant(decodePerson(body)) : once(() => decodePerson(body))

const customerIdOf = (headers: Request.Headers) => (): Option.Option<string> =>
  Option.map(
    Option.orElse(Request.basic({ headers }), () => Request.formBasic({ headers })),
    ({ customerId }) => customerId
  )

/** Decodes the request when a verification compares it. */
export const make = ({ body, headers, target }: Pick<Request.Request, "body" | "headers" | "target">): Sent =>
  Redacted.make<Values>({ target, headers, person: lazyPerson(body), customerId: customerIdOf(headers) })

/** Returns what the request of an entry sent, if the entry is one of a journal of this process. */
export const of = ({ sent }: { readonly sent?: Sent }): Option.Option<Values> =>
  Option.map(Option.fromNullable(sent), Redacted.value)
