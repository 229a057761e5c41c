/**
 * Lines for standard output that nobody may be reading: a full pipe neither holds up the server nor
 * fills its memory.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Writable } from "node:stream"

/** - `begin`: prints a first line, and then what was printed before it. */
export interface Output {
  readonly begin: (line: string) => void
  readonly print: (line: string) => void
}

/** How much waits for a reader at most, in bytes or so. Then lines are left out, and counted. */
const capacity = 1_048_576

/** What is left to write once the scope closes has this time. */
const patience = "1 second"

/** Lines are left out from when a reader is too slow until it has read all that waits. */
export const make = (stream: Writable): Effect.Effect<Output, never, Scope.Scope> =>
  Effect.gen(function*() {
    let omitted = 0
    const tell = () => {
      if (omitted === 0) return
      stream.write(`${JSON.stringify({ event: "omitted", lines: omitted })}\n`)
      omitted = 0
    }
    // A reader that went away is no reason to stop.
    const ignore = () => {}
    yield* Effect.acquireRelease(
      Effect.sync(() => stream.on("drain", tell).on("error", ignore)),
      () =>
        Effect.async<void>((resume) => {
          tell()
          stream.write("", () => resume(Effect.void))
        }).pipe(
          Effect.interruptible,
          Effect.timeoutOption(patience),
          Effect.zipRight(Effect.sync(() => stream.off("drain", tell)))
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
