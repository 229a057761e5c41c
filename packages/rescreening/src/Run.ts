/**
 * A run: one screening of a whole population, and what becomes of each row of it.
 *
 * @since 0.1.0
 */
import * as Violation from "@effect-idv/core/Violation"
import * as Schema from "effect/Schema"

/**
 * The name of a run, such as `2026-11`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Id = Schema.String.pipe(
  Schema.pattern(/^[\w.-]{1,64}$/, Violation.expecting("1 to 64 letters, digits, dots, hyphens or underscores"))
)

const PositiveInt = Schema.Int.pipe(Schema.positive())

/**
 * How a run is screened. It is stored with the run, and is the same for all its workers.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Policy = Schema.Struct({
  /**
   * How many checks all workers together begin in a second at most. They are evenly spaced.
   *
   * @default 50
   */
  rate: Schema.optionalWith(
    Schema.Number.pipe(
      Schema.greaterThan(0),
      Schema.finite(),
      Schema.annotations(Violation.expecting("a number over 0"))
    ),
    { default: () => 50 }
  ),
  /**
   * What happens to a row whose check was sent and has no response. `review` leaves it `unknown`; `rescreen` sends it
   * again, which the service may bill twice. The report counts those rows.
   *
   * @default "review"
   */
  unknown: Schema.optionalWith(Schema.Literal("review", "rescreen"), { default: () => "review" as const }),
  /**
   * What is kept of a response: its digest only, or the whole evidence, encrypted.
   *
   * @default "digest"
   */
  evidence: Schema.optionalWith(Schema.Literal("digest", "response"), { default: () => "digest" as const }),
  /**
   * Whether another `aml_profile` makes the evidence another one, so that a reviewer must decide anew. `ignored` is for
   * a service that makes a new address for each search.
   *
   * @default "compared"
   */
  profileAddress: Schema.optionalWith(Schema.Literal("compared", "ignored"), { default: () => "compared" as const }),
  /**
   * After how many failures in a row that say nothing about the person all workers stop.
   *
   * @default 50
   */
  stopAfter: Schema.optionalWith(PositiveInt, { default: () => 50 }),
  /**
   * Into how many shards the population is divided. Workers begin with different shards, and an engine dispatches
   * shards.
   *
   * @default 16
   */
  shards: Schema.optionalWith(PositiveInt.pipe(Schema.lessThanOrEqualTo(1024)), { default: () => 16 }),
  /**
   * Whether the HTML page shows the keys of people whose result changed or needs a review.
   *
   * @default true
   */
  keysOnPage: Schema.optionalWith(Schema.Boolean, { default: () => true })
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Policy extends Schema.Schema.Type<typeof Policy> {}

/**
 * The options of a {@link Policy}.
 *
 * @category models
 * @since 0.1.0
 */
export type Options = typeof Policy.Encoded

/**
 * What a row ends with.
 *
 * - `no_match`, `potential_match`: the result of the service.
 * - `no_match_doubtful`: "No" about a name or date that looks damaged. A person should review it.
 * - `not_screened`: there is no result; `error` says why.
 * - `unknown`: the check was sent and has no response. It may be billed.
 * - `wrong_row`: the row cannot be sent; `codes` say why.
 *
 * @category models
 * @since 0.1.0
 */
export const outcomes = [
  "no_match",
  "no_match_doubtful",
  "potential_match",
  "not_screened",
  "unknown",
  "wrong_row"
] as const

/**
 * The state of a row: one of the {@link outcomes}, or `pending`, `claimed` (a worker holds it), `sent` (the check is
 * about to be sent, or was).
 *
 * @category schemas
 * @since 0.1.0
 */
export const State = Schema.Literal("pending", "claimed", "sent", ...outcomes)

/**
 * @category models
 * @since 0.1.0
 */
export type State = typeof State.Type

/**
 * How many rows are in each state.
 *
 * @category models
 * @since 0.1.0
 */
export type Counts = { readonly [S in State]: number }

/**
 * No row in any state.
 *
 * @category models
 * @since 0.1.0
 */
export const noCounts: Counts = {
  pending: 0,
  claimed: 0,
  sent: 0,
  no_match: 0,
  no_match_doubtful: 0,
  potential_match: 0,
  not_screened: 0,
  unknown: 0,
  wrong_row: 0
}

/**
 * How many rows there are.
 *
 * @category getters
 * @since 0.1.0
 */
export const total = (counts: Counts): number => State.literals.reduce((sum, state) => sum + counts[state], 0)

/**
 * How many rows a worker must still bring to an outcome.
 *
 * @category getters
 * @since 0.1.0
 */
export const left = (counts: Counts): number => counts.pending + counts.claimed + counts.sent

const Time = Schema.DateTimeUtcFromNumber

/**
 * A run as the ledger stores it.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Run = Schema.Struct({
  id: Id,
  /** By the clock of the database, as all times of the ledger are. */
  plannedAt: Time,
  /** `open` until each row has an outcome, unless somebody or something paused it. */
  state: Schema.Literal("open", "paused", "complete"),
  /** Why it is paused. */
  reason: Schema.NullOr(Schema.String),
  completedAt: Schema.NullOr(Time),
  erasedAt: Schema.NullOr(Time),
  policy: Schema.parseJson(Policy),
  /** The service and account that screen it, as the option of the worker and of `plan` names them. */
  service: Schema.String,
  /** How people are stored: `encrypted`, or `lookup` for nothing at all. */
  people: Schema.Literal("encrypted", "lookup"),
  /** The digest of the population: HMAC-SHA-256 of keys, names and dates of birth, with the salt of the ledger. */
  digest: Schema.String,
  /** How many rows were planned, wrong rows included. */
  total: Schema.Int,
  /** The counts when it was erased. */
  erasedCounts: Schema.NullOr(Schema.parseJson(Schema.Record({ key: State, value: Schema.Int })))
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Run extends Schema.Schema.Type<typeof Run> {}
