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

/** How many characters are buffered for a slow reader. Further lines are dropped and counted. */
const capacity = 1_048_576

/** The longest time that the end of the scope waits for the reader of the remaining lines. */
const closeTimeout = "1 second"

/** Makes the output. Once the buffer is full, lines are dropped until the reader has read the whole buffer. */
export const make = (stream: Writable): Effect.Effect<Output, never, Scope.Scope> =>
  Effect.gen(function*() {
    let omittedLines = 0
    const reportOmitted = () => {
      if (omittedLines === 0) return
      stream.write(`${JSON.stringify({ event: "omitted", lines: omittedLines })}\n`)
      omittedLines = 0
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
    let linesBeforeBegin: Array<string> | undefined = []
    const print = (line: string) => {
      if (linesBeforeBegin !== undefined) linesBeforeBegin.push(line)
      else if (omittedLines > 0 || stream.writableLength > capacity) omittedLines++
      else stream.write(`${line}\n`)
    }
    return {
      begin: (line) => {
        const lines = linesBeforeBegin ?? []
        linesBeforeBegin = undefined
        for (const next of [line, ...lines]) print(next)
      },
      print
    }
  })
