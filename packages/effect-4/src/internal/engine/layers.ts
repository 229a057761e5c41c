/** Builds layers of the engine in the scope of a layer of Effect 4. */
import type * as ConfigError3 from "effect-3/ConfigError"
import * as Context3 from "effect-3/Context"
import * as Effect3 from "effect-3/Effect"
import * as Exit3 from "effect-3/Exit"
import * as Layer3 from "effect-3/Layer"
import * as Scope3 from "effect-3/Scope"
import type * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import * as ConfigOf from "./config.ts"
import * as Effects from "./effects.ts"
import * as Values from "./values.ts"

/** A scope of the engine that ends with that of Effect 4. */
export const scope: Effect.Effect<Scope3.CloseableScope, never, Scope.Scope> = Effect.acquireRelease(
  Effects.run(Scope3.make(), { onSuccess: Values.same, onFailure: Values.same }),
  (scope, exit) =>
    Effects.run(Scope3.close(scope, Exit.isSuccess(exit) ? Exit3.void : Exit3.interrupt(Values.noFiber)), {
      onSuccess: Values.same,
      onFailure: Values.same
    })
)

/** Builds a layer with what it requires. Its variables come from the `ConfigProvider` of the caller. */
export const buildWith = <A3, R3>(
  layer: Layer3.Layer<A3, ConfigError3.ConfigError, R3>,
  requirements: Context3.Context<R3>
): Effect.Effect<Context3.Context<A3>, Config.ConfigError, Scope.Scope> =>
  Effect.gen(function*() {
    const provider = Context.get(yield* Effect.context<never>(), ConfigProvider.ConfigProvider)
    const build = Effect3.provide(Layer3.buildWithScope(layer, yield* scope), requirements)
    return yield* Effects.run(Effect3.withConfigProvider(build, ConfigOf.fromProvider(provider)), {
      onSuccess: Values.same,
      onFailure: ConfigOf.toError
    })
  })

export const build = <A3>(layer: Layer3.Layer<A3, ConfigError3.ConfigError>) => buildWith(layer, Context3.empty())
