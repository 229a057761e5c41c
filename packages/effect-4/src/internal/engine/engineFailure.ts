/** The error of the engine behind an error of this package: its message and its facts are those of the engine. */
import * as Failure3 from "@effect-idv/core/Failure"
import * as Schema3 from "effect-3/Schema"
import * as Duration from "effect/Duration"

const engineFailures = new WeakMap<object, Failure3.Failure>()
const decode = Schema3.decodeUnknownSync(Failure3.Failure)

/** The error in its encoded form, which is the same in both versions. `detail` exists in memory only. */
const encode = (error: object): object =>
  Object.fromEntries(
    Object.entries(error).filter(([name]) => name !== "detail").map(([name, value]) => [
      name,
      Duration.isDuration(value) ? Duration.toMillis(value) : value
    ])
  )

/** Returns the error that the engine reported, or makes it for an error of the program. */
export const of = (error: object): Failure3.Failure => engineFailures.get(error) ?? decode({ ...encode(error) })

/** Remembers which error of the engine became `error`. */
export const link = <E extends object>(error: E, engineFailure: Failure3.Failure): E => {
  engineFailures.set(error, engineFailure)
  return error
}

export const messageOf = (error: object): string => of(error).message

export const isRetryable = (error: object): boolean => of(error).isRetryable
