/** The service of the `IDV_*` variables if there are any, else the mock server inside this process. */
import { Idv } from "@effect-idv/core"
import { MockServer } from "@effect-idv/mock-server"
import { NodeHttpClient } from "@effect/platform-node"
import { ConfigProvider, Console, Effect, HashSet, Layer } from "effect"

const layerMock = MockServer.MockServer.pipe(
  Effect.tap(({ url }) =>
    Console.log(`No IDV_* variable is set: this is the mock server, in this process, at ${url}.`)
  ),
  Effect.map(({ options }) => Idv.layer(options)),
  Layer.unwrapEffect,
  Layer.provide(MockServer.layerTest)
)

/** Any variable that starts with `IDV_` asks for the service: a misspelt one never ends at the mock. */
export const layer = ConfigProvider.fromEnv({ pathDelim: "_" }).flattened.enumerateChildren(["IDV"]).pipe(
  Effect.map((names) => HashSet.size(names) > 0 ? Idv.layerEnv : layerMock),
  Layer.unwrapEffect,
  Layer.provide(NodeHttpClient.layerUndici)
)
