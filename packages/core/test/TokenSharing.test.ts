import type { TokenProvider } from "@effect-idv/core"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Array as Arr, Clock, Duration, Effect, Encoding, Fiber, Option, TestClock } from "effect"
import * as Clocks from "./support/clocks.ts"
import * as MemoryStore from "./support/memoryStore.ts"
import * as Service from "./support/service.ts"
import { counted, measured, respondAfter, slow, textOf } from "./support/tokens.ts"

const latency = 300

/** Lets the `TestClock` run until the effect ends. Returns its result and how long it took. */
const timed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const started = yield* Clock.currentTimeMillis
    const fiber = yield* Effect.fork(Effect.zip(effect, Clock.currentTimeMillis))
    for (let i = 0; i < 600 && Option.isNone(yield* Fiber.poll(fiber)); i++) yield* TestClock.adjust("10 millis")
    const [result, ended] = yield* Fiber.join(fiber)
    return { result, took: ended - started }
  })

/** What an acquisition still does in the background. */
const settled = TestClock.adjust("10 millis")

/** The same with a store that hangs. */
const abandoned = Effect.replicateEffect(TestClock.adjust("1 second"), 3)

const text = (provider: TokenProvider.Service) => Effect.map(provider.get, textOf)

const setup = (handler: Service.Handler = slow(latency)) => ({
  service: Service.make({ token: handler }),
  store: MemoryStore.make()
})

/** Replaces fields of the stored record. */
const change = (store: MemoryStore.Store, changes: Record<string, unknown>) => {
  for (const [name, value] of store.values) {
    const [version, key, sealed = ""] = value.split(".")
    const fields = JSON.parse(Buffer.from(sealed, "base64url").toString())
    store.values.set(
      name,
      [version, key, Encoding.encodeBase64Url(JSON.stringify({ ...fields, ...changes }))].join(".")
    )
  }
}

const recorded = (store: MemoryStore.Store) =>
  [...store.values.values()].map((value) =>
    JSON.parse(Buffer.from(value.split(".")[2] ?? "", "base64url").toString()).token
  )

