/** What observations mean by a contract: a pure function, so that another contract may judge the same ones. */
import * as Arr from "effect/Array"
import type { Case, Extent, Kind, Observation, Report, Result, Tried, Verdict } from "../Conformance.ts"
import type * as Contract from "../Contract.ts"
import * as Stopped from "./run/stopped.ts"

type Accepted = NonNullable<Contract.Claim["accept"]>[number]

const accepts = (seen: string) => (accepted: Accepted): boolean =>
  typeof accepted === "object" ? new RegExp(accepted.pattern, "u").test(seen) : String(accepted) === seen

const acceptedBy = ({ accept }: Contract.Claim): ReadonlyArray<Accepted> => accept ?? []

const expectationOf = (claim: Contract.Claim): string =>
  acceptedBy(claim).map((accepted) => typeof accepted === "object" ? accepted.pattern : String(accepted)).join(" or ")

/** What was seen of a service before, or else what the mock server does. */
const usual = ({ mock, observed }: Contract.Claim): ReadonlyArray<string> =>
  (observed ?? (mock === undefined ? [] : [mock.default])).map(String)

const refusedBy = ({ refuses }: Contract.Claim): ReadonlyArray<string> => (refuses ?? []).map(String)

/** What nobody can live with, whatever a claim is about. */
const isHopeless = (claim: Contract.Claim, seen: string): boolean =>
  Stopped.unanswered.includes(seen) || refusedBy(claim).includes(seen)

/**
 * Of what the document shows, all that it allows is right. A guess may turn out another way: of a
 * service that is no fault, but for what the client cannot live with.
 */
const verdictOf = (claim: Contract.Claim, seen: string, kind: Kind): Verdict => {
  const isGuess = claim.level !== "documented"
  if (acceptedBy(claim).some(accepts(seen))) return isGuess && !usual(claim).includes(seen) ? "drift" : "pass"
  if (!isGuess || kind === "mock" || isHopeless(claim, seen)) return "fail"
  return usual(claim).includes(seen) ? "pass" : "drift"
}

const resultOf = (
  claim: Contract.Claim,
  { id, title }: Case,
  { millis, seen, skipped, standsOn }: Observation,
  kind: Kind
): Result => ({
  id,
  claim: claim.id,
  section: claim.section,
  level: claim.level,
  title,
  expects: expectationOf(claim),
  millis,
  ...(seen !== undefined && { observed: seen }),
  ...(standsOn !== undefined && { standsOn }),
  ...(seen === undefined || skipped !== undefined
    ? { verdict: "skipped", reason: skipped ?? "nothing was seen" }
    : { verdict: verdictOf(claim, seen, kind) })
})

const noClaim = "the contract has no such claim"

/** Whether a contract has the claim of a case. */
export const isOf = ({ claims }: Contract.Evidence) => {
  const ids = new Set(claims.map(({ id }) => id))
  return ({ claim }: Case): boolean => ids.has(claim)
}

export const unclaimed = (one: Case): Observation => ({ case: one.id, skipped: noClaim, requests: 0, millis: 0 })

const unclaimedResult = ({ claim, id, title }: Case): Result => ({
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

/** A mock server is to do what it says; a service may do what is accepted, and lack what cannot be tried there. */
const alarming: Readonly<Record<Kind, ReadonlyArray<Verdict>>> = {
  mock: ["fail", "drift", "skipped"],
  sandbox: ["fail"]
}

/** What is left out because of another case is an alarm there, and what the contract does not have is none. */
export const isAlarm = (kind: Kind, { reason, standsOn, verdict }: Result): boolean =>
  standsOn === undefined && reason !== noClaim && alarming[kind].includes(verdict)

/** Alarms by itself, where nothing else does. */
const nothing = "no case ran"

const extentOf = (results: ReadonlyArray<Result>): Extent => {
  const ran = results.filter(({ verdict }) => verdict !== "skipped").length
  return ran === 0 ? "none" : ran < results.length ? "part" : "whole"
}

const triedOf = ({ id, level }: Contract.Claim, results: ReadonlyArray<Result>): Tried => {
  const own = results.filter(({ claim }) => claim === id)
  return {
    claim: id,
    level,
    extent: extentOf(own),
    reasons: own.length === 0 ? [nothing] : Arr.dedupe(own.flatMap(({ reason }) => reason ?? []))
  }
}

export const judge = (
  { claims }: Contract.Evidence,
  cases: ReadonlyArray<Case>,
  observations: ReadonlyArray<Observation>,
  kind: Kind
): Report => {
  const claimOf = new Map(claims.map((claim) => [claim.id, claim]))
  const results = cases.flatMap((one) => {
    const claim = claimOf.get(one.claim)
    return observations.filter((observation) => observation.case === one.id).map((observation) =>
      claim === undefined ? unclaimedResult(one) : resultOf(claim, one, observation, kind)
    )
  })
  const tried = claims.filter(({ unobserved }) => unobserved === undefined).map((claim) => triedOf(claim, results))
  const unexecuted = tried.filter(({ extent, level }) => level === "documented" && extent === "none")
    .map(({ claim }) => claim)
  const isLeftOut = (id: string) => results.some(({ claim, standsOn }) => claim === id && standsOn !== undefined)
  const alarms = Arr.dedupe([
    ...results.filter((result) => isAlarm(kind, result)).map(({ id }) => id),
    ...unexecuted.filter((id) => !isLeftOut(id))
  ])
  const isNothing = alarms.length === 0 && results.every(({ verdict }) => verdict === "skipped")
  return {
    kind,
    results,
    requests: observations.reduce((sum, { requests }) => sum + requests, 0),
    tried,
    unexecuted,
    alarms: isNothing ? [nothing] : alarms
  }
}
