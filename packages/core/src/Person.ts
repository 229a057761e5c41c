/**
 * Who is screened, and the request body that asks for it (API document, section 4.2).
 *
 * @since 0.1.0
 */
import * as Arbitrary from "effect/Arbitrary"
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
import * as PersonIssue from "./internal/personIssue.ts"
import type * as PersonInput from "./PersonInput.ts"
import * as PersonName from "./PersonName.ts"
import * as Violation from "./Violation.ts"

/** Only this module can make one: the private name is in no copy, and in nothing that looks alike. */
class Screenable {
  readonly #isMade = true
  readonly name: PersonName.PersonName
  readonly dateOfBirth: DateOfBirth.DateOfBirth
  readonly changes: ReadonlyArray<PersonInput.Change>
  readonly warnings: ReadonlyArray<PersonInput.Warning>

  constructor(given: Omit<Person, typeof Equal.symbol | typeof Hash.symbol>) {
    this.name = given.name
    this.dateOfBirth = given.dateOfBirth
    this.changes = given.changes
    this.warnings = given.warnings
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
 * A natural person that can be screened, from {@link make}. It prints neither name nor date.
 *
 * - `changes`: what is sent in another form than it was given.
 * - `warnings`: what looks damaged. A "No" about a damaged name is worth less.
 *
 * Two are equal if name and date are.
 *
 * @category models
 * @since 0.1.0
 */
export interface Person extends Screenable {}

/**
 * What is typed in about a person.
 *
 * @category models
 * @since 0.1.0
 */
export interface Input {
  readonly name: string
  readonly dateOfBirth: DateOfBirth.Input
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
export const make = (
  input: Input,
  options?: PersonName.Options
): Effect.Effect<Person, AmlError.AmlInputRejected> =>
  Effect.gen(function*() {
    // Read once: what the changes and the warnings are about is what is sent.
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
 * A person that was made already. Its `Arbitrary` makes realistic people, with names of many
 * languages.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Person: Schema.Schema<Person> = Schema.declare(Screenable.is, {
  identifier: "Person",
  ...Violation.expecting("a person that can be screened"),
  arbitrary: () => (fc) =>
    fc.record({ name: Arbitrary.make(PersonName.PersonName), dateOfBirth: Arbitrary.make(DateOfBirth.DateOfBirth) })
      .map((person) => new Screenable({ ...person, changes: [], warnings: [] }))
})

const expected = {
  name: "a full name that can be screened",
  dateOfBirth: "a date of birth that can be screened, as yyyy-mm-dd"
}

/** A field of another type, or none, is the issue of one that is not a text. */
const field = (name: keyof typeof expected) => {
  const message = String(PersonIssue.notText(name))
  return Schema.propertySignature(
    Schema.String.annotations({ description: expected[name], message: () => ({ message, override: true }) })
  ).annotations({ missingMessage: () => message })
}

/**
 * A person from JSON, by {@link make}: `{ name, dateOfBirth }`, with an ISO date. For the payload of
 * a backend. What is wrong is told with paths and words, never with the value. As the payload of an
 * `HttpApi` it needs `WebError.middleware`, which answers 422 with field codes; without it the
 * platform answers 400 with the words.
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
    // Not over what the fields say.
    message: () => ({ message: PersonIssue.notAnObject, override: false })
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
