/**
 * The access token of a scope: one, shared, acquired when first needed, kept until shortly before
 * it is over.
 *
 * - **Single flight.** However many ask at once, one request is sent. It belongs to the scope of
 *   the layer and not to any caller: a caller that is interrupted takes nobody with it, and the
 *   answer still lands.
 * - **Expiry counts from the request** (API document, section 5), not from the answer.
 * - **Failures are never cached.** Everybody who waited gets the failure; the next caller tries
 *   again.
 *
 * @since 0.1.0
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as AccessToken from "./AccessToken.ts"
import * as Credentials from "./Credentials.ts"
import * as IdvApi from "./IdvApi.ts"
import * as Address from "./internal/address.ts"
import * as Deadline from "./internal/deadline.ts"
import * as Exchange from "./internal/exchange.ts"
import * as TokenState from "./internal/tokenState.ts"
import * as TokenError from "./TokenError.ts"
import * as Violation from "./Violation.ts"

/**
 * - `get`: a token that has not expired. From the cache, or by waiting for the one flight.
 * - `invalidate`: drops a token that the service refused, if it is still the current one. The
 *   refusal of an old token never evicts a newer one.
 *
 * @category models
 * @since 0.1.0
 */
export interface Service {
  readonly get: Effect.Effect<AccessToken.AccessToken, TokenError.TokenError>
  readonly invalidate: (stale: AccessToken.AccessToken) => Effect.Effect<void>
}

/**
 * @category tags
 * @since 0.1.0
 */
export class TokenProvider extends Context.Tag("@effect-idv/core/TokenProvider")<TokenProvider, Service>() {}

/**
 * - `authUrl`: the address of the token endpoint, without `/oauth/service`. `https:`, or `http:`
 *   to a loopback address.
 * - `customerId`, `customerKey`: the credentials of the onboarding pack.
 * - `allowInsecure`: allows `http:` to other hosts too. Secrets then travel in the clear.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends Credentials.Options {
  readonly authUrl: string
  readonly allowInsecure?: boolean | undefined
}

/**
 * Counts the token requests that were sent, by all providers of the process.
 *
 * @category metrics
 * @since 0.1.0
 */
export const requests = Metric.counter("idv_token_requests", {
  description: "Token requests sent",
  incremental: true
})

const attemptDeadline = Duration.seconds(10)

/**
 * A provider that lives as long as the scope. `ConfigError` names an option that cannot be used.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(options: Options) {
  const credentials = yield* Credentials.make(options)
  const url = yield* Address.make("authUrl", options.authUrl, IdvApi.token.path, options)
  const exchange = yield* Exchange.make
  const scope = yield* Effect.scope
  const state = yield* Ref.make(TokenState.initial)

  const request = HttpClientRequest.post(url).pipe(
    HttpClientRequest.acceptJson,
    HttpClientRequest.setHeader("authorization", Redacted.value(Credentials.toBasicHeader(credentials))),
    HttpClientRequest.bodyUrlParams(encodeRequest({ grant_type: "client_credentials" }))
  )

  const acquire = Effect.gen(function*() {
    const requestedAt = yield* Clock.currentTimeMillis
    yield* Metric.increment(requests)
    const answer = yield* exchange(request)
    const token = AccessToken.fromResponse(yield* interpret(answer, credentials), requestedAt)
    if (token.expiresAt <= (yield* Clock.currentTimeMillis)) {
      return yield* invalid(answer.description, Violation.whole("a token that outlives its own request"))
    }
    return token
  }).pipe(
    Effect.catchTags({
      ConnectionFailed: ({ reason }) => new TokenError.TokenEndpointUnavailable({ reason }),
      BodyTooLong: ({ description, violations }) => invalid(description, violations)
    }),
    Deadline.within(attemptDeadline, new TokenError.TokenTimeout({ deadline: attemptDeadline })),
    Effect.withSpan("TokenProvider.acquire")
  )

  const fly = (flight: TokenState.Flight) =>
    acquire.pipe(
      Effect.interruptible,
      Effect.onExit((exit) =>
        Effect.zipRight(
          Ref.update(state, (state) => TokenState.land(state, flight, Exit.isSuccess(exit) ? exit.value : undefined)),
          Deferred.done(
            flight,
            Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause)
              ? Exit.fail(new TokenError.TokenProviderClosed())
              : exit
          )
        )
      ),
      Effect.forkIn(scope)
    )

  const get = Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const fresh = yield* Deferred.make<AccessToken.AccessToken, TokenError.TokenError>()
      const move = yield* Ref.modify(state, (state) => TokenState.request(state, fresh, now))
      if (move._tag === "Use") return move.token
      if (move._tag === "Start") yield* fly(move.flight)
      return yield* restore(Deferred.await(move.flight))
    })
  )

  return TokenProvider.of({
    get,
    invalidate: Effect.fn("TokenProvider.invalidate")((stale) =>
      Ref.update(state, (state) => TokenState.invalidate(state, stale))
    )
  })
})

/**
 * Needs an `HttpClient`. Nothing is sent before the first `get`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<TokenProvider, ConfigError, HttpClient.HttpClient> =>
  Layer.scoped(TokenProvider, make(options))

/**
 * {@link layer} with options from `Config`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  config: Config.Config.Wrap<Options>
): Layer.Layer<TokenProvider, ConfigError, HttpClient.HttpClient> =>
  Layer.scoped(TokenProvider, Effect.flatMap(Config.unwrap(config), make))

const encodeRequest = Schema.encodeSync(IdvApi.TokenRequest)
const decodeResponse = Violation.decodeJson(AccessToken.Response)
const decodeError = Violation.decodeJson(AccessToken.ErrorResponse)

const invalid = (description: Exchange.Description, violations: Violation.Violations) =>
  new TokenError.TokenResponseInvalid({ ...description, violations })

/**
 * A token only from a 2xx without an OAuth error. 408, 429 and 5xx say nothing about the
 * credentials; every other 4xx refuses them; a redirect is not followed. An error code is repeated
 * only if it is one word of a harmless alphabet, and not our own secret.
 */
const interpret = (
  answer: Exchange.Answer,
  credentials: Credentials.Credentials
): Either.Either<
  AccessToken.Response,
  TokenError.TokenRejected | TokenError.TokenEndpointUnavailable | TokenError.TokenResponseInvalid
> => {
  const { body, description, retryAfter, status } = answer
  if (status === 408 || status === 429 || status >= 500) {
    return Either.left(
      new TokenError.TokenEndpointUnavailable({ reason: "status", status, ...(retryAfter && { retryAfter }) })
    )
  }
  const error = decodeError(body)
  if (status >= 400 || (Exchange.isSuccess(answer) && Either.isRight(error))) {
    const code = Option.filter(
      Either.getRight(error),
      ({ error }) => /^[\w.-]{1,64}$/.test(error) && !Credentials.isRevealedBy(credentials, error)
    )
    return Either.left(new TokenError.TokenRejected({ status, ...(Option.isSome(code) && { code: code.value.error }) }))
  }
  return Exchange.isSuccess(answer)
    ? Either.mapLeft(decodeResponse(body), (violations) => invalid(description, violations))
    : Either.left(invalid(description, Violation.whole("a token response")))
}
