/** Runs the recipe of Playwright as a process, with the browser of this project's page tests. */
import { Command } from "@effect/platform"
import { describe, it } from "@effect/vitest"
import { strictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"
import { freePort } from "../../../tools/test-services/freePort.ts"
import * as Chromium from "../../mock-server/test/support/chromium.ts"
import * as Program from "../../mock-server/test/support/program.ts"
import * as ExampleProcess from "./support/exampleProcess.ts"

const folder = fileURLToPath(new URL("../src/recipes/playwright", import.meta.url))
const playwright = createRequire(import.meta.url).resolve("@playwright/test/cli")

describe("The recipe playwright", () => {
  it.live("passes its tests against idv-mock", () =>
    Effect.gen(function*() {
      const [appPort, mockPort] = yield* Effect.all([freePort, freePort], { concurrency: "unbounded" })
      const { env, executablePath } = yield* Chromium.executable
      const { exitCode, stderr, stdout } = yield* ExampleProcess.run(
        Command.make(process.execPath, playwright, "test", "--workers=1").pipe(
          Command.workingDirectory(folder),
          Command.env({
            ...env,
            APP_PORT: String(appPort),
            MOCK_PORT: String(mockPort),
            MOCK: `node ${yield* Program.idvMock}`,
            CHROMIUM_PATH: executablePath,
            FORCE_COLOR: "0"
          })
        )
      )
      strictEqual(Number(exitCode), 0, stdout + stderr)
      strictEqual(/\d+ passed/.exec(stdout)?.[0], "2 passed")
    }))
})
