/** Screens everybody in a CSV file, and writes what became of each row. */
import { Population, Report, Rescreening, Run } from "@effect-idv/rescreening"
import { FileSystem } from "@effect/platform"
import { Config, Console, DateTime, Effect, Stream } from "effect"
import * as ProgressBar from "./progressBar.ts"

const describe = ({ counts, run }: Rescreening.Status) =>
  [
    `Run ${run.id}, ${Run.total(counts)} rows:`,
    ...Run.outcomes.map((outcome) => `${String(counts[outcome]).padStart(8)}  ${outcome}`)
  ].join("\n")

/**
 * Screens a file in one run per day in UTC: run it again after a kill to continue, or the next day to screen everybody
 * again.
 */
export const screen = (file: string) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const run = DateTime.formatIsoDateUtc(yield* DateTime.now)
    const service = yield* Config.withDefault(Config.string("IDV_BASE_URL"), "the mock server")
    const environment = yield* Config.withDefault(Config.string("IDV_ENVIRONMENT"), "")

    yield* Rescreening.plan(Population.fromCsv(files.stream(file)), { run, service, environment, rate: 20 })
    yield* ProgressBar.during(Rescreening.status(run), Rescreening.work({ run, service, environment }))

    const out = file.replace(/\.csv$/, "")
    const write = <E, R>(path: string, text: Stream.Stream<string, E, R>) =>
      Stream.run(Stream.encodeText(text), files.sink(path, { mode: 0o600 }))
    yield* write(`${out}-report.csv`, Report.csv(run))
    yield* write(`${out}-report.html`, Stream.fromEffect(Report.page(run)))

    yield* Stream.runForEach(Rescreening.status(run), (status) => Console.log(describe(status)))
    yield* Console.log(`Written: ${out}-report.csv and ${out}-report.html`)
  })
