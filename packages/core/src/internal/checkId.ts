import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

/**
 * A UUID of version 7 (RFC 9562): the time in milliseconds, then 74 random bits. Sorted by time, and
 * told apart from those of other processes by both.
 */
export const make: Effect.Effect<string> = Effect.gen(function*() {
  const time = (yield* Clock.currentTimeMillis).toString(16).padStart(12, "0")
  const word = (min: number, max: number) => Effect.map(Random.nextIntBetween(min, max), (word) => word.toString(16))
  const random = yield* Effect.all([word(0x7000, 0x8000), word(0x8000, 0xc000), digits, digits, digits])
  return [time.slice(0, 8), time.slice(8), ...random.slice(0, 2), random.slice(2).join("")].join("-")
})

const digits = Effect.map(Random.nextIntBetween(0, 0x10000), (word) => word.toString(16).padStart(4, "0"))
