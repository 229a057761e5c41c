/** Every case, in the order in which they run. */
import type { Case } from "../model.ts"
import * as AuthorizationCases from "./authorizationCases.ts"
import * as CheckCases from "./checkCases.ts"
import * as LifetimeCases from "./lifetimeCases.ts"
import * as SequenceCases from "./sequenceCases.ts"
import * as TokenCases from "./tokenCases.ts"

export const cases: ReadonlyArray<Case> = [
  ...TokenCases.cases,
  ...CheckCases.cases,
  ...AuthorizationCases.cases,
  ...SequenceCases.cases,
  ...LifetimeCases.cases,
  ...SequenceCases.finalCases
]
