/** The results of a worker's checks: whether they belong to the run, what they show, and what the ledger stores. */
import type * as AmlCheck from "@effect-idv/core/AmlCheck"
import type * as Person from "@effect-idv/core/Person"
import * as Effect from "effect/Effect"
import type * as People from "../../People.ts"
import type * as Run from "../../Run.ts"
import type * as Ledger from "../ledger/service.ts"
import * as Outcome from "./outcome.ts"
import type * as RunState from "./runState.ts"

/** How many undocumented changes a worker notes. A service that makes up names would fill the ledger. */
const mostNoted = 20

export const make = ({ ledger, people, run, state }: {
  readonly ledger: Ledger.Service
  readonly people: People.Service
  readonly run: Run.Run
  readonly state: RunState.RunState
}) => {
  const noted = new Set<string>()

  /** Pauses the run if the check has another environment. */
  const isOfEnvironment = ({ origin }: AmlCheck.AmlCheck) =>
    (origin.environment ?? "") === run.environment ? Effect.succeed(true) : Effect.as(
      state.stopAll("The evidence of a check has another environment than the run. Set IDV_ENVIRONMENT as for plan."),
      false
    )

  const outcomeOf = (row: Ledger.Claim, person: Person.Person, check: AmlCheck.AmlCheck) =>
    Effect.gen(function*() {
      if (!(yield* isOfEnvironment(check))) return { state: "not_screened" as const, error: "EnvironmentDiffers" }
      for (const change of Outcome.undocumented(check)) {
        if (noted.has(change) || noted.size === mostNoted) continue
        noted.add(change)
        yield* Effect.ignore(ledger.noteUndocumented(run.id, change))
      }
      const outcome = Outcome.ofCheck(check, person, ledger.salt, state.policy())
      const { evidence } = state.policy()
      if (evidence === "none" || (evidence === "matches" && outcome.state === "no_match")) return outcome
      const text = yield* Effect.orDie(Outcome.evidenceText(check))
      return { ...outcome, evidence: yield* people.encrypt(run.id, row.id, text) }
    })

  return { isOfEnvironment, outcomeOf }
}
