import * as Arr from "effect/Array"
import * as ConfigError from "effect/ConfigError"
import * as Either from "effect/Either"

/** All that is wrong, and not only the first of it. */
export const all = <const Checked extends Record<string, Either.Either<unknown, ConfigError.ConfigError>>>(
  checked: Checked
) => {
  const errors = Arr.getLefts(Object.values(checked))
  return Arr.isNonEmptyArray(errors) ? Either.left(errors.reduce(ConfigError.And)) : Either.all(checked)
}
