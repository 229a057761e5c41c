/** A clock of a session's own: real time (or a test's), moved, set or stopped, and no other session's. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"

/** The time stands still `at`, or runs on by `offset` ahead of the clock of the program. */
type State = { readonly at: number } | { readonly offset: number }

export interface Reading {
  readonly now: number
  readonly frozen: boolean
}

export interface SessionClock {
  /** Milliseconds since 1970. */
  readonly now: Effect.Effect<number>
  readonly read: Effect.Effect<Reading>
  readonly advance: (duration: Duration.DurationInput) => Effect.Effect<void>
  readonly set: (now: number) => Effect.Effect<void>
  readonly freeze: Effect.Effect<void>
  /** The time runs on from where it stands. */
  readonly resume: Effect.Effect<void>
  /** Back to the clock of the program. */
  readonly reset: Effect.Effect<void>
}

const running: State = { offset: 0 }

export const make: Effect.Effect<SessionClock> = Effect.map(Ref.make<State>(running), (ref) => {
  const update = (change: (state: State, real: number) => State): Effect.Effect<void> =>
    Effect.flatMap(Clock.currentTimeMillis, (real) => Ref.update(ref, (state) => change(state, real)))
  const at = (state: State, real: number) => "at" in state ? state.at : real + state.offset
  const read = Effect.zipWith(Ref.get(ref), Clock.currentTimeMillis, (state, real): Reading => ({
    now: at(state, real),
    frozen: "at" in state
  }))
  return {
    now: Effect.map(read, ({ now }) => now),
    read,
    advance: (duration) => {
      const millis = Duration.toMillis(duration)
      return update((state) => "at" in state ? { at: state.at + millis } : { offset: state.offset + millis })
    },
    set: (now) => update((state, real) => "at" in state ? { at: now } : { offset: now - real }),
    freeze: update((state, real) => ({ at: at(state, real) })),
    resume: update((state, real) => ({ offset: at(state, real) - real })),
    reset: Ref.set(ref, running)
  }
})
