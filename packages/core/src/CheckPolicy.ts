/**
 * How long a check may take, what of it is tried again, and which answers it accepts.
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
import * as ConfigErrors from "./internal/configErrors.ts"
import * as DurationInput from "./internal/durationInput.ts"
import * as Violation from "./Violation.ts"

/**
 * What is sent again, after up to 200 milliseconds and up to 400, at random:
 *
 * - `safe`: only what was certainly not performed. Nobody accepted the connection, the host name is
 *   not known, TLS failed, or the service answered 429 or 503 and asked to wait.
 * - `always`: whatever may go better the next time. A check whose answer was lost may then be
 *   performed, and billed, twice.
 * - `never`: nothing.
 *
 * Or a `Schedule` of your own, which is asked about the same failures as `always`, and has them as
 * its input.
 *
 * `Retry-After` is always honoured. A wait that does not end before the deadline is not begun: the
 * failure is told at once. The one replay after a 401 is no retry: it is done with all of these.
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
   * For a whole check: token, waits, requests, and the answer to its last byte.
   *
   * @default "30 seconds"
   */
  readonly deadline?: Duration.DurationInput | undefined
  /**
   * What is sent again.
   *
   * @default "safe"
   */
  readonly retry?: Retry | undefined
  /**
   * How exactly the response must repeat the name that was sent. The year of birth is always compared.
   *
   * - `exact`: the same name, once NFC, case and blanks are folded.
   * - `loose`: the same words, in any order; case, punctuation, accents, tone marks and vowel points are ignored.
   * - `ignore`: any name. **Dangerous**: a response about anybody born in that year counts as one about this person,
   *   so a "No" may be about somebody else.
   *
   * If `exact` would refuse the response, the warnings in the evidence say so: `other_form` or `other_name`.
   *
   * @default "exact"
   */
  readonly nameEcho?: NameEcho | undefined
  /**
   * How far `searched_on` may be from this client's clock, before or after it. Its time zone is not known: it is
   * compared as UTC, so allow a day more than you mean. Set this for a server whose clock was moved, such as the mock
   * server, or for a test whose clock begins in 1970.
   *
   * @default "48 hours"
   */
  readonly searchedOnTolerance?: Duration.DurationInput | undefined
}

/**
 * See {@link Options}.
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
  searchedOnTolerance: Schema.optionalWith(DurationInput.Distance, { default: constant(Duration.hours(48)) })
})

/**
 * @category models
 * @since 0.1.0
 */
export interface CheckPolicy extends Schema.Schema.Type<typeof Policy> {}

/**
 * The policy, with its default wherever an option is not given, or a `ConfigError` that names each
 * option that makes no sense.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  { deadline, nameEcho, retry, searchedOnTolerance }: Options = {}
): Either.Either<CheckPolicy, ConfigError.ConfigError> =>
  Either.mapLeft(decode({ deadline, nameEcho, retry, searchedOnTolerance }), ConfigErrors.fromViolations([]))

const decode = Violation.decodeUnknown(Policy)
