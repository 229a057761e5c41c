/** A dynamic module as plain objects, without decorators, so that `tsconfig.json` needs no option for them. */
import { Idv } from "@effect-idv/core"
import { NodeHttpClient } from "@effect/platform-node"
import type { DynamicModule, FactoryProvider, OnApplicationShutdown } from "@nestjs/common"
import { type ConfigError, type Either, Layer, ManagedRuntime } from "effect"
import { type Decision, type Decisions, decisionsInMemory, type Issues, signUp } from "../screening.ts"

/** What a controller injects. */
export class ScreeningService implements OnApplicationShutdown {
  readonly #runtime: ManagedRuntime.ManagedRuntime<Idv.Idv | Decisions, ConfigError.ConfigError>

  constructor(runtime: ManagedRuntime.ManagedRuntime<Idv.Idv | Decisions, ConfigError.ConfigError>) {
    this.#runtime = runtime
  }

  /** Resolves with the stored decision or with what to correct, and rejects only for a defect. */
  signUp(body: unknown): Promise<Either.Either<Decision, Issues>> {
    return this.#runtime.runPromise(signUp(body))
  }

  /** Nest calls it after the last response if the program called `enableShutdownHooks`. */
  onApplicationShutdown(): Promise<void> {
    return this.#runtime.dispose()
  }
}

type Client = Layer.Layer<Idv.Idv | Decisions, ConfigError.ConfigError>

/** Replace the table in memory by one of your database. */
const layerEnv = Layer.merge(Layer.provide(Idv.layerEnv(), NodeHttpClient.layerUndici), decisionsInMemory())

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
  static forRoot(client: Client = layerEnv): DynamicModule {
    return { module: IdvModule, global: true, providers: [provider(client)], exports: [ScreeningService] }
  }
}
