/** A report for programs. */
import * as Schema from "effect/Schema"
import type * as Contract from "../../Contract.ts"
import { ClaimCoverage, type Report, Result, type RunInfo, Verdict } from "../results.ts"
import * as Summary from "./summary.ts"

/** The file keeps the field names of its version: `tried`, `extent` and `standsOn`. */
export const ReportFile = Schema.Struct({
  version: Schema.Literal(2),
  kind: Schema.Literal("mock", "sandbox"),
  conforms: Schema.Boolean,
  verdict: Schema.String,
  requests: Schema.NonNegativeInt,
  run: Summary.ShownRunInfo,
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

export const make = (report: Report, contract: Contract.Contract, runInfo: RunInfo = {}): string =>
  encode({
    ...report,
    version: 2,
    conforms: report.alarms.length === 0,
    verdict: Summary.verdict(report, runInfo),
    run: Summary.shownRunInfo(report, contract, runInfo),
    counts: {
      cases: Summary.countCases(report),
      claims: Summary.countClaims(report, contract)
    }
  })
