/** Warms up a workload until its own CPU time per call is stable. */
import { Effect } from "effect"
import { max, min } from "simple-statistics"
import type { Measurement } from "./Workload.ts"

type Run<E> = (calls: number, concurrency: number, seconds?: number) => Effect.Effect<Measurement, E>

/** The CPU times of this number of runs, one after the other, must differ by at most this share. */
const stableRuns = 3
const stableShare = 0.07
/** A busy or slow machine may never become stable. */
const maxSeconds = 3

/** The first second of a process, and the number of calls until its CPU time was stable. */
export interface WarmUp {
  readonly firstSecond: Measurement
  readonly calls: number
  readonly isStable: boolean
}

/** Measures the first second, and then runs `calls` at a time until the CPU time per call is stable. */
export const run = <E>(run: Run<E>, calls: number, concurrency: number): Effect.Effect<WarmUp, E> =>
  Effect.gen(function*() {
    const firstSecond = yield* run(1e6, concurrency, 1)
    let made = firstSecond.calls
    let left = maxSeconds
    const times: Array<number> = []
    while (left > 0) {
      const { calls: more, cpu, seconds } = yield* run(calls, concurrency, left)
      made += more
      left -= seconds
      times.push(cpu)
      const last = times.slice(-stableRuns)
      if (last.length === stableRuns && max(last) <= min(last) * (1 + stableShare)) {
        return { firstSecond, calls: made, isStable: true }
      }
    }
    return { firstSecond, calls: made, isStable: false }
  })

/** Describes the warm-ups of all alternatives for the notes of a report. */
export const describe = (warmUps: ReadonlyArray<WarmUp>): string => {
  const calls = warmUps.map(({ calls }) => calls)
  const unstable = warmUps.filter(({ isStable }) => !isStable).length
  const range = `${min(calls)} to ${max(calls)} calls, until ${stableRuns} runs differed by at most ${
    Math.round(stableShare * 100)
  } %, but at most ${maxSeconds} s`
  return unstable === 0 ? range : `${range}; ${unstable} of ${warmUps.length} did not become as stable`
}
