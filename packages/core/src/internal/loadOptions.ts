/** Options from `Config`, with everything that is wrong with them in one error. */
import * as Arr from "effect/Array"
import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Record from "effect/Record"
import * as ConfigErrors from "./configErrors.ts"

/**
 * The options, which `check` accepts or refuses. If some cannot be loaded, the error also has what
 * `check` says of the others: of those that are there.
 */
export const loadOptions = <A extends object>(
  config: Config.Config.Wrap<A>,
  check: (options: Partial<A>) => Either.Either<unknown, ConfigError.ConfigError>
): Effect.Effect<A, ConfigError.ConfigError> =>
  Effect.catchAll(Config.unwrap(config), (error) =>
    Effect.flatMap(loadable(config), (loaded) => {
      const there = new Set(Object.entries(loaded).flatMap(([name, value]) => value === undefined ? [] : [name]))
      const others = Either.match(check(loaded), { onLeft: ConfigErrors.flatten, onRight: Arr.empty })
        .filter((other) => "path" in other && there.has(other.path[0] ?? ""))
      return Effect.fail([ConfigErrors.withoutValues(error), ...others].reduce(ConfigError.And))
    }))

/** The options that can be loaded. The others are `undefined`. */
function loadable<A extends object>(config: Config.Config.Wrap<A>): Config.Config<Partial<A>>
function loadable(config: object): Config.Config<unknown> {
  return Config.isConfig(config)
    ? Config.orElse(config, () => Config.succeed({}))
    : Config.all(Record.map({ ...config }, optional))
}

const optional = (config: object): Config.Config<unknown> =>
  Config.isConfig(config)
    ? Config.orElse(config, () => Config.succeed(undefined))
    : Config.all(Record.map({ ...config }, optional))
