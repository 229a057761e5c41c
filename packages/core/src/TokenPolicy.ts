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
import * as ConfigErrors from "./internal/configErrors.ts"
import * as DurationInput from "./internal/durationInput.ts"
import * as Violation from "./Violation.ts"

/**
 * All options are optional. Shares are between 0 and 1, of the lifetime of the token.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * The lifetime of a token whose response has none, and the maximum for others. One hour is the limit (service
   * document, sections 2.2, 5 and 8).
   *
   * @default "1 hour"
   */
  readonly lifetime?: Duration.DurationInput | undefined
  /**
   * The share of the lifetime after which a token is stale: it is still returned at once, and refreshed in the
   * background. At least 0.1 even after `jitter` is subtracted.
   *
   * @default 0.75
   */
  readonly softPoint?: number | undefined
  /**
   * The maximum of a random share that is subtracted from `softPoint`, so that many processes do not refresh together.
   *
   * @default 0.1
   */
  readonly jitter?: number | undefined
  /**
   * How long before its expiry a token is no longer returned, at most half of its lifetime. With a lifetime under two
   * minutes the default leaves no time for a refresh in the background. A shorter margin does.
   *
   * @default "30 seconds"
   */
  readonly hardMargin?: Duration.DurationInput | undefined
  /**
   * Maximum number of token requests of one acquisition, as long as a caller waits. In the background it is 1.
   *
   * @default 3
   */
  readonly attempts?: number | undefined
  /**
   * The maximum delay before the second token request of an acquisition. It doubles with each further request. A random
   * part of it is waited.
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
   * The deadline of one acquisition, with its waits and requests.
   *
   * @default "30 seconds"
   */
  readonly flightDeadline?: Duration.DurationInput | undefined
  /**
   * The backoff after a failed acquisition, doubled with each consecutive failure. Until it ends no acquisition starts
   * in the background, and callers without a token receive the failure, but for 5 seconds at most. It also ends when
   * the cached token is no longer usable. It also applies after a token whose lifetime is so short that it is stale on
   * arrival.
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
   * How long rejected credentials are not sent again.
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
