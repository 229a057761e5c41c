/** How the mock server is told to play what was seen. */
import type { Report } from "../../Conformance.ts"
import type * as Contract from "../../Contract.ts"
import * as Stopped from "../run/stopped.ts"

/** One flag for each option of its profile of which another variant than the default was seen. */
export const flags = (report: Report, { claims }: Contract.Evidence): ReadonlyArray<string> => {
  const told = Stopped.told(report)
  return claims.flatMap(({ id, mock }) => {
    if (mock?.option === undefined) return []
    const variants = (mock.variants ?? []).map(String)
    const variant = told.find(({ claim, observed }) =>
      claim === id && observed !== undefined && variants.includes(observed)
    )
    return variant === undefined ? [] : [`--profile ${mock.option}=${variant.observed}`]
  })
}
