/** Starts the onboarding API as a process. */
import type { Idv } from "@effect-idv/core"
import { Command } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Deferred, Effect, Option, Stream } from "effect"
import * as ExampleProcess from "./exampleProcess.ts"

const main = new URL("../../src/onboarding-api/main.ts", import.meta.url)

/** The variables that select a mock server, as the customer of a test. */
export const serviceVariables = ({ authUrl, baseUrl }: Pick<Idv.Options, "authUrl" | "baseUrl">) => ({
  IDV_AUTH_URL: authUrl,
  IDV_BASE_URL: baseUrl,
  IDV_CUSTOMER_ID: "test-onboarding",
  IDV_CUSTOMER_KEY: "test-key"
})

export const start = (variables: ExampleProcess.Variables) =>
  Effect.gen(function*() {
    const process = yield* Effect.flatMap(
      ExampleProcess.command(main, [], { PORT: "0", OPERATIONS_PORT: "0", ...variables }),
      Command.start
    )
    const lines: Array<string> = []
    const url = yield* Deferred.make<string>()
    const readOutput = Stream.merge(process.stdout, process.stderr).pipe(
      Stream.decodeText(),
      Stream.splitLines,
      Stream.runForEach((line) => {
        lines.push(line)
        return Option.match(Option.fromNullable(/listens at (\S+)/.exec(line)?.[1]), {
          onNone: () => Effect.void,
          onSome: (found) => Deferred.succeed(url, found)
        })
      })
    )
    const output = yield* Effect.forkScoped(readOutput)
    const exitCode = Effect.zipLeft(process.exitCode, output)
    return {
      /** The address, once the server listens. */
      url: Effect.raceFirst(
        Deferred.await(url),
        Effect.flatMap(exitCode, () => Effect.dieMessage(`The server ended before it listened: ${lines.join("\n")}`))
      ),
      /** The complete output so far. */
      printed: Effect.sync(() => lines.join("\n")),
      exitCode,
      /** Sends SIGTERM and returns the exit code. */
      terminate: Effect.zipRight(process.kill("SIGTERM"), exitCode)
    }
  }).pipe(Effect.provide(NodeContext.layer))
