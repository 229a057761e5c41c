/** Checks the options of the `TokenProvider`. */
import * as Cause from "effect/Cause"
import * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as AccessToken from "../../AccessToken.ts"
import * as Credentials from "../../Credentials.ts"
import * as IdvApi from "../../IdvApi.ts"
import * as TokenError from "../../TokenError.ts"
import * as TokenPolicy from "../../TokenPolicy.ts"
import * as Violation from "../../Violation.ts"
import * as Address from "../schema/address.ts"
import * as ConfigErrors from "../schema/configErrors.ts"

/** Options before the check: from JavaScript, or partly loaded from `Config`. */
interface UncheckedOptions {
  readonly customerId?: string | undefined
  readonly customerKey?: Redacted.Redacted<string> | undefined
  readonly basicEncoding?: Credentials.BasicEncoding | undefined
  readonly credentials?: Effect.Effect<Credentials.Options, unknown> | undefined
  readonly authUrl?: string | undefined
  readonly allowInsecure?: boolean | undefined
  readonly tokenFields?: ReadonlyArray<AccessToken.Field> | undefined
  readonly tokenPolicy?: TokenPolicy.Options | undefined
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
    policy: TokenPolicy.make(options.tokenPolicy)
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
