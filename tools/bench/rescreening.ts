/** Measures what the ledger of a rescreening adds to the checks, on SQLite and PostgreSQL, and how workers share a run. */
import { FileSystem } from "@effect/platform"
import { Effect, Record, Schema } from "effect"
import { freePort } from "../test-services/freePort.ts"
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
const concurrency = 64
const warmUpRounds = 3
const rounds = 5
/** People per round. Workflows are slow, so they have fewer. */
const calls = 5000
const workflowCalls = 500

/** The service is the limit: a worker can make this number of checks per second. */
const slow = { latency: 20, concurrency: 2 }
const slowCallsPerWorker = 300
const slowRounds = 3
const workerCounts = [1, 2, 4] as const

const throughput = ({ calls, seconds }: Measurement) => calls / seconds

type Workload = Effect.Effect.Success<ReturnType<typeof Program.startWorkload>>

const start = <A, E, R>(workers: number, worker: Effect.Effect<A, E, R>) =>
  Effect.replicateEffect(worker, workers, { concurrency: "unbounded" })

/** Screens this number of people with this number of workers, each with this concurrency. */
type Alternative = (
  calls: number,
  concurrency: number
) => Effect.Effect<ReadonlyArray<Measurement>, Effect.Effect.Error<ReturnType<Workload>>>

/** A ledger: one process plans a run, which the workers share. */
const ledger = (url: string, database: string, workers: number) =>
  Effect.gen(function*() {
    const plan = yield* Program.startWorkload(program, "plan", url, database)
    const works = yield* start(workers, Program.startWorkload(program, "work", url, database))
    const screen: Alternative = (calls, concurrency) =>
      Effect.zipRight(
        plan(calls, 1),
        Effect.all(works.map((work) => work(calls, concurrency)), { concurrency: "unbounded" })
      )
    return screen
  })

/** Workers that have each an equal part of the people. */
const divided = (works: ReadonlyArray<Workload>): Alternative => (calls, concurrency) =>
  Effect.all(works.map((work) => work(calls / works.length, concurrency)), { concurrency: "unbounded" })

const jobs = (url: string, database: string, workers: number) =>
  Effect.map(start(workers, Program.startWorkload(program, "job", url, database)), divided)

const workflows = (url: string, database: string, workers: number) =>
  Effect.gen(function*() {
    const worker = Effect.flatMap(freePort, (port) =>
      Program.startWorkload("workloads/rescreeningWorkflow.ts", url, database, `${port}`))
    const first = yield* worker
    // This creates the tables. In several processes at once, the migrator of @effect/sql fails.
    yield* first(1, 1)
    return divided([first, ...yield* start(workers - 1, worker)])
  })

const only = ([first]: ReadonlyArray<Measurement>) =>
  first === undefined ? Effect.dieMessage("A worker measured nothing") : Effect.succeed(first)

const titles = {
  check: "AmlClient.check",
  sqlite: "Rescreening.work on SQLite",
  pg: "Rescreening.work on PostgreSQL",
  job: "a job of pg-boss per person, without a ledger",
  workflow: "a workflow of @effect/workflow per person"
}

