/**
 * The AML check of a person (API document, section 4.2).
 *
 * It fails closed: a credential is returned only for a 200 or 201 that is a whole AML credential
 * about the person that was sent, of these days. Everything else is a typed failure, and none of them says
 * anything about the person.
 *
 * @since 0.1.0
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import type * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { dual } from "effect/Function"
import * as Layer from "effect/Layer"
import type { AmlCredential, MatchFound } from "./AmlCredential.ts"
import type { AmlError } from "./AmlError.ts"
import * as CheckPolicy from "./CheckPolicy.ts"
import type { Evidence } from "./Evidence.ts"
import * as Check from "./internal/check.ts"
import * as Checked from "./internal/checked.ts"
import * as CheckOptions from "./internal/checkOptions.ts"
import { loadOptions } from "./internal/loadOptions.ts"
import * as TestCheck from "./internal/testCheck.ts"
import type * as Person from "./Person.ts"
import type { TokenError } from "./TokenError.ts"
import type * as TokenProvider from "./TokenProvider.ts"

/**
 * - `check`: screens one person, once. Results are never cached: what was clear yesterday may be
 *   listed today. With a 401 the token is renewed and the request sent once more.
 * - `checkWithEvidence`: the same, with what an auditor asks for.
 *
 * @category models
 * @since 0.1.0
 */
export interface Service {
  readonly check: (person: Person.Person) => Effect.Effect<AmlCredential, AmlError | TokenError>
  readonly checkWithEvidence: (
    person: Person.Person
  ) => Effect.Effect<Evidence, AmlError | TokenError>
}

/**
 * @category tags
 * @since 0.1.0
 */
export class AmlClient extends Context.Tag("@effect-idv/core/AmlClient")<AmlClient, Service>() {}

/**
 * - `baseUrl`: the address of the API, without `/api/aml`. `https:`, or `http:` to a loopback
 *   address.
 * - `allowInsecure`: allows `http:` to other hosts too. Names and tokens then travel in the clear.
 * - `propagateTrace`: sends `traceparent` and `b3` headers to the service. It is somebody else's, so
 *   by default they are not sent.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends CheckPolicy.Options {
  readonly baseUrl: string
  readonly allowInsecure?: boolean | undefined
  readonly propagateTrace?: boolean | undefined
}

/**
 * `ConfigError` names each option that cannot be used.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(options: Options) {
  const { policy, url } = yield* CheckOptions.check(options)
  const run = yield* Check.make({ url, propagateTrace: options.propagateTrace === true })
  const check = (person: Person.Person) =>
    Effect.withFiberRuntime<Checked.Checked, AmlError | TokenError>((fiber) => {
      const overrides = Context.get(fiber.currentContext, Overrides)
      return run(person, overrides === none ? policy : overridden(options, overrides))
    })

  return AmlClient.of({
    check: (person) => Effect.map(check(person), ({ credential }) => credential),
    checkWithEvidence: (person) => Effect.map(check(person), Checked.toEvidence)
  })
})

const none: CheckPolicy.Options = {}

/** What {@link withPolicy} has set for this fiber. */
class Overrides extends Context.Reference<Overrides>()("@effect-idv/core/AmlClient/Overrides", {
  defaultValue: () => none
}) {}

const merge = (options: CheckPolicy.Options, others: CheckPolicy.Options): CheckPolicy.Options => ({
  deadline: others.deadline ?? options.deadline,
  retry: others.retry ?? options.retry,
  nameEcho: others.nameEcho ?? options.nameEcho,
  searchedOnTolerance: others.searchedOnTolerance ?? options.searchedOnTolerance
})

const overridden = (options: CheckPolicy.Options, overrides: CheckPolicy.Options) =>
  Either.getOrThrowWith(
    CheckPolicy.make(merge(options, overrides)),
    (error) => new TypeError(`withPolicy: ${error}`)
  )

/**
 * Other options of the policy, for the checks in this effect. What is
 * not given stays. An option that makes no sense is a defect that names it.
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
  (options: CheckPolicy.Options): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(self: Effect.Effect<A, E, R>, options: CheckPolicy.Options): Effect.Effect<A, E, R>
} = dual(
  2,
  <A, E, R>(self: Effect.Effect<A, E, R>, options: CheckPolicy.Options): Effect.Effect<A, E, R> =>
    Effect.flatMap(Overrides, (overrides) => Effect.provideService(self, Overrides, merge(overrides, options)))
)

/**
 * Needs an `HttpClient` and the `TokenProvider`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  options: Options
): Layer.Layer<AmlClient, ConfigError, HttpClient.HttpClient | TokenProvider.TokenProvider> =>
  Layer.effect(AmlClient, make(options))

/**
 * {@link layer} with options from `Config`. `ConfigError` names every option that cannot be loaded or
 * used, and never shows a value.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  config: Config.Config.Wrap<Options>
): Layer.Layer<AmlClient, ConfigError, HttpClient.HttpClient | TokenProvider.TokenProvider> =>
  Layer.effect(AmlClient, Effect.flatMap(loadOptions(config, CheckOptions.check), make))

/**
 * What {@link layerTest} answers: one of the two answers of the service, or a failure.
 *
 * @category models
 * @since 0.1.0
 */
export type Canned = MatchFound | AmlError | TokenError

/**
 * A client for unit tests, without an `HttpClient`: the same canned answer for everybody, or one for
 * each person. There is no answer that it gives unasked.
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
export const layerTest = (canned: Canned | ((person: Person.Person) => Canned)): Layer.Layer<AmlClient> => {
  const check = Effect.fnUntraced(function*(person: Person.Person) {
    const answer = typeof canned === "function" ? canned(person) : canned
    return typeof answer === "string" ? yield* TestCheck.make(person, answer) : yield* answer
  })
  return Layer.succeed(AmlClient, {
    check: (person) => Effect.map(check(person), ({ credential }) => credential),
    checkWithEvidence: (person) => Effect.map(check(person), Checked.toEvidence)
  })
}
