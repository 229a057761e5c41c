/**
 * The job engine on pg-boss 10, in PostgreSQL. Its tables are in the schema `pgboss`, beside those of the ledger.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import PgBoss from "pg-boss"
import * as Engine from "./Engine.ts"

const nights = "idv-rescreen-nights"
const shards = "idv-rescreen-shards"

/** pg-boss repeats a failed job a million times, 5 seconds apart. This is so long that no job is lost. */
const retry = { retryLimit: 1_000_000, retryDelay: 5 }

/** How long an operation of pg-boss may take, so that a database that does not respond cannot stall a worker. */
const timeout = "30 seconds"

/**
 * Options of the PostgreSQL client, which pg-boss passes on. Their timeouts end a statement before `timeout` does.
 * Otherwise an abandoned `fetch` would take a job when the network is back, and no worker would run the job.
 */
const connection = { connectionTimeoutMillis: 10_000, query_timeout: 15_000, keepAlive: true }

/** The code of PostgreSQL for two transactions that wait for each other. */
const deadlockDetected = "40P01"

/** How often a worker looks for a job while there is none. */
const pause = "2 seconds"

/**
 * The time from the fetch of a job that fails to the next one. It is longer than `retryDelay` and `pause` together, so
 * that another machine, which may be able to run the job, fetches it first.
 */
const pauseAfterFailure = "10 seconds"

const decodeShard = Schema.decodeUnknown(Engine.Shard)

/** The cause of an error may repeat the URL or a statement, so only its code is kept. */
const codeOf = (cause: unknown) =>
  Predicate.hasProperty(cause, "code") && typeof cause.code === "string" && /^[A-Z\d_]{1,40}$/.test(cause.code)
    ? cause.code
    : "unknown"

const attempt = <A>(operation: string, evaluate: () => Promise<A>): Effect.Effect<A, Engine.EngineUnavailable> =>
  Effect.tryPromise({
    try: evaluate,
    catch: (cause) => new Engine.EngineUnavailable({ operation, code: codeOf(cause) })
  }).pipe(
    Effect.timeoutFail({
      duration: timeout,
      onTimeout: () => new Engine.EngineUnavailable({ operation, code: "ETIMEDOUT" })
    }),
    // In a daemon that is interruptible, so that an interrupted worker still ends its job and stops pg-boss, and the
    // timeout holds.
    Effect.interruptible,
    Effect.forkDaemon,
    Effect.flatMap(Fiber.join)
  )

/**
 * The options of {@link layer}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** `postgres://user:password@host:port/database`, as for the ledger. */
  readonly url: Redacted.Redacted
  /**
   * How long a job may run before pg-boss repeats it elsewhere. A longer shard is continued by its next job. It is also
   * how long the shard of a dead worker waits.
   *
   * @default "5 minutes"
   */
  readonly jobTimeout?: Duration.DurationInput | undefined
}

/**
 * Provides the engine. It creates its tables in an empty database, even if several processes start at once.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<Engine.Engine, Engine.EngineUnavailable> =>
  Layer.scoped(
    Engine.Engine,
    Effect.gen(function*() {
      const jobTimeout = Duration.decode(options.jobTimeout ?? "5 minutes")
      const expireInSeconds = Math.max(1, Math.ceil(Duration.toSeconds(jobTimeout)))
      const queue = { expireInSeconds, ...retry }
      const run = yield* FiberSet.makeRuntime()
      const boss = yield* Effect.acquireRelease(
        attempt("start", () => {
          const boss = new PgBoss({
            connectionString: Redacted.value(options.url),
            ...connection,
            // An expired job is repeated after the next maintenance.
            maintenanceIntervalSeconds: Math.min(30, expireInSeconds)
          })
          // Without a listener, Node.js ends the process. pg-boss continues by itself.
          boss.on("error", (cause) => run(Effect.logWarning(`The job engine failed (${codeOf(cause)})`)))
          return boss.start()
        }),
        (boss) => Effect.ignoreLogged(attempt("stop", () => boss.stop({ graceful: false, wait: false })))
      )
      // `short`: at most one job of a shard waits.
      const createQueue = (name: string) =>
        Effect.retry(attempt("start", () => boss.createQueue(name, { name, policy: "short", ...queue })), {
          // PostgreSQL ends all but one of several processes that create a queue at once.
          while: ({ code }) => code === deadlockDetected,
          schedule: Schedule.jittered(Schedule.spaced("200 millis"))
        })
      yield* createQueue(shards)
      yield* createQueue(nights)

      /**
       * Puts a job behind those that wait. `boss.fail` would keep its age, and a job that always fails would delay all
       * newer ones. A crash between the two leaves a second job, which does no harm.
       */
      const repeat = (name: string, { data, id, singletonKey }: PgBoss.JobWithMetadata<object>) =>
        boss.send(name, data, {
          ...queue,
          startAfter: retry.retryDelay,
          ...(singletonKey === null ? {} : { singletonKey })
        }).then(() => boss.complete(name, id))

      /**
       * Brings the jobs of a queue to a handler, one at a time. `boss.work` would end the process if the database is
       * not reachable at the end of a job.
       */
      const jobs = <E, R>(name: string, handle: (data: unknown) => Effect.Effect<void, E, R>) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.gen(function*() {
            // Uninterruptible, so that each fetched job ends.
            const [job] = yield* attempt("fetch", () => boss.fetch<object>(name, { includeMetadata: true }))
            if (job === undefined) return yield* restore(Effect.sleep(pause))
            const [taken, exit] = yield* Effect.timed(Effect.exit(restore(handle(job.data))))
            if (Exit.isSuccess(exit)) return yield* attempt("end", () => boss.complete(name, job.id))
            if (Cause.isInterruptedOnly(exit.cause)) return yield* attempt("end", () => boss.fail(name, job.id))
            const errors = Cause.prettyErrors(exit.cause).map(String).join("; ")
            yield* Effect.logWarning(`A job of ${name} will be repeated: ${errors}`)
            yield* attempt("end", () => repeat(name, job))
            yield* restore(Effect.sleep(Duration.subtract(pauseAfterFailure, taken)))
          }).pipe(
            Effect.catchTag(
              "EngineUnavailable",
              ({ message }) => Effect.zipRight(Effect.logWarning(message), restore(Effect.sleep(pause)))
            )
          )
        ).pipe(Effect.forever)

      return Engine.Engine.of({
        jobTimeout,
        schedule: (cron) => attempt("schedule", () => boss.schedule(nights, cron, {}, { tz: "UTC", ...queue })),
        dispatch: (jobs) =>
          Effect.forEach(
            jobs,
            ({ run, shard }) =>
              attempt(
                "dispatch",
                () => boss.send(shards, { run, shard }, { singletonKey: `${run}/${shard}`, ...queue })
              ),
            { discard: true }
          ),
        work: ({ night, shard }) =>
          // Not a race: an interrupted race ends before its fibers, whose jobs still need the databases.
          Effect.zipLeft(
            jobs(nights, () => night),
            jobs(shards, (data) => Effect.flatMap(Effect.orDie(decodeShard(data)), shard)),
            { concurrent: true }
          )
      })
    })
  )