describe("Processes that share a store", { concurrent: true }, () => {
  it.scoped("send one request when all start at once", () => {
    const { service, store } = setup()
    return Effect.gen(function*() {
      const providers = yield* Effect.replicateEffect(
        Effect.suspend(() => MemoryStore.provider(service, store.connect().service)),
        10
      )
      const { result, took } = yield* timed(Effect.forEach(providers, text, { concurrency: "unbounded" }))
      deepStrictEqual(Arr.dedupe(result), ["token-1"])
      strictEqual(service.tokenRequests.length, 1)
      assert(took <= latency + 200, `${took} ms`)
      strictEqual(yield* counted("idv_token_store", { outcome: "led" }), 1)
      strictEqual(yield* counted("idv_token_store", { outcome: "followed" }), 9)
      strictEqual(yield* counted("idv_token_store", { outcome: "miss" }), 10)
      strictEqual(yield* counted("idv_token_acquisitions"), 1)
    }).pipe(measured("all at once"))
  })

  it.scoped("adopt a stored token at once, without a request", () => {
    const { service, store } = setup()
    return Effect.gen(function*() {
      const first = yield* MemoryStore.provider(service, store.connect().service)
      yield* timed(first.get)
      yield* TestClock.adjust("10 minutes")
      const second = yield* MemoryStore.provider(service, store.connect().service)
      store.calls.length = 0
      const { result, took } = yield* timed(second.get)
      strictEqual(took, 0)
      strictEqual(textOf(result), "token-1")
      // It was requested when the process that stored it sent its request, and ends a minute early.
      deepStrictEqual([result.requestedAt, result.expiresAt], [0, 3_540_000])
      strictEqual(service.tokenRequests.length, 1)
      strictEqual(yield* counted("idv_token_store", { outcome: "hit" }), 1)
      yield* settled
      // It is not stored again.
      deepStrictEqual(store.calls, ["read"])
    }).pipe(measured("adopt"))
  })

  it.scoped("share nothing if their token endpoints differ", () => {
    const { service, store } = setup()
    return Effect.gen(function*() {
      const sandbox = { authUrl: "https://sandbox.example.com" }
      for (const options of [{}, sandbox]) {
        yield* timed((yield* MemoryStore.provider(service, store.connect().service, options)).get)
        yield* settled
      }
      deepStrictEqual(recorded(store), ["token-1", "token-2"])
      // Someone copies the token of one to the name of the other.
      const [[, token] = [], [nameOfSandbox] = []] = [...store.values]
      assert(token !== undefined && nameOfSandbox !== undefined)
      store.values.set(nameOfSandbox, token)
      const provider = yield* MemoryStore.provider(service, store.connect().service, sandbox)
      strictEqual((yield* timed(text(provider))).result, "token-3")
    })
  })

  it.scoped("do not read the store while a token is cached", () => {
    const { service, store } = setup()
    return Effect.gen(function*() {
      const provider = yield* MemoryStore.provider(service, store.connect().service)
      yield* timed(provider.get)
      yield* settled
      const calls = store.calls.length
      yield* Effect.replicateEffect(provider.get, 100)
      strictEqual(store.calls.length, calls)
    })
  })

  it.scoped("take over from a process that dies while it leads", () => {
    const { service, store } = setup((_, count) => count === 1 ? Effect.never : respondAfter(latency, count))
    return Effect.gen(function*() {
      const dying = store.connect()
      const first = yield* Effect.fork(
        Effect.scoped(Effect.flatMap(MemoryStore.provider(service, dying.service), text))
      )
      yield* settled
      const providers = yield* Effect.replicateEffect(
        Effect.suspend(() => MemoryStore.provider(service, store.connect().service)),
        5
      )
      const others = yield* Effect.fork(Effect.forEach(providers, text, { concurrency: "unbounded" }))
      yield* settled
      // Before the clock moves on, because the lead ends 2 seconds after this.
      yield* dying.die
      yield* Fiber.interrupt(first)
      const { result, took } = yield* timed(Fiber.join(others))
      deepStrictEqual(Arr.dedupe(result), ["token-2"])
      strictEqual(service.tokenRequests.length, 2)
      assert(took <= 2000 + latency + 400, `${took} ms`)
    })
  })

  it.scoped("send their own requests if the leading process takes longer than a request may", () => {
    const { service, store } = setup((_, count) => count === 1 ? Effect.never : respondAfter(latency, count))
    return Effect.gen(function*() {
      const options = {
        tokenPolicy: { attemptDeadline: "2 seconds", acquisitionDeadline: "20 seconds", attempts: 1 }
      } as const
      const hanging = yield* MemoryStore.provider(service, store.connect().service, {
        tokenPolicy: { attemptDeadline: "15 seconds", acquisitionDeadline: "20 seconds" }
      })
      yield* Effect.fork(hanging.get)
      yield* settled
      const provider = yield* MemoryStore.provider(service, store.connect().service, options)
      const { result, took } = yield* timed(text(provider))
      strictEqual(result, "token-2")
      assert(took <= 2000 + latency + 200, `${took} ms`)
    })
  })

  it.scoped("let another process lead after a failed request", () => {
    const { service, store } = setup((_, count) =>
      count === 1 ? Effect.sync(() => new Response(null, { status: 400 })) : respondAfter(latency, count)
    )
    return Effect.gen(function*() {
      const first = yield* MemoryStore.provider(service, store.connect().service)
      const second = yield* MemoryStore.provider(service, store.connect().service)
      strictEqual((yield* timed(Effect.flip(first.get))).result._tag, "TokenRejected")
      yield* settled
      const { result, took } = yield* timed(text(second))
      strictEqual(result, "token-2")
      assert(took <= latency + 10, `${took} ms`)
    })
  })
})

