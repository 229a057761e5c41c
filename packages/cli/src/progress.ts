/** The progress of a run: one line on a terminal that is rewritten. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"

/** Where the line goes. Nothing is written if it is not a terminal. */
export interface Terminal {
  readonly isTTY?: boolean | undefined
  readonly write: (text: string) => unknown
}

export interface Progress {
  /** Counts one of the total, and shows the count. */
  readonly advance: Effect.Effect<void>
  /** Shows this count of the total. */
  readonly show: (done: number) => Effect.Effect<void>
  /** Clears the line, before other output. */
  readonly clear: Effect.Effect<void>
}

/** The shortest time between two writes of the line, in milliseconds. */
const interval = 100

const clearLine = "\r\u001b[2K"

/** `what` names what is counted, such as `cases`. */
export const make = (terminal: Terminal, total: number, what: string): Effect.Effect<Progress> =>
  Effect.map(Ref.make({ done: 0, shownAt: -Infinity }), (state) => {
    if (terminal.isTTY !== true) return { advance: Effect.void, show: () => Effect.void, clear: Effect.void }
    const update = (count: (done: number) => number) =>
      Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const { done, shownAt } = yield* Ref.updateAndGet(state, (old) => ({ ...old, done: count(old.done) }))
        if (now - shownAt < interval) return
        yield* Ref.update(state, (old) => ({ ...old, shownAt: now }))
        terminal.write(`${clearLine}${done} of ${total} ${what}`)
      })
    return {
      advance: update((done) => done + 1),
      show: (done) => update(() => done),
      clear: Effect.sync(() => void terminal.write(clearLine))
    }
  })
