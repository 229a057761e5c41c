import type { AmlClient } from "@effect-idv/effect-4"
import { Effect, Layer, References } from "effect"
import { HttpRouter } from "effect/http"
import { deepStrictEqual } from "node:assert"
import { describe, it } from "vitest"
import { routes } from "../examples/signUp.ts"
import * as Client from "./support/client.ts"

const server = Client.useServer()

const signUp = (layer: Layer.Layer<AmlClient.AmlClient, unknown>, body: unknown) =>
  Effect.gen(function*() {
    const quiet = Layer.succeed(References.MinimumLogLevel, "None")
    const { dispose, handler } = HttpRouter.toWebHandler(
      Layer.provide(routes, [Layer.orDie(layer), quiet]),
      { disableLogger: true }
    )
    yield* Effect.addFinalizer(() => Effect.promise(dispose))
    const request = new Request("http://localhost/sign-up", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body)
    })
    const response = yield* Effect.promise(() => handler(request))
    return { status: response.status, body: yield* Effect.promise(() => response.text()) }
  })

describe("the sign-up over HTTP", () => {
  it("clears a customer only after a No, and does not tell a match from a failure", () =>
    Effect.runPromise(Effect.scoped(Effect.gen(function*() {
      const session = yield* server.session
      const layer = server.layer(session)
      deepStrictEqual(yield* signUp(layer, Client.ada), { status: 201, body: "{\"status\":\"active\"}" })
      const matched = yield* signUp(layer, Client.pep)
      deepStrictEqual(matched.status, 503)
      deepStrictEqual(yield* signUp(layer, { ...Client.ada, name: "Mr Ada Testclear" }), matched)
      yield* Effect.promise(() => session.fault({ on: "aml", what: { kind: "status", status: 500 } }))
      deepStrictEqual(yield* signUp(layer, Client.ada), matched)
    }))))

  it("names the fields to correct", () =>
    Effect.runPromise(Effect.scoped(Effect.gen(function*() {
      const layer = server.layer(yield* server.session)
      deepStrictEqual(yield* signUp(layer, { name: "n/a", dateOfBirth: "03/04/1980" }), {
        status: 422,
        body: JSON.stringify({
          issues: [{ field: "name", code: "placeholder" }, { field: "dateOfBirth", code: "format" }]
        })
      })
      deepStrictEqual((yield* signUp(layer, { name: "Ada" })).status, 400)
    }))))
})
