/** Measures what the ledger of a rescreening adds to the checks, on SQLite and PostgreSQL, and how workers share a run. */
import { FileSystem } from "@effect/platform"
import { Effect, Schema } from "effect"
import * as Postgres from "../test-services/Postgres.ts"
import { People } from "./screening.ts"
import * as Program from "./support/Program.ts"
import * as Report from "./support/Report.ts"
import * as Rounds from "./support/Rounds.ts"
import * as Stub from "./support/Stub.ts"
import type { Measurement } from "./support/Workload.ts"

/** The seconds of a long run, and the heap in MiB after 10 % (`early`) and 90 % (`late`) of the outcomes. */
const LongRun = Schema.Struct({
  planned: Schema.Number,
  screened: Schema.Number,
  reported: Schema.Number,
  early: Schema.Number,
  late: Schema.Number,
  resident: Schema.Number
})

export interface LongRun extends Schema.Schema.Type<typeof LongRun> {}

const program = "workloads/rescreening.ts"
const calls = 1500
const concurrency = 64
const rounds = 3

/** The service is the limit: a worker can make this number of checks per second. */
const slow = { latency: 100, concurrency: 10 }
const slowCalls = 1000

const throughput = ({ calls, seconds }: Measurement) => calls / seconds

export const rescreening = Effect.gen(function*() {
  const people = yield* People
  const files = yield* FileSystem.FileSystem
  const directory = yield* files.makeTempDirectoryScoped({ prefix: "bench-" })
  const postgres = yield* Postgres.make
  const url = yield* Stub.start({ latency: 5 })

  const ledger = (database: string) =>
    Effect.gen(function*() {
      const plan = yield* Program.startWorkload(program, "plan", url, database)
      const work = yield* Program.startWorkload(program, "work", url, database)
      return (calls: number) => Effect.zipRight(plan(calls, 1), work(calls, concurrency))
    })
  const check = yield* Program.startWorkload(program, "check", url)
  const sqlite = yield* ledger(`${directory}/ledger.sqlite`)
  const pg = yield* ledger(yield* postgres.createDatabase)
  const job = yield* Program.startWorkload(program, "job", url, yield* postgres.createDatabase)
  const alternatives = {
    check: (calls: number) => check(calls, concurrency),
    sqlite,
    pg,
    job: (calls: number) => job(calls, concurrency)
  }
  const runs = (calls: number) => ({
    check: alternatives.check(calls),
    sqlite: alternatives.sqlite(calls),
    pg: alternatives.pg(calls),
    job: alternatives.job(calls)
  })
  yield* Rounds.run(1, runs(calls))
  const measured = yield* Rounds.run(rounds, runs(calls))

  const slowUrl = yield* Stub.start({ latency: slow.latency })
  const shared = (workers: number) =>
    Effect.gen(function*() {
      const database = yield* postgres.createDatabase
      const plan = yield* Program.startWorkload(program, "plan", slowUrl, database)
      const works = yield* Effect.replicateEffect(Program.startWorkload(program, "work", slowUrl, database), workers)
      const round = Effect.zipRight(
        plan(slowCalls, 1),
        Effect.map(
          Effect.all(works.map((work) => work(slowCalls, slow.concurrency)), { concurrency: "unbounded" }),
          (all) => slowCalls / Math.max(...all.map(({ seconds }) => seconds))
        )
      )
      yield* round
      return yield* Effect.replicateEffect(round, rounds)
    }).pipe(Effect.scoped)
  const byWorkers = { 1: yield* shared(1), 2: yield* shared(2), 4: yield* shared(4) }

  const runLong = yield* Program.compileJsonProgram(program, LongRun)
  const long = yield* runLong("long", url, yield* postgres.createDatabase, String(people))

  const cpu = (name: keyof typeof measured) => measured[name].map((measurement) => measurement.cpu)
  const overhead = (name: keyof typeof measured) =>
    Report.spread(cpu(name).map((value, round) => (value - (cpu("check")[round] ?? NaN)) / 1000))
  const row = (title: string, name: keyof typeof measured) => [
    title,
    Report.range(Report.spread(measured[name].map(throughput))),
    Report.range(Report.spread(cpu(name)))
  ]
  const single = (value: number): Report.Spread => ({ median: value, min: value, max: value })

  const report: Report.Report = {
    columns: ["checks", "people/s", "CPU µs per person"],
    cells: [
      row("AmlClient.checkWithEvidence", "check"),
      row("Rescreening.work on SQLite", "sqlite"),
      row("Rescreening.work on PostgreSQL", "pg"),
      row("a job of pg-boss per person, without a ledger", "job"),
      ...Object.entries(byWorkers).map(([workers, rates]) => [
        `${workers} ${workers === "1" ? "worker" : "workers"}, ${slow.concurrency} checks of ${slow.latency} ms each`,
        Report.range(Report.spread(rates)),
        ""
      ])
    ],
    goals: [
      {
        what: "CPU per person beyond the check, PostgreSQL",
        measured: overhead("pg"),
        is: "at most",
        limit: 0.5,
        unit: " ms"
      },
      {
        what: "CPU per person beyond the check, SQLite",
        measured: overhead("sqlite"),
        is: "at most",
        limit: 0.3,
        unit: " ms"
      },
      {
        what: "Two workers, relative to one",
        measured: Report.ratio(byWorkers[2], byWorkers[1]),
        is: "at least",
        limit: 1.7,
        unit: "×"
      },
      {
        what: `Heap after 90 % of ${people} people, relative to after 10 % (${Report.number(long.early)} MiB)`,
        measured: single(long.late / long.early),
        is: "at most",
        limit: 1.1,
        unit: "×"
      },
      {
        what: "Time to plan a million people, from the time for these",
        measured: single(long.planned / people * 1e6),
        is: "at most",
        limit: 120,
        unit: " s"
      }
    ],
    notes: [
      `${rounds} interleaved rounds of ${calls} people, ${concurrency} concurrently. The service responds after 5 ms.`,
      "CPU is that of the worker, not of the database. PostgreSQL runs on the same machine without fsync; SQLite waits for the disk once per person.",
      `${people} people on PostgreSQL with a stubbed client, in one process: planned in ${
        Report.number(long.planned)
      } s, screened in ${Report.number(long.screened)} s, three reports in ${Report.number(long.reported)} s; ${
        Report.number(long.resident)
      } MiB resident. More: bench rescreening --people 1000000.`
    ]
  }
  return report
})
