import type { AccessToken } from "@effect-idv/core"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, FastCheck, Fiber, Random, TestClock } from "effect"
import * as MemoryStore from "./support/memoryStore.ts"
import * as Service from "./support/service.ts"
import { respondAfter, textOf } from "./support/tokens.ts"

const latency = 300
const processes = 4

const process = FastCheck.nat({ max: processes - 1 })
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

/** Plays a history. Fails if a call fails or does not end, or returns an expired token. */
const play = (events: ReadonlyArray<Event | Fault>) => {
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
    const connections = Array.from({ length: processes }, () => store.connect())
    const providers = yield* Effect.forEach(
      connections,
      (connection) => MemoryStore.provider(service, connection.service)
    )
    const returned = new Map<number, AccessToken.AccessToken>()
    const calls: Array<Fiber.Fiber<void, unknown>> = []
    for (const event of events) {
      if (event._tag === "Wait") {
        // In small steps while calls are in progress, because a fiber that wakes reads the time at the end of a step.
        if (event.millis > 400) yield* ended
        yield* TestClock.adjust(event.millis)
        continue
      }
      const provider = providers[event.process]
      const connection = connections[event.process]
      assert(provider !== undefined && connection !== undefined)
      if (event._tag === "Fault") {
        Object.assign(connection.faults, { [event.operation]: event.fault })
        continue
      }
      if (event._tag === "Invalidate") {
        const stale = returned.get(event.process)
        if (stale === undefined) continue
        rejected.add(textOf(stale))
        yield* provider.invalidate(stale)
        continue
      }
      calls.push(
        yield* Effect.fork(Effect.gen(function*() {
          const token = yield* provider.get
          assert(token.expiresAt > (yield* Clock.currentTimeMillis), `${textOf(token)} has expired`)
          returned.set(event.process, token)
          assert(token.expiresAt - token.requestedAt <= 3_600_000)
        }))
      )
    }
    yield* ended
    for (const call of calls) yield* Fiber.join(call)
    return { most, needless }
  }).pipe(Effect.scoped, Effect.withRandom(Random.make(1)))
}

describe("Several processes and one store, over any history", () => {
  const histories = FastCheck.sample(FastCheck.array(event, { minLength: 5, maxLength: 20 }), { numRuns: 12, seed: 1 })
  const failing = FastCheck.sample(
    FastCheck.array(FastCheck.oneof({ weight: 3, arbitrary: event }, { weight: 1, arbitrary: fault }), {
      minLength: 5,
      maxLength: 20
    }),
    { numRuns: 12, seed: 2 }
  )

  it.effect("send one token request at a time and only for a new token, and return none that has expired", () =>
    Effect.forEach(
      histories,
      (events) =>
        Effect.map(play(events), ({ most, needless }) => assert(most <= 1 && needless === 0, JSON.stringify(events)))
    ))

  it.effect("return a token although operations of the store fail or hang", () =>
    Effect.forEach(failing, (events) => play(events)))
})
