/**
 * The person to check.
 *
 * @since 0.1.0
 */
import * as Person3 from "@effect-idv/core/Person"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaIssue from "effect/SchemaIssue"
import type { AmlInputRejected } from "./AmlError.ts"
import type * as DateOfBirth from "./DateOfBirth.ts"
import * as Effects from "./internal/engine/effects.ts"
import * as Failures from "./internal/engine/failures.ts"
import * as People from "./internal/engine/people.ts"
import type * as PersonInput from "./internal/personInput.ts"

export { Change, Issue, Warning } from "./internal/personInput.ts"

/**
 * Why a person cannot be sent: a description for each code of an `Issue`.
 *
 * @category models
 * @since 0.1.0
 */
export const issues = Person3.issues

/**
 * Signs of damage and unusual input that is sent nevertheless: a description for each code of a `Warning`.
 *
 * @category models
 * @since 0.1.0
 */
export const warnings = Person3.warnings

/**
 * Changes to the input before it is sent: a description for each code of a `Change`.
 *
 * @category models
 * @since 0.1.0
 */
export const changes = Person3.changes

/**
 * A natural person to check, made by {@link make}. The name and the date are redacted.
 *
 * @category models
 * @since 0.1.0
 */
export interface Person {
  readonly name: Redacted.Redacted<string>
  readonly dateOfBirth: DateOfBirth.DateOfBirth
  /** The changes to the input before it is sent. */
  readonly changes: ReadonlyArray<PersonInput.Change>
  /**
   * Signs that the input was damaged before, such as wrongly decoded characters. A "No" about a damaged name is less
   * reliable.
   */
  readonly warnings: ReadonlyArray<PersonInput.Warning>
}

/**
 * The input of {@link make}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Input {
  readonly name: string
  readonly dateOfBirth: DateOfBirth.Input
}

/**
 * The options of {@link make}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * The phrases that are not a name. A name that consists only of these phrases is rejected.
   *
   * @default the list of the client, such as `unknown` and `n/a`
   */
  readonly placeholders?: ReadonlyArray<string> | undefined
}

/**
 * Makes a person from the input. `AmlInputRejected` contains every issue of both fields.
 *
 * @example
 * import { Person } from "@effect-idv/effect-4"
 *
 * Person.make({ name: "Zoë Testpep", dateOfBirth: "1957-03-14" })
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (input: Input, options?: Options): Effect.Effect<Person, AmlInputRejected> =>
  Effects.run(Person3.make(input, options), { onSuccess: People.toPerson, onFailure: Failures.toFailure })

/**
 * A schema of persons made by {@link make}.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Person: Schema.declare<Person> = Schema.declare(
  (u): u is Person => People.isPerson(u),
  { identifier: "Person", expected: "a person that can be screened" }
)

/**
 * A schema that decodes JSON with {@link make}: `{ name, dateOfBirth }`, with an ISO date. Its errors contain the codes of
 * the fields, but no values. A person cannot be encoded.
 *
 * @category schemas
 * @since 0.1.0
 */
export const FromInput = Schema.Struct({ name: Schema.String, dateOfBirth: Schema.String }).pipe(
  Schema.decodeTo(Person, {
    decode: SchemaGetter.transformEffect((input) =>
      Effect.mapError(make(input), ({ message }) => new SchemaIssue.InvalidValue({ message }))
    ),
    encode: SchemaGetter.forbidden(() => "A person cannot be encoded")
  })
)
