/**
 * A job engine on pg-boss 10, in PostgreSQL: on one of several machines it starts a run each night, and on all of them
 * workers for the runs that are open. It distributes no rows: the ledger does. Its tables are in the schema `pgboss`.
 *
 * @since 0.1.0
 */
import type * as AmlClient from "@effect-idv/core/AmlClient"
import * as Cause from "effect/Cause"
import * as ConfigError from "effect/ConfigError"
import * as Cron from "effect/Cron"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { createHash } from "node:crypto"
import PgBoss from "pg-boss"
import * as Ledger from "./Ledger.ts"
import type * as People from "./People.ts"
import * as Rescreening from "./Rescreening.ts"
import { EngineUnavailable } from "./RescreeningError.ts"
import type * as Run from "./Run.ts"

/** The queue of the jobs that start a night. */
const nights = "idv-rescreen-nights"

/** How long an operation of pg-boss may take, so that a database that does not respond cannot stall a worker. */
const timeout = "30 seconds"

/**
 * Options of the PostgreSQL client, which pg-boss passes on. Their timeouts end a statement before `timeout` does.
 * Otherwise an abandoned `fetch` would take a job when the network is back, and no machine would run the job.
 */
const connection = { connectionTimeoutMillis: 10_000, query_timeout: 15_000, keepAlive: true }

/** How often a machine looks for a job, and for an open run. */
const pause = "2 seconds"

/** How often a machine updates the gauge of the newest run while it does not screen it. */
const gaugePeriod = "1 minute"

/** The cause of an error may repeat the URL or a statement, so only its code is kept. */
const codeOf = (cause: unknown) =>
  Predicate.hasProperty(cause, "code") && typeof cause.code === "string" && /^[A-Z\d_]{1,40}$/.test(cause.code)
    ? cause.code
    : "unknown"

const attempt = <A>(operation: string, evaluate: () => Promise<A>): Effect.Effect<A, EngineUnavailable> =>
  Effect.tryPromise({
    try: evaluate,
    catch: (cause) => new EngineUnavailable({ operation, code: codeOf(cause) })
  }).pipe(
    Effect.timeoutFail({
      duration: timeout,
      onTimeout: () => new EngineUnavailable({ operation, code: "ETIMEDOUT" })
    }),
    // In a daemon that is interruptible, so that an interrupted machine still ends its job and stops pg-boss, and the
    // timeout holds.
    Effect.interruptible,
    Effect.forkDaemon,
    Effect.flatMap(Fiber.join)
  )

/** pg-boss without its scheduler, which ends the process if the database fails at the end of one of its own jobs. */
const boss = (url: Redacted.Redacted, options: PgBoss.ConstructorOptions) =>
  Effect.gen(function*() {
    const run = yield* FiberSet.makeRuntime()
    return yield* Effect.acquireRelease(
      attempt("start", () => {
        const boss = new PgBoss({
          connectionString: Redacted.value(url),
          ...connection,
          schedule: false,
          ...options
        })
        // Without a listener, Node.js ends the process. pg-boss continues by itself.
        boss.on("error", (cause) => run(Effect.logWarning(`The job engine failed (${codeOf(cause)})`)))
        return boss.start()
      }),
      (boss) => Effect.ignoreLogged(attempt("stop", () => boss.stop({ graceful: false, wait: false })))
    )
  })

/**
 * Creates or upgrades the tables of pg-boss and its queue, even if several processes do so at once. Only this needs the
 * right to create tables.
 *
 * @category constructors
 * @since 0.1.0
 */
export const migrate = (options: {
  /** `postgres://user:password@host:port/database`, as for the ledger. */
  readonly url: Redacted.Redacted
}): Effect.Effect<void, EngineUnavailable> =>
  Effect.gen(function*() {
    const started = yield* boss(options.url, { supervise: false })
    if ((yield* attempt("migrate", () => started.getQueue(nights))) !== null) return
    yield* attempt("migrate", () => started.createQueue(nights, { name: nights, policy: "short" }))
  }).pipe(
    // PostgreSQL ends all but one of several processes that create a queue at once.
    Effect.scoped,
    Effect.retry({ times: 5, schedule: Schedule.jittered(Schedule.spaced("200 millis")) })
  )

/**
 * The options of {@link work}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<E, R> extends Omit<Rescreening.WorkOptions, "run"> {
  /** `postgres://user:password@host:port/database`, as for the ledger. */
  readonly url: Redacted.Redacted
  /** When `night` runs: a cron expression of five fields, in UTC. */
  readonly cron: string
  /** Plans a run. It runs on one machine, and again on another one if it fails or its machine dies. */
  readonly night: Effect.Effect<unknown, E, R>
  /**
   * How long `night` may take before pg-boss repeats it on another machine.
   *
   * @default "30 minutes"
   */
  readonly nightTimeout?: Duration.DurationInput | undefined
}

