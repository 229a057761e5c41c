/**
 * The journal of a session: an entry for each exchange, with the facts that decided the response.
 *
 * A journal has a capacity. It drops the oldest entries first, and shortens long bodies. It counts the dropped entries,
 * so that a verification does not treat the request of a dropped entry as one that was never sent.
 *
 * A draft has the exchange as it was, `Redacted`. Of it, an entry has only what may be shown, unless `reveal` is on.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as PubSub from "effect/PubSub"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { type Entry, once, sentBy } from "./internal/journal/entry.ts"
import * as Masking from "./internal/journal/masking.ts"
import * as Sentence from "./internal/journal/sentence.ts"
import * as Verification from "./Verification.ts"

export { Entry, Facts, Operation, Status } from "./internal/journal/entry.ts"

/**
 * A request and its response as they were.
 *
 * @category models
 * @since 0.1.0
 */
export interface Exchange {
  /** The request. The names of its headers are in lower case. */
  readonly request: Masking.RequestParts
  /** The response as the service decided it, or as a fault changed it. */
  readonly response: Masking.ResponseParts
}

/**
 * An entry before the journal writes it. The journal adds `id`, `at` and `why`, and masks the exchange.
 *
 * @category models
 * @since 0.1.0
 */
export interface Draft extends Omit<Entry, "id" | "at" | "why" | "request" | "response" | "sent"> {
  /** The request and its response, with names, dates of birth, keys and tokens. */
  readonly exchange: Redacted.Redacted<Exchange>
}

/**
 * Options of a journal.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** Returns the next id. All journals of a server share it. */
  readonly nextId: () => number
  /**
   * The time of the session, in milliseconds since 1970.
   *
   * @default the time of the `Clock`
   */
  readonly now?: Effect.Effect<number> | undefined
  /**
   * Whether entries show names, dates of birth, keys and tokens.
   *
   * @default false
   */
  readonly reveal?: boolean | undefined
  /**
   * How many entries the journal keeps: a whole number from 1.
   *
   * @default 1000
   */
  readonly capacity?: number | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Journal {
  /** Writes an entry, with at most 16 KiB of each body. */
  readonly write: (draft: Draft) => Effect.Effect<Entry>
  /** The entries, the oldest first. */
  readonly entries: Effect.Effect<ReadonlyArray<Entry>>
  /** How many entries were dropped to make room since the start or the last `clear`. */
  readonly dropped: Effect.Effect<number>
  /** Removes all entries and sets `dropped` to 0. */
  readonly clear: Effect.Effect<void>
  /** Every entry from now on. A slow reader misses the oldest ones, and does not delay a writer. */
  readonly changes: Stream.Stream<Entry>
  /** Checks the entries against an expectation, and waits if it has `within`. */
  readonly verify: (expectation: Verification.Expectation) => Effect.Effect<void, Verification.VerificationFailed>
}

/** How many entries above the capacity the journal collects before it drops them. */
const maxExtraEntries = 64

/** Whether further entries cannot change the outcome of a check. */
const isSettled = (
  expectation: Verification.Expectation,
  outcome: Either.Either<void, Verification.VerificationFailed>
): boolean => {
  switch (expectation.kind) {
    case "exactly":
      return Either.match(outcome, {
        onLeft: ({ dropped, found }) => dropped > 0 || found > expectation.n,
        onRight: () => true
      })
    case "atLeast":
    case "inOrder":
      return Either.isRight(outcome)
    case "never":
    case "nothingUnexpected":
      return Either.isLeft(outcome)
  }
}

/**
 * Makes an empty journal. A `capacity` that is not a whole number from 1 is a defect.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  { capacity = 1000, nextId, now = Clock.currentTimeMillis, reveal = false }: Options
): Effect.Effect<Journal> =>
  Effect.gen(function*() {
    if (!Number.isSafeInteger(capacity) || capacity < 1) {
      return yield* Effect.dieMessage("The capacity of a journal must be a whole number from 1")
    }
    const pubsub = yield* PubSub.sliding<Entry>(256)
    let writtenEntries: Array<Entry> = []
    let dropped = 0

    const entries = (): ReadonlyArray<Entry> => writtenEntries.slice(-capacity)

    const append = (now: number, { exchange, ...draft }: Draft): Entry => {
      const { request, response } = Redacted.value(exchange)
      const entry: Entry = {
        id: nextId(),
        at: Option.match(DateTime.make(now), { onNone: () => "out of range", onSome: DateTime.formatIso }),
        ...draft,
        // The machine's clock may be set back during the exchange.
        millis: Math.max(draft.millis, 0),
        request: Masking.maskRequest(draft.operation, request, reveal),
        response: Masking.maskResponse(response, reveal),
        sent: sentBy(request),
        get why() {
          return why()
        }
      }
      const why = once(() => Sentence.of(entry))
      if (writtenEntries.length >= capacity) dropped += 1
      writtenEntries.push(entry)
      // Drops several entries at once, because moving all others for each new one costs more than writing it.
      if (writtenEntries.length === capacity + maxExtraEntries) writtenEntries = writtenEntries.slice(-capacity)
      return entry
    }

    // Uninterruptible, so that every written entry is also published.
    const write: Journal["write"] = (draft) =>
      Effect.uninterruptible(Effect.flatMap(now, (now) => {
        // An entry gets its id and its place in one step, so that entries are in the order of their ids.
        const entry = append(now, draft)
        return Effect.as(PubSub.publish(pubsub, entry), entry)
      }))

    const check = (expectation: Verification.Expectation) =>
      Effect.sync(() => Verification.check(expectation, entries(), dropped))

    // Subscribes before the first check, so that an entry written in between triggers the next one. A missed
    // publication loses nothing, because each check reads all entries.
    const checkWithin = (expectation: Verification.Expectation, within: Duration.Duration) =>
      Effect.gen(function*() {
        const subscription = yield* PubSub.subscribe(pubsub)
        const nextEntries = Queue.takeBetween(subscription, 1, Number.POSITIVE_INFINITY)
        const isFinal = (outcome: Effect.Effect.Success<ReturnType<typeof check>>) => isSettled(expectation, outcome)
        const first = yield* check(expectation)
        if (isFinal(first)) return first
        const last = yield* Effect.zipRight(nextEntries, check(expectation)).pipe(
          Effect.repeat({ until: isFinal }),
          Effect.timeoutOption(within)
        )
        return Option.isSome(last) ? last.value : yield* check(expectation)
      }).pipe(Effect.scoped)

    return {
      write,
      entries: Effect.sync(entries),
      dropped: Effect.sync(() => dropped),
      clear: Effect.sync(() => {
        writtenEntries = []
        dropped = 0
      }),
      changes: Stream.fromPubSub(pubsub),
      verify: (expectation) =>
        Effect.flatten(
          expectation.within === undefined ? check(expectation) : checkWithin(expectation, expectation.within)
        )
    }
  })
