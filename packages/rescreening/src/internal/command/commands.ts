/** The commands. Each returns its exit code. */
import * as ParsedArguments from "@effect-idv/cli/parsedArguments"
import * as Progress from "@effect-idv/cli/progress"
import { UsageError } from "@effect-idv/cli/usageError"
import * as AmlCheck from "@effect-idv/core/AmlCheck"
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Console from "effect/Console"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Comparison from "../../Comparison.ts"
import * as Coverage from "../../Coverage.ts"
import * as Ledger from "../../Ledger.ts"
import * as Matches from "../../Matches.ts"
import * as People from "../../People.ts"
import * as PersonalData from "../../PersonalData.ts"
import * as Population from "../../Population.ts"
import * as Rescreening from "../../Rescreening.ts"
import { RunNotFound } from "../../RescreeningError.ts"
import * as Run from "../../Run.ts"
import * as PlannedRows from "../people/plannedRows.ts"
import * as Decisions from "./decisions.ts"
import * as Reports from "./reports.ts"
import * as Settings from "./settings.ts"

/** 11 comes first: a report that was written before is no longer complete. */
const exitCode = (counts: Run.Counts, { amended }: Run.Run): number => {
  if (amended > 0) return 11
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
  ["erased", "erased: the data of these people were erased on request"],
  ["pending", "pending: not sent yet"],
  ["claimed", "claimed by a worker: not sent yet"],
  ["sent", "sent: waiting for the response"]
]

const describe = (counts: Run.Counts, { amended, id }: Run.Run): string => {
  const total = Run.total(counts)
  const line = (count: number, words: string) => `  ${String(count).padStart(String(total).length)}  ${words}`
  return [
    `Run ${id}:`,
    ...words.filter(([state]) => counts[state] > 0).map(([state, words]) => line(counts[state], words)),
    line(total, "in all"),
    ...(amended === 0 ? [] : [`${amended} results arrived after the run was complete or a row was screened again.`])
  ].join("\n")
}

const fileOf = (path: string) =>
  Stream.mapError(
    Stream.unwrap(Effect.map(FileSystem.FileSystem, (files) => files.stream(path))),
    Reports.cannotUse(path)
  )

/** The planned run, with the number of checks and the time that they take at its rate. */
const printPlanned = ({ id, plannedAt, policy, total }: Run.Run, { rate = policy.rate }: Run.Changes = {}) =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const { wrong_row } = yield* ledger.counts(id)
    const checks = total - wrong_row
    const duration = Duration.format(Duration.seconds(Math.ceil(checks / policy.rate)))
    yield* Console.log(
      `Run ${id}: ${total} rows, planned at ${DateTime.formatIso(plannedAt)}, ${policy.rate} checks per second. ` +
        `${checks} checks take ${duration}.` +
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
    yield* Console.log(describe(counts, after))
    return exitCode(counts, after)
  })

/** The run of `--run`, or the newest one that fits. */
const selectedRun = ({ run }: Settings.Flags, fits: (run: Run.Run) => boolean = () => true) =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    if (run !== undefined) return yield* ledger.run(run)
    const runs = yield* ledger.runs
    if (runs.length === 0) return yield* new RunNotFound({ run: "" })
    return runs.find(fits) ?? (yield* new UsageError({
      text: "All runs are complete. Wait until plan has stored the next run, or name a run with --run."
    }))
  })

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
    const options = Settings.planOptions(args, flags, where)
    yield* checkRows(fileOf(path), flags)
    yield* Reports.checkFolderOf(flags.out ?? base)
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

const onStandardInput = Stream.suspend(() =>
  NodeStream.fromReadable<UsageError, Uint8Array>(
    () => process.stdin,
    () => new UsageError({ text: "Standard input cannot be read" })
  )
)

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
    const options = Settings.planOptions(args, flags, yield* Settings.where)
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

