/** Each transition of the token state, at its limits. `TokenState` tests what holds over any history. */
import { TokenError } from "@effect-idv/core"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Duration, Either, Option, Redacted } from "effect"
import * as CachedToken from "../src/internal/token/cachedToken.ts"
import * as Credentials from "../src/internal/token/credentials.ts"
import * as TokenResponse from "../src/internal/token/tokenResponse.ts"
import * as TokenState from "../src/internal/token/tokenState.ts"
import * as Service from "./support/service.ts"
import { makePolicy } from "./support/tokens.ts"

type State = TokenState.State<string>

const initial: State = TokenState.initial
const policy = {
  ...Either.getOrThrow(makePolicy({ refreshAfter: 0.5, expiryMargin: "10 seconds" })),
  jitter: 0
}
const credentials = Either.getOrThrow(Credentials.make(Service.options))
const otherCredentials = Either.getOrThrow(
  Credentials.make({ ...Service.options, customerKey: Redacted.make("other") })
)

const after = (millis: number) => ({ wall: millis, monotonic: millis })

/** Stale after 50 s, usable for 90 s, expired after 100 s, and due for the background timer after 45 s. */
const cachedToken = (text: string, requestedAt = 0) =>
  CachedToken.make(
    TokenResponse.toToken({ value: Redacted.make(text), seconds: 100, warnings: [] }, requestedAt),
    after(requestedAt),
    0,
    policy
  )
const cached = cachedToken("first")
const rejected = { ...cached, isRejected: true }

const down = new TokenError.TokenEndpointUnavailable({ reason: "broken", attempts: 3 })
const limited = (seconds: number) =>
  new TokenError.TokenEndpointUnavailable({
    reason: "status",
    status: 429,
    attempts: 1,
    retryAfter: Duration.seconds(seconds)
  })
const refusal = (status: number) => new TokenError.TokenRejected({ status })

const backoff = (millis: number, error: TokenError.TokenError | undefined = undefined, count = 1) => ({
  at: after(0),
  millis,
  count,
  error
})
const cooldown = (seconds: number) => ({ at: after(0), millis: seconds * 1000, error: limited(seconds) })

/** What a caller does, with the reason of a new acquisition as its name. */
const get = (state: State, millis: number) => TokenState.get(state, after(millis), (reason) => reason)
const refresh = (state: State, millis: number) => TokenState.joinOrStart(state, after(millis), () => "forced")
const renew = (state: State, millis: number) =>
  TokenState.joinOrStartForReason(state, after(millis), (reason) => reason)

const use = { _tag: "Use", cached, start: undefined } as const
const waitFor = (acquisition: string) => ({ _tag: "Wait", acquisition, start: acquisition } as const)

