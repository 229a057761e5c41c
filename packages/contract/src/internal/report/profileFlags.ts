/** The flags that make the mock server behave as a target did. */
import type * as Contract from "../../Contract.ts"
import * as Preflight from "../preflight.ts"
import type { Report } from "../results.ts"

/** One flag for each profile option of which a variant other than the default was observed. */
export const flags = (report: Report, { claims }: Contract.Contract): ReadonlyArray<string> => {
  const results = Preflight.meaningfulResults(report)
  return claims.flatMap(({ id, mock }) => {
    if (mock?.option === undefined) return []
    const variants = (mock.variants ?? []).map(String)
    const result = results.find(({ claim, observed }) =>
      claim === id && observed !== undefined && variants.includes(observed)
    )
    return result === undefined ? [] : [`--profile ${mock.option}=${result.observed}`]
  })
}
