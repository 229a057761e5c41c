import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect, Metric } from "effect"
import { RescreeningMetrics, Run } from "../src/index.ts"

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
