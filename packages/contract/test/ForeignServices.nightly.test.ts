import { NodeContext, NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import * as Servers from "../../../tools/foreign-services/servers.ts"
import * as Conformance from "../src/Conformance.ts"
import * as Contract from "../src/Contract.ts"

const targets = Servers.names.flatMap((set) =>
  Object.entries(Servers.sets[set].styles).map(([name, style]) => [`${set} ${name}`, style] as const)
)

/** These accept nothing that the document does not show. Others accept a date that does not exist, for example. */
const exact = /^set1 (?!lenient)|^set2 (strict|grumpy)/

describe("A correct server of another author", () => {
  it.scopedLive.each(targets)(
    "violates no claim in the style %s with all requests",
    ([name, style]) =>
      Effect.gen(function*() {
        const { clock, target } = yield* Servers.starting(style, "mock")
        const report = yield* Effect.withClock(Conformance.verify(target, yield* Contract.load()), clock)
        deepStrictEqual(report.alarms, [])
        const lenient = report.results.filter(({ verdict }) => verdict === "lenient").map(({ id }) => id)
        if (exact.test(name)) deepStrictEqual(lenient, [])
        const tested = report.results.filter(({ verdict }) => verdict !== "not tested")
        assert(tested.length > 180, `${tested.length}`)
      }).pipe(Effect.provide([NodeContext.layer, NodeHttpClient.layerUndici]))
  )
})
