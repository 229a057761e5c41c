/** Each command as the role that docs/rescreening.md gives it, with the GRANT lists of that page. */
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { SqlClient } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import { describe, layer } from "@effect/vitest"
import { assertInclude, assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Fiber, Redacted, Schedule } from "effect"
import * as Postgres from "../../../tools/test-services/Postgres.ts"
import * as EnginePgBoss from "../src/EnginePgBoss.ts"
import { Ledger, type People, Rescreening } from "../src/index.ts"
import * as HangingProxy from "./support/hangingProxy.ts"
import { layerPeople, many, service } from "./support/people.ts"
import * as Processes from "./support/processes.ts"

const documented = Effect.gen(function*() {
  const files = yield* FileSystem.FileSystem
  const page = yield* files.readFileString(new URL("../../../docs/rescreening.md", import.meta.url).pathname)
  return /```sql\n([\s\S]*?)```/.exec(page)?.[1] ?? ""
})

/** A database with tables, and the address of each role. */
const database = Effect.gen(function*() {
  const { createDatabase, port } = yield* Postgres.make
  const owner = yield* createDatabase
  const as = (role: string) => owner.replace("postgres:password@", `${role}:password@`)
  const grants = yield* documented
  yield* Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    for (const role of ["rescreen_worker", "rescreen_reader"]) {
      yield* sql.unsafe(`CREATE ROLE ${role} LOGIN PASSWORD 'password'`)
    }
  }).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(owner) })))
  const grant = Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(grants)).pipe(
    Effect.provide(PgClient.layer({ url: Redacted.make(owner) }))
  )
  return { port, owner, worker: as("rescreen_worker"), reader: as("rescreen_reader"), grant }
})

const header = "id,name,date_of_birth"
const csv = [header, "K1,Ada Testclear,1957-03-14", "K2,Zoe Testpep,1957-03-14", ""].join("\n")

