/** What a case came to, in words. */
import type { Report, Result } from "../../Conformance.ts"
import type * as Contract from "../../Contract.ts"

const either = (words: ReadonlyArray<string | number>): string => words.join(" or ")

/** What it drifted from: an accepted word would read like a pass. */
const usualOf = ({ mock, observed }: Pick<Contract.Claim, "mock" | "observed">): string | undefined =>
  observed !== undefined
    ? `seen before: ${either(observed)}`
    : mock === undefined
    ? undefined
    : `the contract's default is ${mock.default}`

/** Why it is no pass. */
export const of = ({ claims }: Contract.Evidence) =>
(
  { claim, expects, observed, reason, verdict }: Result
): string => {
  if (reason !== undefined) return reason
  const found = claims.find(({ id }) => id === claim)
  const usual = verdict === "drift" && found !== undefined ? usualOf(found) : undefined
  return `${usual ?? `expected ${expects}`}, observed ${observed}`
}

/** What alarms and is of no single case. */
export interface Lack {
  readonly claim: string
  readonly text: string
}

export const lacks = ({ alarms, results, unexecuted }: Report): ReadonlyArray<Lack> =>
  alarms.flatMap((alarm) => {
    if (unexecuted.includes(alarm)) return [{ claim: alarm, text: "it is documented, and no case of it ran" }]
    return results.some(({ id }) => id === alarm) ? [] : [{ claim: "the contract", text: alarm }]
  })