/** A command that only needs the ledger. */
const withLedger = <A, E, R>(
  args: ParsedArguments.ParsedArguments,
  required: Parameters<typeof Settings.flags>[1],
  use: (flags: Settings.Flags) => Effect.Effect<A, E, R>
) =>
  Effect.flatMap(
    Settings.flags(args, required),
    (flags) => Effect.as(Effect.provide(use(flags), Settings.layerLedger(flags)), 0)
  )

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
        yield* Console.log(JSON.stringify({
          run: id,
          environment: others.environment,
          class: others.class,
          state,
          reason,
          amended,
          total,
          counts,
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

export const report = (args: ParsedArguments.ParsedArguments) =>
  Effect.gen(function*() {
    const flags = yield* Settings.flags(args)
    return yield* Effect.gen(function*() {
      const { amended, id } = yield* selectedRun(flags)
      yield* Reports.write(id, flags.out ?? `rescreening-${id}`)
      return amended > 0 ? 11 : 0
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

export const decide = (args: ParsedArguments.ParsedArguments) =>
  withLedger(args, ["run", "reviewer"], ({ reviewer = "", run = "" }) =>
    Effect.gen(function*() {
      const approves = ParsedArguments.isOn(args, "approve")
      const csv = yield* Stream.mkString(Stream.decodeText(onStandardInput))
      const count = yield* Decisions.store(run, csv, { reviewer, approves })
      yield* Console.log(`Stored: ${count} ${approves ? "approvals" : "decisions"} about results of run ${run}.`)
    }))

const printJson = (value: unknown) => Console.log(JSON.stringify(value))

const encodeCheck = (check: AmlCheck.AmlCheck) => Effect.orDie(Schema.encode(AmlCheck.WithoutBody)(check))
const encodeWithBody = (check: AmlCheck.AmlCheck) => Effect.orDie(Schema.encode(AmlCheck.AmlCheck)(check))

export const matches = (args: ParsedArguments.ParsedArguments) =>
  withLedger(args, ["run", "reviewer"], ({ reviewer = "", run = "" }) =>
    Matches.review(run, { reader: reviewer }).pipe(
      Stream.mapEffect(({ check, late, row }) =>
        Effect.all({
          check: check === undefined ? Effect.succeed(null) : encodeCheck(check),
          late_checks: Effect.forEach(late, (check) => encodeCheck(check))
        }).pipe(Effect.map((checks) => ({ ...row, ...checks })))
      ),
      Stream.runForEach(printJson),
      Effect.provide(People.layerEnv)
    ))

export const history = (args: ParsedArguments.ParsedArguments) =>
  withLedger(args, [], ({ id }) =>
    Effect.flatMap(Ledger.Ledger, (ledger) =>
      Stream.runForEach(
        id === undefined ? ledger.history : Stream.fromIterableEffect(ledger.historyOf([id])),
        printJson
      )))

export const exportPerson = (args: ParsedArguments.ParsedArguments) =>
  withLedger(args, ["id", "by"], ({ by = "", id = "" }) =>
    Effect.gen(function*() {
      const { history, runs } = yield* PersonalData.read(id, { actor: by })
      for (const { checks, ...inRun } of runs) {
        yield* printJson({ ...inRun, checks: yield* Effect.forEach(checks, (check) => encodeWithBody(check)) })
      }
      yield* Effect.forEach(history, printJson, { discard: true })
    }).pipe(Effect.provide(People.layerEnv)))

export const hold = (args: ParsedArguments.ParsedArguments) =>
  withLedger(args, ["id", "by"], ({ by = "", id = "" }) =>
    Effect.gen(function*() {
      const releases = ParsedArguments.isOn(args, "release")
      const changed = yield* PersonalData.hold(id, { actor: by, releases })
      const state = releases ? "not on hold" : "on hold: nothing about this person is erased"
      yield* Console.log(`The person is ${changed ? "now " : "already "}${state}.`)
    }))

const erasePerson = (id: string, actor: string | undefined, keepsHistory: boolean) =>
  Effect.gen(function*() {
    if (actor === undefined) return yield* new UsageError({ text: "--by is missing: who erases this person" })
    const rows = yield* PersonalData.erase(id, { actor, keepsHistory })
    yield* Console.log(
      `Erased: the person, in ${rows} ${
        rows === 1 ? "run" : "runs"
      }. Reports and exports that were written before, and ` +
        "backups, still contain the person."
    )
  })

export const erase = (args: ParsedArguments.ParsedArguments) =>
  withLedger(args, [], (flags) =>
    Effect.gen(function*() {
      const { "history-older-than": historyOlderThan, id, "older-than": olderThan } = flags
      if ((id === undefined) === (olderThan === undefined)) {
        return yield* new UsageError({ text: "Expected either --older-than or --id" })
      }
      if (id !== undefined) return yield* erasePerson(id, flags.by, ParsedArguments.isOn(args, "keep-history"))
      const runs = yield* Rescreening.erase({ olderThan: olderThan ?? Duration.infinity, historyOlderThan })
      yield* Console.log(runs.length === 0 ? "No run is that old." : `Erased: ${runs.join(", ")}. Their counts stay.`)
    }))

export const due = (args: ParsedArguments.ParsedArguments) =>
  withLedger(args, ["class", "older-than"], (flags) =>
    Stream.runForEach(
      Coverage.due({ class: flags.class ?? "", olderThan: flags["older-than"] ?? Duration.infinity }),
      printJson
    ))

export const coverage = (args: ParsedArguments.ParsedArguments) =>
  Effect.gen(function*() {
    const flags = yield* Settings.flags(args, ["class", "within"])
    return yield* Effect.gen(function*() {
      const found = yield* Coverage.coverage({ class: flags.class ?? "", within: flags.within ?? Duration.infinity })
      yield* printJson(found)
      return found.due + found.wrongRows > 0 ? 2 : 0
    }).pipe(Effect.provide(Settings.layerLedger(flags)))
  })

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

type CommandEffect =
  | ReturnType<typeof start | typeof plan | typeof work | typeof report | typeof migrate>
  | ReturnType<
    | typeof set
    | typeof status
    | typeof pause
    | typeof resume
    | typeof compare
    | typeof decide
    | typeof matches
    | typeof history
    | typeof exportPerson
    | typeof hold
    | typeof erase
    | typeof due
    | typeof coverage
  >

/** A command with its arguments. */
export type Command = (
  args: ParsedArguments.ParsedArguments
) => Effect.Effect<number, Effect.Effect.Error<CommandEffect>, Effect.Effect.Context<CommandEffect>>
