import { NodeContext, NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import * as Servers from "../../../tools/foreign-services/servers.ts"
import * as Conformance from "../src/Conformance.ts"
import * as Contract from "../src/Contract.ts"

const set = await Effect.runPromise(Servers.load("set1"))

/** ForeignServices.nightly.test.ts sends every request to the server in each style. */
const targets = set.styles.map((style) =>
  style === "strict" ? [style, "all requests"] as const : [style, "60 requests"] as const
)

describe("A correct server of another author", () => {
  it.scopedLive.each(targets)(
    "violates no claim in the style %s with %s",
    ([style, requests]) =>
      Effect.gen(function*() {
        const isAll = requests === "all requests"
        const target = yield* Servers.serving(set, style, isAll ? "mock" : "sandbox")
        const report = yield* Conformance.verify(target, yield* Contract.load())
        deepStrictEqual(report.alarms, [])
        const lenient = report.results.filter(({ verdict }) => verdict === "lenient").map(({ id }) => id)
        if (style !== "lenient") deepStrictEqual(lenient, [])
        const tested = report.results.filter(({ verdict }) => verdict !== "not tested")
        assert(tested.length > (isAll ? 650 : 60), `${tested.length}`)
      }).pipe(Effect.provide([NodeContext.layer, NodeHttpClient.layerUndici]))
  )
})
