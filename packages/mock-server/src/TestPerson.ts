/**
 * Fictional persons with a known result. The last word of the name selects the result, in upper or lower case. Any
 * other name returns "No". Some names cause a fault, for tests that cannot use the control API.
 *
 * `Custom` is a test person of your own: the session option `testPersons`, the config file and the control API
 * take a list of them.
 *
 * @since 0.1.0
 */
import type { MatchFound } from "@effect-idv/core/AmlCredential"
import * as Violation from "@effect-idv/core/Violation"
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import type * as Fault from "./Fault.ts"
import { ResponseWhat } from "./internal/faults/kinds.ts"
import { literalOr } from "./internal/schema/discriminatedUnion.ts"
import { closed, optional } from "./internal/schema/fields.ts"
import * as PersonText from "./internal/schema/personText.ts"
import * as Violations from "./internal/schema/violations.ts"

/**
 * A reserved name and what the mock server does for it.
 *
 * @category models
 * @since 0.1.0
 */
export interface TestPerson {
  /** The last word of the name. */
  readonly lastWord: string
  /** The result, unless the fault changes it. */
  readonly matchFound: MatchFound
  /** What the mock server does, as the predicate of a sentence. */
  readonly description: string
  /**
   * The fault that is applied to the response.
   *
   * @default none
   */
  readonly fault?: Fault.What
}

const clearPerson = (lastWord: string, description: string): TestPerson => ({ lastWord, matchFound: "No", description })

const listedPerson = (lastWord: string, description: string): TestPerson => ({
  lastWord,
  matchFound: "Potential match",
  description
})

/** The fault hides a "Potential match", so that a client that treats the fault as a "No" fails its test. */
const faultyPerson = (lastWord: string, description: string, fault: Fault.What): TestPerson => ({
  ...listedPerson(lastWord, description),
  fault
})

const status = (status: number, seconds?: number): Fault.What => ({
  kind: "status",
  status,
  contentType: "text/plain; charset=utf-8",
  ...(seconds !== undefined && { retryAfter: { kind: "seconds", seconds } })
})

/**
 * The reserved names.
 *
 * @category models
 * @since 0.1.0
 */
export const reserved: ReadonlyArray<TestPerson> = [
  clearPerson("Testclear", "returns \"No\""),
  listedPerson("Testpep", "returns \"Potential match\" (politically exposed person)"),
  listedPerson("Testsanc", "returns \"Potential match\" (sanctions list)"),
  {
    ...clearPerson("Testslow", "returns \"No\" after 5 s"),
    fault: { kind: "latency", distribution: { kind: "fixed", delay: Duration.seconds(5) } }
  },
  faultyPerson("Testhang", "sends no response and leaves the connection open", { kind: "hang", at: "headers" }),
  faultyPerson("Test401", "returns status 401, whatever the token", status(401)),
  faultyPerson("Test403", "returns status 403", status(403)),
  faultyPerson("Test429", "returns status 429 with Retry-After: 1", status(429, 1)),
  faultyPerson("Test500", "returns status 500", status(500)),
  faultyPerson("Test503", "returns status 503 with Retry-After: 1", status(503, 1)),
  faultyPerson("Testhtml", "returns an HTML page with status 200", { kind: "html" }),
  faultyPerson("Testempty", "returns an empty body with status 200", { kind: "empty" }),
  faultyPerson("Testcut", "sends half of the body and closes the connection", { kind: "truncation" }),
  faultyPerson("Testreset", "sends half of the body and resets the connection", { kind: "reset", at: "body" }),
  faultyPerson("Testecho", "returns the credential of another person", { kind: "somebodyElse" }),
  faultyPerson("Testunknown", "returns a match_found that the service document does not list", { kind: "unknownMatch" })
]

const byLastWord = new Map(reserved.map((person) => [person.lastWord.toLowerCase(), person]))

/**
 * Returns what the mock server does for a name: that of the reserved name at its end, otherwise a "No".
 *
 * @category getters
 * @since 0.1.0
 */
