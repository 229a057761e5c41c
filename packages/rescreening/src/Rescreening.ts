/**
 * Screens a whole population repeatedly, on one machine or many, and accounts for every person in it.
 *
 * `plan` stores a run, and `work` screens it, in any number of processes at once. If a process is killed, the others
 * take over its rows. A check that was sent and has no response becomes `unknown`; no worker sends it again unless the
 * policy allows it.
 *
 * @since 0.1.0
 */
import * as AmlClient from "@effect-idv/core/AmlClient"
import * as Clock from "effect/Clock"
import type * as ConfigError from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Options from "./internal/options.ts"
import * as PlannedRows from "./internal/people/plannedRows.ts"
import * as WorkerMetrics from "./internal/worker/metrics.ts"
import * as RetryBudget from "./internal/worker/retryBudget.ts"
import * as RunStatus from "./internal/worker/status.ts"
import * as Worker from "./internal/worker/worker.ts"
import * as Ledger from "./Ledger.ts"
import * as People from "./People.ts"
import type * as Population from "./Population.ts"
import {
  type ControlsRejected,
  type EncryptionKeyError,
  type LedgerInUse,
  type PopulationRejected,
  RunConflict,
  RunErased,
  type RunNotFound,
  type RunPaused
} from "./RescreeningError.ts"
import type * as Run from "./Run.ts"

/**
 * The options of `plan`.
 *
 * @category models
 * @since 0.1.0
 */
export interface PlanOptions extends Run.Options {
  /** The name of the run, such as `2026-11`: 1 to 64 letters, digits, dots, hyphens or underscores. */
  readonly run: string
  /**
   * Your name for the service and account, such as `api.example.com acme-bank`. All runs with the same `service` share
   * a rate.
   */
  readonly service: string
  /**
   * The label that the evidence of all checks must have: the option `environment` of the client, such as `sandbox`.
   *
   * @default the evidence must have none
   */
  readonly environment?: string | undefined
  /**
   * The risk class of these people, such as `high`. Runs of different classes are not compared.
   *
   * @default no class
   */
  readonly class?: string | undefined
  /**
   * Plans nothing if the population has fewer rows, wrong rows included: a file may be cut in the middle.
   *
   * @default 1
   */
  readonly expectAtLeast?: number | undefined
  /**
   * Positive controls: people whom the service must find. All of them are checked before the first person, while the run
   * is screened (`controlEvery`) and after the last person. A "No" for one of them pauses the run, and each "No" since
   * the last round in which all were found becomes `control_failed`. Controls are in no counts of the run, but count for
   * `maxChecks`. They are encrypted like the people, and deleted once the run is complete and each row has a result.
   *
   * @default no controls
   */
  readonly controls?: ReadonlyArray<Population.Control> | undefined
}

/**
 * The options of `work`.
 *
 * @category models
 * @since 0.1.0
 */
export interface WorkOptions {
  /** The name of the run. */
  readonly run: string
  /** The same `service` as in `plan`. Another value is a `RunConflict`. */
  readonly service: string
  /**
   * The same `environment` as in `plan`. Another value is a `RunConflict`. If the client labels its evidence otherwise,
   * the run is paused.
   *
   * @default no environment
   */
  readonly environment?: string | undefined
  /**
   * The maximum number of checks that this worker has in flight. The option `concurrency` of the client, 128 by default,
   * must be at least as high: otherwise the ledger stores checks as sent that still wait in the client, where their
   * deadline may pass.
   *
   * @default 10
   */
  readonly concurrency?: number | undefined
  /**
   * How long this worker holds its rows without a renewal, by the database's clock: 1 second to 1 hour. Then other workers
   * take them over.
   *
   * @default "30 seconds"
   */
  readonly lease?: Duration.DurationInput | undefined
}

export type { Status } from "./internal/worker/status.ts"

