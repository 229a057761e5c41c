/** Checks the options of a worker. */
import * as ConfigError from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

export interface Options {
  readonly concurrency?: number | undefined
  readonly lease?: Duration.DurationInput | undefined
}

/** Each check in flight needs memory and a connection. */
const maxConcurrency = 1000

export const decode = (options: Options) =>
  Effect.gen(function*() {
    const { concurrency = 10 } = options
    const lease = Duration.decode(options.lease ?? "30 seconds")
    if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > maxConcurrency) {
      return yield* Effect.fail(
        ConfigError.InvalidData(["concurrency"], `should be an integer from 1 to ${maxConcurrency}`)
      )
    }
    if (Duration.toMillis(lease) < 1000) {
      return yield* Effect.fail(ConfigError.InvalidData(["lease"], "should be at least 1 second"))
    }
    return { concurrency, lease }
  })
