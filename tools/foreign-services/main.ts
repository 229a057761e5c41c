/**
 * Runs the conformance suite against the servers of the sets, and prints the findings about the correct servers, and how
 * many wrong servers of each area it finds: `pnpm foreign-services [set1|set2|set3] [mock|sandbox] [first step]`. It
 * names the missed ones of a regression set only. Without arguments it runs all sets in both modes; `0 4` runs the first
 * of four parts.
 */
import { Conformance, Contract } from "@effect-idv/contract"
import { NodeContext, NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Array as Arr, Console, Effect } from "effect"
import * as Servers from "./servers.ts"

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
}

const percent = (found: number, all: number): string => `${found} of ${all} (${Math.floor(100 * found / all)} %)`

const lineOf = (area: string, rows: ReadonlyArray<Row>): string => {
  const of = (verdict: number) => rows.filter(({ found }) => found === verdict).length
  return `${area.padEnd(42)} found ${percent(of(0) + of(1), rows.length)}: ${of(0)} violated, ${
    of(1)
  } lenient; drift only: ${of(2)}; missed: ${of(-1)}`
}

const isFound = (verdict: number): boolean => verdict === 0 || verdict === 1

const run = (name: Servers.Name, mode: Servers.Mode, [first, step]: readonly [number, number]) =>
  Effect.gen(function*() {
    const contract = yield* Contract.load()
    const { apart, faults, isRegression, styles }: Servers.ServerSet = Servers.sets[name]
    yield* Console.log(`\n${name}, ${mode}${isRegression ? " (regression set)" : ""}`)
    const judge = (observations: ReadonlyArray<Conformance.Observation>, cases = Conformance.cases) =>
      Conformance.judge(contract, observations, { kind: "sandbox", cases })

    // Another part has run the other styles.
    const correct = yield* Effect.forEach(
      first === 0 ? Object.entries({ ...styles, ...apart }) : [["strict", styles.strict] as const],
      ([style, options]) =>
        Effect.scoped(Effect.gen(function*() {
          const report = yield* Conformance.verify(yield* Servers.serving(options, mode), contract)
          const found = findingsOf(report)
          const counts = verdicts.map((verdict) => `${found[verdict].length} ${verdict}`).join(", ")
          yield* Console.log(`correct, ${style}: ${counts}; ${report.requests} requests`)
          for (const finding of [...found.violated, ...found.lenient]) yield* Console.log(`  ${finding}`)
          return found
        }))
    )
    const usual = correct[0] ?? { violated: [], lenient: [], drift: [] }
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
          if (isFound(confirmed)) return confirmed
        }
        return news(judge(yield* running.confirm(observations)))
      })

    const rows: Array<Row> = []
    yield* Effect.forEach(
      faults.filter((_, i) => i % step === first),
      (fault) =>
        Effect.gen(function*() {
          const { area, id } = fault
          const target = yield* Servers.serving(styles.strict, mode, fault)
          // The planner of a sandbox run chooses the cases, so the run is judged as a whole.
          const found = mode === "mock" ? foundByCase(target) : Effect.map(Conformance.verify(target, contract), news)
          rows.push({ id, area, found: yield* found })
          // A run takes minutes, and may be interrupted.
          if (rows.length % 20 === 0) yield* Console.error(lineOf("so far", rows))
        }).pipe(Effect.scoped),
      { concurrency: 4, discard: true }
    )
    for (const [area, own] of Object.entries(Arr.groupBy(rows, ({ area }) => area))) {
      yield* Console.log(lineOf(area, own))
    }
    const judged = correct.slice(0, Object.keys(styles).length)
    const alarms = judged.reduce((sum, { violated }) => sum + violated.length, 0)
    yield* Console.log(`${lineOf(`${name}, ${mode}, all`, rows)}; false alarms: ${alarms}`)
    const missed = rows.filter(({ found }) => !isFound(found)).map(({ id }) => id)
    if (isRegression) yield* Console.log(`not found: ${missed.sort().join(", ")}`)
  })

const words = process.argv.slice(2)
const chosen = <A extends string>(all: ReadonlyArray<A>) => {
  const some = all.filter((name) => words.includes(name))
  return some.length === 0 ? all : some
}
const [first = 0, step = 1] = words.map(Number).filter(Number.isInteger)

Effect.forEach(
  chosen(Servers.names),
  (name) => Effect.forEach(chosen(Servers.modes), (mode) => run(name, mode, [first, step]))
).pipe(
  Effect.provide([NodeContext.layer, NodeHttpClient.layerUndici]),
  NodeRuntime.runMain
)
