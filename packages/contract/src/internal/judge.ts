/** Judges observations by a contract. It is a pure function, so any contract can judge the same observations. */
import * as Arr from "effect/Array"
import type * as Contract from "../Contract.ts"
import { isNoResponse } from "./exchange.ts"
import type { Case, ClaimCoverage, Coverage, Kind, Observation, Report, Result, Verdict } from "./model.ts"

type Accepted = NonNullable<Contract.Claim["accept"]>[number]

const accepts = (observed: string) => (accepted: Accepted): boolean =>
  typeof accepted === "object" ? new RegExp(accepted.pattern, "u").test(observed) : String(accepted) === observed

const acceptedBy = ({ accept }: Contract.Claim): ReadonlyArray<Accepted> => accept ?? []

const expectationOf = (claim: Contract.Claim): string =>
  acceptedBy(claim).map((accepted) => typeof accepted === "object" ? accepted.pattern : String(accepted)).join(" or ")

/** What was observed of a service before, or else the default of the mock server. */
const usualWords = ({ mock, observed }: Contract.Claim): ReadonlyArray<string> =>
  (observed ?? (mock === undefined ? [] : [mock.default])).map(String)

const refusedByClient = ({ refuses }: Contract.Claim): ReadonlyArray<string> => (refuses ?? []).map(String)

/** Whether no client can work with the observation. */
const isUnusable = (claim: Contract.Claim, observed: string): boolean =>
  isNoResponse(observed) || refusedByClient(claim).includes(observed)

/**
 * For a documented claim, every accepted word passes. An assumption may turn out differently: a service only
 * fails if the client cannot work with the observation.
 */
const verdictOf = (claim: Contract.Claim, observed: string, kind: Kind): Verdict => {
  const isAssumption = claim.level !== "documented"
  const isUsual = usualWords(claim).includes(observed)
  if (acceptedBy(claim).some(accepts(observed))) return isAssumption && !isUsual ? "drift" : "pass"
  if (!isAssumption || kind === "mock" || isUnusable(claim, observed)) return "fail"
  return isUsual ? "pass" : "drift"
}

const resultOf = (
  claim: Contract.Claim,
  { id, title }: Case,
  { dependsOn, millis, observed, skipped }: Observation,
  kind: Kind
): Result => ({
  id,
  claim: claim.id,
  section: claim.section,
  level: claim.level,
  title,
  expects: expectationOf(claim),
  millis,
  ...(observed !== undefined && { observed }),
  ...(dependsOn !== undefined && { dependsOn }),
  ...(observed === undefined || skipped !== undefined
    ? { verdict: "skipped", reason: skipped ?? "nothing was observed" }
    : { verdict: verdictOf(claim, observed, kind) })
})

const noClaim = "the contract has no such claim"

/** Whether a contract has the claim of a case. */
export const hasClaimOf = ({ claims }: Contract.Evidence) => {
  const ids = new Set(claims.map(({ id }) => id))
  return ({ claim }: Case): boolean => ids.has(claim)
}

/** The observation of a case whose claim the contract lacks. */
export const withoutClaim = ({ id }: Case): Observation => ({ case: id, skipped: noClaim, requests: 0, millis: 0 })

const resultWithoutClaim = ({ claim, id, title }: Case): Result => ({
  id,
  claim,
  section: "0",
  level: "unknown",
  title,
  expects: "nothing",
  verdict: "skipped",
  reason: noClaim,
  millis: 0
})

/** A mock server must show every default. A service may drift, and need not show what it cannot. */
const alarmingVerdicts: Readonly<Record<Kind, ReadonlyArray<Verdict>>> = {
  mock: ["fail", "drift", "skipped"],
  sandbox: ["fail"]
}

/** A case that another one omits raises no alarm of its own, nor does one whose claim the contract lacks. */
export const isAlarm = (kind: Kind, { dependsOn, reason, verdict }: Result): boolean =>
  dependsOn === undefined && reason !== noClaim && alarmingVerdicts[kind].includes(verdict)

/** The alarm of a run in which no case ran, and the reason why a claim without cases was not tested. */
const noCaseRan = "no case ran"

const coverageOf = (results: ReadonlyArray<Result>): Coverage => {
  const ran = results.filter(({ verdict }) => verdict !== "skipped").length
  return ran === 0 ? "none" : ran < results.length ? "part" : "whole"
}

const claimCoverageOf = ({ id, level }: Contract.Claim, results: ReadonlyArray<Result>): ClaimCoverage => {
  const own = results.filter(({ claim }) => claim === id)
  return {
    claim: id,
    level,
    coverage: coverageOf(own),
    reasons: own.length === 0 ? [noCaseRan] : Arr.dedupe(own.flatMap(({ reason }) => reason ?? []))
  }
}

export const judge = (
  { claims }: Contract.Evidence,
  cases: ReadonlyArray<Case>,
  observations: ReadonlyArray<Observation>,
  kind: Kind
): Report => {
  const claimById = new Map(claims.map((claim) => [claim.id, claim]))
  const results = cases.flatMap((testCase) => {
    const claim = claimById.get(testCase.claim)
    return observations.filter((observation) => observation.case === testCase.id).map((observation) =>
      claim === undefined ? resultWithoutClaim(testCase) : resultOf(claim, testCase, observation, kind)
    )
  })
  const coverage = claims.filter(({ unobserved }) => unobserved === undefined)
    .map((claim) => claimCoverageOf(claim, results))
  const unexecuted = coverage.filter(({ coverage, level }) => level === "documented" && coverage === "none")
    .map(({ claim }) => claim)
  const isOmitted = (id: string) => results.some(({ claim, dependsOn }) => claim === id && dependsOn !== undefined)
  const alarms = Arr.dedupe([
    ...results.filter((result) => isAlarm(kind, result)).map(({ id }) => id),
    ...unexecuted.filter((id) => !isOmitted(id))
  ])
  const isEmptyRun = alarms.length === 0 && results.every(({ verdict }) => verdict === "skipped")
  return {
    kind,
    results,
    requests: observations.reduce((sum, { requests }) => sum + requests, 0),
    coverage,
    unexecuted,
    alarms: isEmptyRun ? [noCaseRan] : alarms
  }
}
