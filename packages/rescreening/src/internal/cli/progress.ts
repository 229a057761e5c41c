/** Shows the number of rows with an outcome on standard error, if that is a terminal. */
import cliProgress from "cli-progress"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Rescreening from "../../Rescreening.ts"
import * as Run from "../../Run.ts"

const bar = Effect.acquireRelease(
  Effect.sync(() =>
    new cliProgress.SingleBar({ format: "{bar} {value} of {total}, {eta_formatted} left", etaBuffer: 500 })
  ),
  (bar) => Effect.sync(() => bar.stop())
)

/** Draws progress while `effect` runs. Draws nothing if standard error is not a terminal. */
export const during = <A, E, R>(run: string, effect: Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.gen(function*() {
    if (!process.stderr.isTTY) return yield* effect
    const progress = yield* bar
    progress.start(0, 0)
    const draw = Stream.runForEach(Rescreening.status(run), ({ counts }) =>
      Effect.sync(() => {
        progress.setTotal(Run.total(counts))
        progress.update(Run.total(counts) - Run.left(counts))
      }))
    const drawing = yield* Effect.forkScoped(Effect.ignore(draw))
    const result = yield* effect
    yield* Effect.timeoutOption(drawing, "2 seconds")
    return result
  }))
