import { AccessToken, Credentials, TokenError, TokenPolicy } from "@effect-idv/core"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Arbitrary, Duration, Effect, Either, FastCheck, Option, Redacted, Schema } from "effect"
import * as HeldToken from "../src/internal/cachedToken.ts"
import { elapsed, type Instant } from "../src/internal/instant.ts"
import * as TokenState from "../src/internal/tokenState.ts"
import * as Service from "./support/service.ts"

const policy = Either.getOrThrow(TokenPolicy.make())
const credentials = Either.getOrThrow(Credentials.make(Service.options))

/** What can happen to a provider. Times are in milliseconds; a token is known by its number. */
const Event = Schema.Union(
  Schema.Struct({ _tag: Schema.Literal("Get", "Refresh") }),
  Schema.Struct({
    _tag: Schema.Literal("Land"),
    flight: Schema.NonNegativeInt,
    isAgain: Schema.Boolean,
    seconds: Schema.Int.pipe(Schema.between(1, 7200))
  }),
  Schema.Struct({
    _tag: Schema.Literal("Fail"),
    flight: Schema.NonNegativeInt,
    error: Schema.Literal("down", "refused", "embargo", "defect")
  }),
  Schema.Struct({ _tag: Schema.Literal("Invalidate"), token: Schema.NonNegativeInt }),
  Schema.Struct({
    _tag: Schema.Literal("Wait"),
    wall: Schema.Int.pipe(Schema.between(-7_200_000, 7_200_000)),
    monotonic: Schema.Int.pipe(Schema.between(0, 7_200_000))
  })
)
type Event = typeof Event.Type

interface Flight {
  readonly reason: TokenState.Reason
  readonly number: number
  readonly sentAt: Instant
}

const errors = {
  down: new TokenError.TokenEndpointUnavailable({ reason: "broken", attempts: 3 }),
  refused: new TokenError.TokenRejected({ status: 401 }),
  embargo: new TokenError.TokenEndpointUnavailable({
    reason: "status",
    status: 429,
    attempts: 1,
    retryAfter: Duration.minutes(2)
  }),
  defect: undefined
}

