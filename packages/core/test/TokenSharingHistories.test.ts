import type { AccessToken } from "@effect-idv/core"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, FastCheck, Fiber, Random, TestClock } from "effect"
import * as MemoryStore from "./support/memoryStore.ts"
import * as Service from "./support/service.ts"
import { respondAfter, textOf } from "./support/tokens.ts"

const latency = 300
const processes = 4

const process = FastCheck.nat({ max: processes - 1 })
/** How far another process is from the first. */
const other = FastCheck.integer({ min: 1, max: processes - 1 })
const operation = FastCheck.constantFrom(...MemoryStore.operations)
const event = FastCheck.oneof(
  { weight: 5, arbitrary: FastCheck.record({ _tag: FastCheck.constant("Get" as const), process }) },
  { weight: 2, arbitrary: FastCheck.record({ _tag: FastCheck.constant("Invalidate" as const), process }) },
  {
    weight: 3,
    arbitrary: FastCheck.record({
      _tag: FastCheck.constant("Wait" as const),
      // Mostly while something happens, and at times until tokens are stale or expired.
      millis: FastCheck.oneof(FastCheck.integer({ min: 1, max: 400 }), FastCheck.integer({ min: 1, max: 3_600_000 }))
    })
  },
  {
    weight: 2,
    arbitrary: FastCheck.record({
      // One process gets a token, and another looks at it about when it is too old to be adopted.
      _tag: FastCheck.constant("GetOldToken" as const),
      process,
      other,
      ageMillis: FastCheck.integer({ min: 3_500_000, max: 3_550_000 })
    })
  },
  {
    weight: 2,
    arbitrary: FastCheck.record({
      // The API rejects the old token of one process about when another process stores the new one.
      _tag: FastCheck.constant("RejectDuringRenewal" as const),
      process,
      other,
      afterMillis: FastCheck.integer({ min: 18, max: 24 }).map((steps) => steps * 20)
    })
  }
)
const fault = FastCheck.record({
  _tag: FastCheck.constant("Fault" as const),
  process,
  operation,
  fault: FastCheck.constantFrom(undefined, "down" as const, "dies" as const, "hangs" as const)
})

type Event = typeof event extends FastCheck.Arbitrary<infer E> ? E : never
type Fault = typeof fault extends FastCheck.Arbitrary<infer E> ? E : never

/** By then every call has ended, and so has what still happens in the background. */
const ended = Effect.replicateEffect(TestClock.adjust("250 millis"), 16)

/** A younger token is not renewed: 65 % of its lifetime, which ends up to 60 s early. */
const renewedFrom = 0.65 * 3_540_000

/** By then it is due for renewal, and can still be used. */
const renewedBy = 0.75 * 3_600_000

/** A token that is returned lives longer than this, also with the steps in which the clock of the test runs. */
const leastLife = 25_000

/** In small steps, because a fiber that wakes reads the time at the end of a step. */
const inSteps = (millis: number) => Effect.replicateEffect(TestClock.adjust("20 millis"), millis / 20)

