/** Judges observations by a contract. It is a pure function, so any contract can judge the same observations. */
import * as Arr from "effect/Array"
import type * as Contract from "../Contract.ts"
import type { Case, Observation } from "./model.ts"
import type { ClaimCoverage, Coverage, Report, Result, Verdict } from "./results.ts"
import { inapplicable, isChosen, isFailure } from "./run/limits.ts"
import type { Kind } from "./target.ts"

type Accepted = NonNullable<Contract.Claim["accept"]>[number]

const accepts = (observed: string) => (accepted: Accepted): boolean =>
  typeof accepted === "object" ? new RegExp(accepted.pattern, "u").test(observed) : String(accepted) === observed

const acceptedBy = ({ accept }: Contract.Claim): ReadonlyArray<Accepted> => accept ?? []

const acceptedText = (claim: Contract.Claim): string =>
  acceptedBy(claim).map((accepted) => typeof accepted === "object" ? accepted.pattern : String(accepted)).join(" or ")

/** The expected words: those that a service showed before, or else the default of the mock server. */
const expectedWords = ({ mock, observed }: Contract.Claim): ReadonlyArray<string> =>
  (observed ?? (mock === undefined ? [] : [mock.default])).map(String)

/** The verdict on an observation that is not in `accept`. */
const otherwise = ({ level, otherwise }: Contract.Claim): Verdict =>
  otherwise ?? (level === "documented" ? "violated" : "drift")

const isUnspecified = ({ level }: Contract.Claim): boolean => level !== "documented"

/**
 * For a documented claim, every accepted word passes. For any other claim, only the expected words pass. A word that a
 * service showed before is expected, and passes even if it is not in `accept`.
 */
const verdictOf = (claim: Contract.Claim, observed: string): Verdict => {
  const isExpected = expectedWords(claim).includes(observed)
  if (acceptedBy(claim).some(accepts(observed))) return isUnspecified(claim) && !isExpected ? "drift" : "pass"
  return isUnspecified(claim) && claim.observed !== undefined && isExpected ? "pass" : otherwise(claim)
}

/** Whether a service has changed since the file of claims was made of its observations. */
const isChanged = (claim: Contract.Claim, verdict: Verdict, observed: string): boolean =>
  claim.observed !== undefined && (verdict === "drift" || verdict === "lenient") &&
  !expectedWords(claim).includes(observed)

const resultOf = (
  claim: Contract.Claim,
  { id, title }: Case,
  { cause, curl, dependsOn, millis, observed, partial, probes, skipped }: Observation
): Result => {
  const result = {
    id,
    claim: claim.id,
    section: claim.section,
    level: claim.level,
    title,
    expects: acceptedText(claim),
    millis,
    ...(observed !== undefined && { observed }),
    ...(partial !== undefined && { partial }),
    ...(dependsOn !== undefined && { dependsOn })
  }
  if (observed === undefined || skipped !== undefined) {
    return { ...result, verdict: "not tested", reason: skipped ?? "nothing was observed" }
  }
  const verdict = verdictOf(claim, observed)
  return {
    ...result,
    verdict,
    ...(verdict !== "pass" && probes !== undefined && { probes }),
    ...(verdict !== "pass" && { ...(cause !== undefined && { cause }), ...(curl !== undefined && { curl }) }),
    ...(isChanged(claim, verdict, observed) && { isChanged: true })
  }
}

const noClaim = "the contract has no such claim"

/** Whether a contract has the claim of a case. */
export const hasClaimOf = ({ claims }: Contract.Contract) => {
  const ids = new Set(claims.map(({ id }) => id))
  return ({ claim }: Case): boolean => ids.has(claim)
}

const resultWithoutClaim = ({ claim, id, title }: Case): Result => ({
  id,
  claim,
  section: "0",
  level: "unknown",
  title,
  expects: "nothing",
  verdict: "not tested",
  reason: noClaim,
  millis: 0
})

