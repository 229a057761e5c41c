/**
 * A job engine: it starts runs by a schedule, spreads their shards over machines, and repeats the shard of a worker
 * that died. It is optional. The ledger decides what is sent, so an engine may run a job twice without harm.
 *
 * @since 0.1.0
 */
import type * as AmlClient from "@effect-idv/core/AmlClient"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Ledger from "./Ledger.ts"
import type * as People from "./People.ts"
import * as Rescreening from "./Rescreening.ts"
import type { EncryptionKeyError, RunConflict } from "./RescreeningError.ts"
import type * as Run from "./Run.ts"

/**
 * A job: screen the pending rows of one shard of a run.
 *
 * @category schemas
 * @since 0.1.0
 */
export class Shard extends Schema.Class<Shard>("@effect-idv/rescreening/Engine/Shard")({
  run: Schema.String,
  /** Counted from 0. */
  shard: Schema.Int
}) {}

/**
 * The engine did not perform an operation.
 *
 * @category errors
 * @since 0.1.0
 */
export class EngineUnavailable extends Schema.TaggedError<EngineUnavailable>(
  "@effect-idv/rescreening/EngineUnavailable"
)("EngineUnavailable", {
  /** The operation of the engine, such as `dispatch`. */
  operation: Schema.String,
  /** The code of the database or of the socket; `unknown` if there is none. */
  code: Schema.String
}) {
  override get message() {
    return `The job engine failed (${this.operation}: ${this.code}). Check its URL and that its database is running.`
  }
}

/**
 * What the engine runs.
 *
 * @category models
 * @since 0.1.0
 */
export interface Handlers<E, R> {
  /** Runs on one of the machines each time the schedule fires. */
  readonly night: Effect.Effect<void, E, R>
  /** Runs for each dispatched shard. The engine repeats a job that fails, is interrupted, or whose process died. */
  readonly shard: (shard: Shard) => Effect.Effect<void, E, R>
}

/**
 * The interface that a job engine implements. A job may run twice, but must not be lost.
 *
 * @category models
 * @since 0.1.0
 */
export interface Service {
  /** Starts `night` at the times of a cron expression of five fields, in UTC. It replaces the previous schedule. */
  readonly schedule: (cron: string) => Effect.Effect<void, EngineUnavailable>
  /** Adds a job for each shard. A shard that is already queued is skipped. */
  readonly dispatch: (shards: ReadonlyArray<Shard>) => Effect.Effect<void, EngineUnavailable>
  /** Runs jobs, one of each kind at a time, until it is interrupted. It waits while its database is unreachable. */
  readonly work: <E, R>(handlers: Handlers<E, R>) => Effect.Effect<never, never, R>
  /**
   * How long a job may run before the engine repeats it elsewhere. The shard of a worker that died is repeated after
   * this time.
   */
  readonly jobTimeout: Duration.Duration
}

/**
 * @category tags
 * @since 0.1.0
 */
export class Engine extends Context.Tag("@effect-idv/rescreening/Engine")<Engine, Service>() {}

/**
 * Adds a job for each shard of a planned or resumed run. Repeating it does no harm.
 *
 * @category running
 * @since 0.1.0
 */
export const dispatch = ({ id, policy }: Run.Run): Effect.Effect<void, EngineUnavailable, Engine> =>
  Effect.flatMap(
    Engine,
    (engine) => engine.dispatch(Array.from({ length: policy.shards }, (_, shard) => new Shard({ run: id, shard })))
  )

/** The shard did not finish within the timeout of its job. The next job continues it. */
class ShardUnfinished extends Schema.TaggedError<ShardUnfinished>("@effect-idv/rescreening/ShardUnfinished")(
  "ShardUnfinished",
  Shard.fields
) {
  override get message() {
    return `Shard ${this.shard} of run ${this.run} did not finish within the timeout of its job. The next job continues it.`
  }
}

const warn = ({ message }: Error) => Effect.logWarning(message)

/**
 * Screens the shards that the engine dispatches to this process, and runs `night` at the times of `schedule`, until it
 * is interrupted. It skips the shards of a run that is paused, erased or unknown, and logs a warning. Dispatch a paused
 * run again after you resume it.
 *
 * If the run was planned with another service or storage of people, the job fails and the log contains the reason. The
 * engine repeats the job, so that a machine with the options of the plan screens the shard.
 *
 * @category running
 * @since 0.1.0
 */
export const work = <E = never, R = never>(
  options: Omit<Rescreening.WorkOptions, "run" | "shard"> & {
    /**
     * When `night` runs: a cron expression of five fields, in UTC, and the effect, which plans and dispatches a run.
     */
    readonly schedule?: { readonly cron: string; readonly night: Effect.Effect<unknown, E, R> } | undefined
  }
): Effect.Effect<
  never,
  EngineUnavailable,
  Engine | Ledger.Ledger | People.People | AmlClient.AmlClient | R
> =>
  Effect.gen(function*() {
    const engine = yield* Engine
    const { schedule, ...workOptions } = options
    if (schedule !== undefined) yield* engine.schedule(schedule.cron)
    // Ends before the timeout, so that the engine does not start the shard elsewhere while it still runs.
    const timeLimit = Duration.times(engine.jobTimeout, 0.8)
    return yield* engine.work<
      E | ShardUnfinished | RunConflict | Ledger.Failure | EncryptionKeyError | ConfigError.ConfigError,
      Ledger.Ledger | People.People | AmlClient.AmlClient | R
    >({
      night: schedule === undefined ? Effect.void : Effect.asVoid(schedule.night),
      shard: ({ run, shard }) =>
        Rescreening.work({ ...workOptions, run, shard }).pipe(
          Effect.timeoutFail({ duration: timeLimit, onTimeout: () => new ShardUnfinished({ run, shard }) }),
          Effect.catchTags({ RunPaused: warn, RunErased: warn, RunNotFound: warn }),
          Effect.asVoid
        )
    })
  })