/** Plays a history with a store whose operations take `storeLatency` ms. Fails if a call fails or does not end, or returns a token that expires soon. */
const play = (events: ReadonlyArray<Event | Fault>, storeLatency = 0) => {
  let inProgress = 0
  let most = 0
  /** Requests that were sent although the last token was neither due for renewal nor rejected. */
  let needless = 0
  let last: { readonly text: string; readonly requestedAt: number } | undefined
  const rejected = new Set<string>()
  const service = Service.make({
    token: (_, count) =>
      Effect.flatMap(Clock.currentTimeMillis, (requestedAt) => {
        most = Math.max(most, ++inProgress)
        if (last !== undefined && !rejected.has(last.text) && requestedAt - last.requestedAt < renewedFrom) needless++
        return respondAfter(latency, count).pipe(
          Effect.tap(() => Effect.sync(() => last = { text: `token-${count}`, requestedAt })),
          Effect.ensuring(Effect.sync(() => inProgress--))
        )
      })
  })
  const store = MemoryStore.make()
  return Effect.gen(function*() {
    const connections = Array.from({ length: processes }, () => store.connect({}, storeLatency))
    const providers = yield* Effect.forEach(
      connections,
      (connection) => MemoryStore.provider(service, connection.service)
    )
    const returned = new Map<number, AccessToken.AccessToken>()
    const calls: Array<Fiber.Fiber<void, unknown>> = []
    const get = Effect.fnUntraced(function*(process: number) {
      const provider = providers[process]
      assert(provider !== undefined)
      calls.push(
        yield* Effect.fork(Effect.gen(function*() {
          const token = yield* provider.get
          const left = token.expiresAt - (yield* Clock.currentTimeMillis)
          assert(left > leastLife, `${textOf(token)} expires in ${left} ms`)
          returned.set(process, token)
          assert(token.expiresAt - token.requestedAt <= 3_600_000)
        }))
      )
    })
    const invalidate = Effect.fnUntraced(function*(process: number) {
      const stale = returned.get(process)
      if (stale === undefined) return
      rejected.add(textOf(stale))
      yield* providers[process]?.invalidate(stale) ?? Effect.void
    })
    const waitUntilAge = Effect.fnUntraced(function*(millis: number) {
      yield* ended
      const left = (last?.requestedAt ?? -Infinity) + millis - (yield* Clock.currentTimeMillis)
      if (left > 0) yield* TestClock.adjust(left)
    })
    const play = Effect.fnUntraced(function*(event: Event | Fault) {
      switch (event._tag) {
        case "Wait":
          if (event.millis > 400) yield* ended
          return yield* TestClock.adjust(event.millis)
        case "GetOldToken":
          yield* waitUntilAge(renewedBy)
          yield* get(event.process)
          yield* waitUntilAge(event.ageMillis)
          return yield* get((event.process + event.other) % processes)
        case "Fault":
          return Object.assign(connections[event.process]?.faults ?? {}, { [event.operation]: event.fault })
        case "Invalidate":
          return yield* invalidate(event.process)
        case "Get":
          return yield* get(event.process)
        case "RejectDuringRenewal": {
          const other = (event.process + event.other) % processes
          yield* Effect.forEach([event.process, other], get)
          yield* waitUntilAge(renewedBy)
          yield* get(event.process)
          yield* inSteps(event.afterMillis)
          yield* invalidate(other)
          yield* get(other)
          return yield* inSteps(400)
        }
      }
    })
    yield* Effect.forEach(events, play)
    yield* ended
    for (const call of calls) yield* Fiber.join(call)
    return { most, needless }
  }).pipe(Effect.scoped, Effect.withRandom(Random.make(1)))
}

describe("Several processes and one store, over any history", { concurrent: true }, () => {
  const histories = FastCheck.sample(FastCheck.array(event, { minLength: 5, maxLength: 15 }), { numRuns: 2, seed: 1 })
  /** Each moment at which another process reads, deletes and replaces the token meanwhile. */
  const races = Array.from({ length: 7 }, (_, step): ReadonlyArray<Event> => [
    { _tag: "RejectDuringRenewal", process: 0, other: 1, afterMillis: 360 + 20 * step }
  ])
  const failing = FastCheck.sample(
    FastCheck.array(FastCheck.oneof({ weight: 3, arbitrary: event }, { weight: 1, arbitrary: fault }), {
      minLength: 5,
      maxLength: 15
    }),
    { numRuns: 4, seed: 2 }
  )

  it.effect("send one token request at a time and only for a new token, and return none that has expired", () =>
    Effect.forEach(
      [...races, ...histories],
      (events) =>
        Effect.map(
          play(events, 40),
          ({ most, needless }) => assert(most <= 1 && needless === 0, JSON.stringify({ most, needless, events }))
        )
    ))

  it.effect("return a token although operations of the store fail or hang", () =>
    Effect.forEach(failing, (events) => play(events)))
})
