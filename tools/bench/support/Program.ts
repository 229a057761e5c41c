/**
 * Compiles programs as a user would run them: this project's packages bundled, and Effect as installed.
 * Running TypeScript from source with tsx would wrap every function, and the wrappers would be measured.
 */
import { Command, Worker } from "@effect/platform"
import { NodeWorker } from "@effect/platform-node"
import { Deferred, Effect, Schema } from "effect"
import { build, type BuildOptions } from "esbuild"
import { fork } from "node:child_process"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import { Run } from "./Workload.ts"

/** Below the `node_modules` of this package, so that the programs find its dependencies. */
const folder = fileURLToPath(new URL("../node_modules/.cache/bench", import.meta.url))

const external = [
  "effect",
  "@effect/*",
  "bullmq",
  "graphile-worker",
  "libsql",
  "oauth2-mock-server",
  "pg-boss",
  "undici"
]

const bundle = (name: string, options: BuildOptions): Promise<string> => {
  const outfile = join(folder, `${basename(name, ".ts")}${options.minify === true ? "-bundled" : ""}.mjs`)
  return build({
    entryPoints: [fileURLToPath(new URL(`../${name}`, import.meta.url))],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "es2022",
    logLevel: "error",
    ...options
  }).then(() => outfile)
}

const bundles = new Map<string, Promise<string>>()

/** Compiles a file of this package, such as `servers/stub.ts`, once, and returns the path of the result. */
export const compile = (name: string): Effect.Effect<string> =>
  Effect.promise(() => {
    const bundled = bundles.get(name) ?? bundle(name, { external })
    bundles.set(name, bundled)
    return bundled
  })

/** Starts a workload, a file that calls `Workload.main`, until the scope closes. Returns a function that runs it. */
export const startWorkload = (name: string, ...args: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const program = yield* compile(name)
    // `Worker` would wait for a process that has ended.
    const ended = yield* Deferred.make<never>()
    const startProcess = () =>
      // Without the loader of this process, which the compiled program does not need.
      fork(program, args, { execArgv: [] }).on(
        "exit",
        (code) => Deferred.unsafeDone(ended, Effect.dieMessage(`${name} ${args[0]} ended with exit code ${code}`))
      )
    const worker = yield* Effect.provide(Worker.makeSerialized<Run>({}), NodeWorker.layer(startProcess))
    return (calls: number, concurrency: number, seconds?: number) =>
      Effect.raceFirst(worker.executeEffect(new Run({ calls, concurrency, seconds })), Deferred.await(ended))
  })

/** Bundles a file of this package with all that it imports, and returns the path of the result. */
export const bundleAll = (name: string): Effect.Effect<string> => Effect.promise(() => bundle(name, { minify: true }))

const runJsonProgram = <A, I>(Output: Schema.Schema<A, I>) => (program: string) => (...args: ReadonlyArray<string>) =>
  Command.make(process.execPath, program, ...args).pipe(
    Command.stderr("inherit"),
    Command.string,
    Effect.flatMap(Schema.decodeUnknown(Schema.parseJson(Output)))
  )

/** Compiles a program that prints one JSON value. Returns a function that runs it in a new process. */
export const compileJsonProgram = <A, I>(name: string, Output: Schema.Schema<A, I>) =>
  Effect.map(compile(name), runJsonProgram(Output))

/** As `compileJsonProgram`, with all imports in one file. */
export const bundleJsonProgram = <A, I>(name: string, Output: Schema.Schema<A, I>) =>
  Effect.map(bundleAll(name), runJsonProgram(Output))
