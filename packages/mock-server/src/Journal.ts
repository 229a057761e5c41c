/**
 * Every exchange, and verification over it. An entry says what was asked and answered, which rule
 * answered, and why. A journal is bounded: the oldest entries go first, long bodies are cut. What
 * was dropped is counted, and never taken for something that did not happen.
 *
 * Targets, headers and bodies come in as they are to be kept: masked, unless somebody asked for
 * more.
 *
 * @since 0.1.0
 */
import * as Violation from "@effect-idv/core/Violation"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as PubSub from "effect/PubSub"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { byKind } from "./internal/schema/discriminatedUnion.ts"
import { WaitText } from "./internal/schema/durationText.ts"
import * as KnownFields from "./internal/schema/knownFields.ts"
import * as Verification from "./Verification.ts"

/**
 * What a request is about, by its path.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Operation = Schema.Literal("token", "aml", "other").annotations(
  Violation.expecting("one of token, aml, other")
)

/**
 * @category models
 * @since 0.1.0
 */
export type Operation = typeof Operation.Type

/**
 * The status of an answer.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Status = Schema.Number.pipe(Schema.int(), Schema.between(100, 599)).annotations(
  Violation.expecting("a status, a whole number from 100 to 599")
)
const Headers = Schema.Record({ key: Schema.String, value: Schema.String })

/**
 * One exchange.
 *
 * - `id`: its number, server-wide, from 1.
 * - `customerId`: null for a request that carries no session known here.
 * - `at`: ISO 8601 with milliseconds, by the clock of the session.
 * - `rule`: which rule answered, such as `aml.token-expired`. `why`: the same as a sentence.
 * - `claims`: the ids of the claims of the contract that it touched.
 * - `faults`: those that fired.
 * - `unexpected`: whether the request breaks the API document.
 * - `millis`: from the arrival to the answer, in real milliseconds.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Entry = Schema.Struct({
  id: Schema.Int.pipe(Schema.positive()),
  customerId: Schema.NullOr(Schema.String),
  at: Schema.String,
  operation: Operation,
  request: Schema.Struct({ method: Schema.String, target: Schema.String, headers: Headers, body: Schema.String }),
  response: Schema.Struct({
    status: Status,
    headers: Headers,
    body: Schema.String,
    delivery: Schema.Literal("whole", "scripted")
  }),
  rule: Schema.String,
  why: Schema.String,
  claims: Schema.Array(Schema.String),
  faults: Schema.Array(Schema.Struct({ id: Schema.String, kind: Schema.String })),
  unexpected: Schema.Boolean,
  millis: Schema.NonNegative
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Entry extends Schema.Schema.Type<typeof Entry> {}

/**
 * An entry before it is written. The journal gives `id` and `at`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Draft extends Omit<Entry, "id" | "at"> {}

const someText = (expected: string) =>
  Schema.String.pipe(Schema.minLength(1)).annotations(Violation.expecting(expected))

const closed = { parseOptions: { errors: "all", onExcessProperty: "error" } } as const

/**
 * Which entries are meant: those that have all that is given. `fault` is the id or the kind of one
 * that fired. A pattern of nothing means every entry.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Pattern = Schema.Struct({
  operation: Schema.optionalWith(Operation, { exact: true }),
  status: Schema.optionalWith(Status, { exact: true }),
  rule: Schema.optionalWith(someText("the name of a rule"), { exact: true }),
  fault: Schema.optionalWith(someText("the id or the kind of a fault"), { exact: true }),
  unexpected: Schema.optionalWith(Schema.Boolean.annotations(Violation.expecting("true or false")), { exact: true }),
  customerId: Schema.optionalWith(
    Schema.NullOr(Schema.String).annotations(Violation.expecting("a customer id, or null")),
    { exact: true }
  )
}).annotations({
  ...Violation.expecting(`an object with any of operation, status, rule, fault, unexpected, customerId`),
  ...closed
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Pattern extends Schema.Schema.Type<typeof Pattern> {}

const within = Schema.optionalWith(WaitText, { exact: true })
const count = (from: number) =>
  Schema.Number.pipe(Schema.int(), Schema.greaterThanOrEqualTo(from)).annotations(
    Violation.expecting(`a whole number from ${from}`)
  )

const Exactly = Schema.Struct({ kind: Schema.Literal("exactly"), n: count(0), pattern: Pattern, within })
  .annotations(closed)
const AtLeast = Schema.Struct({ kind: Schema.Literal("atLeast"), n: count(1), pattern: Pattern, within })
  .annotations(closed)
const Never = Schema.Struct({ kind: Schema.Literal("never"), pattern: Pattern, within }).annotations(closed)
const InOrder = Schema.Struct({
  kind: Schema.Literal("inOrder"),
  patterns: Schema.NonEmptyArray(Pattern).annotations(Violation.expecting("a list of one pattern or more")),
  within
}).annotations(closed)
const NothingUnexpected = Schema.Struct({ kind: Schema.Literal("nothingUnexpected"), within }).annotations(closed)

const members = [Exactly, AtLeast, Never, InOrder, NothingUnexpected] as const

/**
 * What the entries must be like.
 *
 * - `exactly`, `atLeast`: how many there are of a pattern.
 * - `never`: there is none.
 * - `inOrder`: one for each pattern, one after the other. Others may come between them.
 * - `nothingUnexpected`: no request broke the API document.
 *
 * Each is judged at once, or `within` a time. Then `exactly`, `atLeast` and `inOrder` are awaited:
 * they hold as soon as they hold, or fail when the time is over, or when no further entry could
 * help. `never` and `nothingUnexpected` hold if nothing comes until the time is over.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Expectation = byKind(Schema.Union(...members))

/**
 * @category models
 * @since 0.1.0
 */
