import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import * as VitestRun from "./support/vitestRun.ts"

const consumer = fileURLToPath(new URL("./support/consumer", import.meta.url))

describe("describeConformance", () => {
  it.scopedLive("fails the cases that a mutant fails, and skips those that a sandbox cannot show", () =>
    Effect.gen(function*() {
      const { exitCode, files: [file] } = yield* VitestRun.run(consumer, ["run"])
      strictEqual(exitCode, 1)
      const of = (suite: string, status: string) =>
        file.assertionResults.filter((test) => test.ancestorTitles.includes(suite) && test.status === status)
      const idsOf = (suite: string, status: string) => of(suite, status).map(({ title }) => title.split(":")[0])

      const failed = idsOf("mutant", "failed")
      deepStrictEqual(failed, ["aml.match-found", "aml.sequence.fields", "aml.every-response"])
      const [first] = of("mutant", "failed")
      assert(
        first?.failureMessages?.join().includes(
          "aml.answer.match-found (service document, section 2.3): expected Potential match or No, observed another text"
        )
      )
      assert(of("mutant", "passed").length > 60)

      // One test gives the reason, and all others are skipped.
      const unreachable = of("unreachable", "failed")
      deepStrictEqual(unreachable.map(({ title }) => title), ["the service responds to the documented requests"])
      assert(
        unreachable[0]?.failureMessages?.join().includes(
          "Nothing can be verified: no server responds at http://127.0.0.1:1: check the address, and start the server"
        )
      )
      deepStrictEqual(of("unreachable", "passed"), [])
      assert(of("unreachable", "skipped").length > 100)

      // Its profile is not the default, which does not fail a sandbox.
      deepStrictEqual(idsOf("sandbox", "failed"), [])
      const skipped = idsOf("sandbox", "skipped")
      assert(skipped.includes("aml.listed.answered") && skipped.includes("token.lifetime"))
      assert(of("sandbox", "passed").length > 60)
    }).pipe(Effect.provide(NodeContext.layer)))
})