/** The verdicts that are alarms by default. A drift of a mock server is an alarm, because it must show its defaults. */
export const defaultFailOn: Readonly<Record<Kind, ReadonlyArray<Verdict>>> = {
  mock: ["violated", "drift"],
  sandbox: ["violated"]
}

const inapplicableReasons: ReadonlyArray<string> = Object.values(inapplicable)

/** Whether a case cannot apply to its target, so that nothing is missed without it. */
const isInapplicable = ({ reason = "" }: Result): boolean => inapplicableReasons.includes(reason)

/**
 * Whether a result is an alarm. For a mock server, a case that was not tested is an alarm too, except if it was skipped
 * because another case failed, or if it cannot apply.
 */
export const isAlarm = (
  { failOn, kind }: Pick<Report, "failOn" | "kind">,
  result: Result
): boolean => {
  const { dependsOn, isChanged, reason, verdict } = result
  if (dependsOn !== undefined || reason === noClaim || isInapplicable(result)) return false
  return failOn.includes(verdict) || isChanged === true || kind === "mock" && verdict === "not tested"
}

/** The alarm of a run in which no case ran, and the reason why a claim without cases was not tested. */
const noCaseRan = "no case ran"

const coverageOf = (results: ReadonlyArray<Result>): Coverage => {
  const ran = results.filter(({ verdict }) => verdict !== "not tested")
  const isWhole = ran.length === results.length && ran.every(({ partial }) => partial === undefined)
  return ran.length === 0 ? "none" : isWhole ? "whole" : "part"
}

const claimCoverageOf = ({ id, level }: Contract.Claim, results: ReadonlyArray<Result>): ClaimCoverage => {
  const own = results.filter((result) => result.claim === id && !isInapplicable(result))
  return {
    claim: id,
    level,
    coverage: coverageOf(own),
    reasons: own.length === 0 ? [noCaseRan] : Arr.dedupe(own.flatMap(({ partial, reason }) => reason ?? partial ?? []))
  }
}

export const judge = (
  { claims }: Contract.Contract,
  cases: ReadonlyArray<Case>,
  observations: ReadonlyArray<Observation>,
  kind: Kind,
  failOn: ReadonlyArray<Verdict> = defaultFailOn[kind]
): Report => {
  const claimById = new Map(claims.map((claim) => [claim.id, claim]))
  const results = cases.flatMap((testCase) => {
    const claim = claimById.get(testCase.claim)
    return claim === undefined
      ? [resultWithoutClaim(testCase)]
      : observations.filter((observation) => observation.case === testCase.id)
        .map((observation) => resultOf(claim, testCase, observation))
  })
  const coverage = claims.filter(({ unobserved }) => unobserved === undefined)
    .map((claim) => claimCoverageOf(claim, results))
  const canApply = (id: string) => !results.some((result) => result.claim === id && isInapplicable(result))
  const unexecuted = coverage
    .filter(({ claim, coverage, level }) => level === "documented" && coverage === "none" && canApply(claim))
    .map(({ claim }) => claim)
  /** Whether another alarm, or a choice of the user, is the reason why no case of the claim ran. */
  const isExplained = (id: string) => {
    const own = results.filter(({ claim }) => claim === id)
    const reasons = own.flatMap(({ reason }) => reason ?? [])
    // The user chose the budget and the test persons. Nobody chose a service that no longer responds.
    return own.some(({ dependsOn }) => dependsOn !== undefined) || reasons.some(isChosen) && !reasons.some(isFailure)
  }
  const alarms = Arr.dedupe([
    ...results.filter((result) => isAlarm({ kind, failOn }, result)).map(({ id }) => id),
    ...unexecuted.filter((id) => !isExplained(id))
  ])
  const isEmptyRun = alarms.length === 0 && results.every(({ verdict }) => verdict === "not tested")
  return {
    kind,
    results,
    requests: observations.reduce((sum, { requests }) => sum + requests, 0),
    coverage,
    unexecuted,
    failOn,
    alarms: isEmptyRun ? [noCaseRan] : alarms
  }
}
