/**
 * Expectations about the entries of a journal, and a function that checks entries against them. It is a pure function,
 * so that a journal can repeat it after each new entry.
 *
 * @since 0.1.0
 */
import * as Violation from "@effect-idv/core/Violation"
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { Entry, Operation, sentOf, Status } from "./internal/journal/entry.ts"
import { discriminatedUnion } from "./internal/schema/discriminatedUnion.ts"
import { WaitText } from "./internal/schema/durationText.ts"
import { closed, optional, trueOrFalse, wholeNumber } from "./internal/schema/fields.ts"
import * as PersonText from "./internal/schema/personText.ts"
import * as Violations from "./internal/schema/violations.ts"

const nonEmptyText = (expected: string) =>
  Schema.String.pipe(Schema.minLength(1)).annotations(Violation.expecting(expected))

/**
 * Selects entries: those that match every field of the pattern. An empty pattern matches all entries.
 *
 * The server compares `name`, `dateOfBirth` and `headers` with the values that the request sent, and does not show
 * them. Only entries of a journal in this process have these values. For others, such as those of `Control.journal`, a
 * pattern with one of these fields matches nothing.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Pattern = Schema.Struct({
  /** The operation that the request calls. */
  operation: optional(Operation),
  /** The status of the response. */
  status: optional(Status),
  /** The rule that decided the response. */
  rule: optional(nonEmptyText("the name of a rule")),
  /** The id or the kind of a fault that fired. */
  fault: optional(nonEmptyText("the id or the kind of a fault")),
  /** Whether the request breaks the service document. */
  unexpected: optional(trueOrFalse),
  /**
   * The customer of the session, or null for unmatched requests. An unmatched token request also matches the
   * customer id that it sent.
   */
  customerId: optional(
    Schema.NullOr(Schema.String).annotations(Violation.expecting("a customer id, or null"))
  ),
  /** The name in the request. Letter case, repeated blanks and the Unicode normalization form do not matter. */
  name: optional(Schema.Redacted(nonEmptyText("a name"))),
  /** The date of birth in the request, here as `yyyy-mm-dd`. */
  dateOfBirth: optional(PersonText.IsoDay),
  /** Headers of the request, each with its whole value. Letter case matters in values only. */
  headers: optional(
    Schema.Record({
      key: Schema.String.pipe(Schema.pattern(/^[\w!#$%&'*+.^`|~-]+$/)),
      value: Schema.Redacted(Schema.String)
    }).annotations(Violation.expecting("an object of header names and values"))
  )
}).annotations({
  ...Violation.expecting(
    "an object with any of operation, status, rule, fault, unexpected, customerId, name, dateOfBirth, headers"
  ),
  ...closed
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Pattern extends Schema.Schema.Type<typeof Pattern> {}

/** The fields of the pattern, such as `status` or `headers.user-agent`, and whether the entry has the same value. */
const comparisons = (pattern: Pattern, entry: Entry): ReadonlyArray<readonly [field: string, isEqual: boolean]> => {
  const sent = sentOf(entry)
  const { customerId, dateOfBirth, fault, headers = {}, name, operation, rule, status, unexpected } = pattern
  const field = <A>(name: string, expected: A | undefined, isEqual: (expected: A) => boolean) =>
    expected === undefined ? [] : [[name, isEqual(expected)] as const]
  const sentPerson = Option.map(sent, ({ person }) => person())
  return [
    ...field("operation", operation, (operation) => operation === entry.operation),
    ...field("status", status, (status) => status === entry.response.status),
    ...field("rule", rule, (rule) => rule === entry.rule),
    ...field("fault", fault, (fault) => entry.faults.some(({ id, kind }) => id === fault || kind === fault)),
    ...field("unexpected", unexpected, (unexpected) => unexpected === entry.unexpected),
    ...field("customerId", customerId, (customerId) =>
      customerId === entry.customerId ||
      entry.customerId === null && Option.contains(Option.flatMap(sent, (sent) => sent.customerId()), customerId)),
    ...field("name", name, (name) =>
      Option.exists(
        Option.flatMap(sentPerson, ({ name }) => name),
        (sent) => PersonText.comparable(sent) === PersonText.comparable(Redacted.value(name))
      )),
    ...field(
      "dateOfBirth",
      dateOfBirth,
      (dateOfBirth) =>
        Option.exists(Option.flatMap(sentPerson, (person) => person.dateOfBirth), Equal.equals(dateOfBirth))
    ),
    ...Object.entries(headers).map(([header, value]) =>
      [
        `headers.${header}`,
        Option.exists(sent, ({ headers }) => headers[header.toLowerCase()]?.trim() === Redacted.value(value).trim())
      ] as const
    )
  ]
}

/** The fields of the pattern that differ, without their values. None if the entry matches. */
const differences = (pattern: Pattern, entry: Entry): ReadonlyArray<string> =>
  comparisons(pattern, entry).filter(([, isEqual]) => !isEqual).map(([field]) => field)

const within = optional(WaitText)

const Exactly = Schema.Struct({ kind: Schema.Literal("exactly"), n: wholeNumber(0), pattern: Pattern, within })
  .annotations(closed)
const AtLeast = Schema.Struct({ kind: Schema.Literal("atLeast"), n: wholeNumber(1), pattern: Pattern, within })
  .annotations(closed)
const Never = Schema.Struct({ kind: Schema.Literal("never"), pattern: Pattern, within }).annotations(closed)
const InOrder = Schema.Struct({
  kind: Schema.Literal("inOrder"),
  patterns: Schema.NonEmptyArray(Pattern).annotations(Violation.expecting("a list of one pattern or more")),
  within
}).annotations(closed)
const NothingUnexpected = Schema.Struct({ kind: Schema.Literal("nothingUnexpected"), within }).annotations(closed)

/**
 * An expectation about the entries of a journal:
 *
 * - `exactly`, `atLeast`: `n` entries match the pattern.
 * - `never`: no entry matches the pattern.
 * - `inOrder`: each pattern matches an entry later than the pattern before it. Other entries may come between.
 * - `nothingUnexpected`: no request breaks the service document.
 *
 * Without `within`, the journal checks the expectation at once. With it, the journal waits for further entries:
 * `exactly`, `atLeast` and `inOrder` succeed as soon as they are true, and fail when the time is over or no further
 * entry can make them true. `never` and `nothingUnexpected` succeed when the time is over, and fail at the first entry
 * that breaks them.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Expectation = discriminatedUnion(Schema.Union(Exactly, AtLeast, Never, InOrder, NothingUnexpected))

/**
 * @category models
 * @since 0.1.0
 */
export type Expectation = typeof Expectation.Type

/**
 * Decodes an expectation. The violation for an unknown field lists the known ones.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decodeUnknown: (input: unknown) => Either.Either<Expectation, Violation.Violations> = Violations
  .decodeUnknown(Expectation)

/**
 * The entries do not meet the expectation, or the journal cannot tell, because it dropped older ones.
 *
 * @category errors
 * @since 0.1.0
 */
export class VerificationFailed extends Schema.TaggedError<VerificationFailed>(
  "@effect-idv/mock-server/VerificationFailed"
)("VerificationFailed", {
  /** The expectation in words. */
  expected: Schema.String,
  /** How many entries match; for `inOrder`, how many of its patterns do. */
  found: Schema.NonNegativeInt,
  /** How many entries the journal has in total. */
  among: Schema.NonNegativeInt,
  /** How many older entries the journal dropped. */
  dropped: Schema.NonNegativeInt,
  /** At most five entries: those that should not match, or those that match most fields. */
  nearest: Schema.Array(
    Schema.Struct({
      ...Entry.pick("id", "rule", "why").fields,
      status: Status,
      /** The fields of the pattern that differ, without their values. */
      differs: Schema.Array(Schema.String)
    })
  )
}, { identifier: "VerificationFailed", description: "The entries are not as expected" }) {
  override get message() {
    const dropped = this.dropped === 0 ? "" : `; entries dropped before these, which cannot be checked: ${this.dropped}`
    const nearest = this.nearest.map(({ differs, id, rule, status, why }) =>
      `#${id} ${rule} ${status} (${why}${differs.length === 0 ? "" : `; differs in ${differs.join(", ")}`})`
    ).join(", ")
    return `Expected ${this.expected}; found ${this.found} among ${this.among} entries${dropped}${
      nearest === "" ? "" : `; nearest: ${nearest}`
    }`
  }
}

/**
 * Whether an entry matches a pattern.
 *
 * @category verification
 * @since 0.1.0
 */
export const matches = (pattern: Pattern) => (entry: Entry): boolean => differences(pattern, entry).length === 0

const maxNearest = 5

/** The entries that miss a pattern, those with the most matching fields first, and of these the latest. */
const nearMisses = (pattern: Pattern, entries: ReadonlyArray<Entry>): ReadonlyArray<Entry> => {
  const differing = (entry: Entry) => differences(pattern, entry).length
  return entries.filter((entry) => differing(entry) > 0).toReversed().toSorted((a, b) => differing(a) - differing(b))
}

/** How many of the patterns match one after the other, and the entries after the last match. */
const matchInOrder = (patterns: ReadonlyArray<Pattern>, entries: ReadonlyArray<Entry>) => {
  let found = 0
  let next = 0
  entries.forEach((entry, index) => {
    const pattern = patterns[found]
    if (pattern === undefined || !matches(pattern)(entry)) return
    found += 1
    next = index + 1
  })
  return { found, rest: entries.slice(next) }
}

/** Values of persons and headers print as `<redacted>`. */
const describePattern = (pattern: Pattern): string => JSON.stringify(pattern)

/**
 * Checks entries against an expectation. `dropped` is how many older entries the journal no longer has. If it is not 0,
 * `exactly`, `never` and `nothingUnexpected` fail, because a dropped entry could match.
 *
 * @category verification
 * @since 0.1.0
 */
export const check = (
  expectation: Expectation,
  entries: ReadonlyArray<Entry>,
  dropped = 0
): Either.Either<void, VerificationFailed> => {
  const within = expectation.within === undefined ? "" : ` within ${Duration.format(expectation.within)}`
  const judge = (
    holds: boolean,
    expected: string,
    found: number,
    pattern: Pattern,
    nearest: () => ReadonlyArray<Entry>
  ) =>
    holds ? Either.void : Either.left(
      new VerificationFailed({
        expected: expected + within,
        found,
        among: entries.length,
        dropped,
        nearest: nearest().slice(0, maxNearest).map((entry) => ({
          id: entry.id,
          rule: entry.rule,
          status: entry.response.status,
          why: entry.why,
          differs: differences(pattern, entry)
        }))
      })
    )
  switch (expectation.kind) {
    case "exactly":
    case "atLeast": {
      const { kind, n, pattern } = expectation
      const found = entries.filter(matches(pattern))
      const foundFirst = () => [...found.toReversed(), ...nearMisses(pattern, entries)]
      return kind === "atLeast"
        ? judge(found.length >= n, `at least ${n} of ${describePattern(pattern)}`, found.length, pattern, foundFirst)
        : judge(
          found.length === n && dropped === 0,
          `exactly ${n} of ${describePattern(pattern)}`,
          found.length,
          pattern,
          () => found.length < n ? foundFirst() : found.toReversed()
        )
    }
    case "inOrder": {
      const { patterns } = expectation
      const { found, rest } = matchInOrder(patterns, entries)
      const missing = patterns[found]
      return judge(
        missing === undefined,
        `in order ${patterns.map(describePattern).join(", ")}`,
        found,
        missing ?? {},
        () => missing === undefined ? [] : nearMisses(missing, rest)
      )
    }
    case "never":
    case "nothingUnexpected": {
      const pattern = expectation.kind === "never" ? expectation.pattern : { unexpected: true }
      const found = entries.filter(matches(pattern))
      const expected = expectation.kind === "never" ? `never ${describePattern(pattern)}` : "nothing unexpected"
      return judge(found.length === 0 && dropped === 0, expected, found.length, pattern, () => found.toReversed())
    }
  }
}
