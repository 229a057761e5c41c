/** How many rows have an outcome, on standard error, if it is a terminal. */
import { type Rescreening, Run } from "@effect-idv/rescreening"
import cliProgress from "cli-progress"
import { Effect, Fiber, Stream } from "effect"

/** Draws the counts while `effect` runs. Where there is no terminal nothing is drawn. */
export const during = <A, E, R, E2, R2>(
  status: Stream.Stream<Rescreening.Status, E2, R2>,
  effect: Effect.Effect<A, E, R>
) =>
  Effect.scoped(Effect.gen(function*() {
    const bar = yield* Effect.acquireRelease(
      Effect.sync(() => new cliProgress.SingleBar({ format: "{bar} {value} of {total}" })),
      (bar) => Effect.sync(() => bar.stop())
    )
    bar.start(0, 0)
    const draw = Stream.runForEach(status, ({ counts }) =>
      Effect.sync(() => {
        bar.setTotal(Run.total(counts))
        bar.update(Run.total(counts) - Run.left(counts))
      }))
    const drawing = yield* Effect.forkScoped(Effect.ignore(draw))
    const result = yield* effect
    // The last counts come within a second.
    yield* Effect.timeoutOption(Fiber.join(drawing), "2 seconds")
    return result
  }))
