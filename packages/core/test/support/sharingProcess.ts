/** Processes that share a token, started by a test. */
import { Deferred, Effect } from "effect"
import { spawn } from "node:child_process"
import * as Program from "../../../mock-server/test/support/program.ts"

const script = Program.bundled(new URL("shareToken.ts", import.meta.url))

/**
 * Starts a process. `get` lets it acquire a token and returns that, and `kill` sends a signal.
 */
export const start = (authUrl: string, storeUrl: string, key: string) =>
  Effect.gen(function*() {
    const path = yield* script
    const ready = yield* Deferred.make<void, string>()
    const result = yield* Deferred.make<{ readonly token: string; readonly took: number }, string>()
    const child = yield* Effect.acquireRelease(
      Effect.sync(() => spawn(process.execPath, [path, authUrl, storeUrl, key])),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    )
    let output = ""
    const read = (chunk: Buffer) => {
      output += chunk.toString()
      const [, token, took] = /^(\S+) (\d+)$/m.exec(output) ?? []
      if (/^ready$/m.test(output)) Deferred.unsafeDone(ready, Effect.void)
      if (token !== undefined) Deferred.unsafeDone(result, Effect.succeed({ token, took: Number(took) }))
    }
    child.stdout.on("data", read)
    child.stderr.on("data", read)
    child.on("close", () => {
      Deferred.unsafeDone(ready, Effect.fail(output))
      Deferred.unsafeDone(result, Effect.fail(output))
    })
    yield* Deferred.await(ready)
    return {
      go: Effect.sync(() => child.stdin.write("go\n")),
      get: Effect.zipRight(Effect.sync(() => child.stdin.write("go\n")), Deferred.await(result)),
      kill: (signal: "SIGKILL" | "SIGSTOP") => Effect.sync(() => child.kill(signal))
    }
  })
