/**
 * The numbers of the token provider: how long a token is used, when it is renewed, how often and
 * how long is tried.
 *
 * @since 0.1.0
 */
import type * as ConfigError from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import { constant } from "effect/Function"
import * as Schema from "effect/Schema"
import * as ConfigErrors from "./internal/configErrors.ts"
import * as DurationInput from "./internal/durationInput.ts"
import * as Violation from "./Violation.ts"

/**
 * All of it is optional. Shares are of the lifetime, between 0 and 1.
 *
 * The age of a token decides what a caller gets:
 *
 * - `lifetime`: for tokens whose response gives none, and the most for those that give more. One
 *   hour, which is also the limit (API document, sections 2.2, 5 and 8).
 * - `softPoint`, `jitter`: from 0.75 of the lifetime, less a random part of 0 to 0.1, the token is
 *   still given out at once, and renewed in the background. Never before 0.1 of the lifetime.
 * - `hardMargin`: 30 seconds before its expiry it is no longer given out. At most half of the
 *   lifetime of the token counts. With tokens of less than two minutes the margin takes all of the
 *   time after the soft point, and a shorter one gives it back.
 *
 * One acquisition, which all callers share:
 *
 * - `attempts`: 3 token requests at most, as long as somebody waits; 1 in the background.
 * - `retryDelay`: 200 milliseconds before the second, doubled each time, less a random part.
 * - `attemptDeadline`, `flightDeadline`: 10 seconds for one request, 30 seconds for all of it.
 *
 * After a failure:
 *
 * - `minBackoff`, `maxBackoff`: from 1 second, doubled each time, up to 60 seconds until the next
 *   renewal in the background, or less if the token may no longer be given out by then. Callers
 *   without a token get the failure for as long, and for 5 seconds at most.
 *   The first is also the pause after a token that is due again as it comes, for its lifetime is so short.
 * - `rejectionMemory`: for 30 seconds credentials that were refused are not sent again.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly lifetime?: Duration.DurationInput | undefined
  readonly softPoint?: number | undefined
  readonly jitter?: number | undefined
  readonly hardMargin?: Duration.DurationInput | undefined
  readonly attempts?: number | undefined
  readonly retryDelay?: Duration.DurationInput | undefined
  readonly attemptDeadline?: Duration.DurationInput | undefined
  readonly flightDeadline?: Duration.DurationInput | undefined
  readonly minBackoff?: Duration.DurationInput | undefined
  readonly maxBackoff?: Duration.DurationInput | undefined
  readonly rejectionMemory?: Duration.DurationInput | undefined
}

const Share = Schema.Number.pipe(Schema.between(0, 1, { description: "a number between 0 and 1" }))

const Count = Schema.Number.pipe(
  Schema.int(),
  Schema.positive(),
  Schema.annotations({ description: "an integer over 0" })
)

const optional = <A, I>(schema: Schema.Schema<A, I>, byDefault: NoInfer<A>) =>
  Schema.optionalWith(schema, { default: constant(byDefault) })

const Policy = Schema.Struct({
  lifetime: optional(DurationInput.UpToOneHour, Duration.hours(1)),
  softPoint: optional(Share, 0.75),
  jitter: optional(Share, 0.1),
  hardMargin: optional(DurationInput.DurationInput, Duration.seconds(30)),
  attempts: optional(Count, 3),
  retryDelay: optional(DurationInput.DurationInput, Duration.millis(200)),
  attemptDeadline: optional(DurationInput.Positive, Duration.seconds(10)),
  flightDeadline: optional(DurationInput.Positive, Duration.seconds(30)),
  minBackoff: optional(DurationInput.Positive, Duration.seconds(1)),
  maxBackoff: optional(DurationInput.Positive, Duration.seconds(60)),
  rejectionMemory: optional(DurationInput.DurationInput, Duration.seconds(30))
})

/**
 * Every number, checked.
 *
 * @category models
 * @since 0.1.0
 */
export interface TokenPolicy extends Schema.Schema.Type<typeof Policy> {}

/**
 * The policy, with its default wherever an option is not given, or a `ConfigError` that names each
 * option that makes no sense.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): Either.Either<TokenPolicy, ConfigError.ConfigError> =>
  Either.mapLeft(decode(options), ConfigErrors.fromViolations(["tokenPolicy"]))

const decode = Violation.decodeUnknown(Policy, { onExcessProperty: "error" })