/** What makes a run another run. Its other options may change while it is screened. */
const identity = (
  { policy, ...run }: Pick<Run.Run, "service" | "environment" | "class" | "people" | "policy">
): Readonly<Record<string, string>> => ({
  "service": run.service,
  "storage of people": run.people,
  "environment": run.environment,
  "class": run.class,
  "evidence": policy.evidence,
  "profileAddress": policy.profileAddress,
  "fourEyes": String(policy.fourEyes),
  "decisionsValidDays": String(policy.decisionsValidDays),
  "controlEvery": String(policy.controlEvery),
  "isPart": String(policy.isPart)
})

/** Fails if responses cannot be encrypted, before a check is billed whose response could not be stored. */
const checkEncryption = (people: People.Service, run: string, { evidence }: Run.Policy) =>
  evidence === "none" ? Effect.void : people.encrypt(run, "", "")

/**
 * Stores a run with the whole population, or nothing if it fails. Planning the same run with the same population again
 * changes nothing, so a scheduler may repeat it: the run keeps its policy, which {@link set} changes. Fails with
 * `RunConflict` if the population, the service or the kind of evidence differs, with `RunErased` if the run was erased,
 * and with `ConfigError` if an option is invalid.
 *
 * @example
 * import { Person } from "@effect-idv/core"
 * import { Rescreening } from "@effect-idv/rescreening"
 * import { Stream } from "effect"
 *
 * const customers = Stream.make(
 *   { key: "C-1001", person: Person.make({ name: "Ada Testclear", dateOfBirth: "1990-02-01" }) }
 * )
 * const planned = Rescreening.plan(customers, { run: "2026-11", service: "api.example.com", rate: 20 })
 *
 * @category running
 * @since 0.1.0
 */
export const plan = <E, R>(
  population: Stream.Stream<Population.Row, E, R>,
  options: PlanOptions
): Effect.Effect<
  Run.Run,
  | E
  | Ledger.Failure
  | RunConflict
  | RunErased
  | PopulationRejected
  | ControlsRejected
  | EncryptionKeyError
  | ConfigError.ConfigError,
  Ledger.Ledger | People.People | R
> =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const people = yield* People.People
    const {
      class: riskClass = "",
      controls: givenControls = [],
      environment = "",
      expectAtLeast = 1,
      run: id,
      service,
      ...policyOptions
    } = options
    yield* Options.run(id)
    yield* Options.label("environment", environment)
    yield* Options.label("class", riskClass)
    yield* Options.expectAtLeast(expectAtLeast)
    const policy = yield* Options.policy(policyOptions)
    const planned = { id, policy, service, environment, class: riskClass, people: people.kind }
    yield* checkEncryption(people, id, policy)
    const controls = yield* PlannedRows.controls(givenControls)
    const context = yield* Effect.context<R>()
    const rows = PlannedRows.make(Stream.provideContext(population, context), {
      id,
      ledger,
      people,
      expectAtLeast,
      controls
    })

    const compare = Effect.gen(function*() {
      const run = yield* ledger.run(id).pipe(Effect.catchTag("RunNotFound", () => Effect.dieMessage("The run is gone")))
      if (run.erasedAt !== null) return yield* new RunErased({ run: id })
      const before = identity(run)
      const digest = yield* rows.digestOnly
      const differs = [
        ...(digest === run.digest
          ? []
          : [run.controls + controls.length === 0 ? "population" : "population or controls"]),
        ...Object.entries(identity(planned)).flatMap(([name, value]) => value === before[name] ? [] : [name])
      ]
      return differs.length === 0 ? run : yield* new RunConflict({ run: id, differs })
    })

    if (Option.isSome(yield* ledger.find(id))) return yield* compare
    const stored = yield* rows.storedControls
    const isNew = yield* ledger.plan({ ...planned, controls: stored }, rows.stream, rows.digest)
    return isNew ? yield* Effect.orDie(ledger.run(id)) : yield* compare
  }).pipe(Effect.withSpan("Rescreening.plan", { attributes: { run: options.run } }))

/** Returns the run, or fails if it was erased. */
const runOf = (id: string) =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    yield* Options.run(id)
    const run = yield* ledger.run(id)
    return run.erasedAt === null ? run : yield* new RunErased({ run: id })
  })

