import { correctHooks } from "./hooks.ts"
import { attributeMutants } from "./mutants/attributes.ts"
import { authorizationMutants } from "./mutants/authorization.ts"
import { checkRequestMutants } from "./mutants/check-request.ts"
import { dateMutants } from "./mutants/dates.ts"
import { envelopeMutants } from "./mutants/envelope.ts"
import { screeningMutants } from "./mutants/screening.ts"
import { tokenLifetimeMutants } from "./mutants/token-lifetime.ts"
import { tokenRequestMutants } from "./mutants/token-request.ts"
import { tokenUseMutants } from "./mutants/token-use.ts"
import type { Hooks, Mutant } from "./types.ts"

export type { Mutant } from "./types.ts"

/** All mutants. The id of a mutant is the value of the option `fault` of `serve`. */
export const mutants: ReadonlyArray<Mutant> = [
  ...tokenRequestMutants,
  ...authorizationMutants,
  ...checkRequestMutants,
  ...dateMutants,
  ...tokenLifetimeMutants,
  ...tokenUseMutants,
  ...envelopeMutants,
  ...attributeMutants,
  ...screeningMutants
]

/** Returns the replaced steps of a mutant. Throws if no mutant has this id. */
export const hooksFor = (id: string): Partial<Hooks> => {
  const mutant = mutants.find((candidate) => candidate.id === id)
  if (mutant === undefined) throw new Error(`No mutant has the id "${id}". Use an id of the list in mutants.ts.`)
  return mutant.hooks(correctHooks)
}
