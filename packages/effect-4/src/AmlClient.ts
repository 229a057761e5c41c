/**
 * Performs the AML check of a person (service document, section 4.2).
 *
 * The client fails closed: it returns a credential only from a 200 or 201 whose body is a complete AML credential about
 * the person in the request, with a recent `searched_on`. Every other response is a typed error, which says nothing
 * about the person.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Layer from "effect/Layer"
import type { AmlCheck, Result } from "./AmlCheck.ts"
import type { AmlError, Sent } from "./AmlError.ts"
import * as TestClient from "./internal/engine/testClient.ts"
import type * as Options from "./internal/options.ts"
import * as Policy from "./internal/policy.ts"
import type * as Person from "./Person.ts"
import type { TokenError } from "./TokenError.ts"

/**
 * The methods of the client.
 *
 * @category models
 * @since 0.1.0
 */
export interface Service {
  /**
   * Checks one person, and returns the result with the evidence for an audit. Results are never cached, because a
   * person may be listed at any time. After a 401 the client renews the token and sends the request once more.
   */
  readonly check: (person: Person.Person) => Effect.Effect<AmlCheck, AmlError | TokenError>
}

/**
 * The client for the AML check, which `Idv.layer` provides.
 *
 * @category tags
 * @since 0.1.0
 */
export class AmlClient extends Context.Service<AmlClient, Service>()("@effect-idv/effect-4/AmlClient") {}

export type { PolicyOptions, Retry } from "./internal/options.ts"

const override = <A, E, R>(self: Effect.Effect<A, E, R>, change: (current: Policy.Overrides) => Policy.Overrides) =>
  Effect.withFiber<A, E, R>((fiber) =>
    Effect.provideService(self, Policy.Current, change(fiber.getRef(Policy.Current)))
  )

/**
 * Sets options of the policy for the checks in this effect. Omitted options are inherited. An invalid option is a
 * defect of the check, which names it.
 *
 * @example
 * import { AmlClient, Person } from "@effect-idv/effect-4"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const aml = yield* AmlClient.AmlClient
 *   const person = yield* Person.make({ name: "Ada Testclear", dateOfBirth: "1990-02-01" })
 *   return yield* aml.check(person).pipe(AmlClient.withPolicy({ deadline: "3 seconds", retry: "never" }))
 * })
 *
 * @category combinators
 * @since 0.1.0
 */
export const withPolicy: {
  (options: Options.PolicyOptions): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(self: Effect.Effect<A, E, R>, options: Options.PolicyOptions): Effect.Effect<A, E, R>
} = dual(
  2,
  <A, E, R>(self: Effect.Effect<A, E, R>, options: Options.PolicyOptions): Effect.Effect<A, E, R> =>
    override(self, (current) => ({
      ...current,
      policy: {
        deadline: options.deadline ?? current.policy?.deadline,
        retry: options.retry ?? current.policy?.retry,
        nameEcho: options.nameEcho ?? current.policy?.nameEcho,
        searchedOnTolerance: options.searchedOnTolerance ?? current.policy?.searchedOnTolerance
      }
    }))
)

/**
 * Runs an effect before each request of the checks in this effect, after the client has the token. A request that repeats
 * one after a 401 counts too. The request leaves when the effect ends, so the effect may wait, for a rate that counts
 * requests instead of checks. The wait is part of the deadline. An inner call replaces the effect of an outer one.
 *
 * @category combinators
 * @since 0.1.0
 */
export const beforeEachRequest: {
  (effect: Effect.Effect<void>): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(self: Effect.Effect<A, E, R>, effect: Effect.Effect<void>): Effect.Effect<A, E, R>
} = dual(
  2,
  <A, E, R>(self: Effect.Effect<A, E, R>, effect: Effect.Effect<void>): Effect.Effect<A, E, R> =>
    override(self, (current) => ({ ...current, beforeEachRequest: effect }))
)

/**
 * Runs an effect when a check in this effect is interrupted, for example by an `Effect.timeout` around it, with whether the
 * service may have performed and billed the check. The interruption waits for the effect. If `deadline` can replace the
 * timeout, set it instead: it fails with `AmlTimeout`, which has `sent`. An inner call replaces the effect of an outer one.
 *
 * @example
 * import { AmlClient, Person } from "@effect-idv/effect-4"
 * import { Effect } from "effect"
 *
 * const inTime = (person: Person.Person) =>
 *   Effect.flatMap(AmlClient.AmlClient, (aml) => aml.check(person)).pipe(
 *     AmlClient.onInterruptedCheck((sent) => Effect.logWarning("The check was interrupted", { sent })),
 *     Effect.timeout("3 seconds")
 *   )
 *
 * @category combinators
 * @since 0.1.0
 */
export const onInterruptedCheck: {
  (f: (sent: Sent) => Effect.Effect<void>): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(self: Effect.Effect<A, E, R>, f: (sent: Sent) => Effect.Effect<void>): Effect.Effect<A, E, R>
} = dual(
  2,
  <A, E, R>(self: Effect.Effect<A, E, R>, f: (sent: Sent) => Effect.Effect<void>): Effect.Effect<A, E, R> =>
    override(self, (current) => ({ ...current, onInterruptedCheck: f }))
)

/**
 * What the client of {@link layerTest} returns for a person: a result, or an error. "No" about a person with a sign of
 * damage becomes "Doubtful No".
 *
 * @category models
 * @since 0.1.0
 */
export type Canned = Result | AmlError | TokenError

/**
 * Provides a client for unit tests, without connections. It returns the same result for every person, or the result of a
 * function of the person. It has no default result.
 *
 * @example
 * import { AmlClient } from "@effect-idv/effect-4"
 * import { Redacted } from "effect"
 *
 * AmlClient.layerTest(({ name }) => Redacted.value(name) === "Zoë Testpep" ? "Potential match" : "No")
 *
 * @category layers
 * @since 0.1.0
 */
export const layerTest = (result: Canned | ((person: Person.Person) => Canned)): Layer.Layer<AmlClient> =>
  Layer.effect(
    AmlClient,
    Effect.map(TestClient.make, (checkWith) => ({
      check: (person: Person.Person) =>
        Effect.suspend(() => {
          const resultOrError = typeof result === "function" ? result(person) : result
          return typeof resultOrError === "string" ? checkWith(person, resultOrError) : Effect.fail(resultOrError)
        })
    }))
  )
