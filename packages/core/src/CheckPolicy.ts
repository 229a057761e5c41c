/**
 * The deadline and the retries of a check, and the responses that it accepts.
 *
 * @since 0.1.0
 */
import type * as ConfigError from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import { constant } from "effect/Function"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type { AmlError } from "./AmlError.ts"
import * as ConfigErrors from "./internal/schema/configErrors.ts"
import * as DurationInput from "./internal/schema/durationInput.ts"
import * as Violation from "./Violation.ts"

/**
 * Which failed checks are retried, up to twice: after a random delay of up to 200 ms, and then of up to 400 ms.
 *
 * - `safe`: only checks that the service certainly did not perform: no connection, unknown host name, or a response with
 *   `Retry-After` and the status 429 or 503.
 * - `always`: all retryable failures. If the response was lost, the service may perform and bill the check twice.
 * - `never`: none.
 *
 * A `Schedule` receives each retryable failure as its input, and decides whether and when to retry.
 *
 * `Retry-After` is always honoured. If the wait would exceed the deadline, the check fails at once. The replay after a
 * 401 happens under every policy.
 *
 * @category models
 * @since 0.1.0
 */
export type Retry = "safe" | "always" | "never" | Schedule.Schedule<unknown, AmlError>

/**
 * How a check runs, and which responses it accepts.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * The maximum time of a check: token, waits, requests, and the whole response.
   *
   * @default "30 seconds"
   */
  readonly deadline?: Duration.DurationInput | undefined
  /**
   * Which failed checks are retried.
   *
   * @default "safe"
   */
  readonly retry?: Retry | undefined
  /**
   * How exactly the response must repeat the name in the request. The year of birth is always compared.
   *
   * - `exact`: the same name, ignoring case, spaces and Unicode normalization.
   * - `loose`: the same words, in any order, ignoring case, punctuation, accents, tone marks and vowel points.
   * - `ignore`: any name. **Dangerous**: a response about another person born in the same year is accepted, so a "No"
   *   may be about that person.
   *
   * If `exact` would reject the response, the evidence has the warning `other_form` or `other_name`.
   *
   * @default "exact"
   */
  readonly nameEcho?: NameEcho | undefined
  /**
   * How far `searched_on` may be before or after this client's clock. `searched_on` has no specified time zone, and is
   * read as UTC: allow one day more than you need. Set this for a server whose clock was moved, such as the mock
   * server, or for a test whose clock starts in 1970.
   *
   * @default "48 hours"
   */
  readonly searchedOnTolerance?: Duration.DurationInput | undefined
}

/**
 * The values of `nameEcho`, see {@link Options}.
 *
 * @category models
 * @since 0.1.0
 */
export type NameEcho = "exact" | "loose" | "ignore"

const isSchedule = (u: unknown): u is Schedule.Schedule<unknown, AmlError> => Schedule.isSchedule(u)

const Policy = Schema.Struct({
  deadline: Schema.optionalWith(DurationInput.Positive, { default: constant(Duration.seconds(30)) }),
  retry: Schema.optionalWith(
    Schema.Union(Schema.Literal("safe", "always", "never"), Schema.declare(isSchedule))
      .annotations({ description: "\"safe\", \"always\", \"never\" or a Schedule" }),
    { default: constant("safe" as const) }
  ),
  nameEcho: Schema.optionalWith(
    Schema.Literal("exact", "loose", "ignore").annotations({
      description: "\"exact\", \"loose\" or \"ignore\""
    }),
    { default: constant("exact" as const) }
  ),
  searchedOnTolerance: Schema.optionalWith(DurationInput.PositiveFinite, { default: constant(Duration.hours(48)) })
})

/**
 * The decoded options, with defaults.
 *
 * @category models
 * @since 0.1.0
 */
export interface CheckPolicy extends Schema.Schema.Type<typeof Policy> {}

/**
 * Decodes the options and adds the defaults. `ConfigError` names every invalid option.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  { deadline, nameEcho, retry, searchedOnTolerance }: Options = {}
): Either.Either<CheckPolicy, ConfigError.ConfigError> =>
  Either.mapLeft(decode({ deadline, nameEcho, retry, searchedOnTolerance }), ConfigErrors.fromViolations([]))

const decode = Violation.decodeUnknown(Policy)
