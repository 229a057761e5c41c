/** Combines `ConfigError`s, and removes values from them. */
import * as Arr from "effect/Array"
import * as ConfigError from "effect/ConfigError"
import * as Either from "effect/Either"
import type { Violations } from "../../Violation.ts"

/** Returns all values, or all errors, in the order of `results`. */
export const all = <const Results extends Record<string, Either.Either<unknown, ConfigError.ConfigError>>>(
  results: Results
) => {
  const errors = Arr.getLefts(Object.values(results))
  return Arr.isNonEmptyArray(errors) ? Either.left(errors.reduce(ConfigError.And)) : Either.all(results)
}

/** Converts violations. `path` is the path of the decoded value. */
export const fromViolations = (path: ReadonlyArray<string>) => (violations: Violations): ConfigError.ConfigError =>
  Arr.map(violations, (violation): ConfigError.ConfigError =>
    ConfigError.InvalidData(
      [...path, ...violation.path === "" ? [] : [violation.path]],
      `should be ${violation.expected}`
    )).reduce(ConfigError.And)

/** The single errors of a combined error. */
export const flatten = (error: ConfigError.ConfigError): ReadonlyArray<ConfigError.ConfigError> =>
  error._op === "And" ? [...flatten(error.left), ...flatten(error.right)] : [error]

/**
 * Removes values from an error. The messages of `Config` and of `Schema.Config` repeat the value of a variable. The
 * expectation in a message of `Config` is kept. Any other message is replaced, because the value may be anywhere in it.
 */
export const withoutValues = (error: ConfigError.ConfigError): ConfigError.ConfigError =>
  ConfigError.reduceWithContext<void, ConfigError.ConfigError>(error, undefined, {
    andCase: (_, left, right) => ConfigError.And(left, right),
    orCase: (_, left, right) => ConfigError.Or(left, right),
    invalidDataCase: (_, path, message) => {
      const [, expected] = /^Expected ([^"]+?) but received /.exec(message) ?? []
      return ConfigError.InvalidData(
        [...path],
        expected === undefined ? "has a value that cannot be used" : `should be ${expected}`
      )
    },
    missingDataCase: (_, path) => ConfigError.MissingData([...path], "should be set"),
    sourceUnavailableCase: (_, path, message, cause) => ConfigError.SourceUnavailable([...path], message, cause),
    unsupportedCase: (_, path, message) => ConfigError.Unsupported([...path], message)
  })
