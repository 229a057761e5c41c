/** What `idv-mock diff` says about wrong services, and about correct ones in other styles, with and without a recording. */
import { NodeContext } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Compared from "./support/compared.ts"

/** One for each way in which `diff` finds a difference. Learning.nightly.test.ts compares the others. */
const found = new Set([
  "Potential match for everybody",
  "a result that changes for one person",
  "status 202",
  "a token for every key",
  "match_found twice"
])

describe("idv-mock diff with a wrong service", () => {
  it.scopedLive.each(Compared.wrong.filter(([what]) => found.has(what)))(
    "names %s",
    ([, change, named]) => Effect.provide(Compared.assertNamed(change, named), NodeContext.layer)
  )
})

const styles = Compared.styles.filter(([name]) => name === "set2 grumpy")

/** Learning.nightly.test.ts compares the others. */
describe("idv-mock diff with a correct service in another style", () => {
  it.scopedLive.each(styles)(
    "finds no contradiction, and nothing that a recording of it does not state: %s",
    ([, style]) => Effect.provide(Compared.assertLearnt(style), NodeContext.layer)
  )
})
