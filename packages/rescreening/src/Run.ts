/**
 * A run: one screening of a whole population, with the state of each row.
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

const between = (what: string, schema: Schema.Schema<number>, min: number, max: number) =>
  schema.pipe(Schema.between(min, max), Schema.annotations(Violation.expecting(`${what} from ${min} to ${max}`)))

/**
 * The policy by which a run is screened. The ledger stores it with the run, and all workers use it.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Policy = Schema.Struct({
  /**
   * The maximum number of checks that all workers together start per second, evenly spaced.
   *
   * @default 50
   */
  rate: Schema.optionalWith(between("a number", Schema.Number, 0.01, 100_000), { default: () => 50 }),
  /**
   * Decides about a row whose check was sent and has no response. `review` leaves it `unknown`; `rescreen` sends it
   * again, and the service may bill it twice. The report counts those rows.
   *
   * @default "review"
   */
  unknown: Schema.optionalWith(Schema.Literal("review", "rescreen"), { default: () => "review" as const }),
  /**
   * All workers stop after this many failures in a row that concern the service, or pauses in a row after a 429.
   *
   * @default 50
   */
  stopAfter: Schema.optionalWith(between("an integer", Schema.Int, 1, 1_000_000), { default: () => 50 }),
  /**
   * Which responses the ledger stores, encrypted: those of potential matches and doubtful "No"s, which a person must
   * review, `all`, or `none`. It stores the digests of all.
   *
   * @default "matches"
   */
  evidence: Schema.optionalWith(Schema.Literal("matches", "all", "none"), { default: () => "matches" as const }),
  /**
   * Whether the service returns the same `aml_profile` in each search for the same hit. If they are `ignored`, a new
   * address alone is not a change for `Comparison`, and a decision about a potential match is valid for this response
   * only: a new hit could look the same.
   *
   * @default "compared"
   */
  profileAddress: Schema.optionalWith(Schema.Literal("compared", "ignored"), { default: () => "compared" as const }),
  /**
   * Whether a decision counts only after a second person approved it.
   *
   * @default false
   */
  fourEyes: Schema.optionalWith(Schema.Boolean, { default: () => false }),
  /**
   * The days after which a decision must be renewed. The page behind an address can change.
   *
   * @default decisions stay valid
   */
  decisionsValidDays: Schema.optional(between("a number", Schema.Number, 0, 100_000)),
  /**
   * The maximum number of requests for checks that all workers together send in this run, repeated ones included. Then
   * the run is paused. A worker reserves requests before it sends them, so a killed worker may use up a few unsent.
   *
   * @default no limit
   */
  maxChecks: Schema.optional(between("an integer", Schema.Int, 1, 1_000_000_000)),
  /**
   * If the run has controls: how many rows all workers together send at most between the starts of two rounds in which
   * the service found every control, apart from those that were about to leave. A round begins after half as many.
   *
   * @default 1000
   */
  controlEvery: Schema.optionalWith(between("an integer", Schema.Int, 2, 1_000_000), { default: () => 1000 }),
  /**
   * Whether these are only some of the people of the class, such as those of an incident. `Coverage` and the changes on
   * the page do not take such a run for the whole population.
   *
   * @default false
   */
  isPart: Schema.optionalWith(Schema.Boolean, { default: () => false }),
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
 * The options that may change while a run is screened. They are not part of its identity.
 *
 * @category models
 * @since 0.1.0
 */
export type Changes = Pick<Options, "rate" | "unknown" | "stopAfter" | "maxChecks">

/**
 * The outcomes of a row.
 *
 * - `no_match`, `potential_match`: the result of the service.
 * - `no_match_doubtful`: "No" for a name or date that looks damaged. A person should review it.
 * - `control_failed`: "No", but the service did not find a control at that time, so the result is doubtful.
 * - `not_screened`: there is no result; `error` says why.
 * - `unknown`: the check was sent and has no response. It may be billed.
 * - `wrong_row`: the row cannot be sent; `codes` say why.
 * - `erased`: the data of this person were erased; the row is empty.
 *
 * @category models
 * @since 0.1.0
 */
export const outcomes = [
  "no_match",
  "no_match_doubtful",
  "potential_match",
  "control_failed",
  "not_screened",
  "unknown",
  "wrong_row",
  "erased"
] as const

/**
 * The state of a row: one of the {@link outcomes}, or `pending`, `claimed` (by a worker) or `sent` (the check was sent,
 * or is about to be).
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
 * The number of rows in each state.
 *
 * @category models
 * @since 0.1.0
 */
export type Counts = { readonly [S in State]: number }

/**
 * Zero rows in each state.
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
  control_failed: 0,
  not_screened: 0,
  unknown: 0,
  wrong_row: 0,
  erased: 0
}

/**
 * The number of all rows.
 *
 * @category getters
 * @since 0.1.0
 */
export const total = (counts: Counts): number => State.literals.reduce((sum, state) => sum + counts[state], 0)

/**
 * The number of rows without an outcome.
 *
 * @category getters
 * @since 0.1.0
 */
export const left = (counts: Counts): number => counts.pending + counts.claimed + counts.sent

const Time = Schema.DateTimeUtcFromNumber

const Words = Schema.transform(Schema.String, Schema.Array(Schema.String), {
  strict: true,
  decode: (text) => text.split(" ").filter((word) => word !== ""),
  encode: (words) => ` ${words.join(" ")} `
})

/**
 * A run as the ledger stores it.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Run = Schema.Struct({
  id: Id,
  /** By the database's clock, like all times of the ledger. */
  plannedAt: Time,
  /** `open` until each row has an outcome, or until an operator or a failure pauses the run. */
  state: Schema.Literal("open", "paused", "complete"),
  /** The reason for the pause. */
  reason: Schema.NullOr(Schema.String),
  completedAt: Schema.NullOr(Time),
  erasedAt: Schema.NullOr(Time),
  policy: Schema.parseJson(Policy),
  /** The service and account: the option `service` of `plan` and `work`. */
  service: Schema.String,
  /** The label of the evidence of all its checks, such as `sandbox`; empty if they have none. */
  environment: Schema.String,
  /** The risk class of the population, such as `high`; empty if it has none. */
  class: Schema.String,
  /** How people are stored: `encrypted`, or not at all with `lookup`. */
  people: Schema.Literal("encrypted", "lookup"),
  /** The digest of the population: HMAC-SHA-256 of keys, names and dates of birth, with the salt of the ledger. */
  digest: Schema.String,
  /** The number of planned rows, wrong rows included. */
  total: Schema.Int,
  /**
   * The number of results that arrived after the run was complete, or after their row was claimed again. If it grew
   * since a report was written, write the report again.
   */
  amended: Schema.Int,
  /** The requests for checks that workers reserved under the policy's `maxChecks`: at least as many as they sent. */
  reserved: Schema.Int,
  /** The number of controls. */
  controls: Schema.Int,
  /** The requests for checks of controls. They are not in `timesSent` of any row. */
  controlRequests: Schema.Int,
  /** The rounds in which the service found every control. */
  controlRounds: Schema.Int,
  /** When the last of these rounds began. */
  controlledAt: Schema.NullOr(Time),
  /**
   * What the responses have beyond the service document, each once: the paths of fields, such as
   * `credentials.attributes.request_id`, and versions such as `cred_version=1.1`.
   */
  undocumented: Words,
  /** The counts at the time when the run was erased. */
  erasedCounts: Schema.NullOr(
    Schema.parseJson(Schema.partialWith(Schema.Record({ key: State, value: Schema.Int }), { exact: true }))
  )
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Run extends Schema.Schema.Type<typeof Run> {}
