/** A dynamic module as plain objects, without decorators, so that `tsconfig.json` needs no option for them. */
import { Idv } from "@effect-idv/core"
import { NodeHttpClient } from "@effect/platform-node"
import type { DynamicModule, FactoryProvider, OnApplicationShutdown } from "@nestjs/common"
import { type ConfigError, Layer, ManagedRuntime } from "effect"
import { type Result, screen } from "../screening.ts"

/** What a controller injects. */
export class ScreeningService implements OnApplicationShutdown {
  readonly #runtime: ManagedRuntime.ManagedRuntime<Idv.Idv, ConfigError.ConfigError>

  constructor(runtime: ManagedRuntime.ManagedRuntime<Idv.Idv, ConfigError.ConfigError>) {
    this.#runtime = runtime
  }

  /** Resolves with the decision or with the error of the check, and rejects only for a defect. */
  screen(body: unknown): Promise<Result> {
    return this.#runtime.runPromise(screen(body))
  }

  /** Nest calls it after the last response if the program called `enableShutdownHooks`. */
  onApplicationShutdown(): Promise<void> {
    return this.#runtime.dispose()
  }
}

type Client = Layer.Layer<Idv.Idv, ConfigError.ConfigError>

const provider = (client: Client): FactoryProvider<ScreeningService> => ({
  provide: ScreeningService,
  useFactory: async () => {
    const runtime = ManagedRuntime.make(client)
    // Nest does not start if a variable is missing.
    await runtime.runtime()
    return new ScreeningService(runtime)
  }
})

export class IdvModule {
  static forRoot(client: Client = Layer.provide(Idv.layerEnv(), NodeHttpClient.layerUndici)): DynamicModule {
    return { module: IdvModule, global: true, providers: [provider(client)], exports: [ScreeningService] }
  }
}
