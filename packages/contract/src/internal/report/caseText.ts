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

/** How many probes a text names. */
const maxNamed = 8

/** The probes that decided the verdict, or the title of the case. */
export const titleOf = ({ probes = [], title }: Result): string => {
  const more = probes.length > maxNamed ? `, and ${probes.length - maxNamed} more` : ""
  return probes.length === 0 ? title : `${probes.slice(0, maxNamed).join("; ")}${more}`
}

/** Why a result is not a pass. */
export const of = ({ claims }: Contract.Contract) => (result: Result): string => {
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
  of(contract)(result),
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
