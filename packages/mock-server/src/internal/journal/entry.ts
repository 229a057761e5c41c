/** An entry of a journal: one request with its response, and why the mock server sent that response. */
import * as AccessToken from "@effect-idv/core/AccessToken"
import * as AmlCredential from "@effect-idv/core/AmlCredential"
import { type DateOfBirth, FromWire } from "@effect-idv/core/DateOfBirth"
import * as Violation from "@effect-idv/core/Violation"
import * as Either from "effect/Either"
import { constant } from "effect/Function"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { Selection } from "../session/personList.ts"
import * as Request from "../wire/request.ts"
import { maxBodyBytes } from "./shownText.ts"

/**
 * The operation that a request calls, by its path. `other` is any path but those of the two operations.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Operation = Schema.Literal("token", "aml", "other").annotations(
  Violation.expecting("one of token, aml, other")
)

/**
 * @category models
 * @since 0.1.0
 */
export type Operation = typeof Operation.Type

/** The operation at a path. */
export const operationOf = (path: string): Operation =>
  path === AccessToken.path ? "token" : path === AmlCredential.path ? "aml" : "other"

/**
 * The status of a response, from 100 to 599.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Status = Schema.Number.pipe(Schema.int(), Schema.between(100, 599)).annotations(
  Violation.expecting("a status, a whole number from 100 to 599")
)

/**
 * What the server decided, before a fault changed the response:
 *
 * - `granted`: it issued a token.
 * - `checked`: it checked a person.
 * - `refused`: the request is wrong. `violations` has the wrong fields of a body, without their values.
 * - `other`: it neither served nor refused the request, such as a redirect.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Facts = Schema.Union(
  Schema.Struct({
    kind: Schema.Literal("granted"),
    /** For how long the token is valid. */
    seconds: Schema.NonNegative,
    /** Whether the client form-encoded its credentials, which the service document does not show. */
    isFormEncoded: Schema.Boolean
  }),
  Schema.Struct({
    kind: Schema.Literal("checked"),
    result: Schema.Literal("No", "Potential match"),
    by: Selection
  }),
  Schema.Struct({
    kind: Schema.Literal("refused"),
    problem: Schema.String,
    violations: Schema.Array(
      Schema.Struct({ path: Schema.String, problem: Schema.String, expected: Schema.String })
    )
  }),
  Schema.Struct({ kind: Schema.Literal("other"), what: Schema.String })
)

/**
 * @category models
 * @since 0.1.0
 */
export type Facts = typeof Facts.Type

const Headers = Schema.Record({ key: Schema.String, value: Schema.String })

/**
 * One exchange: a request and its response. The server masks names, dates of birth, keys and tokens,
 * unless its option `reveal` is on.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Entry = Schema.Struct({
  /** The number of the exchange, from 1. All sessions of a server share the count. */
  id: Schema.Int.pipe(Schema.positive()),
  /** The customer whose session the request belongs to, or null for an unmatched request. */
  customerId: Schema.NullOr(Schema.String),
  /** The time by the session's clock: ISO 8601 with milliseconds. */
  at: Schema.String,
  /** The operation that the request calls. */
  operation: Operation,
  /** The request. A journal keeps at most 16 KiB of its body. */
  request: Schema.Struct({ method: Schema.String, target: Schema.String, headers: Headers, body: Schema.String }),
  /** The response. `delivery` is `scripted` if a fault controls the connection, such as a reset. */
  response: Schema.Struct({
    status: Status,
    headers: Headers,
    body: Schema.String,
    delivery: Schema.Literal("whole", "scripted")
  }),
  /** The rule that decided the response, such as `aml.token-expired`. */
  rule: Schema.String,
  /** What the server decided. */
  facts: Facts,
  /** The facts and the faults as one sentence: what happened, and why. */
  why: Schema.String,
  /** The ids of the contract's claims that the exchange is about. */
  claims: Schema.Array(Schema.String),
  /**
   * The faults that fired. `request` is the number of the request among those that the fault has counted, or null for
   * the fault of a test person.
   */
  faults: Schema.Array(
    Schema.Struct({ id: Schema.String, kind: Schema.String, request: Schema.NullOr(Schema.Int) })
  ),
  /** Whether the request breaks the service document. */
  unexpected: Schema.Boolean,
  /** Real milliseconds from the arrival of the request to the response, delays of faults included. */
  millis: Schema.NonNegative
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Entry extends Schema.Schema.Type<typeof Entry> {
  /**
   * What the request sent, unmasked and redacted, for verifications. Only an entry of a journal in this process has it,
   * and that of `onExchange`.
   *
   * @default undefined
   */
  readonly sent?: Sent
}

/** A copy of an entry without getters, so that a program that prints the entry shows its values. */
export const plain = (entry: Entry): Entry => ({
  ...Struct.omit(entry, "sent"),
  request: { ...entry.request },
  response: { ...entry.response }
})

/** Computes a value when it is first needed, and only then. Afterwards it keeps the value alone. */
export const once = <A>(compute: () => A): () => A => {
  let state: { readonly compute: () => A } | { readonly value: A } = { compute }
  return () => {
    if ("compute" in state) state = { value: state.compute() }
    return state.value
  }
}

/** Reads a body when it is first needed. A long body is read at once, so that the journal does not keep it. */
export const readOnce = <A>(body: Uint8Array, read: (body: Uint8Array) => A): () => A =>
  body.length > maxBodyBytes ? constant(read(body)) : once(() => read(body))

interface Person {
  readonly name: Option.Option<string>
  readonly dateOfBirth: Option.Option<DateOfBirth>
}

/** What a request sent, unmasked, so that a verification can compare it. */
interface Values {
  readonly target: string
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The customer id of a token request. */
  readonly customerId: () => Option.Option<string>
  readonly person: () => Person
}

/** What a request sent. It exists only in the server's memory, and nothing prints, encodes or returns it. */
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

const customerIdOf = (headers: Request.Headers) => (): Option.Option<string> =>
  Option.map(
    Option.orElse(Request.basic({ headers }), () => Request.formBasic({ headers })),
    ({ customerId }) => customerId
  )

/** Decodes the request when a verification compares it. */
export const sentBy = ({ body, headers, target }: Pick<Request.Request, "body" | "headers" | "target">): Sent =>
  Redacted.make<Values>({ target, headers, person: readOnce(body, decodePerson), customerId: customerIdOf(headers) })

/** Returns what the request of an entry sent, if the entry is one of a journal of this process. */
export const sentOf = ({ sent }: { readonly sent?: Sent }): Option.Option<Values> =>
  Option.map(Option.fromNullable(sent), Redacted.value)
