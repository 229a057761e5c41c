/** Sends a request with the access token, and with a new one if the first is refused. */
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import { type AccessToken, isSame } from "../AccessToken.ts"
import type { Renewal } from "../AmlError.ts"
import type { TokenError } from "../TokenError.ts"
import type * as TokenProvider from "../TokenProvider.ts"
import type { Answer } from "./exchange.ts"
import * as Instant from "./instant.ts"

/** An answer, and if it is a refusal of the token, what became of renewing it. */
export interface Authorized {
  readonly answer: Answer
  readonly renewal: Renewal
}

/** For how long a new token that was refused as well is not replaced by yet another. */
const probationMillis = 30_000

/**
 * The token goes to `origin` only, and never over an `Authorization` that is there already. One
 * that is refused is replaced once, and the same request sent once more; if the new one is refused
 * as well, the first refusal stands.
 */
export const make = Effect.fnUntraced(function*({ origin, tokens }: {
  readonly origin: string
  readonly tokens: TokenProvider.Service
}) {
  /** A token that replaced a refused one, until the service accepts it. */
  const probation = yield* Ref.make<{ readonly token: AccessToken; readonly at: Instant.Instant } | undefined>(
    undefined
  )

  const isOnProbation = (token: AccessToken) =>
    Effect.zipWith(
      Ref.get(probation),
      Instant.now,
      (last, now) => last !== undefined && isSame(last.token, token) && Instant.elapsed(last.at, now) < probationMillis
    )

  const accepted = (token: AccessToken) =>
    Ref.update(probation, (last) => last !== undefined && isSame(last.token, token) ? undefined : last)

  return Effect.fnUntraced(function*<E>(
    request: HttpClientRequest.HttpClientRequest,
    send: (request: HttpClientRequest.HttpClientRequest) => Effect.Effect<Answer, E>
  ): Effect.fn.Return<Authorized, E | TokenError> {
    if (request.headers["authorization"] !== undefined || new URL(request.url).origin !== origin) {
      return { answer: yield* send(request), renewal: "none" }
    }
    const withToken = ({ value }: AccessToken) => send(HttpClientRequest.bearerToken(request, value))

    const token = yield* tokens.get
    const answer = yield* withToken(token)
    if (answer.status !== 401) yield* accepted(token)
    if (!isTokenRefused(answer)) return { answer, renewal: "none" }
    if (yield* isOnProbation(token)) return { answer, renewal: "paused" }
    yield* tokens.invalidate(token)
    if (request.body._tag === "Stream") return { answer, renewal: "unreplayable" }

    const renewed = yield* tokens.get
    yield* Ref.set(probation, { token: renewed, at: yield* Instant.now })
    if (isSame(renewed, token)) return { answer, renewal: "same_token" }
    const replayed = yield* withToken(renewed)
    if (replayed.status === 401) return { answer, renewal: "replayed" }
    yield* accepted(renewed)
    return { answer: replayed, renewal: "none" }
  })
})

/** 401 without a challenge, or with a challenge for a bearer token. 403 is never an expired token. */
const isTokenRefused = ({ status, wwwAuthenticate }: Answer): boolean =>
  status === 401 && (wwwAuthenticate === undefined || /(^|,)\s*bearer\b/i.test(wwwAuthenticate))
