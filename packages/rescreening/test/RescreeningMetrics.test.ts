import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { SqlClient } from "@effect/sql"
import { describe, it, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Deferred, Effect, Fiber, Metric } from "effect"
import { eventually } from "../../core/test/support/eventually.ts"
import { Ledger, Rescreening, RescreeningMetrics, Run } from "../src/index.ts"
import * as Databases from "./support/databases.ts"
import { layerPeople, many, service } from "./support/people.ts"
import { fast, where, withLedger } from "./support/runs.ts"

describe("alerts.yaml", () => {
  it.effect("uses all metrics of the package, and only states of rows that exist", () =>
    Effect.gen(function*() {
      const files = yield* FileSystem.FileSystem
      const rules = yield* files.readFileString(new URL("../alerts.yaml", import.meta.url).pathname)
      yield* Metric.increment(RescreeningMetrics.outcomes)
      yield* Metric.increment(RescreeningMetrics.leasesLost)
      yield* Metric.increment(RescreeningMetrics.pauses)
      yield* Metric.set(RescreeningMetrics.rows, 1)
      const existing = (yield* Metric.snapshot).map(({ metricKey }) => metricKey.name)
        .filter((name) => name.startsWith("idv_rescreen_"))
      const used = rules.match(/idv_rescreen_\w+/g) ?? []
      deepStrictEqual([...new Set(used)].toSorted(), [...new Set(existing)].toSorted())
      const states = [...rules.matchAll(/(?:state|outcome)=~?"([^"]+)"/g)].flatMap(([, states = ""]) =>
        states.replace(".*", "").split("|")
      )
      deepStrictEqual(states.filter((state) => !Run.State.literals.some((known) => known === state)), [])
    }).pipe(Effect.provide(NodeContext.layer)))
})

describe("RescreeningMetrics", () => {
  layer(Databases.kinds[0][1], { excludeTestServices: true })((it) => {
    const run = "metrics"

    const rowsIn = (state: Run.State) =>
      Effect.map(
        Metric.value(RescreeningMetrics.rows.pipe(Metric.tagged("run", run), Metric.tagged("state", state))),
        ({ value }) => value
      )

    it.scoped("shows the rows of a run while a worker screens it and afterwards, without a call of status", () =>
      withLedger(
        Effect.gen(function*() {
          yield* Rescreening.plan(many(3), { ...fast, run })
          const mayRespond = yield* Deferred.make<void>()
          const aml = service(() => "No", Deferred.await(mayRespond))
          const work = yield* Effect.fork(Effect.provide(Rescreening.work({ ...where, run }), aml.layer))
          yield* eventually("all checks", () => aml.names.length, (count) => count === 3)
          const left = Effect.all([rowsIn("pending"), rowsIn("claimed"), rowsIn("sent")])
          yield* eventually("three rows", left, (counts) => counts.reduce((sum, count) => sum + count) === 3)
          yield* Deferred.succeed(mayRespond, undefined)
          yield* Fiber.join(work)
          deepStrictEqual(yield* Effect.all([rowsIn("pending"), rowsIn("no_match")]), [0, 3])
        }).pipe(Effect.provide(layerPeople()))
      ))

    it.scoped("counts rows that become unknown because the lease of their worker ended", () =>
      withLedger(
        Effect.gen(function*() {
          const ledger = yield* Ledger.Ledger
          const sql = yield* SqlClient.SqlClient
          yield* Rescreening.plan(many(3), { ...fast, run })
          const claims = yield* ledger.claim({ run, limit: 2, lease: 60_000 })
          yield* ledger.send(run, claims, where.service)
          yield* sql`UPDATE idv_rescreen_leases SET lease_until = 0`
          const unknown = Metric.value(Metric.tagged(RescreeningMetrics.outcomes, "outcome", "unknown"))
          const before = yield* unknown
          yield* Effect.provide(Rescreening.work({ ...where, run }), service().layer)
          deepStrictEqual((yield* unknown).count - before.count, 2)
        }).pipe(Effect.provide(layerPeople()))
      ))
  })
})