/**
 * Screens the rows of a run that have no outcome yet, in parallel with other workers, and ends when there are none.
 *
 * Fails with `RunPaused` in each of these cases: an operator paused the run; a failure would affect all checks, such as
 * a rejected key, a 403 or an HTML page instead of a result; `stopAfter` (an option of `plan`) failures in a row concern
 * the service, or as many pauses in a row. Fails with `RunConflict` if the service or the storage of people differs from
 * that of the plan, and with `RunErased` if the run is erased, even while the worker works.
 *
 * While the database is unavailable, it repeats its statements, and fails with `LedgerUnavailable` after two minutes. It
 * logs a warning when it begins to wait for the database or the service, and then one each minute.
 *
 * It updates the gauge `RescreeningMetrics.rows` every 10 seconds, and less often if the rows of a large run take long
 * to count.
 *
 * An interrupted worker claims no further rows, and completes the checks in flight before it ends.
 *
 * @category running
 * @since 0.1.0
 */
export const work = (options: WorkOptions): Effect.Effect<
  Run.Counts,
  | Ledger.Failure
  | RunNotFound
  | RunErased
  | RunConflict
  | RunPaused
  | EncryptionKeyError
  | ConfigError.ConfigError,
  Ledger.Ledger | People.People | AmlClient.AmlClient
> =>
  Effect.flatMap(Ledger.Ledger, (direct) =>
    Effect.gen(function*() {
      const { concurrency = 10, environment = "", service } = options
      yield* Options.concurrency(concurrency)
      const lease = yield* Options.lease(options.lease ?? "30 seconds")
      const ledger = yield* Ledger.Ledger
      const people = yield* People.People
      const aml = yield* AmlClient.AmlClient
      const run = yield* runOf(options.run)
      const differs = [
        ...(run.service === service ? [] : ["service"]),
        ...(run.environment === environment ? [] : ["environment"]),
        ...(run.people === people.kind ? [] : ["storage of people"])
      ]
      if (differs.length > 0) return yield* new RunConflict({ run: run.id, differs })
      yield* checkEncryption(people, run.id, run.policy)
      const services = { ledger: WorkerMetrics.countingExpired(ledger), people, aml }
      yield* RunStatus.updating(direct, run.id, Worker.work(services, { run, concurrency, lease }))
      const { counts } = yield* RunStatus.current(run.id)
      // If the run was erased meanwhile, its rows are deleted, and these counts are wrong.
      yield* runOf(run.id)
      return counts
    }).pipe(
      Effect.provideServiceEffect(Ledger.Ledger, RetryBudget.make(direct)),
      Effect.withSpan("Rescreening.work", { attributes: { run: options.run } })
    ))

/**
 * The wait between two counts, as a multiple of the time that a count takes, so that the database can serve workers.
 */
const waitFactor = 20

/**
 * Emits the counts of a run at once and then at most every second, until the run is complete or paused. It also updates
 * the gauge `RescreeningMetrics.rows`.
 *
 * @category running
 * @since 0.1.0
 */
export const status = (
  run: string
): Stream.Stream<RunStatus.Status, Ledger.Failure | RunNotFound | ConfigError.ConfigError, Ledger.Ledger> =>
  Stream.unwrap(Effect.as(
    Options.run(run),
    Stream.paginateEffect(0, (wait) =>
      Effect.gen(function*() {
        yield* Effect.sleep(wait)
        const from = yield* Clock.currentTimeMillis
        const status = yield* RunStatus.current(run)
        const taken = (yield* Clock.currentTimeMillis) - from
        return [
          status,
          status.run.state === "open" ? Option.some(Math.max(1000, waitFactor * taken)) : Option.none()
        ]
      }))
  ))

/**
 * Pauses a run for all its workers. Checks in flight are completed. Returns `false` if the run was not open.
 *
 * @category running
 * @since 0.1.0
 */
export const pause = (
  run: string
): Effect.Effect<boolean, Ledger.Failure | RunNotFound | RunErased | ConfigError.ConfigError, Ledger.Ledger> =>
  Effect.flatMap(runOf(run), ({ id }) => Effect.flatMap(Ledger.Ledger, (ledger) => ledger.pause(id, "operator")))

