/** Runs the conformance suite with the user's own vitest. */
import { describeConformance } from "@effect-idv/contract/Vitest"
import { MockServer } from "@effect-idv/mock-server"
import { Context, Effect, Layer } from "effect"

describeConformance("The mock server", {
  target: Effect.gen(function*() {
    const { url } = Context.get(yield* Layer.build(MockServer.layerTest), MockServer.MockServer)
    return { kind: "mock", authUrl: url, baseUrl: url }
  })
})
