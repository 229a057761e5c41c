/** The options of the `TokenProvider`. The schemas check them, and contain the defaults. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as AccessToken from "../../AccessToken.ts"
import * as TokenError from "../../TokenError.ts"
import * as Address from "../schema/address.ts"
import * as DurationInput from "../schema/durationInput.ts"
import * as Options from "../schema/options.ts"
import * as Credentials from "./credentials.ts"

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
   * The share of the lifetime after which a token is renewed in the background, while it is still returned at once
   * (refresh-after). A random share of up to 0.1 is subtracted, so that many processes do not refresh together. At
   * least 0.1 remains.
   *
   * @default 0.75
   */
  readonly refreshAfter?: number | undefined
  /**
   * The client stops returning a token this long before it expires (usable-until). At most half of the
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

const Policy = Schema.Struct({
  lifetime: Options.withDefault(DurationInput.UpToOneHour, Duration.hours(1)),
  refreshAfter: Options.withDefault(
    Schema.Number.pipe(Schema.between(0, 1, { description: "a number between 0 and 1" })),
    0.75
  ),
  expiryMargin: Options.withDefault(DurationInput.DurationInput, Duration.seconds(30)),
  attempts: Options.withDefault(Options.Count, 3),
  attemptDeadline: Options.withDefault(DurationInput.Positive, Duration.seconds(10)),
  acquisitionDeadline: Options.withDefault(DurationInput.Positive, Duration.seconds(30)),
  rejectionMemory: Options.withDefault(DurationInput.DurationInput, Duration.seconds(30))
}).annotations({ description: "an object", parseOptions: { onExcessProperty: "error" } })

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

/** The schema of the options. `allowInsecure` and `basicEncoding` decide what the others may be. */
export const schema = (options: { readonly allowInsecure?: unknown; readonly basicEncoding?: unknown }) =>
  Schema.Struct({
    authUrl: Address.Base(
      "the address of the token endpoint, such as https://auth.example.com",
      AccessToken.path,
      options
    ),
    allowInsecure: Options.Flag,
    ...Credentials.schema(options).fields,
    tokenFields: Options.withDefault(Schema.NonEmptyArray(AccessToken.Field), AccessToken.Field.literals),
    tokenPolicy: Options.withDefault(Policy, Schema.decodeSync(Policy)({}))
  })

/** The schema of the options with an effect that returns the credentials. */
export const rotatingSchema = (options: object) => schema(options).omit("customerId", "customerKey", "basicEncoding")

/** Returns the checked options, or one error with every invalid option. */
export const check = (options: object) => Options.decode(schema(options), options)

/** Returns the checked options, and an effect that returns the credentials. */
export const prepare = (
  options: object & { readonly credentials?: Effect.Effect<Credentials.CredentialOptions, unknown> | undefined }
) => {
  const { credentials } = options
  return credentials === undefined
    ? Either.map(check(options), (checked) => settings(checked, Effect.succeed(Credentials.of(checked))))
    : Either.map(
      Options.decode(rotatingSchema(options), options),
      (checked) => settings(checked, rotating(credentials))
    )
}

const settings = (
  { authUrl, tokenFields, tokenPolicy }: Schema.Schema.Type<ReturnType<typeof rotatingSchema>>,
  credentials: Effect.Effect<Credentials.Credentials, TokenError.TokenEndpointUnavailable>
) => ({
  url: Address.join(authUrl, AccessToken.path),
  fields: tokenFields,
  policy: { ...constants, ...tokenPolicy },
  credentials
})

const credentialsFailed = Effect.fail("The effect `credentials` failed: nothing is sent")

const rotating = (credentials: Effect.Effect<Credentials.CredentialOptions, unknown>) =>
  credentials.pipe(
    // Also a defect, which may contain a secret too.
    Effect.catchAllCause(() => credentialsFailed),
    // A JavaScript program may return none despite the type.
    Effect.filterOrFail(Predicate.isNotNullable, () => "The effect `credentials` returned none: nothing is sent"),
    Effect.flatMap((options) => Either.mapLeft(Credentials.make(options), String)),
    Effect.catchAllDefect(() => credentialsFailed),
    Effect.tapError((message) => Effect.logWarning(message)),
    Effect.mapError(() => new TokenError.TokenEndpointUnavailable({ reason: "credentials", attempts: 0 }))
  )
