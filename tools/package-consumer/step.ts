/** A step of the test: prints a line when it ends, and names the step in its failure. */
import { Console, Data, Duration, Effect } from "effect"

export class StepFailed extends Data.TaggedError("StepFailed")<{ readonly step: string; readonly reason: string }> {
  override get message() {
    return `${this.step}: ${this.reason}`
  }
}

/** A result that differs from the expected one. */
export class Unexpected extends Data.TaggedError("Unexpected")<{ readonly message: string }> {}

const seconds = (duration: Duration.Duration) => `${Duration.toSeconds(duration).toFixed(1).padStart(5)} s`

export const step =
  (name: string) =>
  <A, E extends { readonly message: string }, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, StepFailed, R> =>
    self.pipe(
      Effect.mapError(({ message }) => new StepFailed({ step: name, reason: message })),
      Effect.tapError(() => Console.log(`FAILED     ${name}`)),
      Effect.timed,
      Effect.tap(([duration]) => Console.log(`ok ${seconds(duration)} ${name}`)),
      Effect.map(([, value]) => value)
    )
