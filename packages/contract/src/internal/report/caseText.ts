/** Results and missing cases in words. */
import type * as Contract from "../../Contract.ts"
import type { Report, Result } from "../results.ts"

/** What a drift differs from. The accepted words do not say it, because the observed one may be among them. */
const usualText = ({ mock, observed }: Pick<Contract.Claim, "mock" | "observed">): string | undefined =>
  observed !== undefined
    ? `observed before: ${observed.join(" or ")}`
    : mock === undefined
    ? undefined
    : `the contract's default is ${mock.default}`

/** Why a result is not a pass. */
export const of = ({ claims }: Contract.Evidence) =>
(
  { cause, claim, expects, isChanged, observed, reason, verdict }: Result
): string => {
  if (reason !== undefined) return reason
  const found = claims.find(({ id }) => id === claim)
  const usual = verdict === "drift" && found !== undefined ? usualText(found) : undefined
  const change = isChanged === true ? "the service has changed: " : ""
  return `${change}${usual ?? `expected ${expects}`}, observed ${observed}${cause === undefined ? "" : ` (${cause})`}`
}

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
