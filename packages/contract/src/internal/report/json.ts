/** A report for programs. */
import * as Schema from "effect/Schema"
import * as Contract from "../../Contract.ts"
import { type Report, type RunInfo, ShownRunInfo, shownRunInfo, verdicts } from "../results.ts"
import * as Summary from "./summary.ts"

const count = Schema.NonNegativeInt

const Verdict = Schema.Literal(...verdicts)

const Result = Schema.Struct({
  id: Schema.String,
  claim: Schema.String,
  section: Schema.String,
  level: Contract.Level,
  title: Schema.String,
  expects: Schema.String,
  verdict: Verdict,
  observed: Schema.optionalWith(Schema.String, { exact: true }),
  probes: Schema.optionalWith(Schema.Array(Schema.String), { exact: true }),
  partial: Schema.optionalWith(Schema.String, { exact: true }),
  cause: Schema.optionalWith(Schema.String, { exact: true }),
  curl: Schema.optionalWith(Schema.String, { exact: true }),
  isChanged: Schema.optionalWith(Schema.Literal(true), { exact: true }),
  reason: Schema.optionalWith(Schema.String, { exact: true }),
  dependsOn: Schema.optionalWith(Schema.String, { exact: true }).pipe(Schema.fromKey("standsOn")),
  millis: Schema.Number
})

const ClaimCoverage = Schema.Struct({
  claim: Schema.String,
  level: Contract.Level,
  coverage: Schema.propertySignature(Schema.Literal("whole", "part", "none")).pipe(Schema.fromKey("extent")),
  reasons: Schema.Array(Schema.String)
})

/** The file keeps the field names of its version: `tried`, `extent` and `standsOn`. */
export const ReportFile = Schema.Struct({
  version: Schema.Literal(2),
  kind: Schema.Literal("mock", "sandbox"),
  conforms: Schema.Boolean,
  verdict: Schema.String,
  requests: count,
  run: ShownRunInfo,
  counts: Schema.Struct({
    cases: Summary.CaseCounts,
    claims: Summary.ClaimCounts
  }),
  results: Schema.Array(Result),
  coverage: Schema.propertySignature(Schema.Array(ClaimCoverage)).pipe(Schema.fromKey("tried")),
  unexecuted: Schema.Array(Schema.String),
  failOn: Schema.Array(Verdict),
  alarms: Schema.Array(Schema.String)
}).annotations({ identifier: "ReportFile" })

const encode = Schema.encodeSync(Schema.parseJson(ReportFile, { space: 2 }))

export const make = (report: Report, contract: Contract.Contract, runInfo: RunInfo = {}): string => {
  const { alarms, coverage, failOn, kind, requests, results, unexecuted } = report
  return encode({
    version: 2,
    kind,
    conforms: alarms.length === 0,
    verdict: Summary.verdict(report, runInfo),
    requests,
    run: shownRunInfo(report, contract, runInfo),
    counts: {
      cases: Summary.countCases(report),
      claims: Summary.countClaims(report, contract)
    },
    results,
    coverage,
    unexecuted,
    failOn,
    alarms
  })
}
