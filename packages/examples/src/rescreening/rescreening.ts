/** Screens everybody in a file who has no result yet. */
import { Screening } from "@effect-idv/core"
import { FileSystem } from "@effect/platform"
import { Console, DateTime, Effect, identity, Option, Stream } from "effect"
import { type Key, ofOutcome, started } from "./event.ts"
import { ofFile, RescreeningFailed } from "./failure.ts"
import { isSettled } from "./ledger.ts"
import * as Lock from "./lock.ts"
import type { Options } from "./options.ts"
import * as People from "./people.ts"
import * as ProgressBar from "./progressBar.ts"
import * as Reconciliation from "./reconciliation.ts"
import * as Record from "./record.ts"
import * as Report from "./report.ts"

/** What one run did, counted apart from the record. */
interface Counted {
  outcomes: number
  wrongRows: number
}

export const goesOn = "The same command goes on."

/**
 * Everybody who is not settled. That a check is begun is on the disk before it is sent; `once`, because a
 * 429 has it sent again.
 */
const unsettled = (file: People.PeopleFile, record: Record.Record, counted: Counted) =>
  People.rows(file).pipe(
    Stream.filter(({ line }) => !isSettled(record.ledger.phaseOf(line))),
    Stream.mapEffect((row) =>
      Effect.gen(function*() {
        if (row._tag === "WrongRow") {
          const { codes, id, line } = row
          yield* record.append({ event: "wrong_row", line, ...(id !== undefined && { id }), codes })
          counted.wrongRows++
          return Option.none()
        }
        const { id, line, person } = row
        const key: Key = { line, id }
        const begun = yield* Effect.once(Effect.flatMap(started(key), record.append))
        return Option.some<Screening.Entry<Key>>({ key, person: Effect.as(Effect.orDie(begun), person) })
      })
    ),
    Stream.filterMap(identity)
  )

const hasNoResult = ({ _tag }: Screening.Outcome<Key>) => _tag === "NotScreened" || _tag === "Unknown"

/** A defect is what ends the stream when nothing can be written down any more: no check may go on then. */
const screen = (file: People.PeopleFile, record: Record.Record, { concurrency, rate, stopAfter }: Options) =>
  Effect.scoped(Effect.gen(function*() {
    const settledBefore = record.ledger.settled
    const counted: Counted = { outcomes: 0, wrongRows: 0 }
    const update = yield* ProgressBar.make(file.rows, settledBefore)

    yield* Screening.stream(unsettled(file, record, counted), {
      concurrency,
      rate,
      onOutcome: (outcome) => Effect.orDie(Effect.flatMap(ofOutcome(outcome), record.append))
    }).pipe(
      Stream.tap(() => {
        counted.outcomes++
        return update(settledBefore + counted.outcomes + counted.wrongRows)
      }),
      Stream.runFoldEffect(0, (inARow, outcome) => {
        const now = hasNoResult(outcome) ? inARow + 1 : 0
        return now > 0 && now === stopAfter
          ? new RescreeningFailed({ message: `${now} in a row have no result: is the service down? ${goesOn}` })
          : Effect.succeed(now)
      })
    )
    return counted
  }))

/** Gives the exit code. What was written down by then is reconciled however the screening ends. */
export const run = (options: Options) =>
  Effect.scoped(Effect.gen(function*() {
    const { input, out } = options
    const files = yield* FileSystem.FileSystem
    const path = `${out}.record.jsonl`

    const file = yield* People.open(input)
    yield* Lock.hold(`${out}.lock`)
    if (!(yield* Effect.mapError(files.exists(path), ofFile(path)))) yield* Report.checkFree(out)
    const record = yield* Record.open(path, file)
    const settledBefore = record.ledger.settled
    if (Option.isSome(record.openedAt)) {
      const left = file.rows - settledBefore
      yield* Console.log(
        `This goes on with a run that began at ${DateTime.formatIso(record.openedAt.value)}: ` +
          `${settledBefore} of ${file.rows} rows are settled, ${left} are left.` +
          (left === 0 ? " To screen everybody anew choose another --out." : "")
      )
    }

    return yield* Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        const exit = yield* Effect.exit(restore(screen(file, record, options)))
        const contents = yield* Record.read(path, file)
        const reconciliation = { file, ledger: contents.ledger, settledBefore }
        yield* Console.log(Reconciliation.describe(reconciliation))

        const counted = yield* exit
        yield* Reconciliation.prove(reconciliation, { believed: record.ledger, ...counted })
        const { count, csv, jsonl } = yield* Report.write(out, path, file, contents)
        if (count !== file.rows) return yield* Effect.dieMessage(`The report has ${count} of ${file.rows} rows`)
        yield* Console.log(`Written: ${csv} and ${jsonl}`)
        return Reconciliation.exitCode(reconciliation)
      })
    )
  }))
