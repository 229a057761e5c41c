/** Shows the number of rows with an outcome on standard error, if that is a terminal. */
import cliProgress from "cli-progress"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Rescreening from "../../Rescreening.ts"
import * as Run from "../../Run.ts"

const bar = Effect.acquireRelease(
  Effect.sync(() => new cliProgress.SingleBar({ format: "{bar} {value} of {total}{left}" })),
  (bar) => Effect.sync(() => bar.stop())
)

/** The remaining time, if `done` rows took `elapsed` milliseconds. */
const remaining = (rows: number, done: number, elapsed: number) =>
  done > 0 && rows > 0 ? `, ${Duration.format(Duration.seconds(Math.ceil(rows * elapsed / done / 1000)))} left` : ""

/** Draws progress while `effect` runs. Draws nothing if standard error is not a terminal. */
export const during = <A, E, R>(run: string, effect: Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.gen(function*() {
    if (!process.stderr.isTTY) return yield* effect
    const progress = yield* bar
    let first: { readonly at: number; readonly done: number } | undefined
    const draw = Stream.runForEach(Rescreening.status(run), ({ counts }) =>
      Effect.gen(function*() {
        const at = yield* Clock.currentTimeMillis
        const total = Run.total(counts)
        const done = total - Run.left(counts)
        if (first === undefined) {
          first = { at, done }
          progress.start(total, done, { left: "" })
        } else {
          progress.update(done, { left: remaining(total - done, done - first.done, at - first.at) })
        }
      }))
    const drawing = yield* Effect.forkScoped(Effect.ignore(draw))
    const result = yield* effect
    yield* Effect.timeoutOption(drawing, "2 seconds")
    return result
  }))