describe("A caller", () => {
  it.each<[string, State, number, TokenState.Action<string>]>([
    ["without a token waits for a new one", initial, 0, waitFor("cold")],
    ["uses a fresh token", { ...initial, cached }, 49_999, use],
    ["uses a stale token, and starts a refresh", { ...initial, cached }, 50_000, { ...use, start: "refresh_after" }],
    ["uses a stale token during a refresh", { ...initial, cached, acquisition: "refresh_after" }, 50_000, use],
    ["starts no refresh during a backoff", { ...initial, cached, backoff: backoff(60_000) }, 59_999, use],
    ["starts no refresh during a cooldown", { ...initial, cached, cooldown: cooldown(60) }, 59_999, use],
    ["starts a refresh after a backoff", { ...initial, cached, backoff: backoff(60_000) }, 60_000, {
      ...use,
      start: "refresh_after"
    }],
    ["starts a refresh after a cooldown", { ...initial, cached, cooldown: cooldown(60) }, 60_000, {
      ...use,
      start: "refresh_after"
    }],
    ["waits if the token is no longer usable", { ...initial, cached }, 90_000, waitFor("usable_until")],
    ["waits if the token was rejected", { ...initial, cached: rejected }, 0, waitFor("unauthorized")]
  ])("%s", (_, state, millis, expected) => {
    const [action, next] = get(state, millis)
    deepStrictEqual(action, expected)
    if (expected.start === undefined) strictEqual(next, state)
    else deepStrictEqual(next, { ...state, acquisition: expected.start })
  })

  it("that requires a new token starts an acquisition, or waits for the one in progress", () => {
    deepStrictEqual(refresh({ ...initial, cached }, 0), [waitFor("forced"), {
      ...initial,
      cached,
      acquisition: "forced"
    }])
    const running = { ...initial, acquisition: "cold" }
    const [action, next] = refresh(running, 0)
    deepStrictEqual(action, { _tag: "Wait", acquisition: "cold", start: undefined })
    strictEqual(next, running)
  })

  it.each<[string, State, number, TokenError.TokenError | undefined]>([
    ["receives the last failure in the backoff", { ...initial, backoff: backoff(1000, down) }, 999, down],
    ["asks again after the backoff", { ...initial, backoff: backoff(1000, down) }, 1000, undefined],
    ["receives it for 5 s at most", { ...initial, backoff: backoff(60_000, down) }, 4999, down],
    ["asks again after 5 s", { ...initial, backoff: backoff(60_000, down) }, 5000, undefined],
    ["asks again in a backoff without failure", { ...initial, backoff: backoff(1000) }, 0, undefined],
    ["waits for a longer cooldown", { ...initial, backoff: backoff(1000, down), cooldown: cooldown(1) }, 0, undefined],
    ["receives it in a shorter cooldown", { ...initial, backoff: backoff(2000, down), cooldown: cooldown(1) }, 0, down]
  ])("without a token %s", (_, state, millis, error) => {
    const [action, next] = get(state, millis)
    deepStrictEqual(action, error === undefined ? waitFor("cold") : { _tag: "Fail", error, start: undefined })
    if (error !== undefined) strictEqual(next, state)
  })

  const timeout = new TokenError.TokenTimeout({ deadline: Duration.millis(400), host: "auth.example" })
  const invalid = new TokenError.TokenResponseInvalid({ host: "h", status: 200, length: 0, violations: [] })
  it.each<[TokenError.TokenError, number]>([
    [refusal(401), 0],
    [new TokenError.TokenProviderClosed(), 0],
    [new TokenError.TokenEndpointUnavailable({ reason: "credentials", attempts: 0 }), 0],
    [limited(0), 1000],
    [timeout, 600],
    [invalid, 1000]
  ])("receives %o for a part of the backoff: %d ms", (error, millis) => {
    const state = { ...initial, backoff: backoff(1000, error) }
    if (millis > 0) strictEqual(get(state, millis - 1)[0]._tag, "Fail")
    strictEqual(get(state, millis)[0]._tag, "Wait")
  })
})

describe("A new token without a caller", () => {
  it.each<[string, State, number]>([
    ["cold", initial, 0],
    ["refresh_after", { ...initial, cached }, 45_000],
    ["usable_until", { ...initial, cached }, 90_000],
    ["unauthorized", { ...initial, cached: rejected }, 45_000]
  ])("is acquired with the reason %s", (reason, state, millis) => {
    deepStrictEqual(renew(state, millis), [waitFor(reason), { ...state, acquisition: reason }])
  })

  it.each<[string, State, number, number]>([
    ["at once without a token", initial, 0, 0],
    ["at the age for the background timer", { ...initial, cached }, 40_000, 5000],
    ["at once if the token is no longer usable", { ...initial, cached: rejected }, 0, 0],
    ["after the backoff", { ...initial, cached, backoff: backoff(60_000) }, 40_000, 20_000],
    ["after the cooldown", { ...initial, cached, cooldown: cooldown(70) }, 40_000, 30_000],
    ["at once when all has passed", { ...initial, cached, backoff: backoff(1000), cooldown: cooldown(1) }, 45_000, 0]
  ])("is due %s", (_, state, millis, expected) => {
    strictEqual(TokenState.millisUntilDue(state, after(millis)), expected)
  })
})