export const rescreening = Effect.gen(function*() {
  const people = yield* People
  const files = yield* FileSystem.FileSystem
  const directory = yield* files.makeTempDirectoryScoped({ prefix: "bench-" })
  const postgres = yield* Postgres.make
  const url = yield* Stub.start({ latency: 5 })
  // Counts only the requests of workflows.
  const workflowUrl = yield* Stub.start({ latency: 5 })

  const check = yield* Program.startWorkload(program, "check", url)
  const sqlite = yield* ledger(url, `${directory}/ledger.sqlite`, 1)
  const pg = yield* ledger(url, yield* postgres.createDatabase, 1)
  const job = yield* jobs(url, yield* postgres.createDatabase, 1)
  const workflow = yield* workflows(workflowUrl, yield* postgres.createDatabase, 1)
  const alternatives = {
    check: check(calls, concurrency),
    sqlite: Effect.flatMap(sqlite(calls, concurrency), only),
    pg: Effect.flatMap(pg(calls, concurrency), only),
    job: Effect.flatMap(job(calls, concurrency), only),
    workflow: Effect.flatMap(workflow(workflowCalls, concurrency), only)
  }
  const checksBefore = (yield* Stub.counts(workflowUrl)).checks
  yield* Rounds.run(warmUpRounds, alternatives)
  const measured = yield* Rounds.run(rounds, alternatives)
  const workflowChecks = (yield* Stub.counts(workflowUrl)).checks - checksBefore

  const runLong = yield* Program.compileJsonProgram(program, LongRun)
  const longRuns = {
    PostgreSQL: yield* runLong("long", url, yield* postgres.createDatabase, String(people)),
    SQLite: yield* runLong("long", url, `${directory}/long.sqlite`, String(people))
  }

  const cpu = (name: keyof typeof measured) => measured[name].map((measurement) => measurement.cpu)
  const overhead = (name: keyof typeof measured) =>
    Report.spread(cpu(name).map((value, round) => (value - (cpu("check")[round] ?? NaN)) / 1000))
  const row = (name: keyof typeof measured) => [
    titles[name],
    Report.range(Report.spread(measured[name].map(throughput))),
    Report.range(Report.spread(cpu(name)))
  ]

  const report: Report.Report = {
    columns: ["checks", "people/s", "CPU µs per person"],
    cells: [row("check"), row("sqlite"), row("pg"), row("job"), row("workflow")],
    goals: [
      {
        what: "CPU per person beyond the check, PostgreSQL",
        measured: overhead("pg"),
        is: "at most",
        limit: 0.32,
        unit: " ms"
      },
      {
        what: "CPU per person beyond the check, SQLite",
        measured: overhead("sqlite"),
        is: "at most",
        limit: 0.38,
        unit: " ms"
      },
      ...Record.toEntries(longRuns).flatMap(([database, { early, late, planned }]): ReadonlyArray<Report.Goal> => [
        {
          what: `${database}: heap after 90 % of ${people} people, relative to after 10 % (${
            Report.number(early)
          } MiB)`,
          measured: Report.single(late / early),
          is: "at most",
          limit: 1.1,
          unit: "×"
        },
        {
          what: `${database}: time to plan a million people, from the time for these`,
          measured: Report.single(planned / people * 1e6),
          is: "at most",
          limit: 120,
          unit: " s"
        }
      ])
    ],
    notes: [
      `${rounds} interleaved rounds of ${calls} people (workflows: ${workflowCalls}), ${concurrency} concurrently, after ${warmUpRounds} that are not counted. The service responds after 5 ms.`,
      "CPU is that of the worker, not of the database. PostgreSQL runs on the same machine without fsync; SQLite waits for the disk.",
      `For ${workflowCalls * (warmUpRounds + rounds)} workflows, the service received ${workflowChecks} checks.`,
      ...Record.toEntries(longRuns).map(([database, { planned, reported, resident, screened }]) =>
        `${people} people on ${database} with a stubbed client, in one process: planned in ${
          Report.number(planned)
        } s, screened in ${Report.number(screened)} s, three reports in ${Report.number(reported)} s; ${
          Report.number(resident)
        } MiB resident.`
      ),
      "More people: bench rescreening --people 1000000."
    ]
  }
  return report
})

/** People per second with several workers, when the service is the limit. */
export const rescreeningWorkers = Effect.gen(function*() {
  const files = yield* FileSystem.FileSystem
  const directory = yield* files.makeTempDirectoryScoped({ prefix: "bench-" })
  const postgres = yield* Postgres.make
  let count = 0
  const newFile = Effect.sync(() => `${directory}/${++count}.sqlite`)
  const slowUrl = yield* Stub.start({ latency: slow.latency })
  /** People per second, with 1, 2 and 4 workers. */
  const byWorkers = <E, R, E2, R2>(
    database: Effect.Effect<string, E, R>,
    start: (url: string, database: string, workers: number) => Effect.Effect<Alternative, E2, R2>
  ) =>
    Effect.forEach(workerCounts, (workers) =>
      Effect.gen(function*() {
        const screen = yield* start(slowUrl, yield* database, workers)
        const count = slowCallsPerWorker * workers
        const round = Effect.map(
          screen(count, slow.concurrency),
          (all) => count / Math.max(...all.map(({ seconds }) => seconds))
        )
        yield* round
        return yield* Effect.replicateEffect(round, slowRounds)
      }).pipe(Effect.scoped))
  const shared = {
    sqlite: yield* byWorkers(newFile, ledger),
    pg: yield* byWorkers(postgres.createDatabase, ledger),
    job: yield* byWorkers(postgres.createDatabase, jobs),
    workflow: yield* byWorkers(postgres.createDatabase, workflows)
  }

  const [one = [], two = []] = shared.pg
  const row = (name: keyof typeof shared) => [
    titles[name],
    ...shared[name].map((rates) => Report.range(Report.spread([...rates])))
  ]

  const report: Report.Report = {
    columns: ["people/s", "1 worker", "2 workers", "4 workers"],
    cells: [row("sqlite"), row("pg"), row("job"), row("workflow")],
    goals: [
      {
        what: "Two workers on PostgreSQL, relative to one",
        measured: Report.ratio(two, one),
        is: "at least",
        limit: 1.7,
        unit: "×"
      }
    ],
    notes: [
      `${slowRounds} rounds of ${slowCallsPerWorker} people per worker, and one before that is not counted. The service responds after ${slow.latency} ms, and a worker has ${slow.concurrency} checks in flight, so a worker makes at most ${
        1000 / slow.latency * slow.concurrency
      } checks per second.`
    ]
  }
  return report
})
