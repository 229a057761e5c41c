/** The implementation of each command. Each returns the exit code. */
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Console from "effect/Console"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Sink from "effect/Sink"
import * as Stream from "effect/Stream"
import * as Comparison from "../../Comparison.ts"
import * as Ledger from "../../Ledger.ts"
import * as People from "../../People.ts"
import * as Population from "../../Population.ts"
import * as Report from "../../Report.ts"
import * as Rescreening from "../../Rescreening.ts"
import { RunNotFound } from "../../RescreeningError.ts"
import * as Run from "../../Run.ts"
import * as Decisions from "./decisions.ts"
import type { Flags } from "./program.ts"
import * as Progress from "./progress.ts"
import * as Settings from "./settings.ts"
import { UsageError } from "./usageError.ts"

export const exitCode = (counts: Run.Counts): number => {
  if (Run.left(counts) + counts.not_screened + counts.unknown + counts.wrong_row > 0) return 2
  return counts.potential_match + counts.no_match_doubtful > 0 ? 10 : 0
}

const words: ReadonlyArray<readonly [Run.State, string]> = [
  ["no_match", "no match"],
  ["no_match_doubtful", "no match for a name or date that looks damaged: a person should review it"],
  ["potential_match", "potential match: a person should review it"],
  ["not_screened", "not screened: there is no result"],
  ["unknown", "unknown: sent, no response; may be billed"],
  ["wrong_row", "wrong rows: not sent"],
  ["pending", "pending: not sent yet"],
  ["claimed", "claimed by a worker: not sent yet"],
  ["sent", "sent: waiting for the response"]
]

const describe = (run: string, counts: Run.Counts): string => {
  const total = Run.total(counts)
  const line = (count: number, words: string) => `  ${String(count).padStart(String(total).length)}  ${words}`
  return [
    `Run ${run}:`,
    ...words.filter(([state]) => counts[state] > 0).map(([state, words]) => line(counts[state], words)),
    line(total, "in all")
  ].join("\n")
}

const cannotUse = (path: string) => (error: { readonly _tag: string; readonly reason?: string }) =>
  new UsageError({ text: `${path} cannot be used: ${error.reason ?? error._tag}` })

const fileOf = (path: string) =>
  Stream.mapError(
    Stream.unwrap(Effect.map(FileSystem.FileSystem, (files) => files.stream(path))),
    cannotUse(path)
  )

/** The newest complete run of the same service before this one. */
const runBefore = (run: string) =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const { plannedAt, service } = yield* ledger.run(run)
    return (yield* ledger.runs).find((other) =>
      other.id !== run && other.service === service && other.state === "complete" && other.erasedAt === null &&
      DateTime.lessThan(other.plannedAt, plannedAt)
    )?.id
  })

/** Writes each report to a draft and renames it, so that an interruption leaves no incomplete report. */
const writeReports = (run: string, out: string) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const write = <E, R>(path: string, content: Stream.Stream<string, E, R>) =>
      Effect.gen(function*() {
        // Another worker may write the same report at the same moment.
        const draft = `${path}.${process.pid}.part`
        yield* Stream.run(
          Stream.encodeText(content),
          Sink.mapError(files.sink(draft, { flag: "w", mode: 0o600 }), cannotUse(path))
        ).pipe(
          Effect.zipRight(Effect.mapError(files.rename(draft, path), cannotUse(path))),
          Effect.onError(() => Effect.ignore(files.remove(draft)))
        )
      })
    yield* write(`${out}.csv`, Report.csv(run))
    yield* write(`${out}.jsonl`, Report.jsonLines(run))
    yield* write(`${out}.html`, Stream.fromEffect(Report.page(run, { since: yield* runBefore(run) })))
    yield* Console.log(`Written: ${out}.csv, ${out}.jsonl and ${out}.html`)
  })

const printPlanned = (run: Run.Run) =>
  Console.log(`Run ${run.id}: ${run.total} rows, planned at ${DateTime.formatIso(run.plannedAt)}.`)