export const of = (name: string): Omit<TestPerson, "lastWord"> & { readonly lastWord?: string } =>
  byLastWord.get(name.trim().split(/\s+/).at(-1)?.toLowerCase() ?? "") ??
    { matchFound: "No", description: "returns \"No\", because the name is not reserved" }

/** A name, or a part of one. A reserved last word would replace the response of its reserved name. */
const nameText = (expected: string, isValid: (text: string) => boolean) =>
  optional(
    Schema.Redacted(
      Schema.String.annotations({ description: expected }).pipe(
        Schema.filter(isValid, { ...Violation.expecting(expected), jsonSchema: { minLength: 1 } }),
        Schema.filter((text) => !byLastWord.has(PersonText.lastWord(text)), {
          ...Violation.expecting(
            "a last word that is not a reserved name, because reserved names keep their response"
          ),
          jsonSchema: {}
        })
      )
    )
  )

/**
 * A test person of your own: `match` selects the persons, by any of `name`, `nameLast` (the last word) and
 * `dateOfBirth` (`yyyy-mm-dd`), and `response` is `No`, `Potential match` or a fault without its trigger, such as
 * `{ kind: "status", status: 503 }`. The first one of a list that matches decides, before the reserved names.
 *
 * A name must not end with a reserved name: its response stays the same in every session. A `dateOfBirth` may also
 * match a person with a reserved name.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Custom = Schema.Struct({
  /** The persons that this test person stands for: those that match every field. */
  match: Schema.Struct({
    /** The whole name. */
    name: nameText("a name", (text) => text.trim() !== ""),
    /** The last word of the name. */
    nameLast: nameText("one word", (text) => /^\s*\S+\s*$/.test(text)),
    /** The date of birth, as `yyyy-mm-dd`. */
    dateOfBirth: optional(PersonText.IsoDay)
  }).annotations(closed).pipe(
    Schema.filter((match) => Object.keys(match).length > 0)
  ).annotations(Violation.expecting("an object with one or more of name, nameLast, dateOfBirth")),
  /**
   * The result, or a fault that acts on the response: other faults act before the request is decided. A fault hides
   * the result "Potential match".
   */
  response: literalOr(["No", "Potential match"], ResponseWhat)
}).annotations({ ...closed, description: "an object with match and response" })

/**
 * @category models
 * @since 0.1.0
 */
export interface Custom extends Schema.Schema.Type<typeof Custom> {}

/**
 * A list of test persons of your own.
 *
 * @category schemas
 * @since 0.1.0
 */
export const CustomList = Schema.Array(Custom).annotations(Violation.expecting("a list of test persons"))

/**
 * A test person of a session, without its name and its date of birth.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Listed = Schema.Struct({
  /** The fields that its match has. */
  match: Schema.Array(Schema.Literal("name", "nameLast", "dateOfBirth")),
  /** The result, or the fault. */
  response: Custom.fields.response,
  /** How many checks it decided. */
  matched: Schema.NonNegativeInt
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Listed extends Schema.Schema.Type<typeof Listed> {}

/**
 * The input is not a test person. The violations say which field is wrong and what it must be.
 *
 * @category errors
 * @since 0.1.0
 */
export class TestPersonInvalid extends Schema.TaggedError<TestPersonInvalid>(
  "@effect-idv/mock-server/TestPersonInvalid"
)("TestPersonInvalid", { violations: Schema.Array(Violation.Violation) }) {
  override get message() {
    return `Not a test person: ${Violation.format(this.violations)}`
  }
}

const decodeCustom = Violations.decodeUnknown(Custom)

/**
 * Makes a test person in code from the same form as in JSON:
 * `TestPerson.make({ match: { nameLast: "Sample" }, response: "Potential match" })`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (input: typeof Custom.Encoded): Either.Either<Custom, TestPersonInvalid> =>
  Either.mapLeft(decodeCustom(input), (violations) => new TestPersonInvalid({ violations }))
