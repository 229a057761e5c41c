/**
 * Runs the conformance suite against the servers of the sets, and prints the findings about the correct servers, and how
 * many wrong servers of each area it finds: `pnpm foreign-services [set1|set2|set3|python|java]
 * [mock|sandbox|fictional|wide] [first step]`. It names the missed ones of a regression set only. Without arguments it runs all sets in all modes; `0 4`
 * runs the first of four parts.
 */
import { Conformance, Contract } from "@effect-idv/contract"
import type { CommandExecutor } from "@effect/platform"
import { type Error as PlatformError, type HttpClient } from "@effect/platform"
import { NodeContext, NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Array as Arr, Console, Effect, type ParseResult, type Scope } from "effect"
import * as Programs from "./programs.ts"
import * as Servers from "./servers.ts"

type Starting = Effect.Effect<
  Servers.Started,
  PlatformError.PlatformError | ParseResult.ParseError,
  CommandExecutor.CommandExecutor | HttpClient.HttpClient | Scope.Scope
>

/** The servers of a set, not yet started. */
interface ServersOfSet {
  /** The first one is that of which the wrong ones differ in one point. Those of `apart` come last. */
  readonly correct: ReadonlyArray<readonly [style: string, isApart: boolean, target: Starting]>
  readonly wrong: ReadonlyArray<{ readonly id: string; readonly area: string; readonly target: Starting }>
  readonly isRegression: boolean
}

const ofSet = (name: Servers.Name, mode: Servers.Mode): ServersOfSet => {
  const { apart = {}, faults, isRegression, styles }: Servers.ServerSet = Servers.sets[name]
  const started = (isApart: boolean) => ([style, options]: readonly [string, Servers.ServerSet["styles"]["strict"]]) =>
    [style, isApart, Servers.starting(options, mode)] as const
  return {
    correct: [...Object.entries(styles).map(started(false)), ...Object.entries(apart).map(started(true))],
    wrong: faults.map((fault) => ({ ...fault, target: Servers.starting(styles.strict, mode, fault) })),
    isRegression
  }
}

const ofProgram = (name: Programs.Name, mode: Servers.Mode) =>
  Effect.map(Programs.faults(name), (faults): ServersOfSet => {
    const { persons } = Programs.programs[name]
    const started = (fault?: string): Starting =>
      Effect.map(Programs.serving(name, fault), ({ clock, ...service }) => ({
        target: { ...service, kind: "sandbox", ...Servers.ofMode(mode, { clock, persons }) },
        clock: Servers.clockOf(clock)
      }))
    return {
      correct: [[name, false, started()]],
      wrong: Object.keys(faults).map((id) => ({ id, area: `service in ${name}`, target: started(id) })),
      isRegression: false
    }
  })

const verdicts = ["violated", "lenient", "drift"] as const

type Findings = Readonly<Record<typeof verdicts[number], ReadonlyArray<string>>>

/** The findings of each verdict, as case and observation. */
const findingsOf = ({ results }: Conformance.Report): Findings => {
  const of = (verdict: Conformance.Verdict) =>
    results.filter((result) => result.verdict === verdict).map(({ id, observed }) => `${id}: ${observed}`)
  return { violated: of("violated"), lenient: of("lenient"), drift: of("drift") }
}

/** A wrong server that ran. */
interface Row {
  readonly id: string
  readonly area: string
  /** The index of the verdict of its first finding, or -1. */
  readonly found: number
  /** Whether a default run could send a probe that finds it. */
  readonly isAffordable: boolean
}

/** Whether a default run, with the test persons, could send one of the probes that found something. */
const isAffordable = ({ persons, ...target }: Conformance.Target, usual: Findings, report: Conformance.Report) =>
  report.results.some(({ id, observed, probes = [], verdict }) => {
    const testCase = Conformance.cases.find((each) => each.id === id)
    if (testCase === undefined || verdict !== "violated" && verdict !== "lenient") return false
    if (usual[verdict].includes(`${id}: ${observed}`)) return false
    const { more = [], ...first } = testCase
    return [first, ...more].filter(({ title }) => probes.includes(title)).some((probe) =>
      Conformance.plan({ ...target, persons, budget: undefined, wrongKeys: undefined }, [{ ...first, ...probe }]).items
        .length > 0
    )
  })

const percent = (found: number, all: number): string => `${found} of ${all} (${Math.floor(100 * found / all)} %)`

const lineOf = (area: string, rows: ReadonlyArray<Row>): string => {
  const of = (verdict: number) => rows.filter(({ found }) => found === verdict).length
  return `${area.padEnd(42)} found ${percent(of(0) + of(1), rows.length)}: ${of(0)} violated, ${
    of(1)
  } lenient; drift only: ${of(2)}; missed: ${of(-1)}`
}

const isFound = (verdict: number): boolean => verdict === 0 || verdict === 1

