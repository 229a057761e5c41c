/** What observations mean by a contract: a pure function, so that another contract may judge the same ones. */
import * as Arr from "effect/Array"
import type { Case, Kind, Observation, Report, Result, Verdict } from "../../Conformance.ts"
import type * as Contract from "../../Contract.ts"

type Accepted = NonNullable<Contract.Claim["accept"]>[number]

const accepts = (seen: string) => (accepted: Accepted): boolean =>
  typeof accepted === "object" ? new RegExp(accepted.pattern, "u").test(seen) : String(accepted) === seen

const acceptedBy = ({ accept }: Contract.Claim): ReadonlyArray<Accepted> => accept ?? []

const expectationOf = (claim: Contract.Claim): string =>
  acceptedBy(claim).map((accepted) => typeof accepted === "object" ? accepted.pattern : String(accepted)).join(" or ")

/** What was seen of a service before, or else what the mock server does. */
const usual = ({ mock, observed }: Contract.Claim): ReadonlyArray<string> =>
  (observed ?? (mock === undefined ? [] : [mock.default])).map(String)

/** Of what the document shows, all that it allows is right; a guess may turn out another way. */
const verdictOf = (claim: Contract.Claim, seen: string): Verdict =>
  !acceptedBy(claim).some(accepts(seen))
    ? "fail"
    : claim.level === "documented" || usual(claim).includes(seen)
    ? "pass"
    : "drift"

const resultOf = (claim: Contract.Claim, { id, title }: Case, { millis, seen, skipped }: Observation): Result => ({
  id,
  claim: claim.id,
  section: claim.section,
  level: claim.level,
  title,
  expects: expectationOf(claim),
  millis,
  ...(seen === undefined
    ? { verdict: "skipped", reason: skipped ?? "nothing was seen" }
    : { verdict: verdictOf(claim, seen), observed: seen })
})

/** A mock server is to do what it says; a service may do what is accepted, and lack what cannot be tried there. */
const alarming: Readonly<Record<Kind, ReadonlyArray<Verdict>>> = {
  mock: ["fail", "drift", "skipped"],
  sandbox: ["fail"]
}

export const isAlarm = (kind: Kind, { verdict }: Result): boolean => alarming[kind].includes(verdict)

export const judge = (
  { claims }: Contract.Evidence,
  cases: ReadonlyArray<Case>,
  observations: ReadonlyArray<Observation>,
  kind: Kind
): Report => {
  const results = cases.flatMap((one) =>
    observations.filter((observation) => observation.case === one.id).flatMap((observation) =>
      claims.filter(({ id }) => id === one.claim).map((claim) => resultOf(claim, one, observation))
    )
  )
  const isExecuted = ({ id }: Contract.Claim) =>
    results.some((result) => result.claim === id && result.verdict !== "skipped")
  const unexecuted = claims.filter((claim) => claim.level === "documented" && !isExecuted(claim)).map(({ id }) => id)
  const alarms = Arr.dedupe([
    ...results.filter((result) => isAlarm(kind, result)).map(({ id }) => id),
    ...unexecuted
  ])
  const requests = observations.reduce((sum, { requests }) => sum + requests, 0)
  return { kind, results, requests, unexecuted, alarms }
}
