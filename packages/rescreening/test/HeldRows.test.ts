/** A worker releases the rows that it holds but cannot send, and a repeated release undoes nothing. */
import { AmlError } from "@effect-idv/core"
import { SqlClient } from "@effect/sql"
import { describe, layer } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Duration, Effect, Fiber, identity, Schedule } from "effect"
import { Ledger, Rescreening, RescreeningError } from "../src/index.ts"
import * as Databases from "./support/databases.ts"
import { layerPeople, many, service } from "./support/people.ts"
import { at, fast, rows, run, where, withLedger } from "./support/runs.ts"

const unavailable = new RescreeningError.LedgerUnavailable({ operation: "test", code: "ECONNRESET" })

/** Commits, but the connection breaks before the response, the first time. */
const responseLost = <Args extends ReadonlyArray<unknown>, A, E>(operation: (...args: Args) => Effect.Effect<A, E>) => {
  let times = 0
  return (...args: Args) =>
    Effect.suspend(() => times++ === 0 ? Effect.zipRight(operation(...args), unavailable) : operation(...args))
}

/** A clock on which two minutes, after which a worker gives up a statement, take about a second. */
const hundredfold = Effect.map(Effect.clock, (clock) => {
  const start = clock.unsafeCurrentTimeNanos()
  const nanos = () => start + (clock.unsafeCurrentTimeNanos() - start) * 100n
  return {
    ...clock,
    unsafeCurrentTimeNanos: nanos,
    unsafeCurrentTimeMillis: () => Number(nanos() / 1_000_000n),
    currentTimeNanos: Effect.sync(nanos),
    currentTimeMillis: Effect.sync(() => Number(nanos() / 1_000_000n)),
    sleep: (duration: Duration.Duration) => clock.sleep(Duration.times(duration, 0.01))
  }
})

