/** One thing that is tried: a line once it has ended, and a failure that names it. */
import { Console, Data, Duration, Effect } from "effect"

export class StepFailed extends Data.TaggedError("StepFailed")<{ readonly step: string; readonly reason: string }> {
  override get message() {
    return `${this.step}: ${this.reason}`
  }
}

/** Something that is not as it should be. */
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
