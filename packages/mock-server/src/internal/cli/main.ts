/** What the command does with its words. What is not needed for that is not loaded. */
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Completions from "./completions.ts"
import * as Given from "./parsedArguments.ts"
import * as PortFile from "./portFile.ts"
import * as Program from "./program.ts"
import type { Stdout } from "./serve.ts"

const locally = Effect.promise(() => import("./serve.ts"))

const verifying = Effect.promise(() => import("./verify.ts"))

const telling = Effect.promise(() => import("./contract.ts"))

const remotely = Effect.promise(() => import("./commands.ts"))

export const main = (words: ReadonlyArray<string>, { stdout, version }: {
  readonly stdout: Stdout
  readonly version: string
}) =>
  Effect.gen(function*() {
    const asked = yield* Program.read(version, words)
    if (asked._tag === "Text") return yield* Console.log(asked.text.trimEnd())
    switch (asked.command) {
      case "serve": {
        // Before the server is loaded, which takes most of a start.
        yield* Effect.forEach(Given.values(asked.given, "port-file"), PortFile.remove)
        const { serve } = yield* locally
        return yield* serve(asked.given, stdout)
      }
      case "verify": {
        const { verify } = yield* verifying
        return yield* verify(asked.given, version)
      }
      case "contract": {
        const { contract } = yield* telling
        return yield* contract(asked.given)
      }
      case "completions":
        return yield* Effect.flatMap(
          Completions.make(Program.make(version, () => {}), asked.given.argument),
          Console.log
        )
      default: {
        const { run } = yield* remotely
        return yield* run(asked.command, asked.given)
      }
    }
  }).pipe(Effect.provide(NodeContext.layer))
