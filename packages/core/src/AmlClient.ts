/**
 * Performs the AML check of a person (service document, section 4.2).
 *
 * The client fails closed: it returns a credential only from a 200 or 201 whose body is a complete AML credential about
 * the person in the request, with a recent `searched_on`. Every other response is a typed error, which says nothing
 * about the person.
 *
 * @since 0.1.0
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import type * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Layer from "effect/Layer"
import type { AmlCheck, Result } from "./AmlCheck.ts"
import type { AmlError, Sent } from "./AmlError.ts"
import * as Bearer from "./internal/check/bearer.ts"
import * as Check from "./internal/check/check.ts"
import * as CheckOptions from "./internal/check/checkOptions.ts"
import * as TestCheck from "./internal/check/testCheck.ts"
import * as OptionSchemas from "./internal/schema/options.ts"
import type * as Person from "./Person.ts"
import type { TokenError } from "./TokenError.ts"
import type * as TokenProvider from "./TokenProvider.ts"

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
 * The client for the AML check.
 *
 * @category tags
 * @since 0.1.0
 */
export class AmlClient extends Context.Tag("@effect-idv/core/AmlClient")<AmlClient, Service>() {}

export type { NameEcho, Options, PolicyOptions, Retry } from "./internal/check/checkOptions.ts"

/**
 * Makes a client. `ConfigError` names every invalid option.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(options: CheckOptions.Options) {
  return AmlClient.of({ check: yield* Check.make(yield* CheckOptions.check(options)) })
})

/**
 * Sets options of the policy for the checks in this effect. Omitted options are inherited. An invalid option is a
 * defect that names it.
 *
 * @example
 * import { AmlClient, Person } from "@effect-idv/core"
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
  (options: CheckOptions.PolicyOptions): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(self: Effect.Effect<A, E, R>, options: CheckOptions.PolicyOptions): Effect.Effect<A, E, R>
} = dual(
  2,
  <A, E, R>(self: Effect.Effect<A, E, R>, options: CheckOptions.PolicyOptions): Effect.Effect<A, E, R> =>
    Effect.flatMap(
      CheckOptions.Overrides,
      (overrides) =>
        Effect.provideService(self, CheckOptions.Overrides, { ...overrides, ...CheckOptions.decodeOverrides(options) })
    )
)

/**
 * Runs an effect before each request of the checks in this effect, after the client has the token. A request that repeats
 * one after a 401 counts too. The request leaves when the effect ends, so the effect may wait, for a rate that counts
 * requests instead of checks. The wait is part of the deadline. An interruption in it ends the check before the request is
 * sent. An inner call replaces the effect of an outer one. `layerTest` sends no requests, so it does not run the effect.
 *
 * @example
 * import { AmlClient, Person } from "@effect-idv/core"
 * import { Effect } from "effect"
 *
 * const countingRequests = (person: Person.Person) =>
 *   Effect.gen(function*() {
 *     const aml = yield* AmlClient.AmlClient
 *     let requests = 0
 *     const count = Effect.sync(() => void requests++)
 *     const check = yield* Effect.either(AmlClient.beforeEachRequest(aml.check(person), count))
 *     return { check, requests }
 *   })
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
    Effect.provideService(self, Bearer.BeforeRequest, effect)
)

/**
 * Runs an effect when a check in this effect is interrupted, for example by an `Effect.timeout` around it, with whether the
 * service may have performed and billed the check. The interruption waits for the effect. If `deadline` can replace the
 * timeout, set it instead: it fails with `AmlTimeout`, which has `sent`. An inner call replaces the effect of an outer one.
 *
 * @example
 * import { AmlClient, Person } from "@effect-idv/core"
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
    Effect.provideService(self, Check.OnInterrupted, f)
)

/**
 * Provides the client. It requires an `HttpClient` and the `TokenProvider`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  options: CheckOptions.Options
): Layer.Layer<AmlClient, ConfigError, HttpClient.HttpClient | TokenProvider.TokenProvider> =>
  Layer.effect(AmlClient, make(options))

/**
 * {@link layer} with options from `Config`. `ConfigError` names every missing or invalid option, and contains no value.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  config: Config.Config.Wrap<CheckOptions.Options>
): Layer.Layer<AmlClient, ConfigError, HttpClient.HttpClient | TokenProvider.TokenProvider> =>
  Layer.effect(AmlClient, Effect.flatMap(OptionSchemas.load(config, CheckOptions.check), make))

/**
 * What the client of {@link layerTest} returns for a person: a result, or an error. "No" about a person with a sign of
 * damage becomes "Doubtful No".
 *
 * @category models
 * @since 0.1.0
 */
export type Canned = Result | AmlError | TokenError

/**
 * Provides a client for unit tests, without an `HttpClient`. It returns the same result for every person, or the result
 * of a function of the person. It has no default result.
 *
 * @example
 * import { AmlClient } from "@effect-idv/core"
 * import { Redacted } from "effect"
 *
 * AmlClient.layerTest(({ name }) => Redacted.value(name) === "Zoë Testpep" ? "Potential match" : "No")
 *
 * @category layers
 * @since 0.1.0
 */
export const layerTest = (result: Canned | ((person: Person.Person) => Canned)): Layer.Layer<AmlClient> => {
  const check = Effect.fnUntraced(function*(person: Person.Person) {
    const resultOrError = typeof result === "function" ? result(person) : result
    return typeof resultOrError === "string" ? yield* TestCheck.make(person, resultOrError) : yield* resultOrError
  })
  return Layer.succeed(AmlClient, { check })
}
