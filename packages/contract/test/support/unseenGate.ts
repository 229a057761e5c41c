/**
 * Runs the suite against the servers in `test/unseen`, which their author wrote from the service document without seeing
 * the suite. Prints how many mutants of each area the suite finds, never which ones, and the findings about the
 * correct servers. With arguments such as `1 3`, it runs the second of three parts of the mutants.
 */
import { NodeContext, NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Array as Arr, Console, Effect } from "effect"
import * as Conformance from "../../src/Conformance.ts"
import * as Contract from "../../src/Contract.ts"
import { mutants } from "../unseen/mutants.ts"
import type { Style } from "../unseen/service.ts"
import * as UnseenServer from "./unseenServer.ts"

/** The findings of one verdict, as case and observation. */
const findings = (report: Conformance.Report, verdict: Conformance.Verdict): ReadonlyArray<string> =>
  report.results.filter((result) => result.verdict === verdict).map(({ id, observed }) => `${id}: ${observed}`)

const verify = (evidence: Contract.Evidence, style: Style, fault?: string) =>
  Effect.gen(function*() {
    return yield* Conformance.verify(yield* UnseenServer.serving(style, fault), evidence)
  }).pipe(Effect.scoped)

const verdicts = ["violated", "lenient", "drift"] as const

const [part = 0, parts = 1] = process.argv.slice(2).map(Number)

const percent = (found: number, all: number): string => `${found} of ${all} (${Math.round(100 * found / all)} %)`

Effect.gen(function*() {
  const evidence = yield* Contract.load()
  const correct = yield* Effect.forEach(UnseenServer.styles, (style) => verify(evidence, style))
  for (const [i, report] of correct.entries()) {
    const counts = verdicts.map((verdict) => `${findings(report, verdict).length} ${verdict}`)
    yield* Console.log(`correct, ${UnseenServer.styles[i]}: ${counts.join(", ")}; ${report.requests} requests`)
    if (i === 0) { for (const verdict of verdicts) yield* Console.log(`  ${findings(report, verdict).join("\n  ")}`) }
    else yield* Console.log(`  ${findings(report, "violated").join("\n  ")}`)
  }
  const usual = correct[0]
  const rows = yield* Effect.forEach(
    mutants.filter((_, i) => i % parts === part),
    ({ area, id }) =>
      Effect.map(verify(evidence, "strict", id), (report) => ({
        area,
        // The first verdict whose findings the correct server does not show.
        found: verdicts.findIndex((verdict) =>
          Arr.difference(findings(report, verdict), usual === undefined ? [] : findings(usual, verdict)).length > 0
        )
      })),
    { concurrency: 6 }
  )
  const line = (area: string, own: typeof rows) => {
    const upTo = (last: number) => own.filter(({ found }) => found >= 0 && found <= last).length
    return `${area.padEnd(42)} violated ${upTo(0)}, with lenient ${percent(upTo(1), own.length)}, with drift ${
      percent(upTo(2), own.length)
    }`
  }
  for (const [area, own] of Object.entries(Arr.groupBy(rows, ({ area }) => area))) {
    yield* Console.log(line(area, own))
  }
  yield* Console.log(line("all", rows))
}).pipe(
  Effect.provide([NodeContext.layer, NodeHttpClient.layerUndici]),
  NodeRuntime.runMain({ disableErrorReporting: false })
)
