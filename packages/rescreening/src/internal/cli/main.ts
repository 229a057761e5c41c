import * as NodeContext from "@effect/platform-node/NodeContext"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Commands from "./commands.ts"
import * as Program from "./program.ts"

/** Returns the exit code. */
export const main = (words: ReadonlyArray<string>, version: string) =>
  Effect.gen(function*() {
    const request = yield* Program.read(version, words)
    if (request._tag === "Text") {
      yield* Console.log(request.text)
      return 0
    }
    const { args, command, flags } = request
    switch (command) {
      case "start":
        return yield* Commands.start(args[0] ?? "", flags)
      case "plan":
        return yield* Commands.plan(flags)
      case "work":
        return yield* Commands.work(flags)
      case "status":
        return yield* Commands.status(flags)
      case "pause":
        return yield* Commands.pause(flags)
      case "resume":
        return yield* Commands.resume(flags)
      case "report":
        return yield* Commands.report(flags)
      case "compare":
        return yield* Commands.compare(args, flags)
      case "decide":
        return yield* Commands.decide(flags)
      default:
        return yield* Commands.erase(flags)
    }
  }).pipe(Effect.provide(NodeContext.layer))
