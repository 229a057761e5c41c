/** A report in numbers, and in one line. */
import * as Arr from "effect/Array"
import * as Schema from "effect/Schema"
import * as Contract from "../../Contract.ts"
import * as Preflight from "../preflight.ts"
import { type Coverage, type Report, type Result, type RunInfo, Verdict } from "../results.ts"
import { isFailure } from "../run/skipped.ts"

const count = Schema.NonNegativeInt

export const CaseCounts = Schema.Record({ key: Verdict, value: count })

/** The numbers of claims of each level, by their result. */
export const ClaimCounts = Schema.Record({
  key: Contract.Level,
  value: Schema.Struct({
    all: count,
    /** Claims that no request can show. */
    unobserved: count,
    /** Claims of which at least one case ran. */
    executed: count,
    /** Executed claims of which not every case ran. */
    partly: count,
    passed: count,
    lenient: count,
    drifted: count,
    violated: count
  })
})

/** The verdict on a claim is the worst of its cases. */
const worstFirst: ReadonlyArray<Verdict> = ["violated", "drift", "lenient", "pass"]

const claimVerdict = (claim: string, results: ReadonlyArray<Result>): Verdict | undefined =>
  worstFirst.find((verdict) => results.some((result) => result.claim === claim && result.verdict === verdict))

/** How many cases have each verdict. */
export const countCases = ({ results }: Report) => {
  const counts = { "pass": 0, "lenient": 0, "drift": 0, "violated": 0, "not tested": 0 }
  for (const { verdict } of results) counts[verdict]++
  return counts
}

/** Counts the claims of each level, by their result. */
export const countClaims = ({ coverage, results }: Report, { claims }: Contract.Contract) => {
  const ofLevel = (level: Contract.Level) => {
    const all = claims.filter((claim) => claim.level === level)
    const verdicts = all.map(({ id }) => claimVerdict(id, results))
    const count = (verdict: Verdict) => verdicts.filter((other) => other === verdict).length
    return {
      all: all.length,
      unobserved: all.filter(({ unobserved }) => unobserved !== undefined).length,
      executed: verdicts.filter((verdict) => verdict !== undefined).length,
      partly: coverage.filter((claim) => claim.level === level && claim.coverage === "part").length,
      passed: count("pass"),
      lenient: count("lenient"),
      drifted: count("drift"),
      violated: count("violated")
    }
  }
  return {
    documented: ofLevel("documented"),
    observed: ofLevel("observed"),
    assumed: ofLevel("assumed"),
    unknown: ofLevel("unknown")
  }
}

/** A number with its noun, such as "2 requests". */
export const quantity = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`

/** The cases that were not tested, wholly or in part, by reason, the most frequent first. */
export const notTested = (
  { results }: Pick<Report, "results">
): ReadonlyArray<readonly [reason: string, ids: ReadonlyArray<string>]> => {
  const rows = results.flatMap(({ id, partial, reason = partial }) => reason === undefined ? [] : [{ id, reason }])
  const groups = Object.entries(Arr.groupBy(rows, ({ reason }) => reason))
  return groups.map(([reason, group]) => [reason, group.map(({ id }) => id)] as const)
    .toSorted(([, left], [, right]) => right.length - left.length)
}

/** What a run lacks, by the end of the reason. */
const needs: ReadonlyArray<readonly [flag: string, need: string]> = [
  ["(--person)", "a listed test person (--person)"],
  ["(--wait-for-expiry)", "a clock (--wait-for-expiry)"],
  ["(--wrong-keys)", "more wrong credentials or bad tokens (--wrong-keys)"],
  ["(--budget)", "a larger budget (--budget)"]
]

/** How many untested claims a line names. */
const maxNamed = 5

/** How many documented claims were tested, which were not, and what the others need. */
export const documentedClaims = ({ coverage }: Pick<Report, "coverage">): string => {
  const documented = coverage.filter(({ level }) => level === "documented")
  const untested = documented.filter((claim) => claim.coverage === "none").map(({ claim }) => claim)
  const open = documented.filter((claim) => claim.coverage !== "whole")
  const whole = documented.length - open.length
  return [
    `${documented.length - untested.length} of ${documented.length} documented claims tested${
      open.length === 0 ? "" : `, ${whole} of them completely`
    }`,
    ...needs.flatMap(([flag, need]) => {
      const count = open.filter(({ reasons }) => reasons.some((reason) => reason.endsWith(flag))).length
      return count === 0 ? [] : [`${count} need${count === 1 ? "s" : ""} ${need}`]
    }),
    ...(untested.length === 0 || untested.length > maxNamed ? [] : [`not tested: ${untested.join(", ")}`])
  ].join("; ")
}

const documentedWith = (report: Report, coverage: Coverage): ReadonlyArray<string> =>
  report.coverage.filter((claim) => claim.level === "documented" && claim.coverage === coverage)
    .map(({ claim }) => claim)

/** How many documented claims the run tested, if it did not test all of them completely. */
const gapsOf = (report: Report): string =>
  documentedWith(report, "part").length + documentedWith(report, "none").length === 0 ? "" : documentedClaims(report)

/** Why the service no longer responded as before, or an empty string. */
export const earlyEnd = ({ results }: Report): string => {
  const reason = results.find(({ reason = "" }) => isFailure(reason))?.reason
  return reason === undefined
    ? ""
    : `the run ended early (${reason.replace("the refusal is not confirmed: ", "")})`
}

/** Why no case ran, if all of them have the same reason. */
const whyNone = ({ results }: Report): string => {
  const [reason, ...others] = Arr.dedupe(results.flatMap(({ reason }) => reason ?? []))
  return reason === undefined || others.length > 0 ? "" : ` (${reason})`
}

/** Whether the target conforms, in one line. */
export const verdict = (report: Report, runInfo: RunInfo = {}): string => {
  const { alarms, results, unexecuted } = report
  const explanation = Preflight.explanationOf(report, runInfo)
  if (explanation?.endpoint === "token") return `Nothing can be verified: ${explanation.text}`
  if (explanation?.endpoint === "aml") return `The AML check cannot be verified: ${explanation.text}`
  const { drift, lenient, "not tested": notTested, pass, violated } = countCases(report)
  const cases = `${pass} of ${
    quantity(results.length, "case")
  } passed, ${violated} violated, ${lenient} lenient, ${drift} drifted, ${notTested} not tested`
  if (notTested === results.length) return `No case ran${whyNone(report)}: ${cases}`
  const gaps = gapsOf(report)
  const early = earlyEnd(report)
  if (alarms.length === 0 && gaps === "") return `It conforms: ${cases}`
  // An alarm about a claim that was not tested is not evidence against the target.
  return alarms.every((alarm) => unexecuted.includes(alarm))
    ? `Nothing contradicts the contract${early === "" ? "" : `, but ${early}`}: ${
      gaps === "" ? cases : `${cases}. ${gaps}`
    }`
    : `It does not conform, ${quantity(alarms.length, "alarm")}${early === "" ? "" : `, and ${early}`}: ${cases}`
}
