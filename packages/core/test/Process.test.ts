import { describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import * as Program from "../../mock-server/test/support/program.ts"
import * as RawServer from "./support/rawServer.ts"

const script = Program.bundled(new URL("support/callOnce.ts", import.meta.url))

const run = (how: string, authUrl: string) =>
  Effect.flatMap(
    script,
    (script) =>
      Effect.async<{ readonly code: number | null; readonly output: string }>((resume) => {
        const child = spawn(process.execPath, [script, how, authUrl])
        let output = ""
        child.stdout.on("data", (chunk) => output += chunk)
        child.stderr.on("data", (chunk) => output += chunk)
        child.on("close", (code) => resume(Effect.succeed({ code, output })))
        return Effect.sync(() => child.kill("SIGKILL"))
      })
  )

describe("A program with one call", () => {
  it.scopedLive.each(["runMain", "undisposed", "background", "disposed twice"])(
    "exits at once, because no timer runs: %s",
    (how) =>
      Effect.gen(function*() {
        // The connection stays open, which must not keep the process running either.
        const server = yield* RawServer.make((_request, socket) =>
          void socket.write(RawServer.ok({ access_token: "t", expires_in: 3600 }).replace("connection: close\r\n", ""))
        )
        const { code, output } = yield* run(how, server.url)
        deepStrictEqual([code, output], [0, "after the call: 0 timers"])
      })
  )
})