export type Expectation = typeof Expectation.Type

/**
 * Reads an expectation. Beyond what the schema says, a refusal of a field that does not exist lists
 * those that do.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decodeUnknown: (input: unknown) => Either.Either<Expectation, Violation.Violations> = KnownFields
  .decodeUnknown(Expectation)

/**
 * How the entries are not as expected.
 *
 * - `expected`: in words.
 * - `found`: how many entries match; for `inOrder`, how many of its patterns came.
 * - `among`: how many entries there are. `dropped`: how many older ones are not there any more.
 * - `nearest`: at most five: those that are too many, or those that match best.
 *
 * @category models
 * @since 0.1.0
 */
export interface Mismatch {
  readonly expected: string
  readonly found: number
  readonly among: number
  readonly dropped: number
  readonly nearest: ReadonlyArray<Pick<Entry, "id" | "rule" | "why"> & { readonly status: number }>
}

/**
 * The entries are not as expected, or nobody can know, because older ones were dropped.
 *
 * @category errors
 * @since 0.1.0
 */
export class VerificationFailed extends Schema.TaggedError<VerificationFailed>(
  "@effect-idv/mock-server/VerificationFailed"
)("VerificationFailed", {
  expected: Schema.String,
  found: Schema.NonNegativeInt,
  among: Schema.NonNegativeInt,
  dropped: Schema.NonNegativeInt,
  nearest: Schema.Array(Schema.Struct({ ...Entry.pick("id", "rule", "why").fields, status: Status }))
}, { identifier: "VerificationFailed", description: "The entries are not as expected" }) {
  override get message() {
    const dropped = this.dropped === 0 ? "" : `; what the ${this.dropped} dropped before them were, cannot be known`
    const nearest = this.nearest.map(({ id, rule, status, why }) => `#${id} ${rule} ${status} (${why})`).join(", ")
    return `Expected ${this.expected}; found ${this.found} among ${this.among} entries${dropped}${
      nearest === "" ? "" : `; nearest: ${nearest}`
    }`
  }
}

/**
 * - `nextId`: the next number. All journals of a server share it.
 * - `now`: the time of the session, in milliseconds since 1970. By default, that of the `Clock`.
 * - `capacity`: how many entries are kept, 1,000 by default.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly nextId: Effect.Effect<number>
  readonly now?: Effect.Effect<number> | undefined
  readonly capacity?: number | undefined
}

/**
 * - `write`: keeps an entry. Of each body, at most 16 KiB.
 * - `entries`: those that are kept, the oldest first.
 * - `dropped`: how many went to make room, since the start or the last `clear`.
 * - `clear`: forgets all entries, and that any were dropped.
 * - `changes`: every entry from now on. A reader that is slow misses the oldest; it never holds up
 *   a writer.
 * - `verify`: succeeds if the entries are as expected.
 *
 * @category models
 * @since 0.1.0
 */
export interface Journal {
  readonly write: (draft: Draft) => Effect.Effect<Entry>
  readonly entries: Effect.Effect<ReadonlyArray<Entry>>
  readonly dropped: Effect.Effect<number>
  readonly clear: Effect.Effect<void>
  readonly changes: Stream.Stream<Entry>
  readonly verify: (expectation: Expectation) => Effect.Effect<void, VerificationFailed>
}

