/**
 * The other side of the contract: the server that these tests stand on does what the reference contract
 * says. Give it your sandbox as the target, and you know whether they hold there as well.
 */
import { describeConformance } from "@effect-idv/contract/Vitest"
import { MockServer } from "@effect-idv/mock-server"
import { Context, Effect, Layer } from "effect"

describeConformance("The mock server", {
  target: Effect.gen(function*() {
    const { url } = Context.get(yield* Layer.build(MockServer.layerTest), MockServer.MockServer)
    return { kind: "mock", authUrl: url, baseUrl: url }
  })
})