describe.each(Databases.kinds)("Held rows with %s", (_, databases) => {
  layer(databases, { excludeTestServices: true })((it) => {
    const test = <A, E>(
      name: string,
      effect: Effect.Effect<A, E, Ledger.Ledger | SqlClient.SqlClient>
    ) => it.scoped(name, () => withLedger(effect))

    const work = (
      aml: ReturnType<typeof service>,
      change: (ledger: Ledger.Service) => Partial<Ledger.Service>,
      options: Partial<Rescreening.WorkOptions> = {},
      setUp: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = identity
    ) =>
      Rescreening.work({ ...where, concurrency: 2, ...options }).pipe(
        Effect.updateService(Ledger.Ledger, (ledger) => Ledger.Ledger.of({ ...ledger, ...change(ledger) })),
        Effect.provide([aml.layer, layerPeople()]),
        setUp,
        Effect.timeout("15 seconds")
      )

    const timesOf = (names: ReadonlyArray<string>, name: string) =>
      names.filter((other) => other.startsWith(name)).length

    const plan = (count: number, options: Partial<Rescreening.PlanOptions> = {}) =>
      Effect.provide(
        Rescreening.plan(many(count, (index) => `Person${index} Testclear`), { ...fast, shards: 1, ...options }),
        layerPeople()
      )

    /** Another worker, which holds rows of the first shard until the returned effect ends its lease. */
    const otherWorker = (limit: number) =>
      Effect.gen(function*() {
        const ledger = yield* Ledger.Ledger
        const sql = yield* SqlClient.SqlClient
        const worker = yield* ledger.register(run, 60_000)
        const claims = yield* ledger.claim({ run, shard: 0, worker, limit })
        return {
          send: ledger.send({ run, worker }, claims.map(({ line }) => line), where.service),
          endLease: sql`UPDATE idv_rescreen_workers SET lease_until = 0 WHERE token = ${worker}`.pipe(
            Effect.zipRight(ledger.expire(run)),
            Effect.orDie
          )
        }
      })

    const stateOfRun = Effect.flatMap(Ledger.Ledger, (ledger) => Effect.map(ledger.run(run), ({ state }) => state))

    test(
      "are screened if a pause refused them and ended before the worker looked",
      Effect.gen(function*() {
        yield* plan(4)
        const aml = service()
        let times = 0
        const counts = yield* work(aml, (ledger) => ({
          send: (...args) =>
            times++ > 0 ? ledger.send(...args) : Effect.zipRight(
              ledger.pauseService(where.service, 100),
              Effect.zipLeft(ledger.send(...args), Effect.sleep("150 millis"))
            )
        }))
        deepStrictEqual([counts, aml.names.length], [at({ no_match: 4 }), 4])
      })
    )

    test(
      "are sent once more after a release whose response is lost, not twice more",
      Effect.gen(function*() {
        yield* plan(4)
        const aml = service(
          (name, count) =>
            name.startsWith("Person1 ") && count === 1
              ? new AmlError.AmlRateLimited({ retryAfter: Duration.zero })
              : "No",
          100
        )
        const counts = yield* work(aml, (ledger) => ({ release: responseLost(ledger.release) }))
        deepStrictEqual([counts, timesOf(aml.names, "Person1 ")], [at({ no_match: 4 }), 2])
      })
    )

    test(
      "are sent once after a failed statement and a release whose response is lost",
      Effect.gen(function*() {
        yield* plan(4)
        const aml = service(() => "No", 200)
        let times = 0
        const counts = yield* work(aml, (ledger) => ({
          send: (...args) => times++ === 0 ? unavailable : ledger.send(...args),
          release: responseLost(ledger.release)
        }))
        deepStrictEqual([counts, aml.names.length], [at({ no_match: 4 }), 4])
        strictEqual((yield* rows).every(({ timesSent }) => timesSent === 1), true)
      })
    )

    for (const [worker, options] of [["worker", {}], ["worker of a shard", { shard: 0 }]] as const) {
      test(
        `are screened by the same ${worker} after a claim whose response is lost`,
        Effect.gen(function*() {
          yield* plan(6)
          const aml = service()
          const counts = yield* work(aml, (ledger) => ({ claim: responseLost(ledger.claim) }), options)
          deepStrictEqual([counts, aml.names.length], [at({ no_match: 6 }), 6])
        })
      )
    }

    test(
      "become unknown if their outcome cannot be stored, although their worker lives",
      Effect.gen(function*() {
        yield* plan(4)
        const aml = service()
        let first: string | undefined
        const lease = 1500
        const counts = yield* work(
          aml,
          (ledger) => ({
            register: (run) => Effect.tap(ledger.register(run, lease), (token) => first ??= token),
            renew: (token) => ledger.renew(token, lease),
            settle: (worker, outcomes) => worker.worker === first ? unavailable : ledger.settle(worker, outcomes)
          }),
          { lease: "2 minutes" },
          Effect.withClock(yield* hundredfold)
        )
        deepStrictEqual([counts, aml.names.length], [at({ no_match: 2, unknown: 2 }), 4])
      })
    )

    test(
      "are sent once if a release whose connection broke reaches the database after they are sent",
      Effect.gen(function*() {
        yield* plan(1)
        const aml = service(() => "No", 300)
        const late: Array<Effect.Effect<unknown, Ledger.Failure>> = []
        let times = 0
        const counts = yield* work(aml, (ledger) => ({
          send: (...args) =>
            times++ === 0 ?
              unavailable :
              Effect.tap(ledger.send(...args), (sent) => sent.size === 0 ? Effect.void : Effect.all(late.splice(0))),
          release: (claim) =>
            Effect.suspend(() => {
              if (times > 1 || late.length > 0) return ledger.release(claim)
              late.push(ledger.release(claim))
              return unavailable
            })
        }))
        deepStrictEqual([counts, aml.names.length], [at({ no_match: 1 }), 1])
        deepStrictEqual((yield* rows).map(({ timesSent }) => timesSent), [1])
      })
    )

    const ends = {
      "the run is paused": () => Rescreening.pause(run),
      "their worker is interrupted": (worker: Fiber.RuntimeFiber<unknown, unknown>) => Fiber.interruptFork(worker)
    }
    for (const [name, end] of Object.entries(ends)) {
      test(
        `keep their lease until their checks in flight end, after ${name}`,
        Effect.gen(function*() {
          yield* plan(1)
          const { expire } = yield* Ledger.Ledger
          const aml = service(() => "No", 2000)
          const worker = yield* Effect.fork(work(aml, () => ({}), { lease: "1 second" }))
          yield* Effect.repeat(Effect.sync(() => aml.inFlight.now), {
            until: (inFlight) => inFlight === 1,
            schedule: Schedule.spaced("10 millis")
          }).pipe(Effect.timeout("5 seconds"))
          yield* end(worker)
          yield* Effect.sleep("1700 millis")
          const expired = yield* expire(run)
          yield* Fiber.await(worker)
          deepStrictEqual(expired, { pending: 0, unknown: 0 })
          deepStrictEqual((yield* rows).map(({ state }) => state), ["no_match"])
        })
      )
    }

    test(
      "are released only by their last claim",
      Effect.gen(function*() {
        yield* plan(1)
        const ledger = yield* Ledger.Ledger
        const worker = yield* ledger.register(run, 60_000)
        const [first] = yield* ledger.claim({ run, shard: 0, worker, limit: 1 })
        if (first === undefined) return yield* Effect.dieMessage("No row was claimed")
        const send = ledger.send({ run, worker }, [first.line], where.service)
        yield* send
        strictEqual(yield* ledger.release(first), true)
        const [second] = yield* ledger.claim({ run, shard: 0, worker, limit: 1 })
        deepStrictEqual([second?.timesSent, (yield* send).size], [1, 1])
        strictEqual(yield* ledger.release(first), false)
      })
    )

    test(
      "are screened before the worker of a shard ends",
      Effect.gen(function*() {
        yield* plan(1)
        const aml = service(
          (_, count) => count === 1 ? new AmlError.AmlRateLimited({ retryAfter: Duration.zero }) : "No",
          20
        )
        const counts = yield* work(aml, () => ({}), { shard: 0 })
        deepStrictEqual(counts, at({ no_match: 1 }))
      })
    )

    test(
      "are screened with a new lease if the lease of the worker of a shard ends",
      Effect.gen(function*() {
        yield* plan(20)
        const aml = service(() => "No", 20)
        let times = 0
        const counts = yield* work(aml, (ledger) => ({
          // The statement finds that the lease ended.
          send: (...args) => times++ === 0 ? Effect.succeed(new Set<number>()) : ledger.send(...args),
          workerState: (...args) =>
            Effect.map(ledger.workerState(...args), (state) => times === 1 ? { ...state, leaseLeft: 0 } : state)
        }), { shard: 0 })
        deepStrictEqual(counts, at({ no_match: 20 }))
      })
    )

    test(
      "are taken over by the worker of their shard if their worker claimed them and died",
      Effect.gen(function*() {
        yield* plan(1)
        const { endLease } = yield* otherWorker(1)
        const counts = yield* work(service(), (ledger) => ({
          complete: (...args) => Effect.zipLeft(ledger.complete(...args), endLease)
        }), { shard: 0 })
        deepStrictEqual([counts, yield* stateOfRun], [at({ no_match: 1 }), "complete"])
      })
    )

    test(
      "become unknown before the worker of their shard ends if their worker sent them and died",
      Effect.gen(function*() {
        yield* plan(1)
        const { endLease, send } = yield* otherWorker(1)
        yield* send
        const aml = service()
        const counts = yield* work(aml, (ledger) => ({
          complete: (...args) => Effect.zipLeft(ledger.complete(...args), endLease)
        }), { shard: 0 })
        deepStrictEqual([counts, yield* stateOfRun], [at({ unknown: 1 }), "complete"])
        strictEqual(aml.names.length, 0)
      })
    )

    test(
      "are screened again before the worker of their shard ends if the policy says so",
      Effect.gen(function*() {
        yield* plan(1, { unknown: "rescreen" })
        const { endLease, send } = yield* otherWorker(1)
        yield* send
        const counts = yield* work(service(), (ledger) => ({
          isShardComplete: (...args) => Effect.zipRight(endLease, ledger.isShardComplete(...args))
        }), { shard: 0 })
        deepStrictEqual([counts, yield* stateOfRun], [at({ no_match: 1 }), "complete"])
      })
    )

    test(
      "do not delay the worker of another shard",
      Effect.gen(function*() {
        // The lines after the first hundred are in the second shard.
        yield* plan(101, { shards: 2 })
        yield* otherWorker(1)
        const counts = yield* work(service(), () => ({}), { shard: 1 })
        deepStrictEqual([counts, yield* stateOfRun], [at({ claimed: 1, pending: 99, no_match: 1 }), "open"])
      })
    )
  })
})
