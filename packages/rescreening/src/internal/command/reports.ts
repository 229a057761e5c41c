/** Writes the reports of a run to files. */
import { printable } from "@effect-idv/cli/textField"
import { UsageError } from "@effect-idv/cli/usageError"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Console from "effect/Console"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Sink from "effect/Sink"
import * as Stream from "effect/Stream"
import { dirname } from "node:path"
import * as Ledger from "../../Ledger.ts"
import * as Report from "../../Report.ts"
import * as Settings from "./settings.ts"

export const cannotUse = (path: string) => (error: { readonly _tag: string; readonly reason?: string }) =>
  new UsageError({ text: `${printable(path)} cannot be used: ${error.reason ?? error._tag}` })

/** Fails if no report can be written there, before the first check is sent. */
export const checkFolderOf = (out: string) =>
  Effect.flatMap(FileSystem.FileSystem, (files) => files.access(dirname(out), { writable: true })).pipe(
    Effect.mapError(cannotUse(out))
  )

/** The newest complete run of the same service and class before this one. */
const runBefore = (run: string) =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const { class: riskClass, environment, plannedAt, service } = yield* ledger.run(run)
    return (yield* ledger.runs).find((other) =>
      other.id !== run && other.service === service && other.environment === environment && other.class === riskClass &&
      other.state === "complete" && other.erasedAt === null &&
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
