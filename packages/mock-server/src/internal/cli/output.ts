/**
 * Prints lines to standard output without waiting for its reader: a full pipe neither delays the server nor fills its
 * memory.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Writable } from "node:stream"

export interface Output {
  /** Prints the first line, and then the lines that were printed before this call. */
  readonly begin: (line: string) => void
  readonly print: (line: string) => void
}

/** The most that is buffered for a slow reader, in characters. Further lines are dropped and counted. */
const capacity = 1_048_576

/** The longest wait for the remaining lines when the scope closes. */
const closeTimeout = "1 second"

/** Once the buffer is full, lines are dropped until the reader has read all of it. */
export const make = (stream: Writable): Effect.Effect<Output, never, Scope.Scope> =>
  Effect.gen(function*() {
    let omitted = 0
    const reportOmitted = () => {
      if (omitted === 0) return
      stream.write(`${JSON.stringify({ event: "omitted", lines: omitted })}\n`)
      omitted = 0
    }
    // The server continues when the reader closes the pipe.
    const ignore = () => {}
    yield* Effect.acquireRelease(
      Effect.sync(() => stream.on("drain", reportOmitted).on("error", ignore)),
      () =>
        Effect.async<void>((resume) => {
          reportOmitted()
          stream.write("", () => resume(Effect.void))
        }).pipe(
          Effect.interruptible,
          Effect.timeoutOption(closeTimeout),
          Effect.zipRight(Effect.sync(() => stream.off("drain", reportOmitted)))
        )
    )
    let early: Array<string> | undefined = []
    const print = (line: string) => {
      if (early !== undefined) early.push(line)
      else if (omitted > 0 || stream.writableLength > capacity) omitted++
      else stream.write(`${line}\n`)
    }
    return {
      begin: (line) => {
        const lines = early ?? []
        early = undefined
        for (const next of [line, ...lines]) print(next)
      },
      print
    }
  })
