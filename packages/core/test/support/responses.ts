/** Valid responses about arbitrary people, and a runner for properties that are effects. */
import type * as Person from "@effect-idv/core/Person"
import { Effect, FastCheck, Redacted, Runtime } from "effect"
import { setImmediate } from "node:timers/promises"
import { runs } from "./cases.ts"

export const matches = ["No", "Potential match"] as const

export interface Wire {
  readonly credential_type: string
  readonly credential_name: string
  readonly issued_by: string
  readonly issuer_id: string
  readonly cred_version: string
  readonly credentials: {
    readonly attributes: {
      readonly name: string
      readonly birth_year: string
      readonly searched_on: string
      readonly match_found: string
      readonly aml_profile: string
    }
  }
}

/** How a response may repeat the name in the request. */
const echoes: ReadonlyArray<(name: string) => string> = [
  (name) => name,
  (name) => name.normalize("NFD"),
  (name) => name.toUpperCase(),
  (name) => `  ${name.replaceAll(" ", "\u00a0\t")} `
]

const digits = (number: number, length: number): string => String(number).padStart(length, "0")

const searchedOn = FastCheck.tuple(
  FastCheck.integer({ min: 1, max: 9999 }),
  FastCheck.integer({ min: 1, max: 12 }),
  FastCheck.integer({ min: 1, max: 28 }),
  FastCheck.integer({ min: 0, max: 86_399 })
).map(([year, month, day, second]) =>
  `${digits(year, 4)}-${digits(month, 2)}-${digits(day, 2)} ` +
  [Math.floor(second / 3600), Math.floor(second / 60) % 60, second % 60].map((part) => digits(part, 2)).join(":")
)

/** Every documented credential about this person. */
export const wireAbout = (person: Person.Person): FastCheck.Arbitrary<Wire> =>
  FastCheck.record({
    credential_type: FastCheck.constant("aml"),
    credential_name: FastCheck.oneof(FastCheck.constant("AML"), FastCheck.fullUnicodeString()),
    issued_by: FastCheck.oneof(FastCheck.constant("Issuer"), FastCheck.fullUnicodeString()),
    issuer_id: FastCheck.uuid(),
    cred_version: FastCheck.nat(99).map((minor) => `1.${minor}`),
    credentials: FastCheck.record({
      attributes: FastCheck.record({
        name: FastCheck.constantFrom(...echoes).map((echo) => echo(Redacted.value(person.name))),
        birth_year: FastCheck.constant(digits(person.dateOfBirth.year, 4)),
        searched_on: searchedOn,
        match_found: FastCheck.constantFrom(...matches),
        aml_profile: FastCheck.webUrl({ withFragments: true, withQueryParameters: true })
      })
    })
  })

/** Stack traces and spans take longer than the rest of a check, and those of thousands of checks are not used. */
const withoutTraces = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const { stackTraceLimit } = Error
      Error.stackTraceLimit = 0
      return stackTraceLimit
    }),
    () => Effect.withTracerEnabled(effect, false),
    (stackTraceLimit) => Effect.sync(() => Error.stackTraceLimit = stackTraceLimit)
  )

/**
 * Runs the property for every case. A failure or a defect of the effect is a counterexample. Between two cases the event
 * loop runs, because the test runner treats a blocked worker as lost.
 */
export const forAll = <A, E, R>(
  arbitrary: FastCheck.Arbitrary<A>,
  numRuns: number,
  property: (a: A) => Effect.Effect<void, E, R>
): Effect.Effect<void, never, R> =>
  Effect.flatMap(Effect.runtime<R>(), (runtime) =>
    Effect.promise(() =>
      FastCheck.assert(
        FastCheck.asyncProperty(
          arbitrary,
          (a) => Runtime.runPromise(runtime)(Effect.zipRight(Effect.promise(() => setImmediate()), property(a)))
        ),
        { numRuns: runs(numRuns) }
      )
    )).pipe(withoutTraces)
