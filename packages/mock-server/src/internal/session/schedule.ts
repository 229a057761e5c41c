/** When a fault fires, and for how long: pure functions, so that the same run has the same faults. */
import { randomLogNormal, randomNormal, randomUniform } from "d3-random"
import * as Duration from "effect/Duration"
import type * as Fault from "../../Fault.ts"

/**
 * - `number`: of this request among those that the fault watches, from 1.
 * - `elapsed`: milliseconds since the fault was set.
 * - `seed`: of the session.
 */
export interface Moment {
  readonly number: number
  readonly elapsed: number
  readonly seed: number
}

export const fires = (when: Fault.When, { elapsed, number, seed }: Moment): boolean => {
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

/** The finalizer of MurmurHash3: each bit of the word changes about half of the bits. */
const mix = (word: number): number => {
  const once = Math.imul(word ^ (word >>> 16), 0x85ebca6b)
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35)
  return twice ^ (twice >>> 16)
}

/** In [0, 1), a function of seed and number alone: the order and the time of requests do not matter. */
const uniform = (seed: number, number: number): number => {
  const key = mix(mix(Math.floor(seed / 2 ** 32) + 0x9e3779b9) ^ seed)
  return (mix(mix(key + number) ^ key) >>> 0) / 2 ** 32
}

/** How many requests there were in the window that began at `start`. */
export interface Quota {
  readonly start: number
  readonly count: number
}

export const emptyQuota: Quota = { start: 0, count: 0 }

/**
 * Counts a request in windows that follow one another without a gap from the time 0 on.
 *
 * - `retryIn`: the milliseconds until the window ends, for a request above the limit.
 */
export const countQuota = (
  quota: Quota,
  { limit, per }: { readonly limit: number; readonly per: Duration.Duration },
  now: number
): { readonly quota: Quota; readonly retryIn: number | undefined } => {
  const length = Duration.toMillis(per)
  const start = Math.floor(now / length) * length
  const count = (start === quota.start ? quota.count : 0) + 1
  return { quota: { start, count }, retryIn: count > limit ? start + length - now : undefined }
}

const longest = Duration.toMillis("10 minutes")

/** A delay in milliseconds, from 0 to 10 minutes. */
export const sample = (distribution: Fault.Distribution, random: () => number): number =>
  Math.min(Math.max(draw(distribution, random), 0), longest)

const draw = (distribution: Fault.Distribution, random: () => number): number => {
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
