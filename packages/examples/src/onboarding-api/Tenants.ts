/**
 * Runs the program once for each tenant in `TENANTS`. Each has all variables of its own, which begin with its name, such
 * as `ACME_IDV_CUSTOMER_KEY` and `ACME_DATABASE_URL`: no handler can mix two tenants.
 */
import { Idv } from "@effect-idv/core"
import { Config, ConfigError, ConfigProvider, Context, Effect, Either, type Layer } from "effect"

/** The name of the tenant whose program this is, or `""` without `TENANTS`. */
export class Tenant extends Context.Reference<Tenant>()("onboarding-api/Tenant", { defaultValue: () => "" }) {}

/** Without the underscore, which separates the name from the variable. */
const tenants = Config.withDefault(Config.string("TENANTS"), "").pipe(
  Config.mapOrFail((text) => {
    const names = text.split(",").map((name) => name.trim()).filter((name) => name !== "")
    return names.every((name) => /^[A-Z][A-Z\d]{0,40}$/.test(name)) && new Set(names).size === names.length
      ? Either.right(names)
      : Either.left(
        ConfigError.InvalidData(
          ["TENANTS"],
          "should be different names in capital letters and digits, such as ACME,GLOBEX"
        )
      )
  })
)

const own = <A, E, R>(effect: Effect.Effect<A, E, R>, tenant: string) =>
  Effect.configProviderWith((provider) => Effect.withConfigProvider(effect, ConfigProvider.nested(provider, tenant)))

/** The complete names of the variables in an error: `Config` adds the tenant to the path, and an option schema does not. */
const nameVariables = (error: ConfigError.ConfigError, tenant: string): ConfigError.ConfigError => {
  if (error._op === "And" || error._op === "Or") {
    return ConfigError.And(nameVariables(error.left, tenant), nameVariables(error.right, tenant))
  }
  const path = error.path[0] === tenant ? error.path.slice(1) : error.path
  const make = error._op === "MissingData" ? ConfigError.MissingData : ConfigError.InvalidData
  return make([`${tenant}_${path.join(".")}`], error.message)
}

/**
 * Runs the program of each tenant until one fails. Its logs and metrics have the name of the tenant. Each has a network of
 * its own, from the variables of the process.
 */
export const forEach = <N, E, EN>(
  program: Effect.Effect<never, E, N>,
  network: Layer.Layer<N, EN>
): Effect.Effect<void, E | EN | ConfigError.ConfigError> =>
  Effect.gen(function*() {
    const names = yield* tenants
    if (names.length === 0) return yield* Effect.provide(program, network)
    yield* Effect.forEach(
      names,
      (tenant) =>
        own(program, tenant).pipe(
          Effect.mapError((error) => ConfigError.isConfigError(error) ? nameVariables(error, tenant) : error),
          Effect.provide(network),
          Effect.provideService(Tenant, tenant),
          Effect.annotateLogs({ tenant }),
          Effect.tagMetrics({ tenant })
        ),
      { concurrency: "unbounded", discard: true }
    )
  })

/** Describes the variables to correct, in one line. */
export const describe = (error: ConfigError.ConfigError): string =>
  Idv.describeConfigError(error).replaceAll("\n", "; ")
