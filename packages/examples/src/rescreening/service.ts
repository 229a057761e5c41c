/** The service of the `IDV_*` variables if there are any, else the mock server inside this process. */
import { Idv } from "@effect-idv/core"
import { MockServer } from "@effect-idv/mock-server"
import { EncryptionKeys, People } from "@effect-idv/rescreening"
import { NodeHttpClient } from "@effect/platform-node"
import { ConfigProvider, Console, Effect, HashSet, Layer, Redacted } from "effect"

/** The people of the mock server are fictional, so this key protects nobody. */
const demoKey = Redacted.make(`demo:${Buffer.alloc(32, "demo").toString("base64")}`)

const mock = MockServer.MockServer.pipe(
  Effect.tap(({ url }) => Console.log(`No IDV_* variable is set: the mock server runs in this process at ${url}.`)),
  Effect.map(({ options }) => Idv.layer(options)),
  Layer.unwrapEffect,
  Layer.provide(MockServer.layerTest),
  Layer.merge(Layer.unwrapEffect(Effect.map(EncryptionKeys.make(demoKey), People.layerEncrypted)))
)

/** Any variable that starts with `IDV_` asks for the service: a misspelt one never ends at the mock. */
export const layer = ConfigProvider.fromEnv({ pathDelim: "_" }).flattened.enumerateChildren(["IDV"]).pipe(
  Effect.map((names) => HashSet.size(names) > 0 ? Layer.merge(Idv.layerEnv(), People.layerEnv) : mock),
  Layer.unwrapEffect,
  Layer.provide(NodeHttpClient.layerUndici)
)
