/** The commands that plan, screen, show and change runs. Each returns its exit code. */
import type * as ParsedArguments from "@effect-idv/cli/parsedArguments"
import * as Progress from "@effect-idv/cli/progress"
import { UsageError } from "@effect-idv/cli/usageError"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Console from "effect/Console"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as Ledger from "../../Ledger.ts"
import * as People from "../../People.ts"
import * as Population from "../../Population.ts"
import * as Rescreening from "../../Rescreening.ts"
import { RunNotFound } from "../../RescreeningError.ts"
import * as Run from "../../Run.ts"
import * as PlannedRows from "../people/plannedRows.ts"
import * as Rows from "../report/rows.ts"
import { exitCode, onStandardInput, selectedRun, withLedger } from "./invocation.ts"
import * as Reports from "./reports.ts"
import * as Settings from "./settings.ts"

const words: ReadonlyArray<readonly [Run.State, string]> = [
  ["no_match", "no match"],
  ["no_match_doubtful", "no match for a name or date that looks damaged"],
  ["potential_match", "potential match"],
  ["control_failed", "no match, but a control was not found at that time: these people must be screened again"],
  ["not_screened", "not screened: there is no result"],
  ["unknown", "unknown: sent, no response; may be billed"],
  ["wrong_row", "wrong rows: not sent"],
  ["erased", "erased: the data of these people were erased on request"],
  ["pending", "pending: not sent yet"],
  ["claimed", "claimed by a worker: not sent yet"],
  ["sent", "sent: waiting for the response"]
]

/** Whether a result may need a review. Whether it does, only its rows and the history say. */
const hasCandidates = (counts: Run.Counts, { amended }: Run.Run) =>
  counts.potential_match + counts.no_match_doubtful + amended > 0

const describe = (
  counts: Run.Counts,
  run: Run.Run,
  toReview: number
): string => {
  const { amended, controlRequests, controlRounds, controls, id, undocumented } = run
  const total = Run.total(counts)
  const line = (count: number, words: string) => `  ${String(count).padStart(String(total).length)}  ${words}`
  return [
    `Run ${id}:`,
    ...words.filter(([state]) => counts[state] > 0).map(([state, words]) => line(counts[state], words)),
    line(total, "in all"),
    ...(hasCandidates(counts, run) ? [`Results that need a decision or an approval: ${toReview}.`] : []),
    ...(controls === 0
      ? []
      : [`${controlRounds} rounds found all ${controls} controls (${controlRequests} requests).`]),
    ...(undocumented.length === 0
      ? []
      : [`The responses have undocumented parts: ${undocumented.join(", ")}. Check whether the client needs them.`]),
    ...(amended === 0 ? [] : [`${amended} results arrived after the run was complete or a row was screened again.`])
  ].join("\n")
}

const fileOf = (path: string) =>
  Stream.mapError(
    Stream.unwrap(Effect.map(FileSystem.FileSystem, (files) => files.stream(path))),
    Reports.cannotUse(path)
  )

/** The planned run, with the number of checks and the time that they take at its rate. */
const printPlanned = ({ controls, id, plannedAt, policy, total }: Run.Run, { rate = policy.rate }: Run.Changes = {}) =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const { wrong_row } = yield* ledger.counts(id)
    const checks = total - wrong_row
    const rounds = 2 + Math.ceil(2 * checks / policy.controlEvery)
    const duration = Duration.format(Duration.seconds(Math.ceil(checks / policy.rate)))
    yield* Console.log(
      `Run ${id}: ${total} rows, planned at ${DateTime.formatIso(plannedAt)}, ${policy.rate} checks per second. ` +
        `${checks} checks take ${duration}.` +
        (controls === 0
          ? ""
          : ` About ${controls * rounds} more checks of ${controls} controls (at least every ${policy.controlEvery} ` +
            "people, usually sooner) count for --max-checks and the bill.") +
        (policy.maxChecks === undefined ? "" : ` It stops after ${policy.maxChecks} requests.`) +
        (rate === policy.rate ? "" : " It keeps its policy; idv-rescreen set changes it.")
    )
  })

/** Shows the count of rows with an outcome while `effect` runs, on a terminal. */
const withProgress = <A, E, R>(run: Run.Run, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const progress = yield* Progress.make(process.stderr, run.total, "rows")
    if (!process.stderr.isTTY) return yield* effect
    const show = Stream.runForEach(
      Rescreening.status(run.id),
      ({ counts }) => progress.show(run.total - Run.left(counts))
    )
    yield* Effect.forkScoped(Effect.retry(show, Schedule.spaced("5 seconds")))
    return yield* Effect.ensuring(effect, progress.clear)
  }).pipe(Effect.scoped)

