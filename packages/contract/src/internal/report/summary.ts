/** A report in numbers. */
import type { Extent, Report, Result, Verdict } from "../../Conformance.ts"
import type * as Contract from "../../Contract.ts"
import * as Stopped from "../run/stopped.ts"

/**
 * Claims of one level: how many there are, how many of them no request can show, of how many a case
 * ran, of how many of these only some did, and what came of them.
 */
export interface Claims {
  readonly all: number
  readonly unobserved: number
  readonly executed: number
  readonly partly: number
  readonly passed: number
  readonly drifted: number
  readonly failed: number
}

/** The verdict on a claim is the worst of its cases; without one that ran, it has none. */
const worst: ReadonlyArray<Verdict> = ["fail", "drift", "pass"]

const verdictOn = (claim: string, results: ReadonlyArray<Result>): Verdict | undefined =>
  worst.find((verdict) => results.some((result) => result.claim === claim && result.verdict === verdict))

export const ofCases = ({ results }: Report): Readonly<Record<Verdict, number>> => {
  const count = (verdict: Verdict) => results.filter((result) => result.verdict === verdict).length
  return { pass: count("pass"), drift: count("drift"), fail: count("fail"), skipped: count("skipped") }
}

export const ofClaims = (
  { results, tried }: Report,
  { claims }: Contract.Evidence
): (level: Contract.Level) => Claims =>
(level) => {
  const all = claims.filter((claim) => claim.level === level)
  const verdicts = all.map(({ id }) => verdictOn(id, results))
  const count = (verdict: Verdict) => verdicts.filter((other) => other === verdict).length
  return {
    all: all.length,
    unobserved: all.filter(({ unobserved }) => unobserved !== undefined).length,
    executed: verdicts.filter((verdict) => verdict !== undefined).length,
    partly: tried.filter((claim) => claim.level === level && claim.extent === "part").length,
    passed: count("pass"),
    drifted: count("drift"),
    failed: count("fail")
  }
}

export const many = (number: number, one: string): string => `${number} ${one}${number === 1 ? "" : "s"}`

/** Documented claims that were tried so far. */
const triedTo = ({ tried }: Report, extent: Extent): ReadonlyArray<string> =>
  tried.filter((claim) => claim.level === "documented" && claim.extent === extent).map(({ claim }) => claim)

/** What the document shows, and the run does not. */
const gapsOf = (report: Report): string =>
  [
    ["tried in part", triedTo(report, "part")] as const,
    ["not tried", triedTo(report, "none")] as const
  ].flatMap(([words, claims]) => claims.length === 0 ? [] : [`${words}: ${claims.join(", ")}`]).join("; ")

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

/** In one line, whether the target conforms. */
export const verdict = (report: Report, place: Stopped.Place = {}): string => {
  const { alarms, results, unexecuted } = report
  const stopped = Stopped.of(report, place)
  if (stopped?.at === "token") return `Nothing can be verified: ${stopped.why}`
  if (stopped?.at === "aml") return `The AML check cannot be verified: ${stopped.why}`
  const { drift, fail, pass, skipped } = ofCases(report)
  const cases = `${pass} of ${
    many(results.length, "case")
  } passed, ${drift} drifted, ${fail} failed, ${skipped} skipped`
  if (pass + drift + fail === 0) return `Nothing was tried: ${cases}`
  const gaps = gapsOf(report)
  if (alarms.length === 0 && gaps === "") return `It conforms: ${cases}`
  const told = gaps === "" ? cases : `${cases}. ${capital(gaps)}`
  // What was not tried is no fault that was seen.
  return alarms.every((alarm) => unexecuted.includes(alarm))
    ? `Nothing contradicts the contract: ${told}`
    : `It does not conform, ${many(alarms.length, "alarm")}: ${cases}`
}
