/**
 * The options of the client. A record of schemas has, for each option, its check, its default and its description. An
 * option comes from the program, from a `Config`, or from its variable, which has the name of the option:
 * `IDV_BASE_URL` for `baseUrl`.
 */
import * as Arr from "effect/Array"
import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { constant } from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import * as Violation from "../../Violation.ts"

export const withDefault = <A, I>(schema: Schema.Schema<A, I>, byDefault: NoInfer<A>) =>
  Schema.optionalWith(schema, { default: constant(byDefault) })

export const Flag = withDefault(Schema.Boolean.annotations({ description: "true or false" }), false)

export const Count = Schema.Int.pipe(Schema.positive(), Schema.annotations({ description: "an integer over 0" }))

/** The schema of a record of options. */
export type Fields<A, I> = Schema.Schema<A, I> & { readonly fields: object }

/** Returns the decoded options with their defaults, or one error with every invalid option. */
export const decode = <A, I>(schema: Fields<A, I>, options: object): Either.Either<A, ConfigError.ConfigError> => {
  // With every name, so that a missing option and one that is `undefined` have the same error.
  const named = Record.map(
    { ...schema.fields },
    (_, name) => Predicate.hasProperty(options, name) ? options[name] : undefined
  )
  return Either.mapLeft(Violation.decodeUnknown(schema)({ ...options, ...named }), fromViolations)
}

/** Returns all values, or all errors, in the order of `results`. */
export const all = <const Results extends Record<string, Either.Either<unknown, ConfigError.ConfigError>>>(
  results: Results
) => {
  const errors = Arr.getLefts(Object.values(results))
  return Arr.isNonEmptyArray(errors) ? Either.left(errors.reduce(ConfigError.And)) : Either.all(results)
}

const fromViolations = (violations: Violation.Violations): ConfigError.ConfigError =>
  Arr.map(
    violations,
    ({ expected, path }): ConfigError.ConfigError => ConfigError.InvalidData(path.split("."), `should be ${expected}`)
  ).reduce(ConfigError.And)

/** The single errors of a combined error. */
const flatten = (error: ConfigError.ConfigError): ReadonlyArray<ConfigError.ConfigError> =>
  error._op === "And" ? [...flatten(error.left), ...flatten(error.right)] : [error]

type Check<A> = (options: object) => Either.Either<A, ConfigError.ConfigError>

/** Whether the error is about the option. */
const concerns = (name: string) => (error: ConfigError.ConfigError): boolean =>
  "path" in error && error.path[0] === name

const errorsOf = (result: Either.Either<unknown, ConfigError.ConfigError>): ReadonlyArray<ConfigError.ConfigError> =>
  Either.match(result, { onLeft: flatten, onRight: Arr.empty })

/** Loads the options. If some cannot be loaded, the error also contains what `check` reports about the loaded ones. */
export const load = <A extends object>(
  config: Config.Config.Wrap<A>,
  check: Check<unknown>
): Effect.Effect<A, ConfigError.ConfigError> =>
  Effect.catchAll(Config.unwrap(config), (error) =>
    Effect.flatMap(loadPartially(config), (loaded) => {
      const names = Object.entries(loaded).flatMap(([name, value]) => value === undefined ? [] : [name])
      const others = errorsOf(check(loaded)).filter((other) => names.some((name) => concerns(name)(other)))
      return Effect.fail([withoutValues(error), ...others].reduce(ConfigError.And))
    }))

/** Loads the options that can be loaded. The others are `undefined`. */
const loadPartially = (config: object): Config.Config<object> =>
  Config.isConfig(config)
    ? Config.map(Config.orElse(config, constant(Config.succeed({}))), Object)
    : Config.all(Record.map({ ...config }, optional))

const optional = (config: object): Config.Config<unknown> =>
  Config.isConfig(config)
    ? Config.orElse(config, () => Config.succeed(undefined))
    : Config.all(Record.map({ ...config }, optional))

/**
 * Removes values from an error. The messages of `Config` and of `Schema.Config` repeat the value of a variable. The
 * expectation in a message of `Config` is kept. Any other message is replaced, because the value may be anywhere in it.
 */
const withoutValues = (error: ConfigError.ConfigError): ConfigError.ConfigError =>
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

/** The variable of an option. */
export const variableOf = (name: string): string =>
  `IDV_${name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`

const parseJson = Option.liftThrowable((text: string): unknown => JSON.parse(text))

/** Whether the schema is that of a `Redacted` text. */
const isSecret = (schema: unknown): boolean => Schema.isSchema(schema) && AST.isDeclaration(schema.ast)

/**
 * Reads the options from their variables, except for those in `overrides`, and checks all of them. A variable contains
 * the text of an option, or else the option as JSON, such as a number. An error names the variable.
 */
export const loadEnv = <A>(
  fields: object,
  overrides: object,
  check: Check<A>
): Effect.Effect<A, ConfigError.ConfigError> => {
  const given = Record.filter({ ...overrides }, (value) => value !== undefined)
  const read: Record.ReadonlyRecord<string, unknown> = Record.filter(
    { ...fields },
    (_, name) => !Object.hasOwn(given, name)
  )
  const toValue = (text: string, name: string): unknown => {
    if (isSecret(read[name])) return Redacted.make(text)
    const isText = !errorsOf(check({ ...given, [name]: text })).some(concerns(name))
    return isText ? text : Option.getOrElse(parseJson(text), () => text)
  }
  return Effect.flatMap(
    Config.all(Record.map(read, (_, name) => Config.option(Config.string(variableOf(name))))),
    (texts) => {
      const values = Record.map(Record.getSomes(texts), toValue)
      const nameVariable = (error: ConfigError.ConfigError): ConfigError.ConfigError => {
        if (error._op !== "InvalidData" || !Object.hasOwn(read, error.path[0] ?? "")) return error
        const [name = "", ...path] = error.path
        const make = Object.hasOwn(values, name) ? ConfigError.InvalidData : ConfigError.MissingData
        return make([variableOf(name), ...path], error.message)
      }
      return Either.mapLeft(
        check({ ...given, ...values }),
        (error) => flatten(error).map(nameVariable).reduce(ConfigError.And)
      )
    }
  )
}
