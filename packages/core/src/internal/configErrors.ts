import * as Arr from "effect/Array"
import * as ConfigError from "effect/ConfigError"
import * as Either from "effect/Either"
import type { Violations } from "../Violation.ts"

/** All that is wrong, and not only the first of it. */
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
