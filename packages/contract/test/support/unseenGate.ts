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

/** How many mutants ran, and how many of them had a finding up to each verdict. */
interface Row {
  readonly area: string
  /** The index of the worst verdict, or -1. */
  readonly found: number
}

const percent = (found: number, all: number): string => `${found} of ${all} (${Math.floor(100 * found / all)} %)`

const lineOf = (area: string, rows: ReadonlyArray<Row>): string => {
  const upTo = (last: number) => rows.filter(({ found }) => found >= 0 && found <= last).length
  return `${area.padEnd(42)} violated ${upTo(0)}, with lenient ${percent(upTo(1), rows.length)}, with drift ${
    percent(upTo(2), rows.length)
  }`
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

    const correct = yield* Effect.forEach(set.styles, (style) =>
      Effect.scoped(Effect.gen(function*() {
        const report = yield* Conformance.verify(yield* UnseenServer.serving(set, style), evidence)
        const found = findingsOf(report)
        const counts = verdicts.map((verdict) => `${found[verdict].length} ${verdict}`).join(", ")
        yield* Console.log(`correct, ${style}: ${counts}; ${report.requests} requests`)
        for (const finding of [...found.violated, ...found.lenient]) yield* Console.log(`  ${finding}`)
        return found
      })))
    const usual = correct[0] ?? { violated: [], lenient: [], drift: [] }
    const news = (report: Conformance.Report) => {
      const found = findingsOf(report)
      return verdicts.findIndex((verdict) => Arr.difference(found[verdict], usual[verdict]).length > 0)
    }

    /** Stops at the first violation, because no later case can change the verdict. */
    const foundIn = (fault: string) =>
      Effect.scoped(Effect.gen(function*() {
        const running = yield* Conformance.start(yield* UnseenServer.serving(set, "strict", fault))
        const observations: Array<Conformance.Observation> = []
        for (const testCase of Conformance.cases) {
          const observation = yield* running.observe(testCase)
          observations.push(observation)
          const isViolated = news(judge([observation], [testCase])) === 0
          if (isViolated && news(judge(yield* running.confirm([observation]), [testCase])) === 0) return 0
        }
        return news(judge(yield* running.confirm(observations)))
      }))

    const rows = yield* Effect.forEach(
      set.mutants.filter((_, i) => i % step === first),
      ({ area, id }) => Effect.map(foundIn(id), (found): Row => ({ area, found })),
      { concurrency: 4 }
    )
    for (const [area, own] of Object.entries(Arr.groupBy(rows, ({ area }) => area))) {
      yield* Console.log(lineOf(area, own))
    }
    yield* Console.log(lineOf("all", rows))
  })