describe("A store that fails costs at most 200 ms, and never an error", { concurrent: true }, () => {
  const ways = MemoryStore.operations.flatMap((operation) =>
    // A lead that is held looks like that of another process.
    MemoryStore.faults.filter((fault) => operation !== "tryLead" || fault !== "garbage").map((fault) =>
      [operation, fault] as const
    )
  )

  it.scoped.each(ways)("%s %s: cold", ([operation, fault]) => {
    const { service, store } = setup()
    return Effect.gen(function*() {
      const provider = yield* MemoryStore.provider(service, store.connect({ [operation]: fault }).service)
      const { result, took } = yield* timed(text(provider))
      strictEqual(result, "token-1")
      assert(took <= latency + 200, `${took} ms`)
      yield* abandoned
    })
  })

  it.scoped.each(ways)("%s %s: after a 401", ([operation, fault]) => {
    const { service, store } = setup()
    return Effect.gen(function*() {
      const { faults, service: connected } = store.connect()
      const provider = yield* MemoryStore.provider(service, connected)
      const { result: stale } = yield* timed(provider.get)
      yield* settled
      Object.assign(faults, { [operation]: fault })
      yield* provider.invalidate(stale)
      const { result, took } = yield* timed(text(provider))
      strictEqual(result, "token-2")
      assert(took <= latency + 200, `${took} ms`)
      yield* abandoned
    })
  })

  it.scoped.each(MemoryStore.faults)("%s while it waits for another process", (fault) => {
    const { service, store } = setup()
    return Effect.gen(function*() {
      const leading = yield* MemoryStore.provider(service, store.connect().service)
      yield* Effect.fork(leading.get)
      yield* settled
      const connection = store.connect()
      const provider = yield* MemoryStore.provider(service, connection.service)
      const fails = Effect.sync(() =>
        Object.assign(connection.faults, { read: fault, tryLead: fault === "garbage" ? "down" : fault })
      )
      yield* Effect.fork(Effect.delay(fails, "100 millis"))
      const { took } = yield* timed(text(provider))
      yield* abandoned
      // When the store failed, it had waited for 100 ms, and its next look was at most 84 ms away.
      assert(took <= 100 + 84 + latency + 200, `${took} ms`)
    })
  })

  /** Breaks of the interface, as a store that is written in JavaScript may have. */
  const breaks: ReadonlyArray<[string, () => unknown]> = [
    ["throws", () => {
      throw new Error("canary")
    }],
    ["returns a promise", () => Promise.resolve(true)],
    ["returns nothing", () => undefined],
    ["succeeds with nothing", () => Effect.succeed(undefined)],
    ["succeeds with null", () => Effect.succeed(null)],
    ["succeeds with no text", () => Effect.succeed(Option.some({ toString: () => null }))]
  ]

  it.scoped.each(
    MemoryStore.operations.flatMap((operation) => breaks.map(([name, run]) => [operation, name, run] as const))
  )("%s %s: cold and after a 401", ([operation, , run]) => {
    const { service, store } = setup()
    return Effect.gen(function*() {
      const { service: connected } = store.connect()
      // The types of the interface do not allow it.
      const broken: typeof connected = Object.assign({ ...connected }, { [operation]: run })
      const provider = yield* MemoryStore.provider(service, broken)
      const { result: stale, took } = yield* timed(provider.get)
      strictEqual(textOf(stale), "token-1")
      assert(took <= latency + 10, `${took} ms`)
      yield* settled
      yield* provider.invalidate(stale)
      strictEqual((yield* timed(text(provider))).result, "token-2")
      yield* settled
      // Nobody leads any more, also if the token could not be stored.
      strictEqual(store.leads.size, 0)
    })
  })

  it.scoped("is counted and logged once for an acquisition that waits for it", () => {
    const { service, store } = setup()
    return Effect.gen(function*() {
      const provider = yield* MemoryStore.provider(service, store.connect({ tryLead: "hangs" }).service)
      yield* timed(provider.get)
      strictEqual(yield* counted("idv_token_store", { outcome: "failed" }), 1)
      strictEqual(yield* counted("idv_token_store", { outcome: "led" }), 0)
      yield* settled
      // It still stores its token for the others.
      deepStrictEqual(recorded(store), ["token-1"])
    }).pipe(measured("failed"))
  })
})

