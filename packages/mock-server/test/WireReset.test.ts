/** A connection reset arrives after the bytes that were sent before it. */
import { Control, MockServer } from "@effect-idv/mock-server"
import { assert, layer } from "@effect/vitest"
import { strictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import * as RawClient from "./support/rawClient.ts"

layer(MockServer.layerTest, { excludeTestServices: true })("A reset", (it) => {
  it.effect("in the body comes 50 ms after the bytes before it, so that the client can read them", () =>
    Effect.gen(function*() {
      const { url } = yield* MockServer.MockServer
      const { fault } = (yield* Control.Control).session("test-reset-pause")
      const token = yield* RawClient.token(url, "test-reset-pause")
      yield* fault({ on: "aml", what: { kind: "reset", at: "body" } })
      for (let count = 0; count < 5; count++) {
        const { end, millis, text } = yield* RawClient.send(url, RawClient.amlRequest(token, "Ada Testclear"))
        strictEqual(end, "reset")
        assert(text.startsWith("HTTP/1.1 200 OK\r\n"))
        assert(millis >= 45, `${millis} ms after the request`)
      }
    }))
})
