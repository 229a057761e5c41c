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
import * as Violation from "@effect-idv/core/Violation"
import * as Clock from "effect/Clock"
import * as ConfigError from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as PlannedRows from "./internal/plannedRows.ts"
import * as Worker from "./internal/worker.ts"
import * as WorkerMetrics from "./internal/workerMetrics.ts"
import * as WorkSettings from "./internal/workSettings.ts"
import * as Ledger from "./Ledger.ts"
import type * as LedgerRow from "./LedgerRow.ts"
import * as People from "./People.ts"
import type * as Population from "./Population.ts"
import type { PopulationRejected } from "./RescreeningError.ts"
import {
  type EncryptionKeyError,
  type LedgerInUse,
  RunConflict,
  RunErased,
  type RunNotFound,
  type RunPaused
} from "./RescreeningError.ts"
import * as Metrics from "./RescreeningMetrics.ts"
import * as Run from "./Run.ts"

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
}

/**
 * The options of `work`.
 *
 * @category models
 * @since 0.1.0
 */
export interface WorkOptions {
  readonly run: string
  /** The same `service` as in `plan`. Another value is a `RunConflict`. */
  readonly service: string
  /**
   * The maximum number of checks that this worker has in flight. The option `concurrency` of the client, 128 by default,
   * must be at least as high: otherwise the ledger stores checks as sent that still wait in the client, where their
   * deadline may pass.
   *
   * @default 10
   */
  readonly concurrency?: number | undefined
  /**
   * How long this worker holds its rows without a renewal, by the database's clock. Then other workers take them over.
   *
   * @default "30 seconds"
   */
  readonly lease?: Duration.DurationInput | undefined
  /**
   * Screens only this shard, counted from 0, and ends when each of its rows has an outcome. For a job engine that
   * dispatches shards.
   *
   * @default all shards
   */
  readonly shard?: number | undefined
}

const invalid = (path: string, message: string) => ConfigError.InvalidData([path], message)

const decodePolicy = Violation.decodeUnknown(Run.Policy)
const decodeId = Violation.decodeUnknown(Run.Id)

const checkId = (run: string) =>
  Effect.mapError(decodeId(run), ([{ expected }]) => invalid("run", `should be ${expected}`))

/** Returns the names of the options that differ from those with which the run was planned. */
const differences = (run: Run.Run, options: PlanOptions, policy: Run.Policy, people: People.Service["kind"]) => {
  const differs = (Object.keys(policy) as Array<keyof Run.Policy>).filter((key) => policy[key] !== run.policy[key])
  return [
    ...differs,
    ...(run.service === options.service ? [] : ["service"]),
    ...(run.people === people ? [] : ["storage of people"])
  ]
}

/** Fails if responses cannot be encrypted, before a check is billed whose response could not be stored. */
const checkEncryption = (people: People.Service, run: string, { evidence }: Run.Policy) =>
  evidence === "response" ? people.encrypt(run, "", "") : Effect.void

/**
 * Stores a run with the whole population, or nothing if it fails. Planning the same run with the same population again
 * changes nothing, so a scheduler may repeat it. Fails with `RunConflict` if the population or the options differ, with
 * `RunErased` if the run was erased, and with `ConfigError` if an option is invalid.
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
  E | Ledger.Failure | RunConflict | RunErased | PopulationRejected | EncryptionKeyError | ConfigError.ConfigError,
  Ledger.Ledger | People.People | R
> =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const people = yield* People.People
    const { run: id, service, ...policyOptions } = options
    yield* checkId(id)
    const policy = yield* Effect.mapError(
      decodePolicy(policyOptions),
      ([{ expected, path }]) => invalid(path, `should be ${expected}`)
    )
    yield* checkEncryption(people, id, policy)
    const context = yield* Effect.context<R>()
    const rows = PlannedRows.make(Stream.provideContext(population, context), { id, ledger, people })

    const compare = Effect.gen(function*() {
      const run = yield* ledger.run(id).pipe(Effect.catchTag("RunNotFound", () => Effect.dieMessage("The run is gone")))
      if (run.erasedAt !== null) return yield* new RunErased({ run: id })
      const differs = differences(run, options, policy, people.kind)
      const { digest } = yield* rows.digestOnly
      return differs.length === 0 && digest === run.digest ? run : yield* new RunConflict({
        run: id,
        differs: digest === run.digest ? differs : ["population", ...differs]
      })
    })

    if (Option.isSome(yield* ledger.find(id))) return yield* compare
    const isNew = yield* ledger.plan({ id, policy, service, people: people.kind }, rows.stream, rows.digest)
    return isNew ? yield* Effect.orDie(ledger.run(id)) : yield* compare
  }).pipe(Effect.withSpan("Rescreening.plan", { attributes: { run: options.run } }))

/** Returns the run, or fails if it was erased. */
const runOf = (id: string) =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    yield* checkId(id)
    const run = yield* ledger.run(id)
    return run.erasedAt === null ? run : yield* new RunErased({ run: id })
  })

