/** Workers whose lease ends, which are interrupted, paused or told to wait. Several tests depend on real time. */
import { AmlClient, AmlError, TokenError } from "@effect-idv/core"
import { SqlClient } from "@effect/sql"
import { describe, layer } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Duration, Effect, Exit, Fiber, Layer, Redacted, Stream } from "effect"
import { Ledger, Rescreening } from "../src/index.ts"
import * as Databases from "./support/databases.ts"
import { entry, layerPeople, many, service } from "./support/people.ts"
import { at, fast, rows, run, where, withLedger } from "./support/runs.ts"

describe.each(Databases.kinds)("Workers with %s", (_, databases) => {
  layer(databases, { excludeTestServices: true })((it) => {
    const test = <A, E>(
      name: string,
      effect: Effect.Effect<A, E, Ledger.Ledger | SqlClient.SqlClient>
    ) => it.scoped(name, () => withLedger(effect))

    test(
      "retries checks that were certainly not performed, and waits as long as the service asks",
      Effect.gen(function*() {
        let limited = 1
        const from = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
        const aml = service((name, count) =>
          name.startsWith("Ada") && count < 3
            ? new TokenError.TokenTimeout({ deadline: Duration.seconds(1), host: "api.example.com" })
            : limited-- > 0
            ? new AmlError.AmlRateLimited({ retryAfter: Duration.seconds(2) })
            : "No"
        )
        yield* Rescreening.plan(Stream.make(entry("1", "Bob Testclear"), entry("2", "Ada Testclear")), {
          ...fast
        })
        const counts = yield* Rescreening.work({ ...where, concurrency: 1 }).pipe(
          Effect.provide([aml.layer, layerPeople()])
        )
        const taken = (yield* Effect.clockWith((clock) => clock.currentTimeMillis)) - from
        deepStrictEqual(counts, at({ no_match: 2 }))
        assertTrue(taken >= 2000, `${taken} ms`)
        deepStrictEqual((yield* rows).map(({ timesSent, timesUnknown }) => [timesSent, timesUnknown]), [[2, 0], [3, 0]])
      }).pipe(Effect.provide(layerPeople()))
    )

    test(
      "resets the pauses once a check succeeds after the pause, even if another one succeeded during the pause",
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        let limited = 1
        const aml = service(
          (name) => name === "Person2 Testclear" && limited-- > 0 ? new AmlError.AmlRateLimited({}) : "No",
          20
        )
        // The first check is in flight when the second one is rejected.
        const slow = Layer.effect(
          AmlClient.AmlClient,
          Effect.map(AmlClient.AmlClient, (inner) =>
            AmlClient.AmlClient.of({
              ...inner,
              check: (person) =>
                Redacted.value(person.name).startsWith("Person1 ")
                  ? Effect.delay(inner.check(person), "300 millis")
                  : inner.check(person)
            }))
        ).pipe(Layer.provide(aml.layer))
        yield* Rescreening.plan(many(80, (index) => `Person${index} Testclear`), { ...where, rate: 50 })
        const counts = yield* Effect.provide(Rescreening.work({ ...where, concurrency: 2 }), slow)
        deepStrictEqual([counts, aml.names.length], [at({ no_match: 80 }), 81])
        const services = yield* sql<{ pauses: number }>`SELECT pauses FROM idv_rescreen_services`
        deepStrictEqual(services.map(({ pauses }) => pauses), [0])
      }).pipe(Effect.provide(layerPeople()))
    )

    test(
      "ask the ledger less often while others hold the remaining rows, and still take these over",
      Effect.gen(function*() {
        const ledger = yield* Ledger.Ledger
        yield* Rescreening.plan(many(1), { ...fast })
        yield* ledger.claim({ run, limit: 1, lease: 3000 })
        let passes = 0
        const aml = service()
        const counts = yield* Rescreening.work(where).pipe(
          Effect.provideService(
            Ledger.Ledger,
            Ledger.Ledger.of({
              ...ledger,
              complete: (...args) => {
                passes++
                return ledger.complete(...args)
              }
            })
          ),
          Effect.provide(aml.layer)
        )
        deepStrictEqual(counts, at({ no_match: 1 }))
        // Without longer waits there would be 15 while the lease lasts.
        assertTrue(passes <= 8, `${passes} passes`)
      }).pipe(Effect.provide(layerPeople()))
    )

    test(
      "continues with a new lease after losing its lease, and sends nobody twice",
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* Rescreening.plan(many(200), { ...fast, unknown: "rescreen" })
        const aml = service(() => "No", 5)
        const work = yield* Effect.fork(Effect.provide(Rescreening.work(where), aml.layer))
        for (let times = 0; times < 3; times++) {
          yield* Effect.sleep("100 millis")
          yield* sql`UPDATE idv_rescreen_leases SET lease_until = 0`
        }
        deepStrictEqual(yield* Fiber.join(work), at({ no_match: 200 }))
        const sent = (yield* rows).reduce((sum, { timesSent }) => sum + timesSent, 0)
        const unknown = (yield* rows).reduce((sum, { timesUnknown }) => sum + timesUnknown, 0)
        strictEqual(aml.names.length, sent)
        assertTrue(sent <= 200 + unknown)
      }).pipe(Effect.provide(layerPeople()))
    )

    test(
      "completes the checks in flight when interrupted, and releases the other rows",
      Effect.gen(function*() {
        const aml = service(() => "No", 2000)
        yield* Rescreening.plan(many(50), { ...fast })
        const work = yield* Effect.fork(Effect.provide(Rescreening.work({ ...where, concurrency: 5 }), aml.layer))
        yield* Effect.repeat(Effect.sleep("20 millis"), { until: () => aml.names.length === 5 })
        strictEqual(Exit.isInterrupted(yield* Fiber.interrupt(work)), true)
        strictEqual(aml.names.length, 5)
        const { counts } = yield* Effect.flatMap(Stream.runHead(Rescreening.status(run)), (status) => status)
        deepStrictEqual(counts, at({ no_match: 5, pending: 45 }))
      }).pipe(Effect.provide(layerPeople()))
    )

    test(
      "pauses and resumes for an operator",
      Effect.gen(function*() {
        const aml = service(() => "No", 20)
        yield* Rescreening.plan(many(200), fast)
        const work = yield* Effect.fork(Effect.either(Effect.provide(Rescreening.work(where), aml.layer)))
        yield* Effect.repeat(Effect.sleep("20 millis"), { until: () => aml.names.length > 0 })
        strictEqual(yield* Rescreening.pause(run), true)
        const end = yield* Fiber.join(work)
        strictEqual(end._tag === "Left" && end.left.message.startsWith(`Run ${run} is paused: operator.`), true)
        strictEqual(yield* Rescreening.pause(run), false)
        const sent = aml.names.length
        assertTrue(sent < 200)
        yield* Rescreening.resume(run)
        deepStrictEqual(yield* Effect.provide(Rescreening.work(where), aml.layer), at({ no_match: 200 }))
        strictEqual(aml.names.length, 200)
      }).pipe(Effect.provide(layerPeople()))
    )
  })
})