const workAndPrint = (
  run: Run.Run,
  where: Effect.Effect.Success<typeof Settings.where>,
  flags: Settings.Flags
) =>
  Effect.gen(function*() {
    const { concurrency = 10, lease } = flags
    const work = Effect.provide(
      Rescreening.work({ run: run.id, ...where, concurrency, lease }),
      Settings.layerIdv(concurrency)
    )
    const counts = yield* withProgress(run, work)
    const after = yield* Effect.flatMap(Ledger.Ledger, (ledger) => ledger.run(run.id))
    const toReview = hasCandidates(counts, after)
      ? yield* Stream.runCount(Stream.filter(Rows.all(run.id), ({ row }) => Rows.reviewTask(row) !== undefined))
      : 0
    yield* Console.log(describe(counts, after, toReview))
    return exitCode(counts, after, toReview)
  })

/** The options of `plan`, with the controls of the file. */
const planOptions = (
  args: ParsedArguments.ParsedArguments,
  flags: Settings.Flags,
  where: Effect.Effect.Success<typeof Settings.where>
) =>
  Effect.map(
    flags.control === undefined ? Effect.succeed([]) : Population.controlsFromCsv(fileOf(flags.control)),
    (controls) => ({ ...Settings.planOptions(args, flags, where), controls })
  )

/** The rows of the CSV. */
const population = <E, R>(bytes: Stream.Stream<Uint8Array, E, R>, flags: Settings.Flags) => {
  const pattern = flags["key-pattern"]
  return Population.fromCsv(bytes, { keyPattern: pattern === undefined ? undefined : new RegExp(pattern, "u") })
}

/** Fails if the CSV cannot be used, before the ledger is opened, which creates its file. */
const checkRows = <E, R>(
  bytes: Stream.Stream<Uint8Array, E, R>,
  { "expect-at-least": expected = 1, ...flags }: Settings.Flags
) =>
  Effect.flatMap(
    Stream.runCount(Stream.take(population(bytes, flags), expected)),
    (found) => PlannedRows.checkSize(found, expected)
  )

export const start = (args: ParsedArguments.ParsedArguments) =>
  Effect.gen(function*() {
    const flags = yield* Settings.flags(args, ["run"])
    yield* Settings.checkIdv
    const path = args.argument
    const base = path.replace(/\.csv$/i, "")
    const where = yield* Settings.where
    const options = yield* planOptions(args, flags, where)
    yield* checkRows(fileOf(path), flags)
    yield* Reports.checkFolderOf(flags.out ?? base)
    yield* Reports.checkNotReplaced(flags.out ?? `${base}-${flags.run}`, [
      path,
      ...(flags.control === undefined ? [] : [flags.control])
    ])
    return yield* Effect.gen(function*() {
      const run = yield* Rescreening.plan(population(fileOf(path), flags), options)
      yield* printPlanned(run, options)
      // A run that an operator paused stays paused for everybody until an operator resumes it.
      if (run.state === "paused" && run.reason !== "operator") {
        yield* Rescreening.resume(run.id)
        yield* Console.log(`Run ${run.id} was paused and continues. The reason was ${run.reason}`)
      }
      const code = yield* workAndPrint(run, where, flags)
      yield* Reports.write(run.id, flags.out ?? `${base}-${run.id}`)
      return code
    }).pipe(
      Effect.provide(Settings.layerLedger(flags, { creates: true, file: `${base}.ledger.sqlite` })),
      // The key is read first, because the ledger may create its file.
      Effect.provide(People.layerEnv)
    )
  })

/** Those people of the CSV to whom a check was sent in the span of `--from-sent`, or all. */
const incident = <E, R>(
  people: Stream.Stream<Population.Row, E, R>,
  { environment, service }: Rescreening.PlanOptions,
  { "from-sent": span }: Settings.Flags
) =>
  Effect.gen(function*() {
    if (span === undefined) return people
    const ledger = yield* Ledger.Ledger
    const ids = new Set(yield* ledger.sentBetween({ service, environment: environment ?? "" }, span))
    const found = Stream.filter(people, (row) => !Population.isWrongRow(row) && ids.has(row.key))
    const keys = yield* Stream.runFold(
      found,
      new Set<string>(),
      (keys, row) => Population.isWrongRow(row) ? keys : keys.add(row.key)
    )
    const missing = ids.size - keys.size
    if (missing > 0) {
      yield* Console.error(
        `${missing} people to whom a check was sent in this span are not in the file, or their rows are wrong.`
      )
    }
    return found
  })

export const plan = (args: ParsedArguments.ParsedArguments) =>
  Effect.gen(function*() {
    const flags = yield* Settings.flags(args, ["run"])
    const options = yield* planOptions(args, flags, yield* Settings.where)
    // All of it, because it can be read only once: about 50 MB for a million people. In small chunks, because their texts
    // need more memory.
    const bytes = Stream.rechunk(Stream.fromChunk(yield* Stream.runCollect(onStandardInput)), 1)
    yield* checkRows(bytes, flags)
    yield* incident(population(bytes, flags), options, flags).pipe(
      // `checkRows` has compared the size of the whole file.
      Effect.flatMap((people) =>
        Rescreening.plan(people, flags["from-sent"] === undefined ? options : { ...options, expectAtLeast: undefined })
      ),
      Effect.flatMap((run) => printPlanned(run, options)),
      Effect.provide(Settings.layerLedger(flags, { creates: true })),
      // The key is read first, because the ledger may create its file.
      Effect.provide(People.layerEnv)
    )
    return 0
  })

