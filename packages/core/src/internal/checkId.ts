import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

/**
 * A UUID of version 7 (RFC 9562): the time in milliseconds, then 74 random bits. Sorted by time, and
 * told apart from those of other processes by both.
 */
export const make: Effect.Effect<string> = Effect.gen(function*() {
  const time = digits(yield* Clock.currentTimeMillis, 12)
  const [first, second] = [yield* Random.next, yield* Random.next]
  const version = digits(0x7000 + Math.floor(first * 0x1000), 4)
  // 53 bits are in each number: 12 of the first are taken.
  const variant = digits(0x8000 + Math.floor((first * 0x1000 % 1) * 0x4000), 4)
  return `${time.slice(0, 8)}-${time.slice(8)}-${version}-${variant}-${digits(Math.floor(second * 2 ** 48), 12)}`
})

const digits = (value: number, length: number): string => value.toString(16).padStart(length, "0")
