import * as Effect from "effect/Effect"
import type * as Random from "effect/Random"

/**
 * Makes a UUID of version 7 (RFC 9562): the time `at` in milliseconds, then 74 random bits. UUIDs sort by time, and are
 * unique across processes.
 */
export const make = (at: number, { next }: Random.Random): Effect.Effect<string> =>
  Effect.flatMap(next, (first) => Effect.map(next, (second) => uuid(at, first, second)))

const uuid = (at: number, first: number, second: number): string => {
  const time = digits(at, 12)
  const version = digits(0x7000 + Math.floor(first * 0x1000), 4)
  // Each number has 53 random bits. The version used 12 of the first.
  const variant = digits(0x8000 + Math.floor((first * 0x1000 % 1) * 0x4000), 4)
  return `${time.slice(0, 8)}-${time.slice(8)}-${version}-${variant}-${digits(Math.floor(second * 2 ** 48), 12)}`
}

const digits = (value: number, length: number): string => value.toString(16).padStart(length, "0")
