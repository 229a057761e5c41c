/** The clock of one session. It has the time of the program's `Clock` until it is moved, set or frozen. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import { clamp } from "../schema/instantText.ts"

/** Frozen `at` a time, or running `offset` milliseconds ahead of the clock of the program. */
type State = { readonly at: number } | { readonly offset: number }

export interface Reading {
  /** Milliseconds since 1970. */
  readonly now: number
  readonly frozen: boolean
}

export interface SessionClock {
  /** Milliseconds since 1970. */
  readonly now: Effect.Effect<number>
  readonly read: Effect.Effect<Reading>
  /** The time of the program's clock, in milliseconds since 1970. */
  readonly real: Effect.Effect<number>
  /** Sets the time, in milliseconds since 1970. It stays frozen if it was. */
  readonly set: (now: number) => Effect.Effect<void>
  readonly freeze: Effect.Effect<void>
  /** Starts the clock again at the time at which it stopped. */
  readonly resume: Effect.Effect<void>
  /** Returns to the clock of the program. */
  readonly reset: Effect.Effect<void>
}

const initialState: State = { offset: 0 }

export const make: Effect.Effect<SessionClock> = Effect.map(Ref.make<State>(initialState), (ref) => {
  const update = (change: (state: State, real: number) => State): Effect.Effect<void> =>
    Effect.flatMap(Clock.currentTimeMillis, (real) => Ref.update(ref, (state) => change(state, real)))
  const timeOf = (state: State, real: number) => clamp("at" in state ? state.at : real + state.offset)
  const moveTo = (state: State, now: number, real: number): State =>
    "at" in state ? { at: clamp(now) } : { offset: clamp(now) - real }
  const read = Effect.zipWith(Ref.get(ref), Clock.currentTimeMillis, (state, real): Reading => ({
    now: timeOf(state, real),
    frozen: "at" in state
  }))
  return {
    now: Effect.map(read, ({ now }) => now),
    read,
    real: Clock.currentTimeMillis,
    set: (now) => update((state, real) => moveTo(state, now, real)),
    freeze: update((state, real) => ({ at: timeOf(state, real) })),
    resume: update((state, real) => ({ offset: timeOf(state, real) - real })),
    reset: Ref.set(ref, initialState)
  }
})
