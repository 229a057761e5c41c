/** A report in numbers and in words: the circumstances of the run, its results, and what was not tested. */
import * as Arr from "effect/Array"
import * as DateTime from "effect/DateTime"
import * as Schema from "effect/Schema"
import * as Contract from "../../Contract.ts"
import * as Preflight from "../preflight.ts"
import { type Report, type Result, type RunInfo, Verdict } from "../results.ts"
import { defaultBudget, isFailure } from "../run/limits.ts"
import { shownAddress } from "../target.ts"

const count = Schema.NonNegativeInt

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

/** The circumstances that a report shows. The customer is not among them. */
export const ShownRunInfo = Schema.Struct({
  authUrl: optional(Schema.String),
  baseUrl: optional(Schema.String),
  startedAt: optional(Schema.String),
  version: optional(Schema.String),
  claimsSha256: optional(Schema.String),
  contractVersion: optional(count),
  /** The SHA-256 digest of the service document. */
  documentSha256: optional(Schema.String),
  requests: count,
  /** Only for a sandbox. */
  budget: optional(count),
  checks: optional(count)
})

export type ShownRunInfo = typeof ShownRunInfo.Type

/** The circumstances of a run, as a report shows them. */
export const shownRunInfo = (
  { kind, requests }: Report,
  { document, version: contractVersion }: Contract.Contract,
  { authUrl, baseUrl, budget = defaultBudget, checks, claimsSha256, startedAt, version }: RunInfo
): ShownRunInfo => ({
  ...(authUrl !== undefined && { authUrl: shownAddress(authUrl) }),
  ...(baseUrl !== undefined && { baseUrl: shownAddress(baseUrl) }),
  ...(startedAt !== undefined && { startedAt: DateTime.formatIso(startedAt) }),
  ...(version !== undefined && { version }),
  ...(claimsSha256 !== undefined && { claimsSha256 }),
  ...(contractVersion !== undefined && { contractVersion }),
  ...(document !== undefined && { documentSha256: document.sha256 }),
  requests,
  ...(kind === "sandbox" && { budget }),
  ...(checks !== undefined && { checks })
})

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

/** What a drift differs from. The accepted words do not say it, because the observed one may be among them. */
const usualText = ({ mock, observed }: Pick<Contract.Claim, "mock" | "observed">): string | undefined =>
  observed !== undefined
    ? `observed before: ${observed.join(" or ")}`
    : mock === undefined
    ? undefined
    : `the contract's default is ${mock.default}`

/** How many probes a text names. */
const maxProbes = 8

/** The probes that decided the verdict, or the title of the case. */
export const titleOf = ({ probes = [], title }: Result): string => {
  const more = probes.length > maxProbes ? `, and ${probes.length - maxProbes} more` : ""
  return probes.length === 0 ? title : `${probes.slice(0, maxProbes).join("; ")}${more}`
}

/** Why a result is not a pass. */
export const textOf = ({ claims }: Contract.Contract) => (result: Result): string => {
  const { cause, claim, expects, isChanged, observed, reason, verdict } = result
  if (reason !== undefined) return reason
  const found = claims.find(({ id }) => id === claim)
  const usual = verdict === "drift" && found !== undefined ? usualText(found) : undefined
  const change = isChanged === true ? "the service has changed: " : ""
  const isShown = cause === undefined || cause === `HTTP ${observed}`
  return `${change}${usual ?? `expected ${expects}`}, observed ${observed}${isShown ? "" : ` (${cause})`}`
}

/** The sentence of the service document that a result contradicts, or why there is none. */
export const sentenceOf = ({ claims }: Contract.Contract, { claim, level, section }: Result): string => {
  const { sentence, source } = claims.find(({ id }) => id === claim) ?? {}
  return level === "documented" && sentence !== undefined
    ? `The service document, section ${section}: "${sentence}"`
    : `Assumption ${claim}: ${source ?? "the contract lacks it"}`
}

/** What was sent, the sentence, what was expected and observed, and how to see it. */
export const linesOf = (contract: Contract.Contract, result: Result): ReadonlyArray<string> => [
  titleOf(result),
  sentenceOf(contract, result),
  textOf(contract)(result),
  ...(result.curl === undefined ? [] : [result.curl])
]

/** An alarm that belongs to no single case. */
export interface MissingCase {
  /** The id of the claim, or "the contract". */
  readonly claim: string
  readonly text: string
}

export const missingCases = ({ alarms, results, unexecuted }: Report): ReadonlyArray<MissingCase> =>
  alarms.flatMap((alarm) => {
    if (unexecuted.includes(alarm)) {
      return [{ claim: alarm, text: "the claim is documented, but none of its cases ran" }]
    }
    return results.some(({ id }) => id === alarm) ? [] : [{ claim: "the contract", text: alarm }]
  })

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

/** How many documented claims the run tested, if it did not test all of them completely. */
const gapsOf = (report: Report): string =>
  report.coverage.some(({ coverage, level }) => level === "documented" && coverage !== "whole")
    ? documentedClaims(report)
    : ""

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
