/** An entry of a journal: one request with its response, and why the mock server sent that response. */
import * as Violation from "@effect-idv/core/Violation"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { Selection } from "../session/personList.ts"
import type { Sent } from "./sent.ts"

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
