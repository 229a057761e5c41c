import { AccessToken, TokenError } from "@effect-idv/core"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Arbitrary, Duration, Effect, Either, FastCheck, Option, Redacted, Schema } from "effect"
import { elapsed, type Instant } from "../src/internal/schema/instant.ts"
import * as CachedToken from "../src/internal/token/cachedToken.ts"
import * as Credentials from "../src/internal/token/credentials.ts"
import type * as TokenOptions from "../src/internal/token/tokenOptions.ts"
import * as TokenResponse from "../src/internal/token/tokenResponse.ts"
import * as TokenState from "../src/internal/token/tokenState.ts"
import { runs } from "./support/cases.ts"
import * as Service from "./support/service.ts"
import { makePolicy } from "./support/tokens.ts"

const policy = Either.getOrThrow(makePolicy())
const credentials = Either.getOrThrow(Credentials.make(Service.options))

/** An event for a provider. Times are in milliseconds. A number identifies a token. */
const Event = Schema.Union(
  Schema.Struct({ _tag: Schema.Literal("Get", "Refresh") }),
  Schema.Struct({
    _tag: Schema.Literal("Succeed"),
    acquisition: Schema.NonNegativeInt,
    isReissued: Schema.Boolean,
    seconds: Schema.Int.pipe(Schema.between(1, 7200))
  }),
  Schema.Struct({
    _tag: Schema.Literal("Fail"),
    acquisition: Schema.NonNegativeInt,
    error: Schema.Literal("down", "rejected", "cooldown", "defect")
  }),
  Schema.Struct({ _tag: Schema.Literal("Invalidate"), token: Schema.NonNegativeInt }),
  Schema.Struct({
    _tag: Schema.Literal("Wait"),
    wall: Schema.Int.pipe(Schema.between(-7_200_000, 7_200_000)),
    monotonic: Schema.Int.pipe(Schema.between(0, 7_200_000))
  })
)
type Event = typeof Event.Type

interface Acquisition {
  readonly reason: TokenState.Reason
  readonly number: number
  readonly sentAt: Instant
}

const errors = {
  down: new TokenError.TokenEndpointUnavailable({ reason: "broken", attempts: 3 }),
  rejected: new TokenError.TokenRejected({ status: 401 }),
  cooldown: new TokenError.TokenEndpointUnavailable({
    reason: "status",
    status: 429,
    attempts: 1,
    retryAfter: Duration.minutes(2)
  }),
  defect: undefined
}

/** Applies events to the state, and calls `check` after each one. */
const play = (events: ReadonlyArray<Event>, check: (step: Step) => void) => {
  let state: TokenState.State<Acquisition> = TokenState.initial
  let now: Instant = { wall: 0, monotonic: 0 }
  const acquisitions: Array<Acquisition> = []
  const tokens: Array<CachedToken.CachedToken> = []
  const running = new Set<Acquisition>()
  for (const event of events) {
    const before = state
    let action: TokenState.Action<Acquisition> | undefined
    let returned: Option.Option<AccessToken.AccessToken> | undefined
    const open = (reason: TokenState.Reason) => {
      const acquisition = { reason, number: acquisitions.length, sentAt: now }
      acquisitions.push(acquisition)
      running.add(acquisition)
      return acquisition
    }
    const of = (number: number) => [...running][number % Math.max(1, running.size)]
    switch (event._tag) {
      case "Get":
      case "Refresh": {
        const transition = event._tag === "Get"
          ? TokenState.get(state, now, open)
          : TokenState.joinOrStart(state, now, () => open("forced"))
        action = transition[0]
        state = transition[1]
        break
      }
      case "Succeed": {
        const acquisition = of(event.acquisition)
        if (acquisition === undefined) continue
        const text = event.isReissued && before.cached !== undefined
          ? before.cached.token.value
          : Redacted.make(`token-${acquisition.number}`)
        const token = TokenResponse.toToken(
          { value: text, seconds: event.seconds, warnings: [] },
          acquisition.sentAt.wall
        )
        const fresh = CachedToken.make(token, acquisition.sentAt, 0.5, policy)
        const [outcome, next] = TokenState.succeed(state, { acquisition, newToken: fresh, now, policy })
        tokens.push(fresh)
        returned = Option.map(outcome, ({ token }) => token)
        state = Option.isNone(outcome)
          ? TokenState.fail(next, { acquisition, error: errors.down, sentCredentials: credentials, now, policy })
          : next
        running.delete(acquisition)
        break
      }
      case "Fail": {
        const acquisition = of(event.acquisition)
        if (acquisition === undefined) continue
        state = TokenState.fail(state, {
          acquisition,
          error: errors[event.error],
          sentCredentials: credentials,
          now,
          policy
        })
        running.delete(acquisition)
        break
      }
      case "Invalidate": {
        const stale = tokens[event.token % Math.max(1, tokens.length)]
        if (stale === undefined) continue
        state = TokenState.invalidate(state, stale.token, now)
        break
      }
      case "Wait":
        now = { wall: now.wall + event.wall, monotonic: now.monotonic + event.monotonic }
    }
    check({ event, before, after: state, action, returned, now, running })
  }
}

