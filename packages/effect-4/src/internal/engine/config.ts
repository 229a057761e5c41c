/** Reads the variables of the engine from the `ConfigProvider` of Effect 4, and converts its errors. */
import * as Cause3 from "effect-3/Cause"
import type * as Config3 from "effect-3/Config"
import * as ConfigError3 from "effect-3/ConfigError"
import * as ConfigProvider3 from "effect-3/ConfigProvider"
import * as PathPatch3 from "effect-3/ConfigProviderPathPatch"
import * as Effect3 from "effect-3/Effect"
import * as HashSet3 from "effect-3/HashSet"
import * as Config from "effect/Config"
import type * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as Effects from "./effects.ts"

/** The provider of the engine. Its variables have a name of one part. */
export const fromProvider = (provider: ConfigProvider.ConfigProvider): ConfigProvider3.ConfigProvider =>
  ConfigProvider3.fromFlat(ConfigProvider3.makeFlat({
    patch: PathPatch3.empty,
    enumerateChildren: () => Effect3.succeed(HashSet3.empty()),
    load: <A>(path: ReadonlyArray<string>, primitive: Config3.Config.Primitive<A>) =>
      Effect3.flatMap(
        Effects.embed(Config.option(Config.String(path.join("."))).parse(provider), Context.empty(), {
          onSuccess: Option.getOrUndefined,
          onFailure: () => ConfigError3.SourceUnavailable([...path], "cannot be read", Cause3.empty)
        }),
        (text): Effect3.Effect<Array<A>, ConfigError3.ConfigError> =>
          text === undefined
            ? Effect3.fail(ConfigError3.MissingData([...path], `Expected ${path.join(".")} to exist in the provider`))
            : Effect3.map(primitive.parse(text), (value) => [value])
      )
  }))

interface Problem {
  readonly path: ReadonlyArray<string>
  readonly message: string
}

const problemsOf3 = (error: ConfigError3.ConfigError): ReadonlyArray<Problem> => {
  switch (error._op) {
    case "And":
    case "Or":
      return [...problemsOf3(error.left), ...problemsOf3(error.right)]
    case "MissingData":
      return [{
        path: error.path,
        message: /^Expected .* to exist in /.test(error.message) ? "is missing" : `is missing: it ${error.message}`
      }]
    default:
      return [error]
  }
}

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** The problems of an error of Effect 4. */
export const problemsOf = ({ cause }: Config.ConfigError): ReadonlyArray<Problem> =>
  Schema.isSchemaError(cause)
    ? format(cause.issue).issues.map(({ message, path = [] }) => ({ path: path.map(String), message }))
    : [{ path: [], message: "The configuration cannot be read" }]

/** Makes an error of Effect 4 that names every problem. */
export const makeError = (problems: ReadonlyArray<Problem>): Config.ConfigError => {
  const [first = new SchemaIssue.InvalidValue({ message: "is not valid" }), ...others] = problems.map(
    ({ message, path }) => new SchemaIssue.Pointer(path, new SchemaIssue.InvalidValue({ message }))
  )
  return new Config.ConfigError(
    new Schema.SchemaError(new SchemaIssue.Composite(Schema.Unknown.ast, [first, ...others]))
  )
}

export const toError = (error: ConfigError3.ConfigError): Config.ConfigError => makeError(problemsOf3(error))

/** Removes what may be a value: only an expectation in the format of `Schema` is kept. */
const withoutValue = ({ message, path }: Problem): Problem => ({
  path,
  message: /^(Expected|Missing) [^"]*$/.test(message) ? message : "has a value that cannot be used"
})

const leavesOf = (config: unknown): ReadonlyArray<Config.Config<unknown>> =>
  Config.isConfig(config) ? [config] : typeof config === "object" && config !== null
    ? Object.values(config).flatMap(leavesOf)
    : []

/** Loads a configuration. The error names all that cannot be loaded, and contains no value. */
export const load = <A>(config: Config.Wrap<A>): Effect.Effect<A, Config.ConfigError> =>
  Effect.catch(Config.unwrap(config), () =>
    Effect.flatMap(
      Effect.forEach(leavesOf(config), (leaf) => Effect.match(leaf, { onSuccess: () => [], onFailure: problemsOf })),
      (problems) => Effect.fail(makeError(problems.flat().map(withoutValue)))
    ))
