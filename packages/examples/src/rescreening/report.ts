/**
 * The reports, from the record: one row for each row of the file, in its order, as CSV for people and
 * as JSON lines for programs. Each is put in its place when it is whole.
 */
import { FileSystem } from "@effect/platform"
import { stringify } from "csv-stringify/sync"
import { Chunk, Effect, Schema, Stream } from "effect"
import { Event } from "./event.ts"
import { ofFile, RescreeningFailed } from "./failure.ts"
import type { PeopleFile } from "./people.ts"
import * as Record from "./record.ts"

const columns = [
  "line",
  "id",
  "outcome",
  "match_found",
  "codes",
  "error",
  "check_id",
  "searched_on",
  "sent_at",
  "received_at",
  "sha256",
  "times_started"
] as const

/** `match_found` is what the service said, and is empty wherever it said nothing. */
type ReportRow = { readonly [Column in typeof columns[number]]?: string | number | ReadonlyArray<string> }

const toReportRow = (event: typeof Event.Encoded, timesStarted: number): ReportRow => {
  const common = {
    line: event.line,
    id: "id" in event ? event.id : "",
    outcome: event.event,
    times_started: timesStarted
  }
  switch (event.event) {
    case "no_match":
    case "no_match_doubtful":
    case "potential_match":
      return {
        ...common,
        match_found: event.matchFound,
        codes: event.warnings,
        check_id: event.checkId,
        searched_on: event.searchedOn,
        sent_at: event.sentAt,
        received_at: event.receivedAt,
        sha256: event.sha256
      }
    case "not_screened":
    case "unknown":
      return { ...common, error: event.error }
    case "wrong_row":
      return { ...common, codes: event.codes }
    case "started":
      return common
  }
}

/** A spreadsheet takes a cell that begins with `=`, and some others, for a formula: those get a `'` before them. */
const toCsv = (rows: ReadonlyArray<ReportRow>): string =>
  stringify(
    rows.map((row) =>
      columns.map((column) => {
        const cell = row[column]
        return typeof cell === "object" ? cell.join(" ") : cell
      })
    ),
    { escape_formulas: true }
  )

const toJsonLines = (rows: ReadonlyArray<ReportRow>): string => rows.map((row) => `${JSON.stringify(row)}\n`).join("")

const decode = Schema.decode(Schema.parseJson(Schema.encodedSchema(Event)))

const rowsOf = (path: string, file: PeopleFile, contents: Record.Contents) =>
  Stream.unwrapScoped(Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const input = yield* files.open(path)
    const rowAt = ({ length, offset }: Record.Place) =>
      Effect.gen(function*() {
        yield* input.seek(offset, "start")
        const bytes = yield* Effect.flatten(input.readAlloc(length))
        const event = yield* decode(new TextDecoder().decode(bytes))
        return toReportRow(event, contents.ledger.startsOf(event.line))
      })
    return Stream.range(1, file.lines).pipe(
      Stream.filterMap(contents.latest),
      Stream.mapEffect(rowAt)
    )
  }))

const reportsOf = (out: string) => [`${out}.csv`, `${out}.jsonl`] as const

/** What is there already, and was not written from this record, is not ours to overwrite. */
export const checkFree = (out: string) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    for (const path of reportsOf(out)) {
      if (yield* Effect.mapError(files.exists(path), ofFile(path))) {
        return yield* new RescreeningFailed({ message: `${path} is there already: choose another --out` })
      }
    }
  })

/** Writes both. Gives how many rows each has. */
export const write = (out: string, record: string, file: PeopleFile, contents: Record.Contents) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const [csv, jsonl] = reportsOf(out)
    const draft = { flag: "w", mode: Record.mode } as const
    const count = yield* Effect.scoped(Effect.gen(function*() {
      const csvFile = yield* files.open(`${csv}.part`, draft)
      const jsonlFile = yield* files.open(`${jsonl}.part`, draft)
      yield* csvFile.writeAll(Buffer.from(stringify([columns])))
      return yield* rowsOf(record, file, contents).pipe(
        Stream.grouped(1000),
        Stream.map(Chunk.toReadonlyArray),
        Stream.runFoldEffect(0, (count, rows) =>
          csvFile.writeAll(Buffer.from(toCsv(rows))).pipe(
            Effect.zipRight(jsonlFile.writeAll(Buffer.from(toJsonLines(rows)))),
            Effect.as(count + rows.length)
          ))
      )
    }))
    for (const path of [csv, jsonl]) yield* files.rename(`${path}.part`, path)
    return { csv, jsonl, count }
  }).pipe(
    Effect.catchTags({
      SystemError: (error) => ofFile(out)(error),
      BadArgument: (error) => ofFile(out)(error),
      ParseError: () => new RescreeningFailed({ message: `${record} was changed during the run` }),
      NoSuchElementException: () => new RescreeningFailed({ message: `${record} was changed during the run` })
    })
  )
