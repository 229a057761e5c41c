/** When a fault fires: pure functions of the request and a seed, so that a run can be repeated exactly. */
import * as Violation from "@effect-idv/core/Violation"
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import { discriminatedUnion, variant } from "../schema/discriminatedUnion.ts"
import { DurationText, PositiveDurationText } from "../schema/durationText.ts"
import { optional, wholeNumber, withDefault } from "../schema/fields.ts"

const integer = Schema.Number.annotations({ description: "a whole number" }).pipe(
  Schema.int(Violation.expecting("a whole number"))
)

const probabilityExpected = Violation.expecting("a number over 0 and at most 1")

const probability = Schema.Number.annotations(probabilityExpected).pipe(
  Schema.greaterThan(0, probabilityExpected),
  Schema.lessThanOrEqualTo(1, probabilityExpected)
)

/**
 * At which requests a fault fires. It counts the requests to its operation, from 1, since the fault was set.
 *
 * - `always`: at each.
 * - `nth`: at request `n`. `first`: at the first `n`. `every`: at each multiple of `n`.
 * - `probability`: at each with probability `p`.
 * - `window`: at those in a span of the session's time.
 *
 * @category schemas
 * @since 0.1.0
 */
export const When = discriminatedUnion(Schema.Union(
  variant("always", "Each request", {}),
  variant("nth", "The request with number n", { n: wholeNumber(1) }),
  variant("first", "The first n requests", { n: wholeNumber(1) }),
  variant("every", "Each nth request", { n: wholeNumber(1) }),
  variant("probability", "Each request with probability p, and the same requests for the same seed", {
    /** Over 0 and at most 1. */
    p: probability,
    /**
     * A whole number. The same seed gives the same firings.
     *
     * @default derived from the session's seed and the fault's id
     */
    seed: optional(integer)
  }),
  variant(
    "window",
    "The requests in a window of the session's time, which is counted from when the fault was set",
    {
      /**
       * When the window begins, after the fault was set.
       *
       * @default 0
       */
      after: withDefault(DurationText, Duration.seconds(0)),
      /** How long the window is. */
      for: PositiveDurationText
    }
  )
))

/**
 * @category models
 * @since 0.1.0
 */
export type When = typeof When.Type

/** A request that one fault has counted. */
export interface CountedRequest {
  /** The number of the request among those that the fault has counted, from 1. */
  readonly number: number
  /** Milliseconds of the session's time since the fault was set. */
  readonly elapsed: number
  /** The seed of a `probability` that states none. */
  readonly seed: number
}

export const fires = (when: When, { elapsed, number, seed }: CountedRequest): boolean => {
  switch (when.kind) {
    case "always":
      return true
    case "nth":
      return number === when.n
    case "first":
      return number <= when.n
    case "every":
      return number % when.n === 0
    case "probability":
      return uniform(when.seed ?? seed, number) < when.p
    case "window": {
      const start = Duration.toMillis(when.after)
      return elapsed >= start && elapsed < start + Duration.toMillis(when.for)
    }
  }
}

/** The finalizer of MurmurHash3: each input bit changes about half of the output bits. */
const mix = (word: number): number => {
  const once = Math.imul(word ^ (word >>> 16), 0x85ebca6b)
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35)
  return twice ^ (twice >>> 16)
}

/** A number in [0, 1) that depends on the seed and the number alone, not on the time of the request. */
const uniform = (seed: number, number: number): number => {
  const key = mix(mix(Math.floor(seed / 2 ** 32) + 0x9e3779b9) ^ seed)
  return (mix(mix(key + number) ^ key) >>> 0) / 2 ** 32
}