interface Step {
  readonly event: Event
  readonly before: TokenState.State<Acquisition>
  readonly after: TokenState.State<Acquisition>
  readonly action: TokenState.Action<Acquisition> | undefined
  readonly returned: Option.Option<AccessToken.AccessToken> | undefined
  readonly now: Instant
  readonly running: ReadonlySet<Acquisition>
}

/** Long histories, mostly of gets. */
const histories = FastCheck.array(
  FastCheck.oneof(
    { weight: 2, arbitrary: FastCheck.constant<Event>({ _tag: "Get" }) },
    { weight: 3, arbitrary: Arbitrary.make(Event) }
  ),
  { minLength: 1, maxLength: 60, size: "max" }
)

const holds = (check: (step: Step) => void) =>
  FastCheck.assert(FastCheck.property(histories, (events) => play(events, check)), { numRuns: runs(400) })

describe("The token state, over any history", () => {
  it("never returns a token after usableUntil on either clock, or a rejected one", () =>
    holds(({ action, now }) => {
      if (action?._tag !== "Use") return
      const { at, expiresAfter, isRejected, usableUntil } = action.cached
      assert(elapsed(at, now) < usableUntil && usableUntil <= expiresAfter && !isRejected)
      assert(now.wall - at.wall < usableUntil && now.monotonic - at.monotonic < usableUntil)
    }))

  it("never lets a token live longer than an hour from its request, or longer because it is issued again", () =>
    holds(({ after, before }) => {
      if (after.cached === undefined) return
      assert(after.cached.expiresAfter <= 3_600_000)
      if (before.cached !== undefined && AccessToken.isSame(before.cached.token, after.cached.token)) {
        assert(after.cached.expiresAfter <= before.cached.expiresAfter && after.cached.at === before.cached.at)
        assert(after.cached.token.expiresAt <= before.cached.token.expiresAt)
      }
    }))

  it("never starts an acquisition while one is in progress", () =>
    holds(({ action, before }) => {
      if (before.acquisition !== undefined && action !== undefined) strictEqual(action.start, undefined)
    }))

  it("runs two acquisitions only after the current token was rejected", () => {
    let refusals = 0
    return holds(({ after, before, event, running }) => {
      if (before === TokenState.initial) refusals = 0
      if (event._tag === "Invalidate" && before.acquisition !== undefined && after.acquisition === undefined) refusals++
      if (running.size === 0) refusals = 0
      assert(running.size <= 1 + refusals)
    })
  })

  it("a failed acquisition never removes a token", () =>
    holds(({ after, before, event }) => {
      if (event._tag === "Fail") strictEqual(after.cached, before.cached)
    }))

  it("an old token's 401 never evicts a newer one", () =>
    holds(({ after, before, event }) => {
      if (event._tag !== "Invalidate") return
      strictEqual(after.cached?.token, before.cached?.token)
      if (after.cached !== before.cached) {
        assert(after.cached?.isRejected === true && before.cached?.isRejected === false)
      } else strictEqual(after, before)
    }))

  it("a 401 evicts at most two tokens in 30 s", () => {
    let evictions: ReadonlyArray<Instant> = []
    return holds(({ after, before, event, now }) => {
      if (before === TokenState.initial) evictions = []
      if (event._tag !== "Invalidate" || after.cached === before.cached) return
      evictions = [...evictions, now]
      const third = evictions.at(-3)
      assert(third === undefined || elapsed(third, now) >= 30_000)
    })
  })

  it("an abandoned acquisition changes nothing, and its callers receive its token", () =>
    holds(({ after, before, event, returned }) => {
      if (event._tag !== "Succeed" || before.acquisition !== undefined) return
      strictEqual(after, before)
      assert(returned !== undefined)
    }))

  it("stores cooldowns and rejected credentials of every failed acquisition, and nothing else of an abandoned one", () =>
    holds(({ after, before, event, now, running }) => {
      if (event._tag !== "Fail") return
      if (event.error === "cooldown") assert(TokenState.millisLeft(after.cooldown, now) >= 120_000)
      if (event.error === "rejected") strictEqual(TokenState.millisLeft(after.rejectedCredentials.at(-1), now), 30_000)
      if (before.acquisition === undefined || running.has(before.acquisition)) {
        strictEqual(after.acquisition, before.acquisition)
        strictEqual(after.backoff, before.backoff)
      }
    }))

  it("a caller waits for the acquisition in progress", () =>
    holds(({ action, after }) => {
      if (action?._tag === "Wait") strictEqual(after.acquisition, action.acquisition)
    }))

  it("the background starts no acquisition before it is due", () =>
    holds(({ action, after, before, now }) => {
      if (action?._tag === "Use" && action.start !== undefined) strictEqual(TokenState.millisUntilDue(before, now), 0)
      assert(TokenState.millisUntilDue(after, now) >= 0)
    }))

  it("a caller fails at once only with the failure of the last acquisition, for at most 5 s", () =>
    holds(({ action, after, before, event, now }) => {
      if (action?._tag !== "Fail") return
      strictEqual(after, before)
      const { acquisition, backoff, cached, cooldown } = before
      assert(backoff !== undefined && backoff.error === action.error && acquisition === undefined)
      assert(elapsed(backoff.at, now) < 5000 && TokenState.millisLeft(cooldown, now) < 5000)
      assert(action.error._tag !== "TokenRejected")
      assert(event._tag === "Refresh" || cached === undefined || !CachedToken.isUsable(cached, now))
    }))

  it("a caller without a token starts no acquisition within 1 s after a failed one", () => {
    let failedAt: Instant | undefined
    return holds(({ action, after, before, event, now }) => {
      if (before === TokenState.initial || after.cached !== before.cached) failedAt = undefined
      if (event._tag === "Fail" && before.acquisition !== undefined && after.acquisition === undefined) {
        failedAt = event.error === "down" ? now : undefined
      }
      if (action?._tag !== "Wait" || action.start === undefined || failedAt === undefined) return
      const usable = before.cached === undefined ? 0 : CachedToken.usableMillis(before.cached, failedAt)
      const wait = usable > 0 ? Math.min(usable, 1000) : 1000
      assert(elapsed(failedAt, now) >= wait || TokenState.millisLeft(before.cooldown, now) > 0)
    })
  })
})

