/** Mock servers with one option of their profile changed, generated from the variants of each option. */
import * as Effect from "effect/Effect"
import { Profile } from "../../../mock-server/src/index.ts"
import type { Mutant } from "./model.ts"

const unchanged: Mutant["wrap"] = Effect.succeed((request, serve) => serve(request))

export const mutants: ReadonlyArray<Mutant> = Profile.points.flatMap(({ claim, name, variants: [, ...others] }) =>
  others.map(({ description, value }) => ({
    id: `${claim}/${name}=${value}`,
    claim,
    description: `has the profile option ${name}=${value}: ${description}`,
    wrap: unchanged,
    profile: { [name]: value }
  }))
)