const run = (name: string, servers: ServersOfSet, mode: Servers.Mode, [first, step]: readonly [number, number]) =>
  Effect.gen(function*() {
    const contract = yield* Contract.load()
    const { correct: all, isRegression, wrong } = servers
    yield* Console.log(`\n${name}, ${mode}${isRegression ? " (regression set)" : ""}`)
    const judge = (observations: ReadonlyArray<Conformance.Observation>, cases = Conformance.cases) =>
      Conformance.judge(contract, observations, { kind: "sandbox", cases })

    // Another part has run the other styles.
    const correct = yield* Effect.forEach(
      first === 0 ? all : all.slice(0, 1),
      ([style, isApart, target]) =>
        Effect.scoped(Effect.gen(function*() {
          const started = yield* target
          const report = yield* Effect.withClock(Conformance.verify(started.target, contract), started.clock)
          const found = findingsOf(report)
          const counts = verdicts.map((verdict) => `${found[verdict].length} ${verdict}`).join(", ")
          yield* Console.log(`correct, ${style}: ${counts}; ${report.requests} requests`)
          for (const finding of [...found.violated, ...found.lenient]) yield* Console.log(`  ${finding}`)
          return { found, alarms: isApart ? 0 : found.violated.length }
        }))
    )
    const usual = correct[0]?.found ?? { violated: [], lenient: [], drift: [] }
    const news = (report: Conformance.Report) => {
      const found = findingsOf(report)
      return verdicts.findIndex((verdict) => Arr.difference(found[verdict], usual[verdict]).length > 0)
    }

    /** Stops at the first violated or lenient case. Only a drift may be followed by another verdict. */
    const foundByCase = (target: Conformance.Target) =>
      Effect.gen(function*() {
        const running = yield* Conformance.start(target)
        const observations: Array<Conformance.Observation> = []
        for (const testCase of Conformance.cases) {
          const observation = yield* running.observe(testCase)
          observations.push(observation)
          if (!isFound(news(judge([observation], [testCase])))) continue
          const confirmed = news(judge(yield* running.confirm([observation]), [testCase]))
          if (isFound(confirmed)) return { found: confirmed, isAffordable: false }
        }
        return { found: news(judge(yield* running.confirm(observations))), isAffordable: false }
      })

    /** The planner of a sandbox run chooses the cases, so the run is judged as a whole. */
    const foundByRun = (target: Conformance.Target) =>
      Effect.map(Conformance.verify(target, contract), (report) => ({
        found: news(report),
        isAffordable: isAffordable(target, usual, report)
      }))

    const rows: Array<Row> = []
    yield* Effect.forEach(
      wrong.filter((_, i) => i % step === first),
      ({ area, id, target }) =>
        Effect.gen(function*() {
          const started = yield* target
          const found = mode === "mock" ? foundByCase(started.target) : foundByRun(started.target)
          rows.push({ id, area, ...(yield* Effect.withClock(found, started.clock)) })
          // A run takes minutes, and may be interrupted.
          if (rows.length % 20 === 0) yield* Console.error(lineOf("so far", rows))
        }).pipe(Effect.scoped),
      { concurrency: 4, discard: true }
    )
    for (const [area, own] of Object.entries(Arr.groupBy(rows, ({ area }) => area))) {
      yield* Console.log(lineOf(area, own))
    }
    const alarms = correct.reduce((sum, each) => sum + each.alarms, 0)
    yield* Console.log(`${lineOf(`${name}, ${mode}, all`, rows)}; false alarms: ${alarms}`)
    if (mode === "wide") {
      const affordable = rows.filter((row) => isFound(row.found) && row.isAffordable).length
      yield* Console.log(`${affordable} of them by a probe that a default run could send`)
    }
    const missed = rows.filter(({ found }) => !isFound(found)).map(({ id }) => id)
    if (isRegression) yield* Console.log(`not found: ${missed.sort().join(", ")}`)
  })

const words = process.argv.slice(2)
const chosen = <A extends string>(all: ReadonlyArray<A>) => {
  const some = all.filter((name) => words.includes(name))
  return some.length === 0 ? all : some
}
const [first = 0, step = 1] = words.map(Number).filter(Number.isInteger)

const isProgram = (name: Servers.Name | Programs.Name): name is Programs.Name => Arr.contains(Programs.names, name)

Effect.forEach(
  chosen([...Servers.names, ...Programs.names]),
  (name) =>
    Effect.forEach(chosen(Servers.modes), (mode) =>
      Effect.flatMap(
        isProgram(name) ? ofProgram(name, mode) : Effect.succeed(ofSet(name, mode)),
        (servers) => run(name, servers, mode, [first, step])
      )).pipe(
        Effect.catchTag("NotStarted", ({ isMissing, needs }) =>
          Console.log(`${name} ${isMissing ? "was skipped" : "did not start"}: it needs ${needs}.`).pipe(
            Effect.zipRight(Effect.sync(() => {
              if (!isMissing) {
                process.exitCode = 1
              }
            }))
          ))
      )
).pipe(
  Effect.provide([NodeContext.layer, NodeHttpClient.layerUndici]),
  NodeRuntime.runMain
)