describe("A stored token", { concurrent: true }, () => {
  const hour = 3_600_000
  it.scoped.each<[string, Record<string, unknown>]>([
    ["of other credentials", { fingerprint: "other" }],
    ["that was requested more than 60 s in the future", { requestedAt: 61_000, expiresAt: hour + 61_000 }],
    ["that has 10 s left", { requestedAt: -hour + 10_000 + 60_000, expiresAt: 10_000 }],
    ["that has expired", { requestedAt: -2 * hour, expiresAt: -hour }],
    ["that expires before it was requested", { requestedAt: 0, expiresAt: -1 }],
    ["that cannot be sent", { token: "two\r\nlines" }],
    ["without a token", { token: null }],
    ["with times that are no numbers", { requestedAt: "0" }]
  ])("%s is replaced", ([, changes]) => {
    const { service, store } = setup()
    return Effect.gen(function*() {
      yield* timed((yield* MemoryStore.provider(service, store.connect().service)).get)
      yield* settled
      change(store, { token: "stored", requestedAt: 0, expiresAt: hour, ...changes })
      const provider = yield* MemoryStore.provider(service, store.connect().service)
      strictEqual((yield* timed(text(provider))).result, "token-2")
      yield* settled
      deepStrictEqual(recorded(store), ["token-2"])
    })
  })

  it.scoped.each(["", "garbage", "9.readable.e30", "1.other.e30", "1.readable.e30", "1.readable.!"])(
    "that is %j is replaced",
    (stored) => {
      const { service, store } = setup()
      return Effect.gen(function*() {
        yield* timed((yield* MemoryStore.provider(service, store.connect().service)).get)
        yield* settled
        for (const name of store.values.keys()) store.values.set(name, stored)
        const provider = yield* MemoryStore.provider(service, store.connect().service)
        const { result, took } = yield* timed(text(provider))
        strictEqual(result, "token-2")
        assert(took <= latency + 10, `${took} ms`)
        yield* settled
        deepStrictEqual(recorded(store), ["token-2"])
      })
    }
  )

  it.scoped("from a clock that is up to 60 s ahead is used, and ends no later than it really does", () => {
    const { service, store } = setup()
    return Effect.gen(function*() {
      yield* timed((yield* MemoryStore.provider(service, store.connect().service)).get)
      yield* settled
      const now = yield* Clock.currentTimeMillis
      change(store, { token: "ahead", requestedAt: now + 59_000, expiresAt: now + 59_000 + hour })
      const provider = yield* MemoryStore.provider(service, store.connect().service)
      const { result } = yield* timed(provider.get)
      strictEqual(textOf(result), "ahead")
      deepStrictEqual([result.requestedAt, result.expiresAt], [now, now + hour - 60_000])
    })
  })

  it.scoped("expires an hour after its request, also if the clock is set back after it was adopted", () => {
    const { service, store } = setup()
    return Effect.gen(function*() {
      const { adjust, clock, moveWall } = yield* Clocks.make
      const [first, second] = [
        yield* MemoryStore.provider(service, store.connect().service),
        yield* MemoryStore.provider(service, store.connect().service)
      ]
      const tokenOf = (provider: TokenProvider.Service) =>
        Effect.map(timed(Effect.withClock(text(provider), clock)), ({ result }) => result)
      yield* tokenOf(first)
      yield* adjust("30 minutes")
      strictEqual(yield* tokenOf(second), "token-1")
      yield* moveWall(-hour)
      yield* adjust("30 minutes")
      strictEqual(yield* tokenOf(second), "token-2")
    })
  })

  it.scoped("never lives longer than the policy allows", () => {
    const { service, store } = setup()
    return Effect.gen(function*() {
      yield* timed((yield* MemoryStore.provider(service, store.connect().service)).get)
      yield* settled
      change(store, { token: "long", expiresAt: 100 * hour })
      const provider = yield* MemoryStore.provider(service, store.connect().service)
      const { result } = yield* timed(provider.get)
      assert(result.expiresAt - result.requestedAt <= hour)
    })
  })

  it.scoped("that is newer than the cached one is adopted when the cached one is stale", () => {
    const { service, store } = setup()
    return Effect.gen(function*() {
      const [first, second] = [
        yield* MemoryStore.provider(service, store.connect().service),
        yield* MemoryStore.provider(service, store.connect().service)
      ]
      yield* timed(Effect.all([first.get, second.get], { concurrency: "unbounded" }))
      yield* TestClock.adjust("50 minutes")
      yield* timed(first.get)
      yield* TestClock.adjust("1 second")
      yield* timed(second.get)
      yield* TestClock.adjust("1 second")
      deepStrictEqual([yield* text(first), yield* text(second)], ["token-2", "token-2"])
      strictEqual(service.tokenRequests.length, 2)
    })
  })
})

