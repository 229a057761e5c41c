import * as Arr from "effect/Array"
import * as ConfigError from "effect/ConfigError"
import * as Either from "effect/Either"
import type { Violations } from "../Violation.ts"

/** All that is wrong, in the order of `checked`, and not only the first of it. */
export const all = <const Checked extends Record<string, Either.Either<unknown, ConfigError.ConfigError>>>(
  checked: Checked
) => {
  const errors = Arr.getLefts(Object.values(checked))
  return Arr.isNonEmptyArray(errors) ? Either.left(errors.reduce(ConfigError.And)) : Either.all(checked)
}

/** `path` is that of the value as a whole. */
export const fromViolations = (path: ReadonlyArray<string>) => (violations: Violations): ConfigError.ConfigError =>
  Arr.map(violations, (violation): ConfigError.ConfigError =>
    ConfigError.InvalidData(
      [...path, ...violation.path === "" ? [] : [violation.path]],
      `should be ${violation.expected}`
    )).reduce(ConfigError.And)

/** The errors that an error joins. */
export const flatten = (error: ConfigError.ConfigError): ReadonlyArray<ConfigError.ConfigError> =>
  error._op === "And" ? [...flatten(error.left), ...flatten(error.right)] : [error]

/**
 * The error without the value of a variable. The messages of `Config` and of `Schema.Config` repeat
 * it. Of a message of `Config` the expectation stays; any other may hold the value anywhere.
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
