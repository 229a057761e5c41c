/** Imports each module of its arguments, and prints the results as JSON. */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Predicate } from "effect"

/** The error code of Node, or the first line of the error. */
const codeOf = (error: unknown): string =>
  Predicate.hasProperty(error, "code") ? String(error.code) : String(error).split("\n", 1).join()

const load = (specifier: string) =>
  Effect.tryPromise({ try: () => import(specifier), catch: codeOf }).pipe(
    Effect.match({
      onSuccess: (module) => ({ specifier, loaded: Object.keys(module).length > 0 ? "yes" : "empty" }),
      onFailure: (loaded) => ({ specifier, loaded })
    })
  )

Effect.forEach(process.argv.slice(2), load).pipe(
  Effect.flatMap((modules) => Console.log(JSON.stringify(modules))),
  NodeRuntime.runMain
)
