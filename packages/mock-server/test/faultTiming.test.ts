import type * as Fault from "@effect-idv/mock-server/Fault"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Array as Arr, Duration, FastCheck } from "effect"
import { PCGRandom } from "effect/Utils"
import { sample } from "../src/internal/faults/latency.ts"
import { fires } from "../src/internal/faults/when.ts"
import { countQuota, emptyQuota } from "../src/internal/session/sessionFaults.ts"

const n = FastCheck.integer({ min: 1, max: 200 })
const seed = FastCheck.integer()

/** Returns at which of the first 400 requests a fault fires. */
const firings = (when: Fault.When, seed = 7) =>
  Arr.range(1, 400).filter((number) => fires(when, { number, elapsed: number, seed }))

describe("fires", () => {
  it("always: fires at each request", () => strictEqual(firings({ kind: "always" }).length, 400))

  it("nth: fires once, at that request", () =>
    FastCheck.assert(FastCheck.property(n, (n) => deepStrictEqual(firings({ kind: "nth", n }), [n])), { seed: 1 }))

  it("first: fires at exactly the first n", () =>
    FastCheck.assert(
      FastCheck.property(n, (n) => deepStrictEqual(firings({ kind: "first", n }), Arr.range(1, n))),
      { seed: 1 }
    ))

  it("every: fires at the multiples of n", () =>
    FastCheck.assert(
      FastCheck.property(n, (n) =>
        deepStrictEqual(firings({ kind: "every", n }), Arr.makeBy(Math.floor(400 / n), (index) => (index + 1) * n))),
      { seed: 1 }
    ))

  it("window: fires from its first millisecond to before its end", () =>
    FastCheck.assert(
      FastCheck.property(FastCheck.nat(), n, (after, length) => {
        const when: Fault.When = { kind: "window", after: Duration.millis(after), for: Duration.millis(length) }
        deepStrictEqual(
          [after - 1, after, after + length - 1, after + length].map((elapsed) =>
            fires(when, { number: 1, elapsed, seed: 0 })
          ),
          [false, true, true, false]
        )
      }),
      { seed: 1 }
    ))
})

describe("fires with a probability", () => {
  const chance = (p: number, seed: number, number: number) =>
    fires({ kind: "probability", p }, { number, elapsed: 0, seed }) ? 1 : 0

  /** The distance from the expected number of independent firings, in standard deviations. */
  const deviations = (hits: number, trials: number, p: number) =>
    Math.abs(hits - trials * p) / Math.sqrt(trials * p * (1 - p))

  const sum = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0)

  const seeds = [0, 1, 2, 3, 42, -1, 4711, 2 ** 31, 2 ** 32, 2 ** 40 + 1, Number.MAX_SAFE_INTEGER]

  it("depends only on seed and number, and prefers the fault's own seed", () =>
    FastCheck.assert(
      FastCheck.property(seed, n, FastCheck.nat(), (seed, number, elapsed) => {
        const expected = chance(0.5, seed, number) === 1
        strictEqual(fires({ kind: "probability", p: 0.5 }, { number, elapsed, seed }), expected)
        strictEqual(fires({ kind: "probability", p: 0.5, seed }, { number, elapsed, seed: 99 }), expected)
      }),
      { seed: 1 }
    ))

  it("fires at the same requests in every run, and at others with another seed", () => {
    deepStrictEqual(firings({ kind: "probability", p: 0.05 }, 7).slice(0, 6), [2, 8, 49, 92, 93, 98])
    strictEqual(new Set(seeds.map((seed) => firings({ kind: "probability", p: 0.05 }, seed).join())).size, seeds.length)
  })

  it("fires at each request with probability 1, and more often with a higher one", () => {
    strictEqual(firings({ kind: "probability", p: 1 }).length, 400)
    const few = firings({ kind: "probability", p: 0.1 })
    const many = new Set(firings({ kind: "probability", p: 0.5 }))
    strictEqual(few.every((number) => many.has(number)), true)
  })

  it.each([0.01, 0.1, 0.5, 0.9])("keeps the rate %d for every seed and every request", (p) => {
    for (const seed of seeds) {
      const hits = sum(Arr.makeBy(5000, (index) => chance(p, seed, index + 1)))
      strictEqual(deviations(hits, 5000, p) < 4, true, `seed ${seed}: ${hits}`)
    }
    for (const number of [1, 2, 3, 10, 100]) {
      const hits = sum(Arr.makeBy(5000, (seed) => chance(p, seed, number)))
      strictEqual(deviations(hits, 5000, p) < 4, true, `number ${number}: ${hits}`)
    }
  })

  it.each([1, 2, 3, 4, 8, 16, 64])("is independent of the request %d before, and of a seed at that distance", (lag) => {
    for (const p of [0.1, 0.5]) {
      for (const seed of seeds) {
        const both = sum(Arr.makeBy(5000, (index) => chance(p, seed, index + 1) * chance(p, seed, index + 1 + lag)))
        strictEqual(deviations(both, 5000, p * p) < 4.5, true, `seed ${seed}, p ${p}: ${both}`)
        const next = sum(Arr.makeBy(5000, (index) => chance(p, seed, index + 1) * chance(p, seed + lag, index + 1)))
        strictEqual(deviations(next, 5000, p * p) < 4.5, true, `seeds ${seed}, ${seed + lag}, p ${p}: ${next}`)
        const later = sum(
          Arr.makeBy(5000, (index) => chance(p, seed, index + 1 + lag) * chance(p, seed + lag, index + 1))
        )
        strictEqual(deviations(later, 5000, p * p) < 4.5, true, `seeds ${seed}, ${seed + lag}, p ${p}: ${later}`)
      }
    }
  })
})

