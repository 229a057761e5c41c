/** Imports each module that a user can name, and each that none should: prints what came of it. */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Predicate } from "effect"

/** What Node says of a module: its error code, or the first line of its error. */
const told = (error: unknown): string =>
  Predicate.hasProperty(error, "code") ? String(error.code) : String(error).split("\n", 1).join()

const load = (specifier: string) =>
  Effect.tryPromise({ try: () => import(specifier), catch: told }).pipe(
    Effect.match({
      onSuccess: (module) => ({ specifier, loaded: Object.keys(module).length > 0 ? "yes" : "empty" }),
      onFailure: (loaded) => ({ specifier, loaded })
    })
  )

Effect.forEach(process.argv.slice(2), load).pipe(
  Effect.flatMap((modules) => Console.log(JSON.stringify(modules))),
  NodeRuntime.runMain
)