const workAndPrint = (run: string, options: Rescreening.WorkOptions & { readonly concurrency: number }) =>
  Effect.gen(function*() {
    const work = Effect.provide(Rescreening.work(options), Settings.layerIdv(options.concurrency))
    const counts = yield* Progress.during(run, work)
    yield* Console.log(describe(run, counts))
    return counts
  })

/** The run of `--run`, or the newest one that is not complete: the newest run may be that of yesterday. */
const runToScreen = (flags: Flags) =>
  Effect.gen(function*() {
    const run = Settings.text(flags, "run")
    if (run !== undefined) return run
    const runs = yield* Effect.flatMap(Ledger.Ledger, ({ runs }) => runs)
    if (runs.length === 0) return yield* new RunNotFound({ run: "" })
    return runs.find(({ state }) => state !== "complete")?.id ?? (yield* new UsageError({
      text: "All runs are complete. Wait until plan has stored the next run, or name a run with --run."
    }))
  })

/** The run of `--run`, or the newest one. */
const selectedRun = (flags: Flags) =>
  Effect.gen(function*() {
    const run = Settings.text(flags, "run")
    if (run !== undefined) return run
    const [newest] = yield* Effect.flatMap(Ledger.Ledger, ({ runs }) => runs)
    return newest === undefined ? yield* new RunNotFound({ run: "" }) : newest.id
  })

export const start = (path: string, flags: Flags) =>
  Effect.gen(function*() {
    yield* Settings.checkIdv
    const base = path.replace(/\.csv$/i, "")
    const options = yield* Settings.planOptions(flags, yield* Settings.service)
    // Decoded before anything is stored, so that an invalid flag leaves no run behind.
    const work = yield* Settings.workOptions(flags, options.run, options.service)
    const keyPattern = yield* Settings.keyPattern(flags)
    // Before the ledger is opened, which creates its file.
    yield* Effect.mapError(
      Effect.flatMap(FileSystem.FileSystem, (files) => files.access(path, { readable: true })),
      cannotUse(path)
    )
    return yield* Effect.gen(function*() {
      const run = yield* Rescreening.plan(Population.fromCsv(fileOf(path), { keyPattern }), options)
      yield* printPlanned(run)
      // A run that an operator paused stays paused for everybody until an operator resumes it.
      if (run.state === "paused" && run.reason !== "operator") {
        yield* Rescreening.resume(run.id)
        yield* Console.log(`Run ${run.id} was paused and continues. The reason was ${run.reason}`)
      }
      const counts = yield* workAndPrint(run.id, work)
      yield* writeReports(run.id, Settings.text(flags, "out") ?? `${base}-${run.id}`)
      return exitCode(counts)
    }).pipe(Effect.provide(People.layerEnv), Effect.provide(Settings.layerLedger(flags, `${base}.ledger.sqlite`)))
  })

const onStandardInput = Stream.suspend(() =>
  NodeStream.fromReadable<UsageError, Uint8Array>(
    () => process.stdin,
    () => new UsageError({ text: "Standard input cannot be read" })
  )
)

export const plan = (flags: Flags) =>
  Effect.gen(function*() {
    const options = yield* Settings.planOptions(flags, yield* Settings.service)
    const keyPattern = yield* Settings.keyPattern(flags)
    yield* Effect.flatMap(Rescreening.plan(Population.fromCsv(onStandardInput, { keyPattern }), options), printPlanned)
    return 0
  }).pipe(Effect.provide(People.layerEnv), Effect.provide(Settings.layerLedger(flags)))

export const work = (flags: Flags) =>
  Effect.gen(function*() {
    yield* Settings.checkIdv
    const run = yield* runToScreen(flags)
    return exitCode(yield* workAndPrint(run, yield* Settings.workOptions(flags, run, yield* Settings.service)))
  }).pipe(Effect.provide(People.layerEnv), Effect.provide(Settings.layerLedger(flags)))

