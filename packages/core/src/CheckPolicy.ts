/**
 * How long a check may take, what of it is tried again, and how exactly the answer must repeat the
 * name.
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
 * - `deadline`: for a whole check: token, waits, requests, and the answer to its last byte. 30
 *   seconds by default.
 * - `retry`: `safe` by default.
 * - `nameEcho`: `fold` by default: the answer must be about the name that was sent, once NFC, case
 *   and blanks are folded. With `ignore` only the year of birth is compared.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly deadline?: Duration.DurationInput | undefined
  readonly retry?: Retry | undefined
  readonly nameEcho?: "fold" | "ignore" | undefined
}

const isSchedule = (u: unknown): u is Schedule.Schedule<unknown, AmlError> => Schedule.isSchedule(u)

const Policy = Schema.Struct({
  deadline: Schema.optionalWith(DurationInput.Positive, { default: constant(Duration.seconds(30)) }),
  retry: Schema.optionalWith(
    Schema.Union(Schema.Literal("safe", "always", "never"), Schema.declare(isSchedule))
      .annotations({ description: "\"safe\", \"always\", \"never\" or a Schedule" }),
    { default: constant("safe" as const) }
  ),
  nameEcho: Schema.optionalWith(
    Schema.Literal("fold", "ignore").annotations({ description: "\"fold\" or \"ignore\"" }),
    { default: constant("fold" as const) }
  )
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
  { deadline, nameEcho, retry }: Options = {}
): Either.Either<CheckPolicy, ConfigError.ConfigError> =>
  Either.mapLeft(decode({ deadline, nameEcho, retry }), ConfigErrors.fromViolations([]))

const decode = Violation.decodeUnknown(Policy)
