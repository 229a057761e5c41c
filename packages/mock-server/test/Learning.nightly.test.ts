import { NodeContext } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Compared from "./support/compared.ts"

describe("idv-mock diff with any wrong service", () => {
  it.scopedLive.each(Compared.wrong)(
    "names %s",
    ([, change, named]) => Effect.provide(Compared.assertNamed(change, named), NodeContext.layer)
  )
})

describe("idv-mock diff with a correct service in any style", () => {
  it.scopedLive.each(Compared.styles)(
    "finds no contradiction, and nothing that a recording of it does not state: %s",
    ([, style]) => Effect.provide(Compared.assertLearnt(style), NodeContext.layer)
  )
})
