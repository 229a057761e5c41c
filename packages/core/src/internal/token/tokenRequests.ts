/** Acquires one token: sends the request, interprets the response, and retries. */
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as Arr from "effect/Array"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Metric from "effect/Metric"
import * as Predicate from "effect/Predicate"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as AccessToken from "../../AccessToken.ts"
import * as Metrics from "../../Metrics.ts"
import * as TokenError from "../../TokenError.ts"
import * as Violation from "../../Violation.ts"
import * as Address from "../schema/address.ts"
import * as Instant from "../schema/instant.ts"
import * as Coding from "../wire/coding.ts"
import * as Deadline from "../wire/deadline.ts"
import * as Exchange from "../wire/exchange.ts"
import * as Credentials from "./credentials.ts"
import type { TokenPolicy } from "./tokenOptions.ts"
import * as TokenResponse from "./tokenResponse.ts"

/** A token and its response. */
export interface AcquiredToken {
  readonly token: AccessToken.AccessToken
  /** When the token was requested. */
  readonly at: Instant.Instant
  readonly warnings: ReadonlyArray<AccessToken.Warning>
  readonly description: Exchange.Description
}

export type Acquire = (options: {
  readonly credentials: Credentials.Credentials
  /** The rest of the deadline of the acquisition. */
  readonly deadline: Duration.Duration
  /** Runs before each retry. Waits for a cooldown that another acquisition has caused, or fails. */
  readonly beforeRetry: Effect.Effect<unknown, TokenError.TokenError>
  /** Whether a caller waits for the token. */
  readonly isAwaited: () => boolean
}) => Effect.Effect<AcquiredToken, TokenError.TokenError>

/**
 * Returns a function that requests a token until it succeeds, the error is not retryable, or the next wait would exceed
 * the deadline. It sends up to `policy.attempts` requests while `isAwaited`. In the background it sends one, because
 * the next acquisition is the retry.
 */
export const make = Effect.fnUntraced(function*({ fields, policy, url }: {
  readonly url: string
  readonly fields: Arr.NonEmptyReadonlyArray<AccessToken.Field>
  readonly policy: TokenPolicy
}) {
  const exchange = yield* Exchange.make(url, "tokens")
  const host = Address.hostOf(url)
  const decode = TokenResponse.decode(fields)

  const attempt = (credentials: Credentials.Credentials, attempts: number) =>
    Effect.gen(function*() {
      yield* Metric.increment(Metrics.tokenRequests)
      const at = yield* Instant.now
      const response = yield* exchange(requestOf(url, credentials))
      const grant = yield* interpret(response, { attempts, credentials, decode })
      const acquired: AcquiredToken = {
        token: TokenResponse.toToken(grant, at.wall, policy.lifetime),
        at,
        warnings: grant.warnings,
        description: response.description
      }
      return acquired
    }).pipe(
      Effect.catchTags({
        ConnectionFailed: ({ reason, status }) =>
          new TokenError.TokenEndpointUnavailable({
            reason,
            attempts,
            host,
            ...(reason === "proxy" && status !== undefined && { status })
          }),
        BodyTooLong: ({ description, violations }) => invalid(description, violations)
      }),
      Deadline.within(policy.attemptDeadline, timeout(policy.attemptDeadline, host))
    )

  const acquire: Acquire = ({ beforeRetry, credentials, deadline, isAwaited }) =>
    Effect.gen(function*() {
      const started = yield* Instant.now
      for (let attempts = 1;; attempts++) {
        const result = yield* Effect.either(attempt(credentials, attempts))
        if (Either.isRight(result)) return result.right
        const error = result.left
        if (!error.isRetryable || !isAwaited() || attempts >= policy.attempts) return yield* error
        const pause = Math.max(retryAfterMillis(error), yield* retryDelay(policy, attempts))
        if (Instant.elapsed(started, yield* Instant.now) + pause >= Duration.toMillis(deadline)) return yield* error
        yield* Effect.sleep(pause)
        yield* beforeRetry
      }
    }).pipe(Deadline.within(deadline, timeout(policy.acquisitionDeadline, host)))
  return acquire
})

const timeout = (deadline: Duration.Duration, host: string) =>
  Effect.suspend(() => new TokenError.TokenTimeout({ deadline, host }))

const encodeRequest = Schema.encodeSync(AccessToken.Request)
const decodeError = Violation.decodeJson(
  Schema.Struct({
    error: Schema.Unknown.pipe(Schema.filter((error) => Predicate.isNotNullable(error) && error !== false))
  })
)

const requestOf = (url: string, credentials: Credentials.Credentials) =>
  HttpClientRequest.post(url).pipe(
    HttpClientRequest.acceptJson,
    HttpClientRequest.setHeader("authorization", Redacted.value(Credentials.toBasicHeader(credentials))),
    HttpClientRequest.bodyUrlParams(encodeRequest({ grant_type: "client_credentials" }))
  )

/** A longer `Retry-After` is shortened to this, because such a gateway is misconfigured. */
const longestRetryAfter = Duration.hours(1)

/** Doubles with each retry, with full jitter. */
const retryDelay = ({ retryDelay }: TokenPolicy, attempts: number) =>
  Effect.map(Random.next, (random) => random * Duration.toMillis(retryDelay) * 2 ** (attempts - 1))

const retryAfterMillis = (error: TokenError.TokenError): number =>
  error._tag === "TokenEndpointUnavailable" && error.retryAfter !== undefined ? Duration.toMillis(error.retryAfter) : 0

/** The error of a response that is not a token response. */
export const invalid = (description: Exchange.Description, violations: Violation.Violations) =>
  new TokenError.TokenResponseInvalid({ ...description, violations })

/** Whether the body may be a bare token: the content type is absent, `text/plain`, or not a known media type. */
const mayBeText = ({ contentType = "text/plain" }: Exchange.Description): boolean =>
  contentType === "text/plain" || contentType === "other"

/**
 * Returns a token only from a 2xx without an OAuth error. 408, 429 and 5xx say nothing about the credentials. Every
 * other 4xx rejects them. A redirect is not followed. An error code is kept only if it matches a safe-character pattern
 * and does not repeat the credentials.
 */
const interpret = (
  response: Exchange.CompleteResponse,
  { attempts, credentials, decode }: {
    readonly attempts: number
    readonly credentials: Credentials.Credentials
    readonly decode: ReturnType<typeof TokenResponse.decode>
  }
): Either.Either<
  TokenResponse.Grant,
  TokenError.TokenRejected | TokenError.TokenEndpointUnavailable | TokenError.TokenResponseInvalid
> => {
  const { contentType, description, retryAfter, status } = response
  const body = Coding.toUtf8(response.body, contentType)
  if (status === 408 || status === 429 || status >= 500) {
    return Either.left(
      new TokenError.TokenEndpointUnavailable({
        reason: "status",
        attempts,
        host: description.host,
        status,
        ...(retryAfter && { retryAfter: Duration.min(retryAfter, longestRetryAfter) })
      })
    )
  }
  const error = decodeError(body)
  if (status >= 400 || (Exchange.isSuccess(response) && Either.isRight(error))) {
    const code = Either.isRight(error) ? error.right.error : undefined
    const isSafe = typeof code === "string" && /^[\w.-]{1,64}$/.test(code) &&
      !Credentials.isRevealedBy(credentials, code)
    return Either.left(new TokenError.TokenRejected({ status, ...(isSafe && { code }) }))
  }
  return Exchange.isSuccess(response)
    ? Either.mapLeft(decode(body, mayBeText(description)), (violations) => invalid(description, violations))
    : Either.left(invalid(description, Violation.whole("a token response")))
}
