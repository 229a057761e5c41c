/** Sends a request with the access token, and once more with a new token if the service rejects the first. */
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { type AccessToken, isSame } from "../../AccessToken.ts"
import type { Renewal } from "../../AmlError.ts"
import type { TokenError } from "../../TokenError.ts"
import type * as TokenProvider from "../../TokenProvider.ts"
import * as Instant from "../schema/instant.ts"
import * as Exchange from "../wire/exchange.ts"

/** The response to report. */
export interface AuthorizedResponse {
  readonly response: Exchange.CompleteResponse
  /** If the response rejects the token, the result of renewing it. Otherwise `none`, even if the token was renewed. */
  readonly renewal: Renewal
}

/** Runs before each request of the checks of this fiber: see `AmlClient.beforeEachRequest`. */
export class BeforeRequest extends Context.Reference<BeforeRequest>()("@effect-idv/core/internal/BeforeRequest", {
  defaultValue: (): Effect.Effect<void> | undefined => undefined
}) {}

/** Receives the events of the requests of one call. */
export interface Observer extends Exchange.Observer {
  readonly requestStarted: (token: AccessToken) => void
  /** The response is a 401. */
  readonly tokenRejected: () => void
}

/** A token that replaced a rejected one may itself be replaced after this time, or once the API has accepted it. */
const probationMillis = 30_000

/**
 * Returns a function that sends a request. A rejected request was not performed, so it is sent once more: with a new
 * token, or with the same one if there is no other. If the second request is rejected too, the first response is
 * returned.
 */
export const make = (exchange: Exchange.Send, tokens: TokenProvider.Service) => {
  /** The last token that replaced a rejected one, until the service accepts it, for 30 s at most. */
  let replacement: Replacement | undefined

  /** The last token that the service accepted. */
  let acceptedToken: AccessToken | undefined

  const recordReplacement = (token: AccessToken, isRejected: boolean) =>
    Effect.map(Instant.now, (at) => {
      // The service already accepted this token, so a late 401 for an older token does not put it on probation again.
      if (!isRejected && acceptedToken !== undefined && isSame(acceptedToken, token)) return
      const wasRejected = replacement !== undefined && replacement.isRejected && isSame(replacement.token, token)
      replacement = { token, at, isRejected: isRejected || wasRejected }
    })

  const isOnProbation = (token: AccessToken) =>
    Effect.map(Instant.now, (now) =>
      replacement !== undefined && isSame(replacement.token, token) &&
      Instant.elapsed(replacement.at, now) < probationMillis)

  /**
   * Records an accepted token. Only a 2xx proves that a token is valid, and only if no other request with it was
   * rejected.
   */
  const recordAccepted = (token: AccessToken, response: Exchange.CompleteResponse): void => {
    if (!Exchange.isSuccess(response)) return
    acceptedToken = token
    if (replacement !== undefined && isSame(replacement.token, token) && !replacement.isRejected) {
      replacement = undefined
    }
  }

  const send = (request: HttpClientRequest.HttpClientRequest, token: AccessToken, observer: Observer) =>
    Effect.withFiberRuntime<Exchange.CompleteResponse, Exchange.ConnectionFailed | Exchange.BodyTooLong>(
      ({ currentContext }) => {
        const before = Context.get(currentContext, BeforeRequest)
        const sending = Effect.suspend(() => {
          observer.requestStarted(token)
          return Effect.map(exchange(HttpClientRequest.bearerToken(request, token.value), observer), (response) => {
            if (response.status === 401) observer.tokenRejected()
            recordAccepted(token, response)
            return response
          })
        })
        return before === undefined ? sending : Effect.zipRight(before, sending)
      }
    )

  const renew = Effect.fnUntraced(function*(
    request: HttpClientRequest.HttpClientRequest,
    { observer, response, token }: {
      readonly token: AccessToken
      readonly response: Exchange.CompleteResponse
      readonly observer: Observer
    }
  ): Effect.fn.Return<AuthorizedResponse, Exchange.ConnectionFailed | Exchange.BodyTooLong | TokenError> {
    const isPaused = yield* isOnProbation(token)
    if (!isPaused) yield* tokens.invalidate(token)
    const current = yield* tokens.get
    const renewal = renewalOf(token, current, isPaused)
    if (renewal !== "paused") yield* recordReplacement(current, renewal === "same_token")
    const replayed = yield* send(request, current, observer)
    if (replayed.status !== 401) return { response: replayed, renewal: "none" }
    if (renewal === "replayed") yield* recordReplacement(current, true)
    return { response, renewal }
  })

  return (
    request: HttpClientRequest.HttpClientRequest,
    observer: Observer
  ): Effect.Effect<AuthorizedResponse, Exchange.ConnectionFailed | Exchange.BodyTooLong | TokenError> =>
    Effect.flatMap(
      tokens.get,
      (token) =>
        Effect.flatMap(send(request, token, observer), (response) =>
          isTokenRejected(response)
            ? renew(request, { token, response, observer })
            : Effect.succeed<AuthorizedResponse>({ response, renewal: "none" }))
    )
}

interface Replacement {
  readonly token: AccessToken
  readonly at: Instant.Instant
  /** Whether the service rejected this token too. Then a later 2xx does not clear the record. */
  readonly isRejected: boolean
}

/**
 * The provider makes a new object for each acquisition: the same object means that it is paused too. A provider that
 * wraps another may copy the token, so that the pause of this module does not depend on it.
 */
const renewalOf = (rejected: AccessToken, current: AccessToken, isPaused: boolean) =>
  !isSame(current, rejected) ? "replayed" : isPaused || current === rejected ? "paused" : "same_token"

/** 401 without a challenge, or with a challenge for a bearer token. 403 never means an expired token. */
const isTokenRejected = ({ status, wwwAuthenticate }: Exchange.CompleteResponse): boolean =>
  status === 401 && (wwwAuthenticate === undefined || /(^|,)\s*bearer\b/i.test(withoutQuoted(wwwAuthenticate)))

const withoutQuoted = (header: string): string => header.replace(/"(?:[^"\\]|\\.)*"/g, "")