/**
 * Changes the rate of a run, what happens to its unknown rows, after how many failures in a row it stops, or how many
 * requests it may send. All workers use the new values within a few seconds. Returns the run. Fails with `ConfigError` if
 * `maxChecks` is less than what was sent, or if the run had no limit and is open.
 *
 * @category running
 * @since 0.1.0
 */
export const set = (run: string, changes: Run.Changes): Effect.Effect<
  Run.Run,
  Ledger.Failure | RunNotFound | RunErased | ConfigError.ConfigError,
  Ledger.Ledger
> =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
    while (true) {
      const { id, policy, reserved, state } = yield* runOf(run)
      const changed = yield* Options.policy({ ...policy, ...given })
      if (changes.maxChecks !== undefined) {
        // Workers count their requests only under a limit.
        const isCounted = policy.maxChecks !== undefined
        // A killed worker still holds rows.
        yield* ledger.expire(id)
        const { claimed, sent: inFlight } = yield* ledger.counts(id)
        if (!isCounted && (state === "open" || claimed + inFlight > 0)) {
          return yield* Effect.fail(Options.invalid(
            "maxChecks",
            "can be set only while the run is paused and its workers have ended, because it had no limit"
          ))
        }
        const sent = isCounted ? reserved : yield* ledger.recount(id)
        if (changes.maxChecks < sent) {
          return yield* Effect.fail(
            Options.invalid("maxChecks", `should be at least ${sent}, the number of requests sent so far`)
          )
        }
      }
      // Otherwise another process has changed the policy meanwhile.
      if (yield* ledger.setPolicy(id, policy, changed)) return yield* runOf(run)
    }
  })

/**
 * Opens a paused run. Workers must be started again. If it fails or is interrupted, it can be repeated.
 *
 * @category running
 * @since 0.1.0
 */
export const resume = (run: string, options?: {
  /**
   * Also makes the rows with these outcomes pending, even in a complete run, so that the next workers screen them
   * again. The result `again` is their number. The service may bill an `unknown` row twice.
   *
   * @default []
   */
  readonly again?: ReadonlyArray<"not_screened" | "unknown"> | undefined
}): Effect.Effect<
  { readonly again: number },
  Ledger.Failure | RunNotFound | RunErased | ConfigError.ConfigError,
  Ledger.Ledger
> =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const { id, policy, state } = yield* runOf(run)
    // A killed worker still holds rows.
    yield* ledger.expire(id)
    // Requests that workers reserved and did not send are free again.
    if (state === "paused" && policy.maxChecks !== undefined) yield* ledger.recount(id)
    yield* ledger.resume(id)
    // No limit: an operator may screen any unknown row again. This is the largest INTEGER of PostgreSQL.
    const maxUnknown = 2 ** 31 - 1
    let again = 0
    for (const outcome of options?.again ?? []) {
      again += yield* ledger.rescreen(id, outcome, { maxUnknown, reopens: true })
    }
    return { again }
  })

/**
 * Deletes the people, results and evidence of runs planned longer ago than `olderThan`, and keeps their counts. It keeps
 * the rows of people on hold. Returns the names of these runs.
 *
 * Fails with `LedgerInUse` if another process reads the SQLite file, whose write-ahead log then still contains the rows.
 *
 * @category reviewing
 * @since 0.1.0
 */
export const erase = (options: {
  readonly olderThan: Duration.DurationInput
  /**
   * Also deletes the history that is older than this: decisions, views and exports, except those of people on hold.
   *
   * @default no history is deleted
   */
  readonly historyOlderThan?: Duration.DurationInput | undefined
}): Effect.Effect<ReadonlyArray<string>, Ledger.Failure | LedgerInUse, Ledger.Ledger> =>
  Effect.flatMap(Ledger.Ledger, (ledger) =>
    ledger.erase({
      olderThan: Duration.toMillis(options.olderThan),
      historyOlderThan: options.historyOlderThan === undefined ? undefined : Duration.toMillis(options.historyOlderThan)
    }))
