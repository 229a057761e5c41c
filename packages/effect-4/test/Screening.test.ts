import { AmlClient, Person, Screening } from "@effect-idv/effect-4"
import { Config, Deferred, Effect, Exit, Fiber, Layer, Stream } from "effect"
import { deepStrictEqual, ok, strictEqual } from "node:assert"
import { describe, it } from "vitest"
import * as Client from "./support/client.ts"
import * as Service from "./support/service.ts"

const server = Client.useServer()

const ada = Person.make(Client.ada)

const entries = (keys: ReadonlyArray<number>) => Stream.fromIterable(keys.map((key) => ({ key, person: ada })))

const outcomesOf = <E, R>(stream: Stream.Stream<Screening.Outcome<number>, E, R>) =>
  Effect.map(Stream.runCollect(stream), (outcomes) => outcomes.map(({ _tag, key }) => `${key} ${_tag}`))

/** A client that wraps that of the layer, and counts its calls. */
const counting = (calls: Array<number>, before: (call: number) => Effect.Effect<void> = () => Effect.void) =>
  Layer.effect(
    AmlClient.AmlClient,
    Effect.map(AmlClient.AmlClient, ({ check }) => ({
      check: (person: Person.Person) =>
        Effect.suspend(() => Effect.andThen(before(calls.push(calls.length)), check(person)))
    }))
  )

describe("Screening.stream", () => {
  it.each(
    [
      ["input", ["1 NoMatch", "2 NoMatch", "3 NoMatch"]],
      ["completion", ["2 NoMatch", "3 NoMatch", "1 NoMatch"]]
    ] as const
  )(
    "emits the outcomes in the order of %s, with the check that the wrapped client returned",
    (order, expected) =>
      Effect.runPromise(Effect.gen(function*() {
        const othersEnded = yield* Deferred.make<void>()
        const calls: Array<number> = []
        const first = (call: number) => call === 1 ? Deferred.await(othersEnded) : Effect.void
        const layer = Layer.provide(counting(calls, first), AmlClient.layerTest("No"))
        const onOutcome = ({ key }: Screening.Outcome<number>) =>
          key === 3 ? Effect.asVoid(Deferred.succeed(othersEnded, undefined)) : Effect.void
        const stream = Screening.stream(entries([1, 2, 3]), { order, onOutcome })
        deepStrictEqual(yield* Effect.provide(outcomesOf(stream), layer), expected)
        strictEqual(calls.length, 3)
      }))
  )

  it("has an outcome for each of 100 people, and at most the allowed checks in flight", () =>
    Effect.runPromise(Effect.gen(function*() {
      let running = 0
      let most = 0
      const client = Layer.effect(
        AmlClient.AmlClient,
        Effect.map(AmlClient.AmlClient, ({ check }) => ({
          check: (person: Person.Person) =>
            Effect.acquireUseRelease(
              Effect.sync(() => {
                most = Math.max(most, ++running)
              }),
              () => Effect.andThen(Effect.yieldNow, check(person)),
              () =>
                Effect.sync(() => {
                  running--
                })
            )
        }))
      ).pipe(Layer.provide(AmlClient.layerTest("Potential match")))
      const keys = Array.from({ length: 100 }, (_, key) => key)
      const seen = new Map<string, number>()
      yield* Screening.stream(entries(keys), { concurrency: 7 }).pipe(
        Stream.runForEach(({ _tag }) => Effect.sync(() => void seen.set(_tag, (seen.get(_tag) ?? 0) + 1))),
        Effect.provide(client)
      )
      deepStrictEqual([[...seen], most, running], [[["PotentialMatch", 100]], 7, 0])
    })))

  it("pauses after a 429, and repeats the check", () =>
    Effect.runPromise(Effect.gen(function*() {
      const session = yield* server.session
      const what = { kind: "status", status: 429, retryAfter: { kind: "seconds", seconds: 0 } } as const
      yield* Effect.promise(() => session.fault({ on: "aml", what, when: { kind: "first", n: 1 } }))
      const calls: Array<number> = []
      const layer = Layer.provide(counting(calls), server.layer(session))
      deepStrictEqual(yield* outcomesOf(Screening.stream(entries([1]))).pipe(Effect.provide(layer)), ["1 NoMatch"])
      strictEqual(calls.length, 2)
      yield* Effect.promise(() => session.verify({ kind: "exactly", n: 2, pattern: { operation: "aml" } }))
    })))

  it("ends with the failure that concerns everyone, after the outcomes of the checks in flight", () =>
    Effect.runPromise(Effect.gen(function*() {
      const session = yield* server.session
      yield* Effect.promise(() => session.fault({ on: "aml", what: { kind: "status", status: 403 } }))
      const outcomes: Array<string> = []
      const stopped = yield* Screening.stream(entries([1, 2, 3, 4]), { concurrency: 1 }).pipe(
        Stream.runForEach(({ _tag }) => Effect.sync(() => void outcomes.push(_tag))),
        Effect.provide(server.layer(session)),
        Effect.flip
      )
      deepStrictEqual([stopped._tag, outcomes], ["AmlForbidden", ["NotScreened"]])
    })))

  it("fails with the error of the input, and closes the scope of the input", () =>
    Effect.runPromise(Effect.gen(function*() {
      const events: Array<string> = []
      const cause = { _tag: "FileBroken" } as const
      const people = Stream.unwrap(Effect.as(
        Effect.acquireRelease(Effect.void, () => Effect.sync(() => void events.push("closed"))),
        Stream.concat(entries([1]), Stream.fail(cause))
      ))
      const error = yield* Screening.stream(people).pipe(
        Stream.runForEach(({ _tag }) => Effect.sync(() => void events.push(_tag))),
        Effect.provide(AmlClient.layerTest("No")),
        Effect.flip
      )
      strictEqual(error, cause)
      deepStrictEqual(events, ["NoMatch", "closed"])
    })))

  it("refuses invalid options with a ConfigError that names them", () =>
    Effect.runPromise(Effect.gen(function*() {
      const error = yield* Screening.stream(entries([1]), { concurrency: 0, gracePeriod: -1 }).pipe(
        Stream.runDrain,
        Effect.provide(AmlClient.layerTest("No")),
        Effect.flip
      )
      ok(error instanceof Config.ConfigError)
      ok(error.message.includes("concurrency") && error.message.includes("gracePeriod"), error.message)
    })))
})

