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

/** From the year 1 to 9999: the times that have the form of `searched_on`. */
export const range = { first: Date.parse("0001-01-01T00:00:00.000Z"), last: Date.parse("9999-12-31T23:59:59.999Z") }

export const isInRange = (now: number): boolean => now >= range.first && now <= range.last

/** At the end of its range, the time stands still. */
const within = (now: number): number => Math.min(Math.max(now, range.first), range.last)

const running: State = { offset: 0 }

export const make: Effect.Effect<SessionClock> = Effect.map(Ref.make<State>(running), (ref) => {
  const update = (change: (state: State, real: number) => State): Effect.Effect<void> =>
    Effect.flatMap(Clock.currentTimeMillis, (real) => Ref.update(ref, (state) => change(state, real)))
  const at = (state: State, real: number) => within("at" in state ? state.at : real + state.offset)
  const to = (state: State, now: number, real: number): State =>
    "at" in state ? { at: within(now) } : { offset: within(now) - real }
  const read = Effect.zipWith(Ref.get(ref), Clock.currentTimeMillis, (state, real): Reading => ({
    now: at(state, real),
    frozen: "at" in state
  }))
  return {
    now: Effect.map(read, ({ now }) => now),
    read,
    advance: (duration) => {
      const millis = Duration.toMillis(duration)
      return update((state, real) => to(state, at(state, real) + millis, real))
    },
    set: (now) => update((state, real) => to(state, now, real)),
    freeze: update((state, real) => ({ at: at(state, real) })),
    resume: update((state, real) => ({ offset: at(state, real) - real })),
    reset: Ref.set(ref, running)
  }
})
