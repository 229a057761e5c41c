/** When a fault fires. */
import * as Schema from "effect/Schema"
import { discriminatedUnion } from "../schema/discriminatedUnion.ts"
import { PositiveDurationText } from "../schema/durationText.ts"
import { wholeNumber } from "../schema/fields.ts"
import * as FaultFields from "./faultFields.ts"

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
  FaultFields.variant("always", "Each request", {}),
  FaultFields.variant("nth", "The request with number n", { n: wholeNumber(1) }),
  FaultFields.variant("first", "The first n requests", { n: wholeNumber(1) }),
  FaultFields.variant("every", "Each nth request", { n: wholeNumber(1) }),
  FaultFields.variant("probability", "Each request with probability p, and the same requests for the same seed", {
    /** Over 0 and at most 1. */
    p: FaultFields.probability,
    /**
     * A whole number. The same seed gives the same firings.
     *
     * @default derived from the session's seed and the fault's id
     */
    seed: Schema.optionalWith(FaultFields.integer, { exact: true })
  }),
  FaultFields.variant(
    "window",
    "The requests in a window of the session's time, which is counted from when the fault was set",
    {
      /**
       * When the window begins, after the fault was set.
       *
       * @default 0
       */
      after: FaultFields.duration(0),
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
