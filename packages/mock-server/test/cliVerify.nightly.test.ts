/** The whole suite by command line. Conformance.test.ts runs the same cases in process. */
import { Conformance, Contract } from "@effect-idv/contract"
import { MockServer } from "@effect-idv/mock-server"
import { Command } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Context, Effect, Layer, Stream } from "effect"
import * as Program from "./support/program.ts"

const text = <E>(stream: Stream.Stream<Uint8Array, E>) => Stream.mkString(Stream.decodeText(stream))

describe("idv-mock verify", () => {
  it.scopedLive("passes on the mock server: all documented claims hold, without alarms", () =>
    Effect.gen(function*() {
      const { url } = Context.get(yield* Layer.build(MockServer.layer({ port: 0 })), MockServer.MockServer)
      const process = yield* Command.start(Command.make("node", yield* Program.idvMock, "verify", "--auth-url", url))
      const { exitCode, stderr, stdout } = yield* Effect.all(
        { stdout: text(process.stdout), stderr: text(process.stderr), exitCode: process.exitCode },
        { concurrency: "unbounded" }
      )
      const alarms = stdout.split("\n").filter((line) => /^  [✗+~] /.test(line))
      deepStrictEqual([alarms, exitCode, stderr], [[], 0, ""])
      const { claims } = yield* Contract.load()
      const documented = claims.filter(({ level, unobserved }) => level === "documented" && !unobserved).length
      assertInclude(stdout, `\n${documented} of ${documented} documented claims tested\n`)
      const last = stdout.trimEnd().split("\n").at(-1) ?? ""
      const [, passed, notTested] = /^It conforms: (\d+) of \d+ cases passed, 0 violated, 0 lenient, 0 drifted, (\d+) /
        .exec(last) ?? []
      strictEqual(Number(passed) + Number(notTested), Conformance.cases.length, last)
      // These cannot apply to the test customer, its opaque token, or a run of a few seconds.
      assert(Number(notTested) < 25, last)
    }).pipe(Effect.provide(NodeContext.layer)))
})
