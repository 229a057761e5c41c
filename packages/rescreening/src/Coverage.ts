/**
 * Who of a risk class has a result within a time, over all runs.
 *
 * @since 0.1.0
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Ledger from "./Ledger.ts"
import { ClassNotFound } from "./RescreeningError.ts"

/**
 * A person without a result within the time.
 *
 * @category models
 * @since 0.1.0
 */
export interface Due {
  readonly id: string
  /** When the check of the last result was sent; `null` if there is no result. */
  readonly lastResultAt: DateTime.Utc | null
}

/**
 * How many people of a class have a result.
 *
 * @category models
 * @since 0.1.0
 */
export interface Coverage {
  readonly class: string
  /** The newest run of the class, whose people these are. */
  readonly run: string
  readonly service: string
  readonly environment: string
  readonly people: number
  /** Those with a result within the time. */
  readonly screened: number
  /** Those without. */
  readonly due: number
  /** The rows of the run that cannot be sent. They have no id, so nobody knows who has a result. */
  readonly wrongRows: number
}

/**
 * Which run has the people of a class: the newest one that was planned with all of them.
 *
 * @category models
 * @since 0.1.0
 */
export interface Selection {
  readonly class: string
  /** @default the service of the newest run */
  readonly service?: string | undefined
  /** @default the environment of the newest run */
  readonly environment?: string | undefined
}

const newestRun = ({ class: riskClass, environment, service }: Selection) =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const run = (yield* ledger.runs).find((run) =>
      run.class === riskClass && run.erasedAt === null && !run.policy.isPart &&
      (service ?? run.service) === run.service && (environment ?? run.environment) === run.environment
    )
    return run === undefined ? yield* new ClassNotFound({ class: riskClass }) : run
  })

const dueIn = (run: string, olderThan: Duration.DurationInput) =>
  Stream.unwrap(Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const since = DateTime.subtractDuration(yield* DateTime.now, Duration.decode(olderThan))
    return Stream.filter(
      ledger.lastResults(run),
      ({ lastResultAt }) => lastResultAt === null || DateTime.lessThan(lastResultAt, since)
    )
  }))

/**
 * Returns the people of the newest run of a class whose last result, in any run of the same service and environment, is
 * older than `olderThan`, or who have none. A result is as old as its check; a `control_failed` is none.
 *
 * @category reports
 * @since 0.1.0
 */
export const due = (
  options: Selection & {
    readonly olderThan: Duration.DurationInput
  }
): Stream.Stream<Due, Ledger.Failure | ClassNotFound, Ledger.Ledger> =>
  Stream.unwrap(Effect.map(newestRun(options), ({ id }) => dueIn(id, options.olderThan)))

/**
 * Counts the people of the newest run of a class who have a result within `within`, as {@link due} does.
 *
 * @category reports
 * @since 0.1.0
 */
export const coverage = (
  options: Selection & {
    readonly within: Duration.DurationInput
  }
): Effect.Effect<Coverage, Ledger.Failure | ClassNotFound, Ledger.Ledger> =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const { environment, id: run, service, total } = yield* newestRun(options)
    const { erased, wrong_row: wrongRows } = yield* ledger.counts(run)
    const people = total - wrongRows - erased
    const dueCount = yield* Stream.runCount(dueIn(run, options.within))
    return {
      class: options.class,
      run,
      service,
      environment,
      people,
      screened: people - dueCount,
      due: dueCount,
      wrongRows
    }
  })