/**
 * Whether an entry is one of those that a pattern means.
 *
 * @category verification
 * @since 0.1.0
 */
export const matches: (pattern: Pattern) => (entry: Entry) => boolean = Verification.matches

/**
 * Whether entries are as expected. `dropped` says how many came before them that are not there any
 * more: with any, `exactly`, `never` and `nothingUnexpected` do not hold, for nobody can know.
 *
 * @category verification
 * @since 0.1.0
 */
export const check: (
  expectation: Expectation,
  entries: ReadonlyArray<Entry>,
  dropped?: number
) => Either.Either<void, Mismatch> = Verification.check

const maxBodyBytes = 16 * 1024

/** How many entries more than are kept may wait to be forgotten. */
const slack = 64

const utf8 = { encoder: new TextEncoder(), decoder: new TextDecoder("utf-8", { ignoreBOM: true }) }

/** Never in the middle of a character. The text is a new one, so that the long one can be freed. */
const cut = (body: string): string => {
  if (body.length * 3 <= maxBodyBytes) return body
  const bytes = Buffer.byteLength(body)
  if (bytes <= maxBodyBytes) return body
  const kept = new Uint8Array(maxBodyBytes)
  const { written } = utf8.encoder.encodeInto(body, kept)
  return `${utf8.decoder.decode(kept.subarray(0, written))}… (${bytes} bytes in all)`
}

/**
 * An empty journal. A `capacity` that is not a whole number from 1 is a defect.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  { capacity = 1000, nextId, now = Clock.currentTimeMillis }: Options
): Effect.Effect<Journal> =>
  Effect.gen(function*() {
    if (!Number.isSafeInteger(capacity) || capacity < 1) {
      return yield* Effect.dieMessage("The capacity of a journal is a whole number from 1")
    }
    const pubsub = yield* PubSub.sliding<Entry>(256)
    const oneAtATime = yield* Effect.makeSemaphore(1)
    let written: Array<Entry> = []
    let dropped = 0

    const kept = (): ReadonlyArray<Entry> => written.slice(-capacity)

    const keep = (id: number, now: number, { request, response, ...draft }: Draft): Entry => {
      const entry = {
        id,
        at: Option.match(DateTime.make(now), { onNone: () => "out of range", onSome: DateTime.formatIso }),
        ...draft,
        // The clock of the machine may be set back meanwhile.
        millis: Math.max(draft.millis, 0),
        request: { ...request, body: cut(request.body) },
        response: { ...response, body: cut(response.body) }
      }
      if (written.length >= capacity) dropped += 1
      written.push(entry)
      // Some at once: to move all the others for each takes longer than to write it.
      if (written.length === capacity + slack) written = written.slice(-capacity)
      return entry
    }

    // Entries stand in the order of their numbers, and one that is kept is also announced.
    const write: Journal["write"] = (draft) =>
      Effect.zipWith(nextId, now, (id, now) => keep(id, now, draft)).pipe(
        Effect.tap((entry) => PubSub.publish(pubsub, entry)),
        oneAtATime.withPermits(1),
        Effect.uninterruptible
      )

    const judge = (expectation: Expectation) => Effect.sync(() => Verification.check(expectation, kept(), dropped))

    // Subscribed before the first look: what is written between the two wakes it up. An
    // announcement only says that there is something to see, so that losing one loses nothing.
    const await_ = (expectation: Expectation, within: Duration.Duration) =>
      Effect.gen(function*() {
        const announcements = yield* PubSub.subscribe(pubsub)
        const announced = Queue.takeBetween(announcements, 1, Number.POSITIVE_INFINITY)
        const first = yield* judge(expectation)
        if (Verification.isSettled(expectation)(first)) return first
        const settled = yield* Effect.zipRight(announced, judge(expectation)).pipe(
          Effect.repeat({ until: Verification.isSettled(expectation) }),
          Effect.timeoutOption(within)
        )
        return Option.isSome(settled) ? settled.value : yield* judge(expectation)
      }).pipe(Effect.scoped)

    return {
      write,
      entries: Effect.sync(kept),
      dropped: Effect.sync(() => dropped),
      clear: Effect.sync(() => {
        written = []
        dropped = 0
      }),
      changes: Stream.fromPubSub(pubsub),
      verify: (expectation) =>
        Effect.flatMap(
          expectation.within === undefined ? judge(expectation) : await_(expectation, expectation.within),
          Either.match({ onLeft: (mismatch) => new VerificationFailed(mismatch), onRight: () => Effect.void })
        )
    }
  })
