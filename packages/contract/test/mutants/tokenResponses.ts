/** Servers that send wrong token responses, or that accept tokens for too long or too short. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Changes from "./changes.ts"
import * as Messages from "./messages.ts"
import { type Mutant, of, type Request, type Response, type Serve, type Wrapper } from "./model.ts"
import * as OwnCustomer from "./ownCustomer.ts"

const changeGrant = (...changes: ReadonlyArray<Changes.Change>) => Changes.changeResponse(Changes.isGrant, ...changes)

const minute = 60_000

interface IssuedToken {
  readonly customerId: string
  /** In milliseconds since 1970, by the clock of the session. */
  readonly issuedAt: number
  readonly usedAt: number
}

/** A check with a token that this server has issued. */
interface Use {
  readonly request: Request
  readonly serve: Serve
  readonly token: string
  readonly issued: IssuedToken
  /** All issued tokens, the oldest first. */
  readonly tokens: Map<string, IssuedToken>
}

/** Remembers the tokens that are issued, and responds to their uses with `respond`. */
const onUse = (respond: (use: Use) => Effect.Effect<Response>): Wrapper =>
  Changes.withState(() => new Map<string, IssuedToken>(), (tokens) => (request, serve) =>
    Effect.gen(function*() {
      const token = Messages.credentialOf(request)
      const issued = tokens.get(token)
      if (Messages.isAml(request) && issued !== undefined) {
        return yield* respond({ request, serve, token, issued, tokens })
      }
      const response = yield* serve(request)
      const newToken = Messages.grantOf(response)
      if (Messages.isToken(request) && Option.isSome(newToken)) {
        const [customerId] = Messages.basicOf(request)
        const issuedAt = yield* OwnCustomer.now(customerId, serve)
        tokens.set(newToken.value, { customerId, issuedAt, usedAt: issuedAt })
      }
      return response
    }))

/** The same request with a token that no server has issued. */
const withForgedToken = (request: Request): Request => Messages.withAuthorization(request, "Bearer over")

/** Accepts a token while `isValid` holds for its age and for the time since its last use, in milliseconds. */
const acceptWhile = (isValid: (age: number, unused: number) => boolean): Wrapper =>
  onUse(({ issued, request, serve, token, tokens }) =>
    Effect.gen(function*() {
      const now = yield* OwnCustomer.now(issued.customerId, serve)
      const valid = isValid(now - issued.issuedAt, now - issued.usedAt)
      tokens.set(token, { ...issued, usedAt: now })
      const response = yield* serve(request)
      if (Messages.isSuccess(response)) return valid ? response : yield* serve(withForgedToken(request))
      return valid && Messages.textOf(response).includes("expired")
        ? yield* serve(yield* OwnCustomer.withToken(request, serve))
        : response
    })
  )

export const mutants: ReadonlyArray<Mutant> = [
  of("token.success.status", [
    ["202", "issues a token with 202", changeGrant(Changes.status(202))]
  ]),
  of("token.response.content-type", [
    ["text", "sends the token response as plain text", changeGrant(Changes.header("content-type", "text/plain"))],
    ["html", "sends the token response as text/html", changeGrant(Changes.header("content-type", "text/html"))]
  ]),
  of("token.response.no-store", [
    [
      "missing",
      "omits the Cache-Control header of the token response",
      changeGrant(Changes.header("cache-control", undefined))
    ],
    [
      "an-hour",
      "allows caches to keep a token for an hour",
      changeGrant(Changes.header("cache-control", "max-age=3600"))
    ]
  ]),
  of("token.lifetime", [
    ["half-an-hour", "refuses a token after 30 minutes", acceptWhile((age) => age < 30 * minute)],
    ["two-hours", "accepts a token for two hours", acceptWhile((age) => age < 120 * minute)],
    ["for-ever", "accepts a token forever", acceptWhile(() => true)],
    ["a-minute-more", "accepts a token for 61 minutes", acceptWhile((age) => age < 61 * minute)],
    [
      "early-use",
      "counts the hour of a token from a use in its first 45 minutes",
      acceptWhile((age, unused) => age < 60 * minute || age - unused < 45 * minute && unused < 60 * minute)
    ],
    ["sliding", "counts the hour of a token from its last use", acceptWhile((_, unused) => unused < 60 * minute)]
  ]),
  of("token.renewal", [
    [
      "ended",
      "ends the token of a customer when it issues the next",
      onUse(({ issued: { customerId }, request, serve, token, tokens }) => {
        const latest = Array.from(tokens).filter(([, other]) => other.customerId === customerId).at(-1)
        return serve(latest === undefined || latest[0] === token ? request : withForgedToken(request))
      })
    ]
  ]),
  of("token.revoked", [
    [
      "accepted",
      "accepts a revoked token",
      Changes.acceptRefused(
        (request, response) => Messages.isAml(request) && Messages.textOf(response).includes("revoked"),
        OwnCustomer.withToken
      )
    ]
  ])
].flat()
