/** Servers whose token responses are others, or whose tokens live otherwise. */
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Breaks from "./breaks.ts"
import * as Own from "./own.ts"
import * as Parts from "./parts.ts"
import { type Answer, type Mutant, of, type Request, type Serve, type Wrapper } from "./wire.ts"

const grants = (...changes: ReadonlyArray<Breaks.Change>) => Breaks.changing(Breaks.granted, ...changes)

const minute = 60_000

interface Issued {
  readonly customerId: string
  readonly at: number
  readonly usedAt: number
}

type Issue = Map<string, Issued>

/** Watches the tokens as they are given, and judges what they are used for. */
const watching = (
  judge: (asked: {
    readonly request: Request
    readonly serve: Serve
    readonly token: string
    readonly issued: Issued
    readonly all: Issue
  }) => Effect.Effect<Answer>
): Wrapper =>
  Breaks.remembering((): Issue => new Map(), (all) => (request, serve) =>
    Effect.gen(function*() {
      const token = Parts.credentialOf(request)
      const issued = all.get(token)
      if (Parts.isAml(request) && issued !== undefined) return yield* judge({ request, serve, token, issued, all })
      const answer = yield* serve(request)
      const given = Parts.grantOf(answer)
      if (Parts.isToken(request) && Option.isSome(given)) {
        const [customerId] = Parts.basicOf(request)
        const at = yield* Own.now(customerId, serve)
        all.set(given.value, { customerId, at, usedAt: at })
      }
      return answer
    }))

/** As a token is refused that was never given. */
const asForged = (request: Request): Request => Parts.withAuthorization(request, "Bearer over")

/** Accepts a token that the right server refuses, as long as `isValid` by its ages in milliseconds. */
const living = (isValid: (age: number, unused: number) => boolean): Wrapper =>
  watching(({ all, issued, request, serve, token }) =>
    Effect.gen(function*() {
      const now = yield* Own.now(issued.customerId, serve)
      const valid = isValid(now - issued.at, now - issued.usedAt)
      all.set(token, { ...issued, usedAt: now })
      const answer = yield* serve(request)
      if (Parts.isSuccess(answer)) return valid ? answer : yield* serve(asForged(request))
      return valid && Parts.textOf(answer).includes("expired")
        ? yield* serve(yield* Own.withToken(request, serve))
        : answer
    })
  )

/** A token as a JWT, which anybody can read, and nobody can check. */
const jwtOf = (token: string): string =>
  [{ alg: "HS256", typ: "at+jwt" }, { sub: "customer" }].map((part) => Encoding.encodeBase64Url(JSON.stringify(part)))
    .concat(Encoding.encodeBase64Url(token)).join(".")

const asJwt: Wrapper = Breaks.remembering(() => new Map<string, string>(), (tokens) => (request, serve) => {
  const token = Parts.isAml(request) ? tokens.get(Parts.credentialOf(request)) : undefined
  const [scheme = ""] = Parts.authorizationOf(request).split(" ")
  return Effect.map(
    serve(token === undefined ? request : Parts.withAuthorization(request, `${scheme} ${token}`)),
    (answer) =>
      Option.match(Parts.isToken(request) ? Parts.grantOf(answer) : Option.none(), {
        onNone: () => answer,
        onSome: (token) => {
          tokens.set(jwtOf(token), token)
          return Breaks.field("access_token", () => jwtOf(token))(answer, request)
        }
      })
  )
})

const tokenText: Breaks.Change = (answer, request) =>
  Breaks.text("text/plain; charset=utf-8", () => Option.getOrElse(Parts.grantOf(answer), () => ""))(answer, request)

export const mutants: ReadonlyArray<Mutant> = [
  of("token.success.status", [
    ["201", "gives a token with 201", grants(Breaks.status(201))],
    ["202", "gives a token with 202", grants(Breaks.status(202))]
  ]),
  of("token.response.content-type", [
    ["text", "sends the token response as plain text", grants(Breaks.header("content-type", "text/plain"))],
    ["html", "sends the token response as a page", grants(Breaks.header("content-type", "text/html"))]
  ]),
  of("token.response.fields", [
    [
      "camel-case",
      "gives the token as accessToken",
      grants(Breaks.json(Breaks.renamed({ access_token: "accessToken" })))
    ],
    ["token", "gives the token as token", grants(Breaks.json(Breaks.renamed({ access_token: "token" })))],
    ["nested", "gives the token inside data", grants(Breaks.json((data) => ({ data })))],
    ["text", "gives the token as plain text", grants(tokenText)]
  ]),
  of("token.response.type", [
    ["lower-case", "says that the token is bearer", grants(Breaks.field("token_type", () => "bearer"))],
    ["missing", "does not say of what type the token is", grants(Breaks.field("token_type", () => undefined))],
    ["mac", "says that the token is mac", grants(Breaks.field("token_type", () => "mac"))]
  ]),
  of("token.response.format", [
    ["jwt", "gives a JWT", asJwt]
  ]),
  of("token.response.lifetime", [
    ["missing", "does not say how long the token lives", grants(Breaks.field("expires_in", () => undefined))],
    ["text", "says the lifetime as a text", grants(Breaks.field("expires_in", String))],
    ["milliseconds", "says the lifetime in milliseconds", grants(Breaks.field("expires_in", () => 3_600_000))],
    ["shorter", "says that the token lives a minute", grants(Breaks.field("expires_in", () => 60))]
  ]),
  of("token.response.no-store", [
    ["missing", "does not tell caches to keep nothing", grants(Breaks.header("cache-control", undefined))],
    ["an-hour", "lets caches keep a token for an hour", grants(Breaks.header("cache-control", "max-age=3600"))]
  ]),
  of("token.lifetime", [
    ["half-an-hour", "refuses a token after 30 minutes", living((age) => age < 30 * minute)],
    ["two-hours", "accepts a token for two hours", living((age) => age < 120 * minute)],
    ["for-ever", "never refuses a token for its age", living(() => true)],
    ["a-minute-more", "accepts a token for 61 minutes", living((age) => age < 61 * minute)],
    [
      "early-use",
      "counts the hour of a token from a use in its first 45 minutes",
      living((age, unused) => age < 60 * minute || age - unused < 45 * minute && unused < 60 * minute)
    ],
    ["sliding", "counts the hour of a token from its last use", living((_, unused) => unused < 60 * minute)]
  ]),
  of("token.renewal", [
    [
      "ended",
      "ends the token of a customer when it gives the next",
      watching(({ all, issued: { customerId }, request, serve, token }) => {
        const latest = Array.from(all).filter(([, other]) => other.customerId === customerId).at(-1)
        return serve(latest === undefined || latest[0] === token ? request : asForged(request))
      })
    ]
  ]),
  of("token.revoked", [
    [
      "accepted",
      "accepts a token that was revoked",
      Breaks.accepting(
        (request, answer) => Parts.isAml(request) && Parts.textOf(answer).includes("revoked"),
        Own.withToken
      )
    ]
  ])
].flat()