describe("An interruption of Screening.stream", () => {
  it("starts no new check, and lets those in flight end", () =>
    Effect.runPromise(Effect.gen(function*() {
      const [started, end] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const calls: Array<number> = []
      const waits = () => Effect.andThen(Deferred.succeed(started, undefined), Deferred.await(end))
      const outcomes: Array<string> = []
      const fiber = yield* Screening.stream(entries([1, 2, 3]), {
        concurrency: 1,
        onOutcome: ({ _tag, key }) => Effect.sync(() => void outcomes.push(`${key} ${_tag}`))
      }).pipe(
        Stream.runDrain,
        Effect.provide(Layer.provide(counting(calls, waits), AmlClient.layerTest("No"))),
        Effect.forkChild
      )
      yield* Deferred.await(started)
      const interruption = yield* Effect.forkChild(Fiber.interrupt(fiber))
      yield* Effect.yieldNow
      yield* Deferred.succeed(end, undefined)
      yield* Fiber.join(interruption)
      deepStrictEqual([outcomes, calls.length, Exit.isFailure(yield* Fiber.await(fiber))], [["1 NoMatch"], 1, true])
    })))

  it("ends a check after the grace period as Unknown only if its request was sent", () =>
    Effect.runPromise(Effect.scoped(Effect.gen(function*() {
      const service = yield* Service.make()
      const calls: Array<number> = []
      const second = yield* Deferred.make<void>()
      // The first check is sent. The second waits before its request, in a client that wraps that of the package.
      const waits = Layer.effect(
        AmlClient.AmlClient,
        Effect.map(AmlClient.AmlClient, ({ check }) => ({
          check: (person: Person.Person) =>
            calls.push(calls.length) === 1 ? check(person) : AmlClient.beforeEachRequest(
              check(person),
              Effect.andThen(Deferred.succeed(second, undefined), Effect.never)
            )
        }))
      )
      const outcomes: Array<string> = []
      const fiber = yield* Screening.stream(entries([1, 2, 3]), {
        concurrency: 2,
        gracePeriod: "20 millis",
        onOutcome: ({ _tag, key }) => Effect.sync(() => void outcomes.push(`${key} ${_tag}`))
      }).pipe(
        Stream.runDrain,
        Effect.provide(Layer.provide(waits, Client.layerOf(service.url))),
        Effect.forkChild
      )
      yield* service.arrived
      yield* Deferred.await(second)
      yield* Fiber.interrupt(fiber)
      deepStrictEqual(outcomes.toSorted(), ["1 Unknown", "2 NotScreened"])
      yield* service.closed
    }))))
})
