/**
 * The person to check, and the request body (service document, section 4.2).
 *
 * @since 0.1.0
 */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Equal from "effect/Equal"
import * as Hash from "effect/Hash"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as AmlError from "./AmlError.ts"
import * as DateOfBirth from "./DateOfBirth.ts"
import * as Names from "./internal/names/arbitraryNames.ts"
import * as PersonInput from "./internal/names/personInput.ts"
import * as PersonName from "./PersonName.ts"
import * as Violation from "./Violation.ts"

export { Change, changes, Issue, issues, Warning, warnings } from "./internal/names/personInput.ts"

/** A valid person. Only this module can create one: copies and other objects lack the private field. */
class Screenable {
  readonly #isMade = true
  readonly name: PersonName.PersonName
  readonly dateOfBirth: DateOfBirth.DateOfBirth
  /** The changes to the input before it is sent. */
  readonly changes: ReadonlyArray<PersonInput.Change>
  /**
   * Signs that the input was damaged before, such as wrongly decoded characters. A "No" about a damaged name is less
   * reliable.
   */
  readonly warnings: ReadonlyArray<PersonInput.Warning>

  constructor(fields: Omit<Person, typeof Equal.symbol | typeof Hash.symbol>) {
    this.name = fields.name
    this.dateOfBirth = fields.dateOfBirth
    this.changes = fields.changes
    this.warnings = fields.warnings
  }
  static is(u: unknown): u is Screenable {
    return Predicate.isObject(u) && #isMade in u
  }
  [Equal.symbol](that: unknown): boolean {
    return Screenable.is(that) && Equal.equals(this.name, that.name) && Equal.equals(this.dateOfBirth, that.dateOfBirth)
  }
  [Hash.symbol](): number {
    return Hash.cached(this, Hash.combine(Hash.hash(this.name))(Hash.hash(this.dateOfBirth)))
  }
}

/**
 * A natural person to check, made by {@link make}. The name and the date are redacted. Two persons are equal if their
 * names and their dates are equal.
 *
 * @category models
 * @since 0.1.0
 */
export interface Person extends Screenable {}

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
 * Makes a person from the input. `AmlInputRejected` contains every issue of both fields.
 *
 * @example
 * import { Person } from "@effect-idv/core"
 *
 * Person.make({ name: "Zoë Testpep", dateOfBirth: "1957-03-14" })
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  input: Input,
  options?: PersonName.Options
): Effect.Effect<Person, AmlError.AmlInputRejected> =>
  Effect.gen(function*() {
    // The name is read only once: a getter could return another name for the changes and the warnings.
    const text = input.name
    const name = PersonName.make(text, options)
    const dateOfBirth = yield* Effect.either(DateOfBirth.make(input.dateOfBirth))
    if (Either.isLeft(name) && Either.isLeft(dateOfBirth)) {
      return yield* new AmlError.AmlInputRejected({
        issues: Arr.appendAll(name.left.issues, dateOfBirth.left.issues)
      })
    }
    const date = yield* dateOfBirth
    return new Screenable({
      name: yield* name,
      dateOfBirth: date,
      changes: [...PersonName.changes(text), ...DateOfBirth.changes(date)],
      warnings: [...PersonName.warnings(text), ...yield* DateOfBirth.warnings(date)]
    })
  })

/**
 * A schema of persons made by {@link make}. Its `Arbitrary` generates realistic persons, with names of many languages.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Person: Schema.Schema<Person> = Schema.declare(Screenable.is, {
  identifier: "Person",
  ...Violation.expecting("a person that can be screened"),
  // `Arbitrary.make` would keep fast-check in every bundle.
  arbitrary: () => (fc) =>
    fc.record({
      name: Names.name(fc).map(Schema.decodeSync(PersonName.FromString)),
      dateOfBirth: Names.dateOfBirth(fc).map(Schema.decodeSync(DateOfBirth.FromWire))
    }).map((person) => new Screenable({ ...person, changes: [], warnings: [] }))
})

const expected = {
  name: "a full name that can be screened",
  dateOfBirth: "a date of birth that can be screened, as yyyy-mm-dd"
}

/** A field that is missing or is not a string has the issue `not_text`. */
const field = (name: keyof typeof expected) => {
  const message = String(PersonInput.notText(name))
  return Schema.propertySignature(
    Schema.String.annotations({ description: expected[name], message: () => message })
  ).annotations({ missingMessage: () => message })
}

/**
 * A schema that decodes JSON with {@link make}: `{ name, dateOfBirth }`, with an ISO date. Its errors contain paths and
 * descriptions, but no values. In an `HttpApi`, add `WebError.middleware` to respond with 422 and the codes of the
 * fields. Without it, the platform responds with 400 and the descriptions.
 *
 * @category schemas
 * @since 0.1.0
 */
export const FromInput = Schema.transformOrFail(
  Schema.Struct({
    name: field("name"),
    dateOfBirth: field("dateOfBirth")
  }).annotations({
    description: "a person, as { name, dateOfBirth }",
    parseOptions: { errors: "all" },
    // The messages of the fields take precedence.
    message: () => PersonInput.notAnObject
  }),
  Person,
  {
    strict: true,
    decode: (input, _, ast) =>
      Effect.mapError(
        make(input),
        ({ issues }) => new ParseResult.Composite(ast, undefined, Arr.map(issues, toParseIssue))
      ),
    encode: ({ dateOfBirth, name }) =>
      ParseResult.map(ParseResult.encode(DateOfBirth.FromIso)(dateOfBirth), (dateOfBirth) => ({
        name: Redacted.value(name),
        dateOfBirth
      }))
  }
)

const toParseIssue = (issue: PersonInput.Issue): ParseResult.ParseIssue => {
  const { ast } = Schema.String.annotations({ description: expected[issue.field] })
  return new ParseResult.Pointer(issue.field, undefined, new ParseResult.Type(ast, undefined, String(issue)))
}

/**
 * The JSON body of the AML check: `{"entity_type":"person","name":…,"dob":"dd-mm-yyyy"}`.
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
 * The body of the AML check, with redacted values.
 *
 * @category schemas
 * @since 0.1.0
 */
export interface RequestBody extends Schema.Schema.Type<typeof RequestBody> {}

/**
 * Returns the request body for a person.
 *
 * @category conversions
 * @since 0.1.0
 */
export const toRequestBody = (person: Person): RequestBody => ({
  entity_type: "person",
  name: person.name,
  dob: person.dateOfBirth
})
