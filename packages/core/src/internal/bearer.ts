/** Sends a request with the access token, and with a new one if the first is refused. */
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import { type AccessToken, isSame } from "../AccessToken.ts"
import type { Renewal } from "../AmlError.ts"
import type { TokenError } from "../TokenError.ts"
import type * as TokenProvider from "../TokenProvider.ts"
import { type Answer, isSuccess } from "./exchange.ts"
import * as Instant from "./instant.ts"

/** An answer, and if it is a refusal of the token, what became of renewing it. */
export interface Authorized {
  readonly answer: Answer
  readonly renewal: Renewal
}

/** For how long a new token that was refused as well is not replaced by yet another. */
const probationMillis = 30_000

/** Sends a request; `token` is the one that it carries, if it is one of ours. */
export type Send<E> = (
  request: HttpClientRequest.HttpClientRequest,
  token: AccessToken | undefined
) => Effect.Effect<Answer, E>

/**
 * The token goes to `origin` only, and never over an `Authorization` that is there already. A request
 * that is refused was not performed, so it is sent once more: with a new token, or with the same one
 * if there is no other. If that is refused as well, the first refusal stands.
 */
export const make = ({ origin, tokens }: {
  readonly origin: string
  readonly tokens: TokenProvider.Service
}) => {
  /** A token that replaced a refused one, until the service accepts it, or for 30 s. */
  let probation: Probation | undefined

  /** The last token that the service accepted. */
  let accepted: AccessToken | undefined

  const putOnProbation = (token: AccessToken, isRefused: boolean) =>
    Effect.map(Instant.now, (at) => {
      // The late refusal of an old token says nothing of one that is known to be good.
      if (!isRefused && accepted !== undefined && isSame(accepted, token)) return
      const wasRefused = probation !== undefined && probation.isRefused && isSame(probation.token, token)
      probation = { token, at, isRefused: isRefused || wasRefused }
    })

  const isOnProbation = (token: AccessToken) =>
    Effect.map(Instant.now, (now) =>
      probation !== undefined && isSame(probation.token, token) &&
      Instant.elapsed(probation.at, now) < probationMillis)

  /** Only a 2xx shows that a token is good, and not if it was refused elsewhere. */
  const learn = (token: AccessToken, answer: Answer): void => {
    if (!isSuccess(answer)) return
    accepted = token
    if (probation !== undefined && isSame(probation.token, token) && !probation.isRefused) probation = undefined
  }

  return Effect.fnUntraced(function*<E>(
    request: HttpClientRequest.HttpClientRequest,
    send: Send<E>
  ): Effect.fn.Return<Authorized, E | TokenError> {
    if (request.headers["authorization"] !== undefined || new URL(request.url).origin !== origin) {
      return { answer: yield* send(request, undefined), renewal: "none" }
    }
    const withToken = (token: AccessToken) => send(HttpClientRequest.bearerToken(request, token.value), token)

    const token = yield* tokens.get
    const answer = yield* withToken(token)
    learn(token, answer)
    if (!isTokenRefused(answer)) return { answer, renewal: "none" }
    const isPaused = yield* isOnProbation(token)
    if (!isPaused) yield* tokens.invalidate(token)
    if (request.body._tag === "Stream") return { answer, renewal: isPaused ? "paused" : "unreplayable" }

    const current = yield* tokens.get
    const renewal = renewalOf(token, current)
    if (renewal !== "paused") yield* putOnProbation(current, renewal === "same_token")
    const replayed = yield* withToken(current)
    learn(current, replayed)
    if (replayed.status !== 401) return { answer: replayed, renewal: "none" }
    if (renewal === "replayed") yield* putOnProbation(current, true)
    return { answer, renewal }
  })
}

interface Probation {
  readonly token: AccessToken
  readonly at: Instant.Instant
  /** Its replay was refused as well. That others are accepted with it does not make it better. */
  readonly isRefused: boolean
}

/** The provider makes a new object for each acquisition: the same object means that there was none. */
const renewalOf = (refused: AccessToken, current: AccessToken) =>
  current === refused ? "paused" : isSame(current, refused) ? "same_token" : "replayed"

/** 401 without a challenge, or with a challenge for a bearer token. 403 is never an expired token. */
const isTokenRefused = ({ status, wwwAuthenticate }: Answer): boolean =>
  status === 401 && (wwwAuthenticate === undefined || /(^|,)\s*bearer\b/i.test(withoutQuoted(wwwAuthenticate)))

const withoutQuoted = (header: string): string => header.replace(/"(?:[^"\\]|\\.)*"/g, "")
