/** The client of the engine behind the services of this package. */
import * as AmlClient3 from "@effect-idv/core/AmlClient"
import * as TokenProvider3 from "@effect-idv/core/TokenProvider"
import * as Context3 from "effect-3/Context"
import * as Option3 from "effect-3/Option"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { AmlError } from "../../AmlError.ts"
import type { TokenError } from "../../TokenError.ts"
import * as Policy from "../policy.ts"
import * as Checks from "./checks.ts"
import * as Effects from "./effects.ts"
import * as Failures from "./failures.ts"
import * as Metrics from "./metrics.ts"
import * as Options from "./options.ts"
import * as People from "./people.ts"
import * as Values from "./values.ts"

/** The check of a client of the engine, with what the combinators of `AmlClient` set for it. */
export const check =
  (engine: Context3.Context<AmlClient3.AmlClient>) =>
  (person: object): Effect.Effect<ReturnType<typeof Checks.toCheck>, AmlError | TokenError> =>
    Effect.withFiber(({ context }) => {
      const { beforeEachRequest, onInterruptedCheck, policy } = Context.get(context, Policy.Current)
      let check = Context3.get(engine, AmlClient3.AmlClient).check(People.fromPerson(person))
      if (beforeEachRequest !== undefined) {
        check = AmlClient3.beforeEachRequest(
          check,
          Effects.embed(beforeEachRequest, context, Values.unchanged<void, never>())
        )
      }
      if (onInterruptedCheck !== undefined) {
        check = AmlClient3.onInterruptedCheck(
          check,
          (sent) => Effects.embed(onInterruptedCheck(sent), context, Values.unchanged<void, never>())
        )
      }
      if (policy !== undefined) check = AmlClient3.withPolicy(check, Options.fromPolicy(policy))
      return Effect.onExit(
        Effects.run(check, { onSuccess: Checks.toCheck, onFailure: (error) => Failures.toFailure(error) }),
        (exit) => Effect.sync(() => Metrics.publish(context, Exit.isSuccess(exit) ? exit.value.result : undefined))
      )
    })

export const readiness = (engine: Context3.Context<TokenProvider3.TokenProvider>) =>
  Effects.run(Context3.get(engine, TokenProvider3.TokenProvider).readiness, {
    onSuccess: ({ failure, isReady }) => ({
      isReady,
      failure: Values.option(Option3.map(failure, (error) => Failures.toFailure(error)))
    }),
    onFailure: Values.same
  })
