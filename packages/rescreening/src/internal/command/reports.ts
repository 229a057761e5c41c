/** The commands that report: files, comparisons and coverage. Each returns its exit code. */
import * as ParsedArguments from "@effect-idv/cli/parsedArguments"
import { printable } from "@effect-idv/cli/textField"
import { UsageError } from "@effect-idv/cli/usageError"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Console from "effect/Console"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Sink from "effect/Sink"
import * as Stream from "effect/Stream"
import { dirname } from "node:path"
import * as Comparison from "../../Comparison.ts"
import * as Coverage from "../../Coverage.ts"
import * as Ledger from "../../Ledger.ts"
import * as Report from "../../Report.ts"
import { exitCode, printJson, selectedRun, withLedger } from "./invocation.ts"
import * as Settings from "./settings.ts"

export const cannotUse = (path: string) => (error: { readonly _tag: string; readonly reason?: string }) =>
  new UsageError({ text: `${printable(path)} cannot be used: ${error.reason ?? error._tag}` })

/** Fails if no report can be written there, before the first check is sent. */
export const checkFolderOf = (out: string) =>
  Effect.flatMap(FileSystem.FileSystem, (files) => files.access(dirname(out), { writable: true })).pipe(
    Effect.mapError(cannotUse(out))
  )

/** Refuses a report that would replace a file that the command reads. */
export const checkNotReplaced = (out: string, inputs: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const { realPath } = yield* FileSystem.FileSystem
    const report = yield* Effect.option(realPath(`${out}.csv`))
    if (Option.isNone(report)) return
    for (const input of inputs) {
      if (Option.contains(yield* Effect.option(realPath(input)), report.value)) {
        return yield* new UsageError({
          text: `The report would replace ${printable(input)}: name another file with --out`
        })
      }
    }
  })

/** The newest complete run of the same service and class before this one. */
const runBefore = (run: string) =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const { class: riskClass, environment, plannedAt, policy, service } = yield* ledger.run(run)
    return policy.isPart ?
      undefined :
      (yield* ledger.runs).find((other) =>
        other.id !== run && other.service === service && other.environment === environment &&
        other.class === riskClass &&
        other.state === "complete" && other.erasedAt === null && !other.policy.isPart &&
        DateTime.lessThan(other.plannedAt, plannedAt)
      )?.id
  })

/** Writes each report to a draft and renames it, so that an interruption leaves no incomplete report. */
export const write = (run: string, out: string) =>
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
    const people = yield* Settings.optionalPeople
    yield* write(`${out}.csv`, Report.csv(run, { people }))
    yield* write(`${out}.jsonl`, Report.jsonLines(run, { people }))
    yield* write(`${out}.html`, Stream.fromEffect(Report.page(run, { since: yield* runBefore(run) })))
    yield* Console.log(`Written: ${out}.csv, ${out}.jsonl and ${out}.html`)
  })

export const report = (args: ParsedArguments.ParsedArguments) =>
  Effect.gen(function*() {
    const flags = yield* Settings.flags(args)
    return yield* Effect.gen(function*() {
      const run = yield* selectedRun(flags)
      yield* write(run.id, flags.out ?? `rescreening-${run.id}`)
      const counts = yield* Effect.flatMap(Ledger.Ledger, (ledger) => ledger.counts(run.id))
      if (run.state !== "complete") {
        yield* Console.error(`Run ${run.id} is not complete: the report also has rows without a result`)
      }
      const code = exitCode(counts, run, 0)
      return code > 10 ? code : 0
    }).pipe(Effect.provide(Settings.layerLedger(flags)))
  })

const warnOfWrongRows = (run: string, count: number, kind: Comparison.Kind) =>
  count === 0 ? Effect.void : Console.error(
    `Run ${run} has wrong rows: ${count}. They have no key, so these people may be among those of ${kind}.`
  )

export const compare = (args: ParsedArguments.ParsedArguments) =>
  withLedger(args, [], () => {
    const [before = "", after = ""] = args.words
    return Comparison.compare(before, after).pipe(
      Stream.filter(({ kind }) => ParsedArguments.isOn(args, "all") || kind !== "unchanged"),
      Stream.runForEach((change) => Console.log(JSON.stringify(change))),
      Effect.zipRight(Comparison.wrongRows(before, after)),
      Effect.tap((wrongRows) => warnOfWrongRows(before, wrongRows.before, "new_in_population")),
      Effect.tap((wrongRows) => warnOfWrongRows(after, wrongRows.after, "gone_from_population"))
    )
  })

export const due = (args: ParsedArguments.ParsedArguments) =>
  withLedger(args, ["class", "older-than"], (flags) =>
    Stream.runForEach(
      Stream.unwrap(Effect.map(Settings.whereIfSet, (where) =>
        Coverage.due({ ...where, class: flags.class ?? "", olderThan: flags["older-than"] ?? Duration.infinity }))),
      printJson
    ))

export const coverage = (args: ParsedArguments.ParsedArguments) =>
  Effect.gen(function*() {
    const flags = yield* Settings.flags(args, ["class", "within"])
    return yield* Effect.gen(function*() {
      const found = yield* Coverage.coverage({
        ...yield* Settings.whereIfSet,
        class: flags.class ?? "",
        within: flags.within ?? Duration.infinity
      })
      yield* printJson(found)
      return found.due + found.wrongRows > 0 ? 2 : 0
    }).pipe(Effect.provide(Settings.layerLedger(flags)))
  })
