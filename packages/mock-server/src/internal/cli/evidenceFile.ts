/** The claims that the command line means: those of a file, or those of this package. */
import * as Effect from "effect/Effect"
import * as Contract from "../../Contract.ts"
import * as Given from "./given.ts"
import { Refusal } from "./refusal.ts"

export const read = (given: Given.Given) =>
  Effect.mapError(
    Contract.load(Given.value(given, "evidence")),
    ({ message }) => new Refusal({ text: `--evidence: ${message}` })
  )
