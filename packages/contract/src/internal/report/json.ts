/** A report for programs. */
import * as Schema from "effect/Schema"
import type { Report } from "../../Conformance.ts"
import * as Contract from "../../Contract.ts"
import * as Circumstances from "./runInfo.ts"
import * as Counts from "./summary.ts"

const count = Schema.NonNegativeInt

const Cases = Schema.Struct({ pass: count, drift: count, fail: count, skipped: count })

const Claims = Schema.Struct({
  all: count,
  unobserved: count,
  executed: count,
  partly: count,
  passed: count,
  drifted: count,
  failed: count
})

const Result = Schema.Struct({
  id: Schema.String,
  claim: Schema.String,
  section: Schema.String,
  level: Contract.Level,
  title: Schema.String,
  expects: Schema.String,
  verdict: Schema.Literal("pass", "drift", "fail", "skipped"),
  observed: Schema.optionalWith(Schema.String, { exact: true }),
  reason: Schema.optionalWith(Schema.String, { exact: true }),
  standsOn: Schema.optionalWith(Schema.String, { exact: true }),
  millis: Schema.Number
})

const text = Schema.optionalWith(Schema.String, { exact: true })

const number = Schema.optionalWith(count, { exact: true })

const Run = Schema.Struct({
  authUrl: text,
  baseUrl: text,
  startedAt: text,
  version: text,
  evidenceSha256: text,
  requests: count,
  budget: number,
  checks: number
})

const Tried = Schema.Struct({
  claim: Schema.String,
  level: Contract.Level,
  extent: Schema.Literal("whole", "part", "none"),
  reasons: Schema.Array(Schema.String)
})

export const ReportFile = Schema.Struct({
  version: Schema.Literal(1),
  kind: Schema.Literal("mock", "sandbox"),
  conforms: Schema.Boolean,
  verdict: Schema.String,
  requests: count,
  run: Run,
  counts: Schema.Struct({
    cases: Cases,
    claims: Schema.Struct({ documented: Claims, observed: Claims, assumed: Claims, unknown: Claims })
  }),
  results: Schema.Array(Result),
  tried: Schema.Array(Tried),
  unexecuted: Schema.Array(Schema.String),
  alarms: Schema.Array(Schema.String)
}).annotations({ identifier: "ReportFile" })

const encode = Schema.encodeSync(Schema.parseJson(ReportFile, { space: 2 }))

export const make = (report: Report, evidence: Contract.Evidence, place: Circumstances.Circumstances = {}): string => {
  const { alarms, kind, requests, results, tried, unexecuted } = report
  const claims = Counts.ofClaims(report, evidence)
  return encode({
    version: 1,
    kind,
    conforms: alarms.length === 0,
    verdict: Counts.verdict(report, place),
    requests,
    run: Circumstances.facts(report, place),
    counts: {
      cases: Counts.ofCases(report),
      claims: {
        documented: claims("documented"),
        observed: claims("observed"),
        assumed: claims("assumed"),
        unknown: claims("unknown")
      }
    },
    results,
    tried,
    unexecuted,
    alarms
  })
}
