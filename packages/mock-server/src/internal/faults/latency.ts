/** How late a response is: the same delay each time, or one that is drawn from a distribution. */
import * as Violation from "@effect-idv/core/Violation"
import { randomLogNormal, randomNormal, randomUniform } from "d3-random"
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import { discriminatedUnion, variant } from "../schema/discriminatedUnion.ts"
import { DelayText } from "../schema/durationText.ts"
import { number, withDefault } from "../schema/fields.ts"

/**
 * How late a response is. The delay is never negative and at most 10 minutes.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Distribution = discriminatedUnion(Schema.Union(
  variant("fixed", "The same delay each time", {
    /** @default 2 seconds */
    delay: withDefault(DelayText, Duration.seconds(2))
  }),
  variant("uniform", "Any delay from min up to, but not including, max, with equal probability", {
    /** @default 0 */
    min: withDefault(DelayText, Duration.seconds(0)),
    /** @default 4 seconds */
    max: withDefault(DelayText, Duration.seconds(4))
  }).pipe(
    Schema.filter(({ max, min }) => Duration.lessThanOrEqualTo(min, max), {
      ...Violation.expecting("a min that is at most max"),
      jsonSchema: {}
    })
  ),
  variant("normal", "A normal distribution", {
    /** @default 2 seconds */
    mean: withDefault(DelayText, Duration.seconds(2)),
    /** @default 500 milliseconds */
    deviation: withDefault(DelayText, Duration.millis(500))
  }),
  variant(
    "logNormal",
    "A log-normal distribution, close to real services: near the median, with a long tail",
    {
      /** @default 2 seconds */
      median: withDefault(DelayText, Duration.seconds(2)),
      /**
       * The standard deviation of the delay's logarithm.
       *
       * @default 0.5
       */
      sigma: withDefault(number(0, 10), 0.5)
    }
  )
))

/**
 * @category models
 * @since 0.1.0
 */
export type Distribution = typeof Distribution.Type

const maxDelay = Duration.toMillis("10 minutes")

/** Draws a delay in milliseconds, limited to 0 to 10 minutes. */
export const sample = (distribution: Distribution, random: () => number): number =>
  Math.min(Math.max(draw(distribution, random), 0), maxDelay)

const draw = (distribution: Distribution, random: () => number): number => {
  switch (distribution.kind) {
    case "fixed":
      return Duration.toMillis(distribution.delay)
    case "uniform":
      return randomUniform.source(random)(Duration.toMillis(distribution.min), Duration.toMillis(distribution.max))()
    case "normal":
      return randomNormal.source(random)(
        Duration.toMillis(distribution.mean),
        Duration.toMillis(distribution.deviation)
      )()
    case "logNormal":
      return randomLogNormal.source(random)(Math.log(Duration.toMillis(distribution.median)), distribution.sigma)()
  }
}
