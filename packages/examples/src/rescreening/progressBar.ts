/** How many rows are done, on standard error, if somebody watches. */
import cliProgress from "cli-progress"
import { Effect } from "effect"

/** Gives what to tell how many are done. Where there is no terminal nothing is drawn. */
export const make = (total: number, done: number) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const bar = new cliProgress.SingleBar({
          format: "{bar} {value} of {total}, {eta_formatted} left",
          etaBuffer: 500
        })
        bar.start(total, done)
        return bar
      }),
      (bar) => Effect.sync(() => bar.stop())
    ),
    (bar) => (done: number) => Effect.sync(() => bar.update(done))
  )
