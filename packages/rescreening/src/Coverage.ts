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
  readonly people: number
  /** Those with a result within the time. */
  readonly screened: number
  /** Those without. */
  readonly due: number
  /** The rows of the run that cannot be sent. They have no id, so nobody knows who has a result. */
  readonly wrongRows: number
}

/** The newest run of a class has its people. */
const newestRun = (riskClass: string) =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const run = (yield* ledger.runs).find((run) => run.class === riskClass && run.erasedAt === null)
    return run === undefined ? yield* new ClassNotFound({ class: riskClass }) : run
  })

/**
 * Returns the people of the newest run of a class whose last result, in any run of the same service and environment, is
 * older than `olderThan`, or who have none. A result is as old as its check.
 *
 * @category reports
 * @since 0.1.0
 */
export const due = (options: {
  readonly class: string
  readonly olderThan: Duration.DurationInput
}): Stream.Stream<Due, Ledger.Failure | ClassNotFound, Ledger.Ledger> =>
  Stream.unwrap(Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const run = yield* newestRun(options.class)
    const since = DateTime.subtractDuration(yield* DateTime.now, Duration.decode(options.olderThan))
    return Stream.filter(
      ledger.lastResults(run.id),
      ({ lastResultAt }) => lastResultAt === null || DateTime.lessThan(lastResultAt, since)
    )
  }))

/**
 * Counts the people of the newest run of a class who have a result within `within`, as {@link due} does.
 *
 * @category reports
 * @since 0.1.0
 */
export const coverage = (options: {
  readonly class: string
  readonly within: Duration.DurationInput
}): Effect.Effect<Coverage, Ledger.Failure | ClassNotFound, Ledger.Ledger> =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const { id: run, total } = yield* newestRun(options.class)
    const { erased, wrong_row: wrongRows } = yield* ledger.counts(run)
    const people = total - wrongRows - erased
    const dueCount = yield* Stream.runCount(due({ class: options.class, olderThan: options.within }))
    return { class: options.class, run, people, screened: people - dueCount, due: dueCount, wrongRows }
  })