export const work = (args: ParsedArguments.ParsedArguments) =>
  Effect.gen(function*() {
    const flags = yield* Settings.flags(args)
    yield* Settings.checkIdv
    const where = yield* Settings.where
    return yield* selectedRun(flags, ({ state }) => state !== "complete").pipe(
      Effect.flatMap((run) => workAndPrint(run, where, flags)),
      Effect.provide(Settings.layerLedger(flags)),
      Effect.provide(People.layerEnv)
    )
  })

export const set = (args: ParsedArguments.ParsedArguments) =>
  withLedger(args, ["run"], (flags) =>
    Effect.gen(function*() {
      const changes = Settings.changes(flags)
      if (Object.values(changes).every((value) => value === undefined)) {
        return yield* new UsageError({
          text: "Nothing to set: expected --rate, --unknown, --stop-after or --max-checks"
        })
      }
      const { id, policy: { maxChecks, rate, stopAfter, unknown } } = yield* Rescreening.set(flags.run ?? "", changes)
      yield* Console.log(
        `Run ${id}: ${rate} checks per second, unknown ${unknown}, stop after ${stopAfter}` +
          (maxChecks === undefined ? "." : `, at most ${maxChecks} checks.`)
      )
    }))

export const status = (args: ParsedArguments.ParsedArguments) =>
  withLedger(args, [], ({ run }) =>
    Effect.gen(function*() {
      const ledger = yield* Ledger.Ledger
      const runs = run === undefined ? yield* ledger.runs : [yield* ledger.run(run)]
      if (runs.length === 0) return yield* new RunNotFound({ run: "" })
      for (const { id } of runs) {
        const status = yield* Stream.runHead(Rescreening.status(id))
        if (Option.isNone(status)) continue
        const { counts, pauses, run, servicePause } = status.value
        const { amended, completedAt, erasedAt, plannedAt, policy, reason, state, total, ...others } = run
        const doubtful = yield* ledger.doubtful(id)
        yield* Console.log(JSON.stringify({
          run: id,
          environment: others.environment,
          class: others.class,
          state,
          reason,
          amended,
          total,
          counts,
          doubtful,
          controls: {
            people: others.controls,
            rounds: others.controlRounds,
            requests: others.controlRequests,
            lastRoundAt: others.controlledAt
          },
          undocumented: others.undocumented,
          policy,
          pausedForSeconds: Math.ceil(Math.max(0, Duration.toSeconds(servicePause))),
          pauses,
          plannedAt,
          completedAt,
          erasedAt
        }))
      }
    }))

export const pause = (args: ParsedArguments.ParsedArguments) =>
  withLedger(args, ["run"], ({ run = "" }) =>
    Effect.gen(function*() {
      const wasOpen = yield* Rescreening.pause(run)
      yield* Console.log(wasOpen ? `Run ${run} is paused.` : `Run ${run} was not open.`)
    }))

const outcomesAgain = {
  not_screened: ["not_screened"],
  unknown: ["unknown"],
  both: ["not_screened", "unknown"]
} as const

export const resume = (args: ParsedArguments.ParsedArguments) =>
  withLedger(args, ["run"], (flags) =>
    Effect.gen(function*() {
      const { run = "" } = flags
      const outcomes = flags.again === undefined ? [] : outcomesAgain[flags.again]
      const { again } = yield* Rescreening.resume(run, { again: outcomes })
      const { state } = yield* Effect.flatMap(Ledger.Ledger, (ledger) => ledger.run(run))
      yield* Console.log(
        state === "complete"
          ? outcomes.length === 0
            ? `Run ${run} is complete. To screen rows without a result again, use --again.`
            : `Run ${run} is complete, and ${again} rows were screened again.`
          : `Run ${run} is open; ${again} rows will be screened again. Start workers with idv-rescreen work.`
      )
    }))

/** Loaded only here, because pg-boss is an optional peer. */
const engine = Effect.tryPromise(() => import("../../EnginePgBoss.ts")).pipe(Effect.option)

export const migrate = (args: ParsedArguments.ParsedArguments) =>
  Effect.gen(function*() {
    const { file, url } = yield* Effect.flatMap(Settings.flags(args), (flags) => Settings.place(flags))
    if (url === undefined) {
      const files = yield* FileSystem.FileSystem
      yield* Effect.mapError(files.access(file, { writable: true }), Reports.cannotUse(file))
      yield* Effect.scoped(Effect.provide(Ledger.Ledger, Ledger.layerSqlite({ file })))
      yield* Console.log("The tables of the ledger are ready.")
      return 0
    }
    yield* Ledger.migratePg({ url })
    const pgBoss = yield* engine
    if (Option.isSome(pgBoss)) yield* pgBoss.value.migrate({ url })
    yield* Console.log(`The tables of the ledger${Option.isSome(pgBoss) ? " and of pg-boss" : ""} are ready.`)
    return 0
  })
