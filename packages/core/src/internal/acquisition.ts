/** One acquisition of a token: the request, what its answer means, and how often it is tried. */
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
import * as AccessToken from "../AccessToken.ts"
import * as Credentials from "../Credentials.ts"
import * as IdvApi from "../IdvApi.ts"
import * as TokenError from "../TokenError.ts"
import * as TokenMetrics from "../TokenMetrics.ts"
import type { TokenPolicy } from "../TokenPolicy.ts"
import * as Violation from "../Violation.ts"
import * as Coding from "./coding.ts"
import * as Deadline from "./deadline.ts"
import * as Exchange from "./exchange.ts"
import * as Host from "./host.ts"
import * as Instant from "./instant.ts"

/** A token, and what became of its request. `over` is the failure that it is if it came too late. */
export interface Acquired {
  readonly token: AccessToken.AccessToken
  readonly at: Instant.Instant
  readonly warnings: ReadonlyArray<AccessToken.Warning>
  readonly over: TokenError.TokenResponseInvalid
}

export type Acquire = (options: {
  readonly credentials: Credentials.Credentials
  /** What is left of the deadline of the flight. */
  readonly deadline: Duration.Duration
  /** Waits before a retry as long as others were asked to wait, or fails. */
  readonly mayAsk: Effect.Effect<unknown, TokenError.TokenError>
  readonly isAwaited: () => boolean
}) => Effect.Effect<Acquired, TokenError.TokenError>

/**
 * Tries until there is a token, the deadline is near, or trying again cannot help: as often as the
 * policy says while `isAwaited`, and once in the background, where the next flight is the retry.
 * What the service asks to wait is waited, or else told at once.
 */
export const make = Effect.fnUntraced(function*({ fields, policy, url }: {
  readonly url: string
  readonly fields: Arr.NonEmptyReadonlyArray<AccessToken.Field>
  readonly policy: TokenPolicy
}) {
  const exchange = yield* Exchange.make(url)
  const host = Host.of(url)
  const decode = AccessToken.decodeResponse(fields)

  const attempt = (credentials: Credentials.Credentials, attempts: number) =>
    Effect.gen(function*() {
      yield* Metric.increment(TokenMetrics.requests)
      const at = yield* Instant.now
      const answer = yield* exchange(requestOf(url, credentials))
      const grant = yield* interpret(answer, { attempts, credentials, decode })
      const acquired: Acquired = {
        token: AccessToken.fromGrant(grant, at.wall, policy.lifetime),
        at,
        warnings: grant.warnings,
        over: invalid(answer.description, Violation.whole("a token that is not over yet"))
      }
      return acquired
    }).pipe(
      Effect.catchTags({
        ConnectionFailed: ({ reason }) => new TokenError.TokenEndpointUnavailable({ reason, attempts, host }),
        BodyTooLong: ({ description, violations }) => invalid(description, violations)
      }),
      Deadline.within(policy.attemptDeadline, timeout(policy.attemptDeadline, host))
    )

  const acquire: Acquire = ({ credentials, deadline, isAwaited, mayAsk }) =>
    Effect.gen(function*() {
      const started = yield* Instant.now
      for (let attempts = 1;; attempts++) {
        const result = yield* Effect.either(attempt(credentials, attempts))
        if (Either.isRight(result)) return result.right
        const error = result.left
        if (!error.isRetryable || !isAwaited() || attempts >= policy.attempts) return yield* error
        const pause = Math.max(askedFor(error), yield* delay(policy, attempts))
        if (Instant.elapsed(started, yield* Instant.now) + pause >= Duration.toMillis(deadline)) return yield* error
        yield* Effect.sleep(pause)
        yield* mayAsk
      }
    }).pipe(Deadline.within(deadline, timeout(policy.flightDeadline, host)))
  return acquire
})

const timeout = (deadline: Duration.Duration, host: string) =>
  Effect.suspend(() => new TokenError.TokenTimeout({ deadline, host }))

const encodeRequest = Schema.encodeSync(IdvApi.TokenRequest)
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

/** A gateway that asks for more does not mean it. */
const longestRetryAfter = Duration.hours(1)

/** Doubled each time, with full jitter. */
const delay = ({ retryDelay }: TokenPolicy, attempts: number) =>
  Effect.map(Random.next, (random) => random * Duration.toMillis(retryDelay) * 2 ** (attempts - 1))

const askedFor = (error: TokenError.TokenError): number =>
  error._tag === "TokenEndpointUnavailable" && error.retryAfter !== undefined ? Duration.toMillis(error.retryAfter) : 0

const invalid = (description: Exchange.Description, violations: Violation.Violations) =>
  new TokenError.TokenResponseInvalid({ ...description, violations })

/** Plain text may be a token if the content type does not say that it is something else. */
const mayBeText = ({ contentType = "text/plain" }: Exchange.Description): boolean =>
  contentType === "text/plain" || contentType === "other"

/**
 * A token only from a 2xx without an OAuth error. 408, 429 and 5xx say nothing about the
 * credentials; every other 4xx refuses them; a redirect is not followed. An error code is repeated
 * only if it is one word of a harmless alphabet, and not our own secret.
 */
const interpret = (
  answer: Exchange.Answer,
  { attempts, credentials, decode }: {
    readonly attempts: number
    readonly credentials: Credentials.Credentials
    readonly decode: ReturnType<typeof AccessToken.decodeResponse>
  }
): Either.Either<
  AccessToken.Grant,
  TokenError.TokenRejected | TokenError.TokenEndpointUnavailable | TokenError.TokenResponseInvalid
> => {
  const { contentType, description, retryAfter, status } = answer
  const body = Coding.toUtf8(answer.body, contentType)
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
  if (status >= 400 || (Exchange.isSuccess(answer) && Either.isRight(error))) {
    const code = Either.isRight(error) ? error.right.error : undefined
    const isHarmless = typeof code === "string" && /^[\w.-]{1,64}$/.test(code) &&
      !Credentials.isRevealedBy(credentials, code)
    return Either.left(new TokenError.TokenRejected({ status, ...(isHarmless && { code }) }))
  }
  return Exchange.isSuccess(answer)
    ? Either.mapLeft(decode(body, mayBeText(description)), (violations) => invalid(description, violations))
    : Either.left(invalid(description, Violation.whole("a token response")))
}
