/**
 * Runs the suite against the servers in `test/unseen`, or another folder of the same form, whose author wrote them from
 * the service document without seeing the suite. It prints how many mutants of each area the suite finds, never which
 * ones, and the findings about the correct servers.
 */
import { Array as Arr, Console, Effect } from "effect"
import * as Conformance from "../../src/Conformance.ts"
import * as Contract from "../../src/Contract.ts"
import * as UnseenServer from "./unseenServer.ts"

const verdicts = ["violated", "lenient", "drift"] as const

type Findings = Readonly<Record<typeof verdicts[number], ReadonlyArray<string>>>

/** The findings of each verdict, as case and observation. */
const findingsOf = ({ results }: Conformance.Report): Findings => {
  const of = (verdict: Conformance.Verdict) =>
    results.filter((result) => result.verdict === verdict).map(({ id, observed }) => `${id}: ${observed}`)
  return { violated: of("violated"), lenient: of("lenient"), drift: of("drift") }
}

/** A mutant that ran. */
interface Row {
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

export interface Options {
  /** @default "unseen" */
  readonly folder?: string | undefined
  /**
   * Only each n-th mutant, from this one, for a run in several processes.
   *
   * @default all
   */
  readonly part?: readonly [first: number, step: number] | undefined
}

export const run = ({ folder, part: [first, step] = [0, 1] }: Options) =>
  Effect.gen(function*() {
    const evidence = yield* Contract.load()
    const set = yield* UnseenServer.load(folder)
    const judge = (observations: ReadonlyArray<Conformance.Observation>, cases = Conformance.cases) =>
      Conformance.judge(evidence, observations, { kind: "sandbox", cases })

    // Another part has run the other styles.
    const correct = yield* Effect.forEach(first === 0 ? set.styles : set.styles.slice(0, 1), (style) =>
      Effect.scoped(Effect.gen(function*() {
        const report = yield* Conformance.verify(yield* UnseenServer.serving(set, style), evidence)
        const found = findingsOf(report)
        const counts = verdicts.map((verdict) =>
          `${found[verdict].length} ${verdict}`
        ).join(", ")
        yield* Console.log(`correct, ${style}: ${counts}; ${report.requests} requests`)
        for (const finding of [...found.violated, ...found.lenient]) yield* Console.log(`  ${finding}`)
        return found
      })))
    const usual = correct[0] ?? { violated: [], lenient: [], drift: [] }
    const news = (report: Conformance.Report) => {
      const found = findingsOf(report)
      return verdicts.findIndex((verdict) => Arr.difference(found[verdict], usual[verdict]).length > 0)
    }

    const isFound = (verdict: number): boolean => verdict === 0 || verdict === 1

    /** Stops at the first violated or lenient case. Only a drift may be followed by another verdict. */
    const foundIn = (fault: string) =>
      Effect.scoped(Effect.gen(function*() {
        const running = yield* Conformance.start(yield* UnseenServer.serving(set, "strict", fault))
        const observations: Array<Conformance.Observation> = []
        for (const testCase of Conformance.cases) {
          const observation = yield* running.observe(testCase)
          observations.push(observation)
          if (!isFound(news(judge([observation], [testCase])))) continue
          const confirmed = news(judge(yield* running.confirm([observation]), [testCase]))
          if (isFound(confirmed)) return confirmed
        }
        return news(judge(yield* running.confirm(observations)))
      }))

    const rows: Array<Row> = []
    yield* Effect.forEach(
      set.mutants.filter((_, i) => i % step === first),
      ({ area, id }) =>
        Effect.gen(function*() {
          rows.push({ area, found: yield* foundIn(id) })
          // A run takes minutes, and may be interrupted.
          if (rows.length % 20 === 0) yield* Console.error(lineOf("so far", rows))
        }),
      { concurrency: 4, discard: true }
    )
    for (const [area, own] of Object.entries(Arr.groupBy(rows, ({ area }) => area))) {
      yield* Console.log(lineOf(area, own))
    }
    yield* Console.log(lineOf("all", rows))
  })