describe("countQuota", () => {
  const per = Duration.seconds(1)

  /** The `retryIn` of each request of a sequence, at its time. */
  const ask = (limit: number, times: ReadonlyArray<number>) =>
    times.reduce<{ readonly quota: typeof emptyQuota; readonly waits: ReadonlyArray<number | undefined> }>(
      ({ quota, waits }, now) => {
        const next = countQuota(quota, { limit, per }, now)
        return { quota: next.quota, waits: [...waits, next.retryIn] }
      },
      { quota: emptyQuota, waits: [] }
    ).waits

  it("accepts the limit in a window, and returns the rest of the window for the others", () =>
    deepStrictEqual(ask(2, [0, 10, 10, 999]), [undefined, undefined, 990, 1]))

  it("starts again with the next window", () =>
    deepStrictEqual(ask(1, [999, 999, 1000, 1999, 2000]), [undefined, 1, undefined, 1, undefined]))

  it("starts again when the clock is set back", () =>
    deepStrictEqual(ask(1, [5000, 5000, 10, 10]), [undefined, 1000, undefined, 990]))

  it("never accepts more than the limit in a window, and always refuses until its end", () =>
    FastCheck.assert(
      FastCheck.property(
        FastCheck.integer({ min: 1, max: 5 }),
        FastCheck.array(FastCheck.nat({ max: 5000 })),
        (limit, unsorted) => {
          const times = unsorted.toSorted((a, b) => a - b)
          const waits = ask(limit, times)
          for (const window of [0, 1, 2, 3, 4, 5]) {
            const inside = waits.filter((_, index) => Math.floor((times[index] ?? 0) / 1000) === window)
            strictEqual(inside.filter((wait) => wait === undefined).length, Math.min(limit, inside.length))
          }
          waits.forEach((wait, index) => {
            if (wait !== undefined) strictEqual(((times[index] ?? 0) + wait) % 1000, 0)
          })
        }
      ),
      { seed: 1 }
    ))
})

describe("sample", () => {
  const many = (distribution: Fault.Distribution) => {
    const random = new PCGRandom(1)
    return Arr.makeBy(4000, () => sample(distribution, () => random.number())).sort((a, b) => a - b)
  }
  const isNear = (actual: number | undefined, expected: number, part: number) =>
    strictEqual(Math.abs((actual ?? NaN) - expected) <= expected * part, true, `${actual}, not ${expected}`)
  const seconds = Duration.seconds

  it("fixed: returns the delay", () => strictEqual(sample({ kind: "fixed", delay: seconds(2) }, () => 0.3), 2000))

  it("uniform: covers its whole range, and nothing else", () => {
    const drawn = many({ kind: "uniform", min: seconds(1), max: seconds(3) })
    strictEqual(drawn.every((millis) => millis >= 1000 && millis < 3000), true)
    isNear(drawn[0], 1000, 0.01)
    isNear(drawn[2000], 2000, 0.05)
    isNear(drawn.at(-1), 3000, 0.01)
  })

  it("normal: has two thirds within one deviation of the mean", () => {
    const drawn = many({ kind: "normal", mean: seconds(10), deviation: seconds(1) })
    isNear(drawn[2000], 10000, 0.01)
    isNear(drawn.filter((millis) => Math.abs(millis - 10000) < 1000).length, 4000 * 0.683, 0.05)
  })

  it("normal: is never negative", () => {
    const drawn = many({ kind: "normal", mean: seconds(1), deviation: seconds(5) })
    strictEqual(drawn[0], 0)
    strictEqual((drawn.at(-1) ?? 0) > 10000, true)
  })

  it("logNormal: has half below the median, and a tail far above", () => {
    const drawn = many({ kind: "logNormal", median: seconds(2), sigma: 0.5 })
    isNear(drawn[2000], 2000, 0.05)
    isNear(drawn[3365], 2000 * Math.exp(0.5), 0.05)
    strictEqual((drawn[0] ?? 0) > 0, true)
  })

  it("logNormal: has no delay for a median of 0", () =>
    deepStrictEqual(Arr.dedupe(many({ kind: "logNormal", median: seconds(0), sigma: 2 })), [0]))

  it("is never over 10 minutes", () => {
    strictEqual(sample({ kind: "fixed", delay: Duration.hours(1) }, () => 0), 600_000)
    strictEqual(many({ kind: "logNormal", median: Duration.minutes(9), sigma: 10 }).at(-1), 600_000)
  })

  it("is the same for the same random sequence", () =>
    deepStrictEqual(
      many({ kind: "normal", mean: seconds(1), deviation: seconds(1) }),
      many({ kind: "normal", mean: seconds(1), deviation: seconds(1) })
    ))
})
