/** Screens everybody in a file who has no result yet. */
import { AmlError, Failure, Screening, TokenError } from "@effect-idv/core"
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

/** The exit code when nobody was asked about: whatever is told is of an earlier run. */
const nobodyLeft = 3

export const goesOn = "The same command goes on."

/**
 * Everybody who is not settled. That a check is begun is on the disk before it is sent; `once`, because a
 * 429 has it sent again.
 */
const unsettled = (rows: ReturnType<typeof People.rows>, record: Record.Record, counted: Counted) =>
  rows.pipe(
    Stream.filter(({ line }) => !isSettled(record.ledger.phaseOf(line))),
    Stream.mapEffect((row) =>
      Effect.gen(function*() {
        if (row._tag === "WrongRow") {
          const { codes, digest, line } = row
          yield* record.append({ event: "wrong_row", line, digest, codes })
          counted.wrongRows++
          return Option.none()
        }
        const { digest, id, line, person } = row
        const key: Key = { line, id, digest }
        const begun = yield* Effect.once(Effect.flatMap(started(key), record.append))
        return Option.some<Screening.Entry<Key>>({ key, person: Effect.as(Effect.orDie(begun), person) })
      })
    ),
    Stream.filterMap(identity)
  )

/**
 * Fails if what is settled is not about the rows of this file. It may have been edited while an earlier
 * run read it, and put back: then the line of the one holds an answer about another. Before anything
 * is sent.
 */
const checkSettled = (
  { path, rows: count }: People.PeopleFile,
  rows: ReturnType<typeof People.rows>,
  record: Record.Record
) =>
  Effect.gen(function*() {
    const changed = (since: string) =>
      new RescreeningFailed({ message: `${path} was changed since ${since} was screened: choose another --out` })
    const known = yield* Stream.runFoldEffect(rows, 0, (known, row) => {
      const phase = record.ledger.phaseOf(row.line)
      if (isSettled(phase) && !record.isAbout(row)) return changed(`line ${row.line}`)
      return Effect.succeed(phase === "not_started" ? known : known + 1)
    })
    if (known !== count - record.ledger.count("not_started")) return yield* changed("a line that is no row now")
  })

/** A defect is what ends the stream when nothing can be written down any more: no check may go on then. */
const screen = (
  file: People.PeopleFile,
  rows: ReturnType<typeof People.rows>,
  record: Record.Record,
  { concurrency, rate, stopAfter }: Options
) =>
  Effect.scoped(Effect.gen(function*() {
    const settledBefore = record.ledger.settled
    const counted: Counted = { outcomes: 0, wrongRows: 0 }
    const update = yield* ProgressBar.make(file.rows, settledBefore)

    yield* Screening.stream(unsettled(rows, record, counted), {
      concurrency,
      rate,
      stopAfter: stopAfter === 0 ? Infinity : stopAfter,
      onOutcome: (outcome) => Effect.orDie(Effect.flatMap(ofOutcome(outcome), record.append))
    }).pipe(
      Stream.runForEach(() => {
        counted.outcomes++
        return update(settledBefore + counted.outcomes + counted.wrongRows)
      }),
      Effect.mapError((error) =>
        (AmlError.isAmlError(error) || TokenError.isTokenError(error)) && Failure.facts(error).concerns === "service"
          ? new RescreeningFailed({ message: `${stopAfter} in a row have no result: is the service down? ${goesOn}` })
          : error
      )
    )
    return counted
  }))

/** Gives the exit code. What was written down by then is reconciled however the screening ends. */
export const run = (options: Options) =>
  Effect.scoped(Effect.gen(function*() {
    const { idPattern, input, out } = options
    const files = yield* FileSystem.FileSystem
    const path = `${out}.record.jsonl`

    const file = yield* People.open(input)
    yield* Lock.hold(`${out}.lock`)
    if (!(yield* Effect.mapError(files.exists(path), ofFile(path)))) yield* Report.checkFree(out)
    const record = yield* Record.open(path, file, idPattern)
    const rows = People.rows(file, { idPattern, salt: record.salt })
    const settledBefore = record.ledger.settled
    const left = file.rows - settledBefore
    if (Option.isSome(record.openedAt)) {
      yield* checkSettled(file, rows, record)
      const goingOn = `This goes on with a run that began at ${DateTime.formatIso(record.openedAt.value)}: ` +
        `${settledBefore} of ${file.rows} rows are settled, ${left} are left.` +
        (left === 0 ? " To screen everybody anew choose another --out." : "")
      yield* Console.log(goingOn)
      // Whoever throws the output away must not take old answers for new ones.
      if (left === 0) yield* Console.error(goingOn)
    }

    return yield* Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        const exit = yield* Effect.exit(restore(screen(file, rows, record, options)))
        const contents = yield* Record.read(path, file)
        const reconciliation = { file, ledger: contents.ledger, settledBefore }
        yield* Console.log(Reconciliation.describe(reconciliation))

        const counted = yield* exit
        yield* Reconciliation.prove(reconciliation, { believed: record.ledger, ...counted })
        const { count, csv, jsonl } = yield* Report.write(out, path, file, contents)
        if (count !== file.rows) return yield* Effect.dieMessage(`The report has ${count} of ${file.rows} rows`)
        yield* Console.log(`Written: ${csv} and ${jsonl}`)
        return left === 0 ? nobodyLeft : Reconciliation.exitCode(reconciliation)
      })
    )
  }))
