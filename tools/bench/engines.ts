/** Kills a worker of each job engine while it processes a job, and measures when another worker repeats the job. */
import { Command } from "@effect/platform"
import { Clock, Deferred, Effect, Option, Stream } from "effect"
import * as Postgres from "../test-services/Postgres.ts"
import * as Redis from "../test-services/Redis.ts"
import * as Program from "./support/Program.ts"
import * as Report from "./support/Report.ts"

const jobs = 1000
const shards = 8
const shardMillis = 2000

/** A worker whose lease is longer than this is not useful for a nightly run. */
const patience = "3 minutes"

const candidates = [
  { name: "pgBoss", title: "pg-boss 10.4", database: "PostgreSQL" },
  { name: "graphileWorker", title: "graphile-worker 0.17", database: "PostgreSQL" },
  { name: "bullmq", title: "BullMQ 6.7", database: "Redis" }
] as const

/** Starts a worker, and passes the jobs that it starts and ends to `onLine`. */
const startWorker = (program: string, args: ReadonlyArray<string>, onLine: (line: string) => Effect.Effect<unknown>) =>
  Effect.gen(function*() {
    const child = yield* Command.start(Command.stderr(Command.make(process.execPath, program, ...args), "inherit"))
    yield* child.stdout.pipe(
      Stream.decodeText(),
      Stream.splitLines,
      Stream.runForEach(onLine),
      Effect.ignore,
      Effect.forkScoped
    )
    return child
  })

const send = (program: string, args: ReadonlyArray<string>, count: number) =>
  Command.exitCode(Command.stderr(Command.make(process.execPath, program, ...args, "send", String(count)), "inherit"))

/** Jobs per second with one worker that does nothing. */
const throughput = (program: string, args: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const done = yield* Deferred.make<void>()
    let ended = 0
    let from = 0
    yield* send(program, args, jobs)
    yield* startWorker(program, [...args, "work", "0"], (line) =>
      Effect.gen(function*() {
        if (from === 0) from = yield* Clock.currentTimeMillis
        if (line.startsWith("end") && ++ended === jobs) yield* Deferred.succeed(done, undefined)
      }))
    yield* Deferred.await(done)
    return jobs / ((yield* Clock.currentTimeMillis) - from) * 1000
  }).pipe(Effect.scoped, Effect.timeoutOption(patience))

/** Seconds from the end of a worker to the repetition of its job, and the number of jobs that were processed twice. */
const recovery = (program: string, args: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const first = yield* Deferred.make<string>()
    const repeated = yield* Deferred.make<number>()
    const done = yield* Deferred.make<void>()
    const ended: Array<string> = []
    let lost = ""
    const onLine = (line: string) =>
      Effect.gen(function*() {
        const [what, job = ""] = line.split(" ")
        if (what === "start" && job === lost) yield* Deferred.succeed(repeated, yield* Clock.currentTimeMillis)
        if (what !== "end") return
        ended.push(job)
        if (new Set(ended).size === shards) yield* Deferred.succeed(done, undefined)
      })
    yield* send(program, args, shards)
    const work = [...args, "work", String(shardMillis)]
    const victim = yield* startWorker(
      program,
      work,
      (line) => line.startsWith("start") ? Deferred.succeed(first, line.slice(6)) : onLine(line)
    )
    lost = yield* Deferred.await(first)
    yield* victim.kill("SIGKILL")
    const killedAt = yield* Clock.currentTimeMillis
    yield* startWorker(program, work, onLine)
    yield* startWorker(program, work, onLine)
    const repeatedAt = yield* Deferred.await(repeated)
    yield* Deferred.await(done)
    return { seconds: (repeatedAt - killedAt) / 1000, twice: ended.length - new Set(ended).size }
  }).pipe(Effect.scoped, Effect.timeoutOption(patience))

export const jobEngines = Effect.gen(function*() {
  const program = yield* Program.compile("workloads/engine.ts")
  const postgres = yield* Postgres.make
  const redis = yield* Redis.make
  const cells = yield* Effect.forEach(candidates, ({ database, name, title }) =>
    Effect.gen(function*() {
      const { createDatabase } = database === "Redis" ? redis : postgres
      const rate = yield* throughput(program, [name, yield* createDatabase])
      const kill = yield* recovery(program, [name, yield* createDatabase])
      const never = `not within ${patience}`
      return [
        `${title} on ${database}`,
        Option.match(rate, { onNone: () => never, onSome: Report.number }),
        Option.match(kill, { onNone: () => never, onSome: ({ seconds }) => `${seconds.toFixed(1)} s` }),
        Option.match(kill, { onNone: () => "", onSome: ({ twice }) => String(twice) })
      ]
    }))
  const report: Report.Report = {
    columns: ["engine", "empty jobs/s", "kill -9 to repetition", "processed twice"],
    cells,
    goals: [],
    notes: [
      `${jobs} empty jobs with one worker; then ${shards} jobs of ${
        shardMillis / 1000
      } s, whose first worker is killed.`,
      "pg-boss: expiry after 30 s, maintenance every 10 s. graphile-worker: poll every 0.5 s. BullMQ: defaults."
    ]
  }
  return report
})