/**
 * Screens the rows of a run that have no outcome yet, in parallel with other workers, and ends when there are none.
 *
 * Fails with `RunPaused` in each of these cases: an operator paused the run; a failure would affect all checks, such as
 * a rejected key, a 403 or an HTML page instead of a result; `stopAfter` (an option of `plan`) failures in a row concern
 * the service. Fails with `RunConflict` if the service or the storage of people differs from that of the plan, and with
 * `RunErased` if the run is erased, even while the worker works.
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
  Effect.gen(function*() {
    const { service, shard } = options
    const settings = yield* WorkSettings.decode(options)
    const ledger = yield* Ledger.Ledger
    const people = yield* People.People
    const aml = yield* AmlClient.AmlClient
    const run = yield* runOf(options.run)
    if (shard !== undefined && (!Number.isInteger(shard) || shard < 0 || shard >= run.policy.shards)) {
      return yield* Effect.fail(invalid("shard", `should be an integer from 0 to ${run.policy.shards - 1}`))
    }
    const differs = [
      ...(run.service === service ? [] : ["service"]),
      ...(run.people === people.kind ? [] : ["storage of people"])
    ]
    if (differs.length > 0) return yield* new RunConflict({ run: run.id, differs })
    yield* checkEncryption(people, run.id, run.policy)
    const services = { ledger: WorkerMetrics.countingExpired(ledger), people, aml }
    yield* WorkerMetrics.updatingRows(Worker.work(services, { ...settings, run }, shard), statusNow(run.id))
    const { counts } = yield* statusNow(run.id)
    // If the run was erased meanwhile, its rows are deleted, and these counts are wrong.
    yield* runOf(run.id)
    return counts
  }).pipe(Effect.withSpan("Rescreening.work", { attributes: { run: options.run } }))

/**
 * A run and its counts.
 *
 * @category models
 * @since 0.1.0
 */
export interface Status {
  readonly run: Run.Run
  readonly counts: Run.Counts
}

const statusNow = (id: string) =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const run = yield* ledger.run(id)
    const counts = run.erasedCounts === null
      ? yield* ledger.counts(id)
      : Run.State.literals.reduce<Run.Counts>(
        (all, state) => ({ ...all, [state]: run.erasedCounts?.[state] ?? 0 }),
        Run.noCounts
      )
    for (const state of Run.State.literals) {
      yield* Metric.set(Metric.tagged(Metric.tagged(Metrics.rows, "run", id), "state", state), counts[state])
    }
    return { run, counts }
  })

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
): Stream.Stream<Status, Ledger.Failure | RunNotFound | ConfigError.ConfigError, Ledger.Ledger> =>
  Stream.unwrap(Effect.as(
    checkId(run),
    Stream.paginateEffect(0, (wait) =>
      Effect.gen(function*() {
        yield* Effect.sleep(wait)
        const from = yield* Clock.currentTimeMillis
        const status = yield* statusNow(run)
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
    const { id, state } = yield* runOf(run)
    const outcomes = options?.again ?? []
    const counts = yield* ledger.counts(id)
    // No limit: an operator may screen any unknown row again. This is the largest INTEGER of PostgreSQL.
    const maxUnknown = 2 ** 31 - 1
    // Opens the run first: if the process ends before all rows are pending, the run is not complete without them.
    if (state === "paused" || outcomes.some((outcome) => counts[outcome] > 0)) yield* ledger.resume(id)
    let again = 0
    for (const outcome of outcomes) {
      again += yield* ledger.rescreen(id, outcome, { maxUnknown })
    }
    return { again }
  })

/**
 * Stores a reviewer's decision about a person, bound to the evidence. The next report shows the decision if the
 * evidence is the same, and `review_again` if it changed. The report never omits a match.
 *
 * @category reviewing
 * @since 0.1.0
 */
export const decide = (
  decision: Omit<LedgerRow.Decision, "decidedAt">
): Effect.Effect<void, Ledger.Failure, Ledger.Ledger> =>
  Effect.flatMap(Ledger.Ledger, (ledger) => ledger.decide(decision))

/**
 * Deletes the people, results and evidence of runs planned longer ago than `olderThan`, and keeps their counts. Deletes
 * the decisions about evidence that no run has any more, whenever they were made. Returns the names of these runs.
 *
 * Fails with `LedgerInUse` if another process reads the SQLite file, whose write-ahead log then still contains the rows.
 *
 * @category reviewing
 * @since 0.1.0
 */
export const erase = (options: {
  readonly olderThan: Duration.DurationInput
}): Effect.Effect<ReadonlyArray<string>, Ledger.Failure | LedgerInUse, Ledger.Ledger> =>
  Effect.flatMap(Ledger.Ledger, (ledger) => ledger.erase(Duration.toMillis(options.olderThan)))