describe("A 401", { concurrent: true }, () => {
  it.scoped("for a token that another process has replaced costs no request", () => {
    const { service, store } = setup()
    return Effect.gen(function*() {
      const [first, second] = [
        yield* MemoryStore.provider(service, store.connect().service),
        yield* MemoryStore.provider(service, store.connect().service)
      ]
      const { result: [stale] } = yield* timed(Effect.all([first.get, second.get], { concurrency: "unbounded" }))
      yield* first.invalidate(stale)
      strictEqual((yield* timed(text(first))).result, "token-2")
      yield* settled
      yield* second.invalidate(stale)
      const { result, took } = yield* timed(text(second))
      strictEqual(result, "token-2")
      strictEqual(took, 0)
      strictEqual(service.tokenRequests.length, 2)
    })
  })

  it.scoped("in all processes at once costs one request", () => {
    const { service, store } = setup()
    return Effect.gen(function*() {
      const providers = yield* Effect.replicateEffect(
        Effect.suspend(() => MemoryStore.provider(service, store.connect().service)),
        10
      )
      const { result: [stale] } = yield* timed(
        Effect.forEach(providers, ({ get }) => get, { concurrency: "unbounded" })
      )
      assert(stale !== undefined)
      const { result } = yield* timed(
        Effect.forEach(providers, (provider) => Effect.zipRight(provider.invalidate(stale), text(provider)), {
          concurrency: "unbounded"
        })
      )
      deepStrictEqual(Arr.dedupe(result), ["token-2"])
      strictEqual(service.tokenRequests.length, 2)
    })
  })

  it.scoped("deletes the stored token if it is the rejected one, even if no new one comes", () => {
    const { service, store } = setup((_, count) =>
      count === 1 ? respondAfter(latency, count) : Effect.sync(() => new Response(null, { status: 400 }))
    )
    return Effect.gen(function*() {
      const provider = yield* MemoryStore.provider(service, store.connect().service)
      const { result: stale } = yield* timed(provider.get)
      yield* settled
      deepStrictEqual(recorded(store), ["token-1"])
      yield* provider.invalidate(stale)
      yield* timed(Effect.flip(provider.get))
      deepStrictEqual(recorded(store), [])
    })
  })
})

describe("refresh", () => {
  it.scoped("requests a new token although one is stored, and stores it", () => {
    const { service, store } = setup()
    return Effect.gen(function*() {
      const provider = yield* MemoryStore.provider(service, store.connect().service)
      yield* timed(provider.get)
      yield* settled
      yield* timed(provider.refresh)
      yield* settled
      deepStrictEqual(recorded(store), ["token-2"])
    })
  })
})

describe("A fleet", () => {
  it.scoped("of 100 processes that started together becomes due for a refresh at 100 different times", () => {
    const { service, store } = setup()
    return Effect.gen(function*() {
      const providers = yield* Effect.replicateEffect(
        Effect.suspend(() => MemoryStore.provider(service, store.connect().service)),
        100
      )
      yield* timed(Effect.forEach(providers, ({ get }) => get, { concurrency: "unbounded" }))
      strictEqual(service.tokenRequests.length, 1)
      const due = yield* Effect.forEach(
        providers,
        ({ status }) => Effect.map(status.get, ({ token }) => Option.getOrThrow(token).renewedFrom)
      )
      const bins = Object.values(Arr.groupBy(due, (at) => `${Math.floor(at / 2000)}`))
      assert(Math.max(...bins.map(({ length }) => length)) <= 15)
      assert(Math.max(...due) - Math.min(...due) > Duration.toMillis("3 minutes"))
    })
  })
})
