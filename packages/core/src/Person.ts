/**
 * Who is screened, and the request body that asks for it (API document, section 4.2).
 *
 * @since 0.1.0
 */
import * as Arr from "effect/Array"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as AmlError from "./AmlError.ts"
import * as DateOfBirth from "./DateOfBirth.ts"
import * as PersonName from "./PersonName.ts"
import * as Violation from "./Violation.ts"

/**
 * A natural person that can be screened, from {@link make}. It prints neither name nor date.
 *
 * @category models
 * @since 0.1.0
 */
export interface Person {
  readonly name: PersonName.PersonName
  readonly dateOfBirth: DateOfBirth.DateOfBirth
}

/**
 * A person from what was typed in, or `AmlInputRejected` with everything that is wrong with either
 * field.
 *
 * @example
 * import { Person } from "@effect-idv/core"
 *
 * Person.make({ name: "Zoë Testpep", dateOfBirth: "1957-03-14" })
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (input: {
  readonly name: string
  readonly dateOfBirth: DateOfBirth.Input
}): Effect.Effect<Person, AmlError.AmlInputRejected> =>
  Effect.gen(function*() {
    const name = PersonName.make(input.name)
    const dateOfBirth = yield* Effect.either(DateOfBirth.make(input.dateOfBirth))
    if (Either.isLeft(name) && Either.isLeft(dateOfBirth)) {
      return yield* new AmlError.AmlInputRejected({
        issues: Arr.appendAll(name.left.issues, dateOfBirth.left.issues)
      })
    }
    return Data.struct({ name: yield* name, dateOfBirth: yield* dateOfBirth })
  })

/**
 * The JSON body of the AML check. On the wire it is exactly
 * `{"entity_type":"person","name":…,"dob":"dd-mm-yyyy"}`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const RequestBody = Schema.Struct({
  entity_type: Schema.Literal("person"),
  name: Schema.Redacted(
    Schema.String.pipe(Schema.filter((name) => name.trim() !== "", Violation.expecting("a full name")))
  ),
  dob: DateOfBirth.FromWire
})

/**
 * @category schemas
 * @since 0.1.0
 */
export interface RequestBody extends Schema.Schema.Type<typeof RequestBody> {}

/**
 * What is sent about a person.
 *
 * @category conversions
 * @since 0.1.0
 */
export const toRequestBody = (person: Person): RequestBody => ({
  entity_type: "person",
  name: person.name,
  dob: person.dateOfBirth
})
