/**
 * A process of a job engine: `engine.ts pgBoss|graphileWorker|bullmq <url> send <count>` adds jobs, and `engine.ts … work
 * <milliseconds>` processes them, each for this time. It prints `start <job>` and `end <job>`.
 */
import { Queue, Worker } from "bullmq"
import { Console, Effect } from "effect"
import { makeWorkerUtils, run } from "graphile-worker"
import PgBoss from "pg-boss"

interface Engine {
  readonly send: (count: number) => Promise<unknown>
  readonly work: (handle: (job: string) => Promise<void>) => Promise<unknown>
}

const [, , name = "", url = "", command = "", value = "0"] = process.argv

const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(index))

/** An expired job is also repeated if its worker lives, so the expiry must exceed the duration of a job. */
const expireInSeconds = 30

const pgBoss = (connectionString: string): Engine => {
  // A worker fetches jobs once per interval, so empty jobs need a batch.
  const batchSize = value === "0" ? 100 : 1

  const boss = new PgBoss({ connectionString, maintenanceIntervalSeconds: 10 })
  const started = () =>
    boss.start().then(() => boss.createQueue("shards", { name: "shards", expireInSeconds, retryLimit: 100 }))
  return {
    send: (count) =>
      started().then(() => boss.insert(numbers(count).map((job) => ({ name: "shards", data: { job } }))))
        .then(() => boss.stop({ graceful: false })),
    work: (handle) =>
      started().then(() =>
        boss.work<{ job: string }>(
          "shards",
          { pollingIntervalSeconds: 0.5, batchSize },
          (jobs) => Promise.all(jobs.map(({ data }) => handle(data.job)))
        )
      )
  }
}

const graphileWorker = (connectionString: string): Engine => ({
  send: (count) =>
    makeWorkerUtils({ connectionString }).then((utils) =>
      utils.migrate().then(() => Promise.all(numbers(count).map((job) => utils.addJob("shards", { job }))))
        .then(() => utils.release())
    ),
  work: (handle) =>
    run({
      connectionString,
      concurrency: 1,
      pollInterval: 500,
      noHandleSignals: true,
      taskList: { shards: (payload) => handle((payload as { job: string }).job) }
    })
})

const bullmq = (url: string): Engine => ({
  send: (count) => {
    const queue = new Queue("shards", { connection: { url } })
    return queue.addBulk(numbers(count).map((job) => ({ name: "shard", data: { job } }))).then(() => queue.close())
  },
  work: (handle) =>
    new Worker<{ job: string }>("shards", ({ data }) => handle(data.job), {
      connection: { url, maxRetriesPerRequest: null },
      maxStalledCount: 100
    }).waitUntilReady()
})

const engines = { pgBoss, graphileWorker, bullmq }

const engine = engines[name as keyof typeof engines](url)

const handle = (job: string) =>
  Console.log(`start ${job}`).pipe(
    Effect.zipRight(Effect.sleep(Number(value))),
    Effect.zipRight(Console.log(`end ${job}`)),
    Effect.runPromise
  )

Effect.runPromise(
  command === "send"
    ? Effect.promise(() => engine.send(Number(value)))
    : Effect.zipRight(Effect.promise(() => engine.work(handle)), Effect.never)
)
