/** Captures what an effect prints. */
import { Console, Effect } from "effect"

export const captured = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const stdout: Array<string> = []
    const stderr: Array<string> = []
    const to = (lines: Array<string>) => (...texts: ReadonlyArray<unknown>) =>
      Effect.sync(() => void lines.push(texts.map(String).join(" ")))
    return Console.consoleWith((console) =>
      Effect.withConsole(effect, { ...console, log: to(stdout), error: to(stderr) })
    ).pipe(Effect.map((value) => ({ value, stdout, stderr })))
  })