describe("Durations", () => {
  const at = { wall: 0, monotonic: 0 }

  it("of two cooldowns the longer one applies, in any order", () => {
    const acquisition = { reason: "cold", number: 0, sentAt: at } as const
    const unavailable = (minutes: number) =>
      new TokenError.TokenEndpointUnavailable({ ...errors.cooldown, retryAfter: Duration.minutes(minutes) })
    const after = (...minutes: ReadonlyArray<number>) =>
      minutes.reduce<TokenState.State<Acquisition>>(
        (state, minutes) =>
          TokenState.fail(state, {
            acquisition,
            error: unavailable(minutes),
            sentCredentials: credentials,
            now: at,
            policy
          }),
        TokenState.initial
      )
    strictEqual(TokenState.millisLeft(after(2, 60).cooldown, at), 3_600_000)
    strictEqual(TokenState.millisLeft(after(60, 2).cooldown, at), 3_600_000)
  })

  const cached = (seconds: number, random: number, options: TokenOptions.PolicyOptions = {}) =>
    CachedToken.make(
      TokenResponse.toToken({ value: Redacted.make("t"), seconds, warnings: [] }, 0),
      at,
      random,
      Either.getOrThrow(makePolicy(options))
    )

  it.each<[number, number, TokenOptions.PolicyOptions, readonly [number, number, number]]>([
    [3600, 0, {}, [2_700_000, 3_570_000, 3_600_000]],
    [3600, 1, {}, [2_340_000, 3_570_000, 3_600_000]],
    [20, 0, {}, [15_000, 10_000, 20_000]],
    [3600, 0, { refreshAfter: 0.5, expiryMargin: "1 minute" }, [1_800_000, 3_540_000, 3_600_000]],
    [3600, 0, { expiryMargin: "2 hours" }, [2_700_000, 1_800_000, 3_600_000]],
    [4, 0, { expiryMargin: "200 millis" }, [3000, 3800, 4000]]
  ])(
    "a token of %d s, with the random number %d and %j: refreshAfter, usableUntil and expiresAfter are %j",
    (seconds, random, options, ages) => {
      const { expiresAfter, refreshAfter, usableUntil } = cached(seconds, random, options)
      deepStrictEqual([refreshAfter, usableUntil, expiresAfter], ages)
    }
  )

  it("the backoff is 1 s, doubled up to 60 s", () => {
    const acquisition = { reason: "refresh_after", number: 0, sentAt: at } as const
    let state: TokenState.State<Acquisition> = { ...TokenState.initial, cached: cached(3600, 0), acquisition }
    const waits: Array<number> = []
    for (let i = 0; i < 9; i++) {
      state = TokenState.fail({ ...state, acquisition }, {
        acquisition,
        error: errors.down,
        sentCredentials: credentials,
        now: at,
        policy
      })
      waits.push(TokenState.millisUntilDue({ ...state, cached: undefined }, at) / 1000)
    }
    deepStrictEqual(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60])
  })
})

