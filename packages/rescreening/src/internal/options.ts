/** Checks the options of `Rescreening`. A failure names the option, and not its value. */
import * as Violation from "@effect-idv/core/Violation"
import * as ConfigError from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Run from "../Run.ts"

export const invalid = (path: string, message: string) => ConfigError.InvalidData([path], message)

const decodePolicy = Violation.decodeUnknown(Run.Policy)
const decodeId = Violation.decodeUnknown(Run.Id)

export const run = (name: string) =>
  Effect.mapError(decodeId(name), ([{ expected }]) => invalid("run", `should be ${expected}`))

/** A label is empty, or a word like the name of a run. */
export const label = (name: string, label: string) =>
  label === ""
    ? Effect.void
    : Effect.mapError(decodeId(label), ([{ expected }]) => invalid(name, `should be ${expected}`))

export const policy = (options: unknown) =>
  Effect.mapError(decodePolicy(options), ([{ expected, path }]) => invalid(path, `should be ${expected}`))

const inRange = (name: string, min: number, max: number) => (value: number) =>
  Number.isInteger(value) && value >= min && value <= max
    ? Effect.succeed(value)
    : Effect.fail(invalid(name, `should be an integer from ${min} to ${max}`))

/** Each check in flight needs memory and a connection. */
export const concurrency = inRange("concurrency", 1, 1000)

export const expectAtLeast = inRange("expectAtLeast", 1, 100_000_000)

export const lease = (input: Duration.DurationInput) => {
  const duration = Duration.decode(input)
  return Duration.between(duration, { minimum: "1 second", maximum: "1 hour" })
    ? Effect.succeed(duration)
    : Effect.fail(invalid("lease", "should be a duration from 1 second to 1 hour"))
}
