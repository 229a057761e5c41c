/** Whether a fault fires and how long a latency is: pure functions, so that a run can be repeated exactly. */
import { randomLogNormal, randomNormal, randomUniform } from "d3-random"
import * as Duration from "effect/Duration"
import type { Distribution } from "../faults/values.ts"
import type { When } from "../faults/when.ts"

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

/** How many requests a quota has counted in the window that began at `start`. */
export interface QuotaCount {
  readonly start: number
  readonly count: number
}

export const emptyQuota: QuotaCount = { start: 0, count: 0 }

/**
 * Counts a request in consecutive windows, the first of which begins at time 0. For a request above the limit,
 * `retryIn` is the milliseconds until its window ends.
 */
export const countQuota = (
  quota: QuotaCount,
  { limit, per }: { readonly limit: number; readonly per: Duration.Duration },
  now: number
): { readonly quota: QuotaCount; readonly retryIn: number | undefined } => {
  const length = Duration.toMillis(per)
  const start = Math.floor(now / length) * length
  const count = (start === quota.start ? quota.count : 0) + 1
  return { quota: { start, count }, retryIn: count > limit ? start + length - now : undefined }
}

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
