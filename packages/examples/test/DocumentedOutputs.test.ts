/** Compares the outputs that the documents show with what the programs print. */
import { Command } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as Program from "../../mock-server/test/support/program.ts"
import { assertPrinted } from "./support/documentedOutput.ts"
import { documents, outputOf, outputs, readme, root } from "./support/documents.ts"
import * as ExampleProcess from "./support/exampleProcess.ts"
import * as OnboardingProcess from "./support/onboardingProcess.ts"

const example = (path: string) => new URL(`../src/${path}`, import.meta.url)

describe("outputs of the documents", () => {
  it("are compared here, by another test, or are measurements", () => {
    assert.deepStrictEqual([...new Set(outputs.map(({ path }) => path))], [
      // Tested below. Measurements differ on each machine.
      "README.md",
      // Measurements too.
      "docs/decisions/0038-job-engine.md",
      // operations.test.ts compares the runbooks.
      "docs/operating.md",
      // No test runs the client in Python of this page.
      "docs/test-any-client.md",
      // contractTesting.nightly.test.ts compares the files and their tests.
      readme("contract-testing"),
      // observability.test.ts compares the output of its program.
      readme("observability"),
      readme("onboarding-api"),
      // So does rescreening.test.ts.
      readme("rescreening"),
      // Measurements too.
      "tools/foreign-services/README.md"
    ])
  })

  it.live("README.md: demo", () =>
    Effect.gen(function*() {
      const { stdout } = yield* Effect.flatMap(
        ExampleProcess.commandFromSource(example("quickstart.ts")),
        ExampleProcess.run
      )
      assertPrinted(outputOf("README.md"), stdout)
    }))

  it("README.md: test", () => {
    const lines = documents.find(({ path }) => path === "README.md")?.text.match(/(?<=^#  ✓ ).+(?= \d+ms$)/gm) ?? []
    assert.isAbove(lines.length, 1)
    for (const [file = "", ...titles] of lines.map((line) => line.split(" > "))) {
      const source = readFileSync(join(root, file), "utf8")
      for (const title of titles) assert.include(source, `"${title}"`)
    }
  })

  it.scopedLive("README.md: mock", () =>
    Effect.gen(function*() {
      const snippet = documents.flatMap(({ path, snippets }) => path === "README.md" ? snippets : [])
        .find(({ code }) => code.includes(" mock\n# "))?.code
      const [, line = ""] = snippet?.split("\n# ") ?? []
      const server = yield* Command.start(Command.make("node", yield* Program.idvMock, "serve", "--port", "0"))
      const printed = yield* server.stdout.pipe(Stream.decodeText(), Stream.splitLines, Stream.runHead)
      assertPrinted(line.replaceAll("4010", "0"), Option.getOrThrow(printed).replaceAll(/(?<="port":)\d+/g, "0"))
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("README of onboarding-api", () =>
    Effect.gen(function*() {
      const api = yield* OnboardingProcess.start({
        REVIEWERS: "alice:a-token-for-alice,bob:a-token-for-bob-too",
        ANSWER_AFTER: "4 seconds"
      })
      const { host } = new URL(yield* api.url)
      assertPrinted(outputOf(readme("onboarding-api")), yield* api.printed)

      const curl = documents.find(({ path }) => path === readme("onboarding-api"))?.snippets
        .filter(({ code }) => /^(curl|id=)/.test(code)).map(({ code }) => code).join("\n") ?? ""
      const responses = curl.split("\n").filter((line) => line.startsWith("# "))
        .map((line) => line.replace(/^# |, after \d+ s$/g, ""))
      const script = `curl() { command curl -fsS "$@"; echo; }\n${curl.replaceAll("localhost:3000", host)}`
      const { stdout } = yield* ExampleProcess.run(Command.make("bash", "-euc", script))
      assertPrinted(responses.join("\n"), stdout)
    }))
})
