/**
 * Checks that the server which the other tests use follows the reference contract. Set the target to your
 * sandbox to check that those tests also hold there.
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
