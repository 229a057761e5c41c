/** The command `idv-contract`, and that `idv-mock` has the same commands. */
import { NodeContext } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { ConfigProvider, Effect, Either, Predicate } from "effect"
import { PassThrough } from "node:stream"
import { main as idvMock } from "../../mock-server/src/internal/command/main.ts"
import { captured } from "../../mock-server/test/support/captured.ts"
import * as CorrectService from "../../mock-server/test/support/correctService.ts"
import { main as idvContract } from "../src/main.ts"

const programs = {
  "idv-contract": (words: ReadonlyArray<string>) => idvContract(words, "0"),
  "idv-mock": (words: ReadonlyArray<string>) => idvMock(words, { stdout: new PassThrough(), version: "0" })
}

/** What a command printed, its error, and its exit code. */
const run = (program: keyof typeof programs, ...words: ReadonlyArray<string>) =>
  Effect.map(captured(Effect.either(programs[program](words))), ({ stdout, value }) => {
    const error = Either.isLeft(value) ? value.left : undefined
    return {
      stdout: stdout.join("\n"),
      error: error instanceof Error ? error.message : "",
      exitCode: Predicate.hasProperty(error, "exitCode") ? Number(error.exitCode) : error === undefined ? 0 : 1
    }
  })

const withCustomer = Effect.withConfigProvider(
  ConfigProvider.fromMap(new Map(Object.entries(CorrectService.customer)))
)

describe("idv-contract", () => {
  it.scopedLive("verify has the report of idv-mock verify", () =>
    Effect.gen(function*() {
      const url = `http://${yield* CorrectService.serving(CorrectService.handler({}))}`
      // Cases whose results do not depend on the time of the run.
      const cases = ["--case", "token.granted", "--case", "aml.answered"]
      const words = ["verify", "--target", "sandbox", "--spacing", "0", "--auth-url", url, ...cases]
      const ours = yield* run("idv-contract", ...words)
      deepStrictEqual([ours.error, ours.exitCode], ["", 0])
      const theirs = yield* run("idv-mock", ...words)
      const withoutTime = (text: string) => text.replace(/^started .*$/m, "")
      strictEqual(withoutTime(ours.stdout), withoutTime(theirs.stdout))
    }).pipe(withCustomer, Effect.provide(NodeContext.layer)))

  it.live("verify ends with 2 and its own name if no server responds", () =>
    Effect.gen(function*() {
      const { error, exitCode } = yield* run(
        "idv-contract",
        "verify",
        "--target",
        "sandbox",
        "--auth-url",
        "http://127.0.0.1:1"
      )
      deepStrictEqual([exitCode, error], [2, "idv-contract verify: the target was not tested"])
    }).pipe(withCustomer))

  it.live("claims prints what idv-mock contract prints", () =>
    Effect.gen(function*() {
      const claims = yield* run("idv-contract", "claims", "--format", "json")
      deepStrictEqual(claims, yield* run("idv-mock", "contract", "--format", "json"))
      assertInclude(claims.stdout, "\"id\": \"token.lifetime\"")
    }))

  it.live("names itself and its commands in an error, and repeats no value", () =>
    Effect.gen(function*() {
      const errorOf = (...words: ReadonlyArray<string>) =>
        Effect.map(run("idv-contract", ...words), ({ error }) => error)
      strictEqual(yield* errorOf("canary"), "idv-contract: unknown command: expected one of verify, claims, diff, help")
      strictEqual(yield* errorOf("diff", "canary"), "idv-contract diff: <new> is missing")
      strictEqual(
        yield* errorOf("verify", "--case", "token.nothing"),
        "--case token.nothing: there is no such case; idv-contract claims prints them"
      )
      strictEqual(
        yield* errorOf("claims", "--format", "canary"),
        "--format is invalid: expected one of table, json"
      )
    }))
})
