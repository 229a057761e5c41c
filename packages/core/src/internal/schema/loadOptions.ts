/** Loads options from `Config`, with all their errors in one. */
import * as Arr from "effect/Array"
import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Record from "effect/Record"
import * as ConfigErrors from "./configErrors.ts"

/** Loads the options. If some cannot be loaded, the error also contains what `check` reports about the loaded ones. */
export const loadOptions = <A extends object>(
  config: Config.Config.Wrap<A>,
  check: (options: Partial<A>) => Either.Either<unknown, ConfigError.ConfigError>
): Effect.Effect<A, ConfigError.ConfigError> =>
  Effect.catchAll(Config.unwrap(config), (error) =>
    Effect.flatMap(loadPartially(config), (loaded) => {
      const loadedNames = new Set(Object.entries(loaded).flatMap(([name, value]) => value === undefined ? [] : [name]))
      const otherErrors = Either.match(check(loaded), { onLeft: ConfigErrors.flatten, onRight: Arr.empty })
        .filter((other) => "path" in other && loadedNames.has(other.path[0] ?? ""))
      return Effect.fail([ConfigErrors.withoutValues(error), ...otherErrors].reduce(ConfigError.And))
    }))

/** Loads the options that can be loaded. The others are `undefined`. */
function loadPartially<A extends object>(config: Config.Config.Wrap<A>): Config.Config<Partial<A>>
function loadPartially(config: object): Config.Config<unknown> {
  return Config.isConfig(config)
    ? Config.orElse(config, () => Config.succeed({}))
    : Config.all(Record.map({ ...config }, optional))
}

const optional = (config: object): Config.Config<unknown> =>
  Config.isConfig(config)
    ? Config.orElse(config, () => Config.succeed(undefined))
    : Config.all(Record.map({ ...config }, optional))