describe("An acquisition that succeeds", () => {
  const before: State = {
    cached,
    acquisition: "refresh_after",
    backoff: backoff(1000, down, 3),
    cooldown: cooldown(10),
    rejectedCredentials: [{ credentials, error: refusal(401), at: after(0), millis: 30_000 }],
    tokenRejections: [after(1)]
  }
  const succeed = (state: State, acquisition: string, fresh: CachedToken.CachedToken, millis: number) =>
    TokenState.succeed(state, { acquisition, newToken: fresh, now: after(millis), policy })

  it("replaces the token and forgets every failure, but not which tokens were rejected", () => {
    const fresh = cachedToken("second", 60_000)
    deepStrictEqual(succeed(before, "refresh_after", fresh, 60_000), [
      Option.some({ token: fresh.token, isReissued: false }),
      { ...initial, cached: fresh, tokenRejections: [after(1)] }
    ])
  })

  it("after it was abandoned, returns its token and changes nothing", () => {
    const fresh = cachedToken("second", 60_000)
    const [result, next] = succeed(before, "other", fresh, 60_000)
    deepStrictEqual(result, Option.some({ token: fresh.token, isReissued: false }))
    strictEqual(next, before)
  })

  it("returns no token if it has expired", () => {
    const fresh = cachedToken("second")
    strictEqual(Option.isSome(succeed(before, "refresh_after", fresh, 99_999)[0]), true)
    const [result, next] = succeed(before, "refresh_after", fresh, 100_000)
    deepStrictEqual(result, Option.none())
    strictEqual(next, before)
  })

  it("with the same token again keeps its expiry, and backs off", () => {
    const [result, next] = succeed(before, "refresh_after", cachedToken("first", 60_000), 60_000)
    deepStrictEqual(Option.map(result, ({ isReissued }) => isReissued), Option.some(true))
    strictEqual(next.cached?.expiresAfter, 100_000)
    deepStrictEqual(next.backoff, { count: 4, error: undefined, at: after(60_000), millis: 8000 })
    deepStrictEqual(
      succeed({ ...before, backoff: undefined }, "refresh_after", cachedToken("first", 60_000), 60_000)[1].backoff,
      {
        count: 1,
        error: undefined,
        at: after(60_000),
        millis: 1000
      }
    )
  })

  it("with a token that is due on arrival backs off, as after a first failure", () => {
    const fresh = cachedToken("second")
    strictEqual(succeed(before, "refresh_after", fresh, 44_999)[1].backoff, undefined)
    deepStrictEqual(succeed(before, "refresh_after", fresh, 45_000)[1].backoff, {
      count: 1,
      error: undefined,
      at: after(45_000),
      millis: 1000
    })
  })
})

describe("An acquisition that fails", () => {
  const fail = (
    state: State,
    error: TokenError.TokenError | undefined,
    { acquisition = "cold", isSent = true, millis = 0 } = {}
  ) =>
    TokenState.fail(state, {
      acquisition,
      error,
      sentCredentials: isSent ? credentials : undefined,
      now: after(millis),
      policy
    })
  const running: State = { ...initial, acquisition: "cold" }

  it("ends with a backoff, which each consecutive failure doubles", () => {
    deepStrictEqual(fail(running, down), { ...initial, backoff: backoff(1000, down) })
    deepStrictEqual(
      fail({ ...running, backoff: backoff(1000, down) }, undefined, { millis: 5 }).backoff,
      { count: 2, error: undefined, at: after(5), millis: 2000 }
    )
    strictEqual(fail({ ...running, backoff: backoff(0, down, 6) }, down).backoff?.millis, 60_000)
  })

  it("keeps the token, and ends the backoff when the token is no longer usable", () => {
    const next = fail({ ...running, cached, backoff: backoff(0, down, 2) }, down, { millis: 88_000 })
    strictEqual(next.cached, cached)
    strictEqual(next.backoff?.millis, 2000)
    strictEqual(
      fail({ ...running, cached, backoff: backoff(0, down, 2) }, down, { millis: 90_000 }).backoff?.millis,
      4000
    )
    strictEqual(fail({ ...running, cached }, down).backoff?.millis, 1000)
  })

  it("after it was abandoned, changes only what the service reported to all", () => {
    strictEqual(fail(running, down, { acquisition: "old" }), running)
    deepStrictEqual(fail(running, limited(9), { acquisition: "old" }), { ...running, cooldown: cooldown(9) })
  })

  it("before it sent credentials, reports nothing about them or about waiting", () => {
    for (const error of [refusal(401), limited(9)]) {
      deepStrictEqual(fail(running, error, { acquisition: "old", isSent: false }), running)
    }
  })

  it.each<[string, number, Credentials.Credentials | undefined, number]>([
    ["a 401 at once", 401, undefined, 30_000],
    ["a redirect at once", 300, undefined, 30_000],
    ["an error in a 2xx not at first", 299, undefined, 0],
    ["an error in a 2xx the second time", 200, credentials, 30_000],
    ["an error in a 2xx not after other credentials", 200, otherCredentials, 0]
  ])("remembers rejected credentials: %s", (_, status, earlier, millis) => {
    const error = refusal(status)
    const rejectedCredentials = earlier === undefined ? [] : [{ credentials: earlier, error, at: after(0), millis: 0 }]
    deepStrictEqual(fail({ ...running, rejectedCredentials }, error, { millis: 7 }).rejectedCredentials, [
      ...(earlier === otherCredentials ? rejectedCredentials : []),
      { credentials, error, at: after(7), millis }
    ])
  })

  it("starts a cooldown, unless a longer one is in progress", () => {
    strictEqual(fail(running, down).cooldown, undefined)
    strictEqual(fail(running, refusal(401)).cooldown, undefined)
    const error = limited(10)
    const during = (seconds: number) => fail({ ...running, cooldown: cooldown(seconds) }, error, { millis: 1000 })
    deepStrictEqual(during(11).cooldown, { error, at: after(1000), millis: 10_000 })
    deepStrictEqual(during(12).cooldown, cooldown(12))
  })
})

