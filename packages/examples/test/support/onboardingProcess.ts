/** The onboarding API as a process of its own, bundled. */
import { Command } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Array as Arr, Deferred, Effect, Option, Stream } from "effect"
import * as Program from "../../../mock-server/test/support/program.ts"

const main = Program.bundled(new URL("../../src/onboarding-api/main.ts", import.meta.url))

const none = Object.fromEntries(
  Arr.map(
    ["AUTH_URL", "BASE_URL", "CUSTOMER_ID", "CUSTOMER_KEY", "ALLOW_INSECURE"],
    (name) => [`IDV_${name}`, undefined]
  )
)

/** - `url`: once it listens. `printed`: all that it wrote until now. `kill`: SIGTERM, and its exit code. */
export const start = (variables: Record<string, string>) =>
  Effect.gen(function*() {
    const process = yield* Command.make("node", yield* main).pipe(
      Command.env({ ...none, DATABASE_URL: undefined, PORT: "0", ...variables }),
      Command.start
    )
    const lines: Array<string> = []
    const url = yield* Deferred.make<string>()
    const listen = Stream.merge(process.stdout, process.stderr).pipe(
      Stream.decodeText(),
      Stream.splitLines,
      Stream.runForEach((line) => {
        lines.push(line)
        return Option.match(Option.fromNullable(/listens at (\S+),/.exec(line)?.[1]), {
          onNone: () => Effect.void,
          onSome: (found) => Deferred.succeed(url, found)
        })
      })
    )
    const output = yield* Effect.forkScoped(listen)
    const exitCode = Effect.zipLeft(process.exitCode, output)
    return {
      url: Deferred.await(url),
      printed: Effect.sync(() => lines.join("\n")),
      exitCode,
      kill: Effect.zipRight(process.kill("SIGTERM"), exitCode)
    }
  }).pipe(Effect.provide(NodeContext.layer))
