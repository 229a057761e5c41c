/** What `idv-mock diff` says about wrong services, and about correct ones in other styles, with and without a recording. */
import { NodeContext } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Compared from "./support/compared.ts"

/** For a result and for a status. Learning.nightly.test.ts compares the others. */
const found = new Set(["Potential match for everybody", "status 202"])

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