describe("A token that the API rejects", () => {
  const invalidate = (state: State, stale: CachedToken.CachedToken, millis = 0) =>
    TokenState.invalidate(state, stale.token, after(millis))

  it("is no longer returned, and the acquisition in progress is abandoned", () => {
    deepStrictEqual(invalidate({ ...initial, cached, acquisition: "refresh_after" }, cached, 5), {
      ...initial,
      cached: rejected,
      tokenRejections: [after(5)]
    })
  })

  it.each<[string, State]>([
    ["without a token", initial],
    ["with a newer token", { ...initial, cached: cachedToken("second") }],
    ["rejected before", { ...initial, cached: rejected }]
  ])("changes nothing %s", (_, state) => {
    strictEqual(invalidate(state, cached), state)
  })

  it("stays as the third within 30 s, and not later", () => {
    const state = { ...initial, cached, tokenRejections: [after(0), after(1)] }
    strictEqual(invalidate(state, cached, 29_999), state)
    deepStrictEqual(invalidate(state, cached, 30_000).tokenRejections, [after(1), after(30_000)])
    strictEqual(invalidate({ ...state, tokenRejections: [after(0)] }, cached, 1).cached?.isRejected, true)
  })
})

describe("A request is blocked", () => {
  const blocked = (
    state: State,
    options: { millis?: number; sent?: Credentials.Credentials; deadline?: number } = {}
  ) =>
    TokenState.errorBlockingSend(state, {
      credentials: options.sent,
      deadline: Duration.seconds(options.deadline ?? 30),
      now: after(options.millis ?? 0)
    })
  const error = refusal(401)
  const refused = { ...initial, rejectedCredentials: [{ credentials, error, at: after(0), millis: 1000 }] }

  it("with rejected credentials, until they may be sent again", () => {
    strictEqual(blocked(refused, { sent: credentials, millis: 999 }), error)
    strictEqual(blocked(refused, { sent: credentials, millis: 1000 }), undefined)
    strictEqual(blocked(refused, { sent: otherCredentials }), undefined)
    strictEqual(blocked(refused), undefined)
    strictEqual(blocked(initial), undefined)
  })

  it("by a cooldown that lasts as long as the deadline", () => {
    const state = { ...initial, cooldown: cooldown(40) }
    deepStrictEqual(
      blocked(state, { millis: 10_000 }),
      new TokenError.TokenEndpointUnavailable({
        reason: "status",
        status: 429,
        attempts: 0,
        retryAfter: Duration.seconds(30)
      })
    )
    strictEqual(blocked(state, { millis: 10_001 }), undefined)
    strictEqual(blocked(initial, { deadline: 0 }), undefined)
  })
})

describe("The rest of a period", () => {
  it("is never negative, and nothing without a period", () => {
    const period = { at: after(0), millis: 1000 }
    deepStrictEqual([0, 400, 1000, 5000].map((millis) => TokenState.millisLeft(period, after(millis))), [
      1000,
      600,
      0,
      0
    ])
    strictEqual(TokenState.millisLeft(undefined, after(0)), 0)
  })
})