/** Plays events on the machine, and after each one tells `check` what was and what is. */
const play = (events: ReadonlyArray<Event>, check: (step: Step) => void) => {
  let state: TokenState.State<Flight> = TokenState.initial
  let now: Instant = { wall: 0, monotonic: 0 }
  const flights: Array<Flight> = []
  const tokens: Array<HeldToken.HeldToken> = []
  const inTheAir = new Set<Flight>()
  for (const event of events) {
    const before = state
    let move: TokenState.Move<Flight> | undefined
    let landed: Option.Option<AccessToken.AccessToken> | undefined
    const open = (reason: TokenState.Reason) => {
      const flight = { reason, number: flights.length, sentAt: now }
      flights.push(flight)
      inTheAir.add(flight)
      return flight
    }
    const of = (number: number) => [...inTheAir][number % Math.max(1, inTheAir.size)]
    switch (event._tag) {
      case "Get":
      case "Refresh": {
        const transition = event._tag === "Get"
          ? TokenState.request(state, now, open)
          : TokenState.refresh(state, now, () => open("forced"))
        move = transition[0]
        state = transition[1]
        break
      }
      case "Land": {
        const flight = of(event.flight)
        if (flight === undefined) continue
        const text = event.isAgain && before.held !== undefined
          ? before.held.token.value
          : Redacted.make(`token-${flight.number}`)
        const token = AccessToken.fromGrant({ value: text, seconds: event.seconds, warnings: [] }, flight.sentAt.wall)
        const fresh = HeldToken.make(token, flight.sentAt, 0.5, policy)
        const [outcome, next] = TokenState.land(state, { flight, fresh, now, policy })
        tokens.push(fresh)
        landed = Option.map(outcome, ({ token }) => token)
        state = Option.isNone(outcome)
          ? TokenState.fail(next, { flight, error: errors.down, sent: credentials, now, policy })
          : next
        inTheAir.delete(flight)
        break
      }
      case "Fail": {
        const flight = of(event.flight)
        if (flight === undefined) continue
        state = TokenState.fail(state, { flight, error: errors[event.error], sent: credentials, now, policy })
        inTheAir.delete(flight)
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
    check({ event, before, after: state, move, landed, now, inTheAir })
  }
}

interface Step {
  readonly event: Event
  readonly before: TokenState.State<Flight>
  readonly after: TokenState.State<Flight>
  readonly move: TokenState.Move<Flight> | undefined
  readonly landed: Option.Option<AccessToken.AccessToken> | undefined
  readonly now: Instant
  readonly inTheAir: ReadonlySet<Flight>
}

/** Histories that are long enough to matter, with more gets than anything else. */
const histories = FastCheck.array(
  FastCheck.oneof(
    { weight: 2, arbitrary: FastCheck.constant<Event>({ _tag: "Get" }) },
    { weight: 3, arbitrary: Arbitrary.make(Event) }
  ),
  { minLength: 1, maxLength: 60, size: "max" }
)

const holds = (check: (step: Step) => void) =>
  FastCheck.assert(FastCheck.property(histories, (events) => play(events, check)), { numRuns: 2000 })

describe("The state machine, over any history", () => {
  it("never gives out a token after its hard point, by either clock, nor one that was refused", () =>
    holds(({ move, now }) => {
      if (move?._tag !== "Use") return
      const { at, end, hard, isRefused } = move.held
      assert(elapsed(at, now) < hard && hard <= end && !isRefused)
      assert(now.wall - at.wall < hard && now.monotonic - at.monotonic < hard)
    }))

  it("never lets a token live longer than an hour from its request, nor longer for being given again", () =>
    holds(({ after, before }) => {
      if (after.held === undefined) return
      assert(after.held.end <= 3_600_000)
      if (before.held !== undefined && AccessToken.isSame(before.held.token, after.held.token)) {
        assert(after.held.end <= before.held.end && after.held.at === before.held.at)
        assert(after.held.token.expiresAt <= before.held.token.expiresAt)
      }
    }))

  it("never starts a flight while one is under way", () =>
    holds(({ before, move }) => {
      if (before.flight !== undefined && move !== undefined) strictEqual(move.start, undefined)
    }))

  it("never has two flights in the air, but after the current token was refused", () => {
    let refusals = 0
    return holds(({ after, before, event, inTheAir }) => {
      if (before === TokenState.initial) refusals = 0
      if (event._tag === "Invalidate" && before.flight !== undefined && after.flight === undefined) refusals++
      if (inTheAir.size === 0) refusals = 0
      assert(inTheAir.size <= 1 + refusals)
    })
  })

  it("a failed flight never displaces a token", () =>
    holds(({ after, before, event }) => {
      if (event._tag === "Fail") strictEqual(after.held, before.held)
    }))

  it("an old token's 401 never evicts a newer one", () =>
    holds(({ after, before, event }) => {
      if (event._tag !== "Invalidate") return
      strictEqual(after.held?.token, before.held?.token)
      if (after.held !== before.held) assert(after.held?.isRefused === true && before.held?.isRefused === false)
      else strictEqual(after, before)
    }))

  it("a 401 evicts at most two tokens in 30 s", () => {
    let evictions: ReadonlyArray<Instant> = []
    return holds(({ after, before, event, now }) => {
      if (before === TokenState.initial) evictions = []
      if (event._tag !== "Invalidate" || after.held === before.held) return
      evictions = [...evictions, now]
      const third = evictions.at(-3)
      assert(third === undefined || elapsed(third, now) >= 30_000)
    })
  })

  it("a flight that was given up changes nothing, and its waiters get its token", () =>
    holds(({ after, before, event, landed }) => {
      if (event._tag !== "Land" || before.flight !== undefined) return
      strictEqual(after, before)
      assert(landed !== undefined)
    }))

  it("what the service says to a flight that fails is remembered, and nothing else of one that was given up", () =>
    holds(({ after, before, event, inTheAir, now }) => {
      if (event._tag !== "Fail") return
      if (event.error === "embargo") assert(TokenState.left(after.embargo, now) >= 120_000)
      if (event.error === "refused") strictEqual(TokenState.left(after.rejection, now), 30_000)
      if (before.flight === undefined || inTheAir.has(before.flight)) {
        strictEqual(after.flight, before.flight)
        strictEqual(after.setback, before.setback)
      }
    }))

  it("a caller that waits, waits for the flight under way", () =>
    holds(({ after, move }) => {
      if (move?._tag === "Wait") strictEqual(after.flight, move.flight)
    }))

  it("the background starts no flight before it is due", () =>
    holds(({ after, before, move, now }) => {
      if (move?._tag === "Use" && move.start !== undefined) strictEqual(TokenState.dueIn(before, now), 0)
      assert(TokenState.dueIn(after, now) >= 0)
    }))

  it("a caller fails at once only with the failure of the last flight, for at most 5 s, and changes nothing", () =>
    holds(({ after, before, event, move, now }) => {
      if (move?._tag !== "Fail") return
      strictEqual(after, before)
      const { embargo, flight, held, setback } = before
      assert(setback !== undefined && setback.error === move.error && flight === undefined)
      assert(elapsed(setback.at, now) < 5000 && TokenState.left(embargo, now) < 5000)
      assert(move.error._tag !== "TokenRejected")
      assert(event._tag === "Refresh" || held === undefined || !HeldToken.isUsable(held, now))
    }))

  it("a caller without a token starts no flight within 1 s after one that failed", () => {
    let failedAt: Instant | undefined
    return holds(({ after, before, event, move, now }) => {
      if (before === TokenState.initial || after.held !== before.held) failedAt = undefined
      if (event._tag === "Fail" && before.flight !== undefined && after.flight === undefined) {
        failedAt = event.error === "down" ? now : undefined
      }
      if (move?._tag !== "Wait" || move.start === undefined || failedAt === undefined) return
      const usable = before.held === undefined ? 0 : HeldToken.usableFor(before.held, failedAt)
      const wait = usable > 0 ? Math.min(usable, 1000) : 1000
      assert(elapsed(failedAt, now) >= wait || TokenState.left(before.embargo, now) > 0)
    })
  })
})

describe("The numbers", () => {
  const at = { wall: 0, monotonic: 0 }

  it("of two times that the service asked to wait the longer one counts, whichever answer comes first", () => {
    const flight = { reason: "cold", number: 0, sentAt: at } as const
    const asked = (minutes: number) =>
      new TokenError.TokenEndpointUnavailable({ ...errors.embargo, retryAfter: Duration.minutes(minutes) })
    const after = (...minutes: ReadonlyArray<number>) =>
      minutes.reduce<TokenState.State<Flight>>(
        (state, minutes) =>
          TokenState.fail(state, { flight, error: asked(minutes), sent: credentials, now: at, policy }),
        TokenState.initial
      )
    strictEqual(TokenState.left(after(2, 60).embargo, at), 3_600_000)
    strictEqual(TokenState.left(after(60, 2).embargo, at), 3_600_000)
  })

  const held = (seconds: number, random: number, options: TokenPolicy.Options = {}) =>
    HeldToken.make(
      AccessToken.fromGrant({ value: Redacted.make("t"), seconds, warnings: [] }, 0),
      at,
      random,
      Either.getOrThrow(TokenPolicy.make(options))
    )

  it.each<[number, number, TokenPolicy.Options, readonly [number, number, number]]>([
    [3600, 0, {}, [2_700_000, 3_570_000, 3_600_000]],
    [3600, 1, {}, [2_340_000, 3_570_000, 3_600_000]],
    [20, 0, {}, [15_000, 10_000, 20_000]],
    [3600, 0, { softPoint: 0.5, hardMargin: "1 minute" }, [1_800_000, 3_540_000, 3_600_000]],
    [3600, 0, { hardMargin: "2 hours" }, [2_700_000, 1_800_000, 3_600_000]],
    [4, 0, { hardMargin: "200 millis" }, [3000, 3800, 4000]]
  ])(
    "a token of %d s, with the random number %d and %j: soft, hard and end are %j",
    (seconds, random, options, ages) => {
      const { end, hard, soft } = held(seconds, random, options)
      deepStrictEqual([soft, hard, end], ages)
    }
  )

  it("the backoff is 1 s, doubled up to 60 s", () => {
    const flight = { reason: "soft", number: 0, sentAt: at } as const
    let state: TokenState.State<Flight> = { ...TokenState.initial, held: held(3600, 0), flight }
    const waits: Array<number> = []
    for (let i = 0; i < 9; i++) {
      state = TokenState.fail({ ...state, flight }, { flight, error: errors.down, sent: credentials, now: at, policy })
      waits.push(TokenState.dueIn({ ...state, held: undefined }, at) / 1000)
    }
    deepStrictEqual(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60])
  })
})

describe("TokenPolicy", () => {
  it.effect.each<[TokenPolicy.Options, string]>([
    [{ lifetime: "61 minutes" }, "lifetime"],
    [{ lifetime: 0 }, "lifetime"],
    [{ softPoint: 1.1 }, "softPoint"],
    [{ softPoint: Number.NaN }, "softPoint"],
    [{ jitter: -0.1 }, "jitter"],
    [{ hardMargin: Duration.infinity }, "hardMargin"],
    [{ attempts: 0 }, "attempts"],
    [{ attempts: 1.5 }, "attempts"],
    [{ attemptDeadline: 0 }, "attemptDeadline"],
    [{ flightDeadline: Duration.infinity }, "flightDeadline"],
    [{ minBackoff: 0 }, "minBackoff"],
    [{ hardMargin: Number.NaN }, "hardMargin"],
    [{ hardMargin: -5 }, "hardMargin"],
    [{ hardMargin: [-5, 0] }, "hardMargin"],
    [{ retryDelay: [0, -5] }, "retryDelay"],
    [{ retryDelay: [Number.NaN, 0] }, "retryDelay"],
    [{ rejectionMemory: "-1 minute" }, "rejectionMemory"],
    [JSON.parse("{\"rejectionMemory\":\"soon\"}"), "rejectionMemory"],
    [JSON.parse("{\"retryDeley\":\"1 second\"}"), "retryDeley"]
  ])("%j is a ConfigError that names %s", ([options, field]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(TokenPolicy.make(options))
      assert(error._op === "InvalidData")
      deepStrictEqual(error.path, ["tokenPolicy", field])
    }))

  it.each<[unknown, string]>([
    [{ lifetime: "2 hours" }, "should be a duration over 0 and at most \"1 hour\""],
    [{ lifetime: "-1 hour" }, "should be a duration over 0 and at most \"1 hour\""],
    [{ softPoint: "0.5" }, "should be a number between 0 and 1"],
    [{ attempts: 0 }, "should be an integer over 0"],
    [{ minBackoff: 0 }, "should be a duration over 0 and at most 2147483647 ms (24.8 days), such as \"30 seconds\""],
    [{ hardMargin: "30s" }, "should be a duration of at most 2147483647 ms (24.8 days), such as \"30 seconds\""],
    [{ retryDeley: 1 }, "should be no such field"],
    ["fast", "should be an object"]
  ])("%j is refused in words", (options, expected) => {
    const parsed: TokenPolicy.Options = JSON.parse(JSON.stringify(options))
    const error = Either.getOrThrow(Either.flip(TokenPolicy.make(parsed)))
    assert(error._op === "InvalidData")
    strictEqual(error.message, expected)
    strictEqual(error.path.includes(""), false)
  })

  it.effect("names every option that is wrong", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(TokenPolicy.make({ attempts: 0, jitter: 2 }))
      strictEqual(error._op, "And")
    }))
})
