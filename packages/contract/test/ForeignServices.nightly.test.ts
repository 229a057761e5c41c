import { NodeContext, NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import * as Servers from "../../../tools/foreign-services/servers.ts"
import * as Conformance from "../src/Conformance.ts"
import * as Contract from "../src/Contract.ts"

const set = await Effect.runPromise(Servers.load("set1"))

describe("A correct server of another author", () => {
  it.scopedLive.each(set.styles)(
    "violates no claim in the style %s with all requests",
    (style) =>
      Effect.gen(function*() {
        const target = yield* Servers.serving(set, style, "mock")
        const report = yield* Conformance.verify(target, yield* Contract.load())
        deepStrictEqual(report.alarms, [])
        const lenient = report.results.filter(({ verdict }) => verdict === "lenient").map(({ id }) => id)
        if (style !== "lenient") deepStrictEqual(lenient, [])
        const tested = report.results.filter(({ verdict }) => verdict !== "not tested")
        assert(tested.length > 650, `${tested.length}`)
      }).pipe(Effect.provide([NodeContext.layer, NodeHttpClient.layerUndici]))
  )
})
