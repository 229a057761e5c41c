/**
 * The options of the token provider: how long a token is used, when it is refreshed, and how acquisitions are retried.
 *
 * @since 0.1.0
 */
import type * as ConfigError from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import { constant } from "effect/Function"
import * as Schema from "effect/Schema"
import * as ConfigErrors from "./internal/schema/configErrors.ts"
import * as DurationInput from "./internal/schema/durationInput.ts"
import * as Violation from "./Violation.ts"

/**
 * The options, all of them optional. A share is a part of the lifetime of a token, as a number between 0 and 1.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * The longest lifetime of a token, and the lifetime if the token response states none. At most one hour (service
   * document, sections 2.2, 5 and 8).
   *
   * @default "1 hour"
   */
  readonly lifetime?: Duration.DurationInput | undefined
  /**
   * Refresh-after, as a share of the lifetime. An older token is still returned at once, and is renewed in the
   * background. The share is at least 0.1, even after `jitter` is subtracted.
   *
   * @default 0.75
   */
  readonly refreshAfter?: number | undefined
  /**
   * The maximum of a random share that is subtracted from `refreshAfter`, so that many processes do not refresh
   * together.
   *
   * @default 0.1
   */
  readonly jitter?: number | undefined
  /**
   * The time between usable-until and the expiry. In this time a token is no longer returned. At most half of the
   * lifetime. With the defaults, a token with a lifetime of less than two minutes can reach usable-until before
   * refresh-after, and is then not renewed in the background: set a shorter margin for such tokens.
   *
   * @default "30 seconds"
   */
  readonly expiryMargin?: Duration.DurationInput | undefined
  /**
   * Maximum number of token requests of one acquisition. An acquisition for which no caller waits sends at most one.
   *
   * @default 3
   */
  readonly attempts?: number | undefined
  /**
   * The maximum delay before the second token request of an acquisition. It doubles with each further request. The
   * actual delay is a random part of the maximum.
   *
   * @default "200 millis"
   */
  readonly retryDelay?: Duration.DurationInput | undefined
  /**
   * The deadline of one token request.
   *
   * @default "10 seconds"
   */
  readonly attemptDeadline?: Duration.DurationInput | undefined
  /**
   * The deadline of one acquisition. It covers reading the credentials, all waits and all requests.
   *
   * @default "30 seconds"
   */
  readonly acquisitionDeadline?: Duration.DurationInput | undefined
  /**
   * The backoff after a failed acquisition. It doubles with each consecutive failure.
   *
   * - During the backoff no acquisition starts in the background.
   * - Callers without a token receive the failure at once, for at most 5 seconds.
   * - The backoff ends early when the cached token is no longer usable.
   * - It also follows an acquisition whose token has such a short lifetime that it is due for renewal on arrival.
   *
   * @default "1 second"
   */
  readonly minBackoff?: Duration.DurationInput | undefined
  /**
   * The maximum backoff.
   *
   * @default "60 seconds"
   */
  readonly maxBackoff?: Duration.DurationInput | undefined
  /**
   * After the token endpoint rejected credentials, the same credentials are not sent again for this time.
   *
   * @default "30 seconds"
   */
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
  refreshAfter: optional(Share, 0.75),
  jitter: optional(Share, 0.1),
  expiryMargin: optional(DurationInput.DurationInput, Duration.seconds(30)),
  attempts: optional(Count, 3),
  retryDelay: optional(DurationInput.DurationInput, Duration.millis(200)),
  attemptDeadline: optional(DurationInput.Positive, Duration.seconds(10)),
  acquisitionDeadline: optional(DurationInput.Positive, Duration.seconds(30)),
  minBackoff: optional(DurationInput.Positive, Duration.seconds(1)),
  maxBackoff: optional(DurationInput.Positive, Duration.seconds(60)),
  rejectionMemory: optional(DurationInput.DurationInput, Duration.seconds(30))
})

/**
 * The decoded options, with defaults.
 *
 * @category models
 * @since 0.1.0
 */
export interface TokenPolicy extends Schema.Schema.Type<typeof Policy> {}

/**
 * Decodes the options and adds the defaults. `ConfigError` names every invalid option.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): Either.Either<TokenPolicy, ConfigError.ConfigError> =>
  Either.mapLeft(decode(options), ConfigErrors.fromViolations(["tokenPolicy"]))

const decode = Violation.decodeUnknown(Policy, { onExcessProperty: "error" })