/** The same id on all machines, so that pg-boss stores the job of a night once. */
const idOf = (night: Date) => {
  const hex = createHash("sha256").update(`${nights} ${night.toISOString()}`).digest("hex")
  return [hex.slice(0, 8), hex.slice(8, 12), `5${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    "-"
  )
}

const warn = (error: Error | ConfigError.ConfigError) =>
  Effect.logWarning(error instanceof Error ? error.message : String(error))

/**
 * Works until it is interrupted: starts the runs of the cron expression, and screens the newest open run of `service` and
 * `environment`.
 * Start it on any number of machines. It logs a warning about a run that is paused or that it cannot screen, and continues
 * when that changes. {@link migrate} creates its tables.
 *
 * @category running
 * @since 0.1.0
 */
export const work = <E = never, R = never>(options: Options<E, R>): Effect.Effect<
  never,
  EngineUnavailable | ConfigError.ConfigError,
  Ledger.Ledger | People.People | AmlClient.AmlClient | R
> =>
  Effect.gen(function*() {
    const { cron, night, nightTimeout = "30 minutes", url, ...workOptions } = options
    const schedule = yield* Either.mapLeft(
      Cron.parse(cron, "UTC"),
      () => ConfigError.InvalidData(["cron"], "should be a cron expression of five fields")
    )
    const expireInSeconds = Math.max(1, Math.ceil(Duration.toSeconds(nightTimeout)))
    // An expired job is repeated after the next maintenance.
    const maintenanceIntervalSeconds = Math.min(30, expireInSeconds)
    const started = yield* boss(url, { migrate: false, maintenanceIntervalSeconds })

    const orWarn = <A, R2>(effect: Effect.Effect<A, Error | ConfigError.ConfigError, R2>) =>
      Effect.catchAll(effect, (error) => Effect.zipRight(warn(error), Effect.sleep(pause)))

    const sendNights = Effect.gen(function*() {
      const at = Cron.next(schedule, new Date(yield* Effect.clockWith(({ currentTimeMillis }) => currentTimeMillis)))
      yield* Effect.sleep(at.getTime() - (yield* Effect.clockWith(({ currentTimeMillis }) => currentTimeMillis)))
      const job = { id: idOf(at), expireInSeconds, retryLimit: 1000, retryDelay: 5 }
      // The machine sends it again until it is stored.
      yield* Effect.retry(attempt("send", () => started.send(nights, {}, job)), Schedule.spaced(pause))
    }).pipe(Effect.forever)

    /** Uninterruptible but for the night itself, so that each fetched job ends. */
    const runNights = Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        const [job] = yield* attempt("fetch", () => started.fetch(nights))
        if (job === undefined) return yield* restore(Effect.sleep(pause))
        const exit = yield* Effect.exit(restore(night))
        if (Exit.isSuccess(exit)) return yield* attempt("end", () => started.complete(nights, job.id))
        if (!Cause.isInterruptedOnly(exit.cause)) {
          yield* Effect.logWarning(`A night will be repeated: ${Cause.prettyErrors(exit.cause).map(String).join("; ")}`)
        }
        yield* attempt("end", () => started.fail(nights, job.id))
      }).pipe(
        Effect.catchTag("EngineUnavailable", (error) => Effect.zipRight(warn(error), restore(Effect.sleep(pause))))
      )
    ).pipe(Effect.forever)

    const { environment = "", service } = options
    const isOwn = (run: Run.Run) => run.service === service && run.environment === environment

    const screenOpenRun = Effect.gen(function*() {
      const { runs } = yield* Ledger.Ledger
      const open = (yield* runs).find((run) => run.state === "open" && isOwn(run))
      if (open === undefined) return yield* Effect.sleep(pause)
      yield* Rescreening.work({ ...workOptions, run: open.id })
    }).pipe(orWarn, Effect.forever)

    // A gauge that is not updated would show the rows that were left when this machine last screened the run.
    const updateGauge = Effect.gen(function*() {
      const { runs } = yield* Ledger.Ledger
      const newest = (yield* runs).find(isOwn)
      if (newest !== undefined) yield* Stream.runHead(Rescreening.status(newest.id))
    }).pipe(Effect.ignore, Effect.delay(gaugePeriod), Effect.forever)

    return yield* Effect.all([sendNights, runNights, screenOpenRun, updateGauge], { concurrency: "unbounded" }).pipe(
      Effect.zipRight(Effect.never)
    )
  }).pipe(Effect.scoped)