export const status = (flags: Flags) =>
  Effect.gen(function*() {
    const run = Settings.text(flags, "run")
    const all = yield* Effect.flatMap(Ledger.Ledger, ({ runs }) => runs)
    if (all.length === 0) return yield* new RunNotFound({ run: run ?? "" })
    for (const id of run === undefined ? all.map(({ id }) => id) : [run]) {
      const status = yield* Stream.runHead(Rescreening.status(id))
      if (Option.isNone(status)) continue
      const { counts, run: { completedAt, erasedAt, plannedAt, reason, state, total } } = status.value
      yield* Console.log(JSON.stringify({ run: id, state, reason, total, counts, plannedAt, completedAt, erasedAt }))
    }
    return 0
  }).pipe(Effect.provide(Settings.layerLedger(flags)))

export const pause = (flags: Flags) =>
  Effect.gen(function*() {
    const run = yield* selectedRun(flags)
    const wasOpen = yield* Rescreening.pause(run)
    yield* Console.log(wasOpen ? `Run ${run} is paused.` : `Run ${run} was not open.`)
    return 0
  }).pipe(Effect.provide(Settings.layerLedger(flags)))

export const resume = (flags: Flags) =>
  Effect.gen(function*() {
    const run = yield* selectedRun(flags)
    const outcomes = yield* Settings.again(flags)
    const { again } = yield* Rescreening.resume(run, { again: outcomes })
    const { state } = yield* Effect.flatMap(Ledger.Ledger, (ledger) => ledger.run(run))
    yield* Console.log(
      state === "complete"
        ? outcomes.length === 0
          ? `Run ${run} is complete. To screen rows without a result again, use --again.`
          : `Run ${run} is complete, and ${again} rows were screened again. If others are left, repeat the command.`
        : `Run ${run} is open; ${again} rows will be screened again. Start workers with idv-rescreen work.`
    )
    return 0
  }).pipe(Effect.provide(Settings.layerLedger(flags)))

export const report = (flags: Flags) =>
  Effect.gen(function*() {
    const run = yield* selectedRun(flags)
    yield* writeReports(run, Settings.text(flags, "out") ?? `rescreening-${run}`)
    return 0
  }).pipe(Effect.provide(Settings.layerLedger(flags)))

const warnOfWrongRows = (run: string, count: number, kind: Comparison.Kind) =>
  count === 0 ? Effect.void : Console.error(
    `Run ${run} has wrong rows: ${count}. They have no key, so these people may be among those of ${kind}.`
  )

export const compare = ([before = "", after = ""]: ReadonlyArray<string>, flags: Flags) =>
  Comparison.compare(before, after).pipe(
    Stream.filter(({ kind }) => flags["all"] === true || kind !== "unchanged"),
    Stream.runForEach((change) => Console.log(JSON.stringify(change))),
    Effect.zipRight(Comparison.wrongRows(before, after)),
    Effect.tap((wrongRows) => warnOfWrongRows(before, wrongRows.before, "new_in_population")),
    Effect.tap((wrongRows) => warnOfWrongRows(after, wrongRows.after, "gone_from_population")),
    Effect.as(0),
    Effect.provide(Settings.layerLedger(flags))
  )

export const decide = (flags: Flags) =>
  Effect.gen(function*() {
    const csv = yield* Stream.mkString(Stream.decodeText(onStandardInput))
    const run = yield* selectedRun(flags)
    const count = yield* Decisions.store(run, Settings.text(flags, "reviewer") ?? "", csv)
    yield* Console.log(`Stored: ${count} decisions about results of run ${run}.`)
    return 0
  }).pipe(Effect.provide(Settings.layerLedger(flags)))

export const erase = (flags: Flags) =>
  Effect.gen(function*() {
    const runs = yield* Rescreening.erase({ olderThan: yield* Settings.olderThan(flags) })
    yield* Console.log(runs.length === 0 ? "No run is that old." : `Erased: ${runs.join(", ")}. Their counts stay.`)
    return 0
  }).pipe(Effect.provide(Settings.layerLedger(flags)))
