/** A real Redis or Valkey server that is installed on this machine, on a free port, with a data directory of its own. */
import { FileSystem, Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Array as Arr, Config, Data, Effect, Option, Ref } from "effect"
import * as ServerProcess from "./serverProcess.ts"

export class RedisError extends Data.TaggedError("RedisError")<{ readonly message: string }> {}

const missing = new RedisError({
  message: "redis-server and valkey-server are not on the PATH: install Debian's package redis-server " +
    "(apt-get install redis-server), or set REDIS_SERVER to the path of the program"
})

/** The path of the program. No npm package contains it. */
const program = Effect.gen(function*() {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const directories = (yield* Config.withDefault(Config.string("PATH"), "")).split(":")
  const candidates = Option.match(yield* Config.option(Config.nonEmptyString("REDIS_SERVER")), {
    onNone: () =>
      ["redis-server", "valkey-server"].flatMap((name) => directories.map((directory) => path.join(directory, name))),
    onSome: Arr.of
  })
  return yield* Effect.findFirst(candidates, (candidate) => files.exists(candidate))
}).pipe(Effect.flatten, Effect.mapError(() => missing))

const password = "password"

/** The number of databases. Each test takes one. */
const databases = 64

/** Starts the server, stops it with the scope, and returns what creates a database and returns its `REDIS_URL`. */
export const make = Effect.gen(function*() {
  const files = yield* FileSystem.FileSystem
  const found = yield* program
  const directory = yield* files.makeTempDirectoryScoped({ prefix: "redis-" })
  const settings = {
    bind: "127.0.0.1",
    dir: directory,
    databases,
    requirepass: password,
    // Both forms of persistence, so that a test can search the files. `SAVE` writes the snapshot.
    appendonly: "yes",
    appendfsync: "no",
    save: "",
    rdbcompression: "no"
  }
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, `${value}`])
  const startAt = (port: number) =>
    ServerProcess.run(found, [...args, "--port", `${port}`], "Ready to accept connections")
  const { port } = yield* Effect.acquireRelease(
    Effect.mapError(ServerProcess.atFreePort(startAt), (message) => new RedisError({ message })),
    ({ child }) => ServerProcess.stop("SIGKILL")(child)
  )
  const next = yield* Ref.make(0)
  const createDatabase = Effect.map(
    Ref.getAndUpdate(next, (n) => (n + 1) % databases),
    (database) => `redis://default:${password}@127.0.0.1:${port}/${database}`
  )
  return { createDatabase, directory, port }
}).pipe(Effect.provide(NodeContext.layer))
