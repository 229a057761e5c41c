/** The client of the engine for tests, which sends nothing. */
import * as AmlClient3 from "@effect-idv/core/AmlClient"
import * as Effect from "effect/Effect"
import type { Result } from "../../AmlCheck.ts"
import * as Client from "./client.ts"
import * as Layers from "./layers.ts"

/** Returns a check with the result. */
export const make = Effect.map(
  Effect.forEach(
    ["No", "Doubtful No", "Potential match"] as const,
    (result) =>
      Effect.map(
        Effect.orDie(Layers.build(AmlClient3.layerTest(result))),
        (engine) => [result, Client.check(engine)] as const
      )
  ),
  (clients) => {
    const checks = new Map(clients)
    return (person: object, result: Result) => checks.get(result)?.(person) ?? Effect.die(new TypeError("not a result"))
  }
)
