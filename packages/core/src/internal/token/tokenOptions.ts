/** The options of the `TokenProvider`. The schemas check them, and contain the defaults. */
import * as Cause from "effect/Cause"
import * as ConfigError from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { constant } from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as AccessToken from "../../AccessToken.ts"
import * as Credentials from "../../Credentials.ts"
import * as IdvApi from "../../IdvApi.ts"
import * as TokenError from "../../TokenError.ts"
import * as Violation from "../../Violation.ts"
import * as Address from "../schema/address.ts"
import * as ConfigErrors from "../schema/configErrors.ts"
import * as DurationInput from "../schema/durationInput.ts"

/**
 * The options of `tokenPolicy`. A share is a part of the lifetime of a token, as a number between 0 and 1.
 *
 * @category models
 * @since 0.1.0
 */
export interface PolicyOptions {
  /**
   * The longest lifetime of a token, and the lifetime if the token response states none. At most one hour (service
   * document, sections 2.2, 5 and 8).
   *
   * @default "1 hour"
   */
  readonly lifetime?: Duration.DurationInput | undefined
  /**
   * Refresh-after, as a share of the lifetime. An older token is still returned at once, and is renewed in the
   * background. A random share of up to 0.1 is subtracted, so
   * that many processes do not refresh together. At least 0.1 remains.
   *
   * @default 0.75
   */
  readonly refreshAfter?: number | undefined
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
  expiryMargin: optional(DurationInput.DurationInput, Duration.seconds(30)),
  attempts: optional(Count, 3),
  attemptDeadline: optional(DurationInput.Positive, Duration.seconds(10)),
  acquisitionDeadline: optional(DurationInput.Positive, Duration.seconds(30)),
  rejectionMemory: optional(DurationInput.DurationInput, Duration.seconds(30))
})

/** The numbers that no user has a reason to change. */
const constants = {
  /** The maximum of the random share that is subtracted from `refreshAfter`. */
  jitter: 0.1,
  /** The maximum delay before the second token request of an acquisition. It doubles with each further request. */
  retryDelay: Duration.millis(200),
  /**
   * The backoff after a failed acquisition. It doubles with each consecutive failure. In this time no acquisition starts
   * in the background, and callers without a token receive the failure at once, for at most 5 seconds. It ends when the
   * cached token is no longer usable, and it also follows a token that is due for renewal on arrival.
   */
  minBackoff: Duration.seconds(1),
  maxBackoff: Duration.seconds(60)
}

/** The decoded options, with defaults and {@link constants}. */
export type TokenPolicy = typeof Policy.Type & typeof constants

/** Decodes the options of `tokenPolicy`. `ConfigError` names every invalid one. */
export const makePolicy = (options: PolicyOptions = {}): Either.Either<TokenPolicy, ConfigError.ConfigError> =>
  Either.mapBoth(decodePolicy(options), {
    onLeft: ConfigErrors.fromViolations(["tokenPolicy"]),
    onRight: (policy) => ({ ...constants, ...policy })
  })

const decodePolicy = Violation.decodeUnknown(Policy, { onExcessProperty: "error" })

/** Options before the check: from JavaScript, or partly loaded from `Config`. */
interface UncheckedOptions {
  readonly customerId?: string | undefined
  readonly customerKey?: Redacted.Redacted<string> | undefined
  readonly basicEncoding?: Credentials.BasicEncoding | undefined
  readonly credentials?: Effect.Effect<Credentials.Options, unknown> | undefined
  readonly authUrl?: string | undefined
  readonly allowInsecure?: boolean | undefined
  readonly tokenFields?: ReadonlyArray<AccessToken.Field> | undefined
  readonly tokenPolicy?: PolicyOptions | undefined
}

/** Returns the checked options, or one error with every invalid option. */
export const check = (options: UncheckedOptions) =>
  ConfigErrors.all({
    url: Address.make("authUrl", options.authUrl, IdvApi.token.path, options),
    credentials: credentialsOf(options),
    fields: Either.mapLeft(
      decodeFields(options.tokenFields ?? AccessToken.Field.literals),
      () => ConfigError.InvalidData(["tokenFields"], `should be some of ${AccessToken.Field.literals.join(", ")}`)
    ),
    policy: makePolicy(options.tokenPolicy)
  })

const decodeFields = Violation.decodeUnknown(Schema.NonEmptyArray(AccessToken.Field))

const credentialsOf = (
  options: UncheckedOptions
): Either.Either<
  Effect.Effect<Credentials.Credentials, TokenError.TokenEndpointUnavailable>,
  ConfigError.ConfigError
> =>
  options.credentials !== undefined
    ? Either.right(options.credentials.pipe(
      Effect.catchSomeCause((cause) =>
        Cause.isInterruptedOnly(cause) ? Option.some(Effect.fail(cause)) : Option.none()
      ),
      Effect.mapError(() => "The effect `credentials` failed: nothing is sent"),
      // A JavaScript program may return none despite the type.
      Effect.filterOrFail(Predicate.isNotNullable, () => "The effect `credentials` returned none: nothing is sent"),
      Effect.flatMap((options) => Either.mapLeft(Credentials.make(options), String)),
      Effect.tapError((message) => Effect.logWarning(message)),
      Effect.mapError(() => new TokenError.TokenEndpointUnavailable({ reason: "credentials", attempts: 0 }))
    ))
    : Either.map(
      Credentials.make({
        // An omitted option has the same error as an empty one.
        customerId: options.customerId ?? "",
        customerKey: options.customerKey ?? Redacted.make(""),
        basicEncoding: options.basicEncoding
      }),
      Effect.succeed
    )