describe("The options of tokenPolicy", () => {
  it.effect.each<[TokenOptions.PolicyOptions, string]>([
    [{ lifetime: "61 minutes" }, "lifetime"],
    [{ lifetime: 0 }, "lifetime"],
    [{ refreshAfter: 1.1 }, "refreshAfter"],
    [{ refreshAfter: Number.NaN }, "refreshAfter"],
    [{ expiryMargin: Duration.infinity }, "expiryMargin"],
    [{ attempts: 0 }, "attempts"],
    [{ attempts: 1.5 }, "attempts"],
    [{ attemptDeadline: 0 }, "attemptDeadline"],
    [{ acquisitionDeadline: Duration.infinity }, "acquisitionDeadline"],
    [{ expiryMargin: Number.NaN }, "expiryMargin"],
    [{ expiryMargin: -5 }, "expiryMargin"],
    [{ expiryMargin: [-5, 0] }, "expiryMargin"],
    [{ rejectionMemory: [0, -5] }, "rejectionMemory"],
    [{ rejectionMemory: [Number.NaN, 0] }, "rejectionMemory"],
    [{ rejectionMemory: "-1 minute" }, "rejectionMemory"],
    [JSON.parse("{\"rejectionMemory\":\"soon\"}"), "rejectionMemory"],
    [JSON.parse("{\"retryDelay\":\"1 second\"}"), "retryDelay"]
  ])("%j is a ConfigError that names %s", ([options, field]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(makePolicy(options))
      assert(error._op === "InvalidData")
      deepStrictEqual(error.path, ["tokenPolicy", field])
    }))

  it.each<[unknown, string]>([
    [{ lifetime: "2 hours" }, "should be a duration over 0 and at most \"1 hour\""],
    [{ lifetime: "-1 hour" }, "should be a duration over 0 and at most \"1 hour\""],
    [{ refreshAfter: "0.5" }, "should be a number between 0 and 1"],
    [{ attempts: 0 }, "should be an integer over 0"],
    [
      { attemptDeadline: 0 },
      "should be a duration over 0 and at most 2147483647 ms (24.8 days), such as \"30 seconds\""
    ],
    [{ expiryMargin: "30s" }, "should be a duration of at most 2147483647 ms (24.8 days), such as \"30 seconds\""],
    [{ retryDelay: 1 }, "should be no such field"],
    ["fast", "should be an object"]
  ])("%j is rejected with a description", (options, expected) => {
    const parsed: TokenOptions.PolicyOptions = JSON.parse(JSON.stringify(options))
    const error = Either.getOrThrow(Either.flip(makePolicy(parsed)))
    assert(error._op === "InvalidData")
    strictEqual(error.message, expected)
    strictEqual(error.path.includes(""), false)
  })

  it.effect("names every invalid option", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(makePolicy({ attempts: 0, refreshAfter: 2 }))
      strictEqual(error._op, "And")
    }))
})