describe("The roles of PostgreSQL", () => {
  layer(NodeContext.layer, { excludeTestServices: true })((it) => {
    it.scoped("suffice for their commands, and for no others", () =>
      Effect.gen(function*() {
        const { grant, owner, reader, worker } = yield* database
        const { variables } = yield* Processes.service()
        const files = yield* FileSystem.FileSystem
        const directory = yield* files.makeTempDirectoryScoped()
        const controls = `${directory}/controls.csv`
        yield* files.writeFileString(
          controls,
          "id,name,date_of_birth,match_found\nL1,Ida Testpep,1957-03-14,Potential match\n"
        )
        const run = (role: string, args: ReadonlyArray<string>, input?: string) =>
          Processes.run(args, { ...variables, DATABASE_URL: role }, input)
        const refused = (role: string, args: ReadonlyArray<string>, input?: string) =>
          Effect.map(run(role, args, input), ({ exitCode, stderr }) => {
            strictEqual(exitCode, 1, stderr)
            strictEqual(stderr.split("\n").length, 2, stderr)
            return stderr
          })
        assertInclude(yield* refused(worker, ["migrate"]), "refuses this role a permission (migrate)")
        assertInclude(yield* refused(worker, ["status"]), "There is no ledger in the database ")
        strictEqual((yield* run(owner, ["migrate"])).stdout, "The tables of the ledger and of pg-boss are ready.\n")
        yield* grant
        const decisions = Effect.map(run(owner, ["matches", "--run", "1", "--reviewer", "r0"]), ({ stdout }) =>
          `id,digest,decision,reason\nK2,${/"digest":"([\da-f]{64})"/.exec(stdout)?.[1]},false_positive,age\n`)
        const commands: ReadonlyArray<
          readonly [ReadonlyArray<string>, number, string | undefined | typeof decisions]
        > = [
          [["plan", "--run", "1", "--control", controls], 0, csv],
          [["pause", "--run", "1"], 0, undefined],
          [["resume", "--run", "1"], 0, undefined],
          [["set", "--run", "1", "--rate", "100"], 0, undefined],
          [["work", "--run", "1"], 10, undefined],
          [["resume", "--run", "1", "--again", "both"], 0, undefined],
          [["matches", "--run", "1", "--reviewer", "r1"], 0, undefined],
          [["decide", "--run", "1", "--reviewer", "r1"], 0, decisions],
          [["decide", "--approve", "--run", "1", "--reviewer", "r2"], 0, decisions],
          [["export", "--id", "K2", "--by", "r1"], 0, undefined],
          [["hold", "--id", "K1", "--by", "r1"], 0, undefined],
          [["hold", "--id", "K1", "--by", "r1", "--release"], 0, undefined]
        ]
        for (const [args, exitCode, given] of commands) {
          const input = Effect.isEffect(given) ? yield* given : given
          assertInclude(yield* refused(reader, args, input), "refuses this role a permission")
          const done = yield* run(worker, args, input)
          deepStrictEqual([done.exitCode, done.stderr], [exitCode, ""], args.join(" "))
        }
        for (
          const args of [["status"], ["report", "--run", "1", "--out", `${directory}/report`], ["compare", "1", "1"], [
            "history"
          ]]
        ) {
          const done = yield* run(reader, args)
          deepStrictEqual([done.exitCode, done.stderr], [0, ""], args.join(" "))
        }
        yield* refused(worker, ["erase", "--id", "K1", "--by", "r1"])
        strictEqual((yield* run(owner, ["erase", "--id", "K1", "--by", "r1"])).exitCode, 0)
        const erase = ["erase", "--older-than", "0d"]
        yield* refused(reader, erase)
        strictEqual((yield* run(owner, erase)).stdout, "Erased: 1. Their counts stay.\n")
        // Another search_path never makes a second, empty ledger.
        assertInclude(yield* refused(`${owner}?options=-c%20search_path%3Dpg_temp`, ["status"]), "search_path pg_temp")
      }))

    it.scoped(
      "let the job engine plan and screen a run as a worker, although a night fails, a machine dies and a network hangs",
      () =>
        Effect.gen(function*() {
          const { grant, owner, port, worker } = yield* database
          const url = Redacted.make(worker)
          yield* Ledger.migratePg({ url: Redacted.make(owner) })
          // Several machines may do this at once.
          const migrate = EnginePgBoss.migrate({ url: Redacted.make(owner) })
          yield* Effect.all([migrate, migrate], { concurrency: 2 })
          yield* grant
          const aml = service()
          let nights = 0
          const night = Effect.suspend((): Effect.Effect<unknown, unknown, Ledger.Ledger | People.People> => {
            nights++
            if (nights === 1) return Effect.dieMessage("The population is not available")
            // For pg-boss, this is a machine that died: its job expires.
            if (nights === 2) return Effect.never
            return Rescreening.plan(many(20), { run: "night", service: "service", rate: 100 })
          })
          const machine = (url: string) =>
            EnginePgBoss.work({
              url: Redacted.make(url),
              service: "service",
              cron: "* * * * *",
              night,
              nightTimeout: "3 seconds"
            })
          const proxy = yield* HangingProxy.make(port)
          const cutOff = worker.replace(`:${port}/`, `:${proxy.port}/`)
          const machines = yield* Effect.fork(
            Effect.all([machine(worker), machine(worker), machine(cutOff)], { concurrency: "unbounded" }).pipe(
              Effect.provide([aml.layer, layerPeople(), Ledger.layerPg({ url })])
            )
          )
          yield* Effect.sleep("3 seconds")
          yield* proxy.hang(true)
          yield* Effect.flatMap(Ledger.Ledger, (ledger) => ledger.run("night")).pipe(
            Effect.repeat({ until: ({ state }) => state === "complete", schedule: Schedule.spaced("500 millis") }),
            Effect.retry(Schedule.spaced("500 millis")),
            Effect.timeout("4 minutes"),
            Effect.provide(Ledger.layerPg({ url }))
          )
          yield* proxy.hang(false)
          strictEqual(machines.unsafePoll(), null)
          yield* Fiber.interrupt(machines)
          strictEqual(aml.names.length, 20)
          assertTrue(nights >= 3, `${nights}`)
        }),
      300_000
    )
  })
})
