/**
 * Programs as a user has them: this project's packages compiled, and Effect from where it is
 * installed. What runs TypeScript from source puts a call around every function, which would be measured.
 */
import { Command, Worker } from "@effect/platform"
import { NodeWorker } from "@effect/platform-node"
import { Effect, Schema } from "effect"
import { build } from "esbuild"
import { fork } from "node:child_process"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import { Run } from "./Subject.ts"

const folder = fileURLToPath(new URL("../../node_modules/.cache/bench", import.meta.url))

const installed = ["effect", "@effect/*", "autocannon", "oauth2-mock-server", "openid-client", "undici"]

/** Its path, compiled, from the name of a file in `bench`. */
export const compiled = (name: string): Effect.Effect<string> =>
  Effect.suspend(() => {
    const outfile = join(folder, `${basename(name, ".ts")}.mjs`)
    return Effect.promise(() =>
      build({
        entryPoints: [fileURLToPath(new URL(`../${name}`, import.meta.url))],
        outfile,
        bundle: true,
        platform: "node",
        format: "esm",
        target: "es2022",
        logLevel: "error",
        external: installed
      })
    ).pipe(Effect.as(outfile))
  })

/** Starts a subject, a file that calls `Subject.main`, until the scope is closed. */
export const subject = (name: string, ...args: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const program = yield* compiled(name)
    const worker = yield* Effect.provide(
      Worker.makeSerialized<Run>({}),
      NodeWorker.layer(() => fork(program, args))
    )
    return (calls: number, concurrency: number) => worker.executeEffect(new Run({ calls, concurrency }))
  })

/** Compiles a file that prints one JSON value and ends. What is given runs it in a new process each time. */
export const answering = <A, I>(name: string, Answer: Schema.Schema<A, I>) =>
  Effect.map(
    compiled(name),
    (program) => (...args: ReadonlyArray<string>) =>
      Command.make(process.execPath, program, ...args).pipe(
        Command.stderr("inherit"),
        Command.string,
        Effect.flatMap(Schema.decodeUnknown(Schema.parseJson(Answer)))
      )
  )
