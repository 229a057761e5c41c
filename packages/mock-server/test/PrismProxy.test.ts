/**
 * Sends the end-to-end checks of the client through Prism, a proxy that validates each request and response against the
 * handwritten OpenAPI document of the contract.
 *
 * Some tests bypass the proxy, because no validating proxy can forward them:
 *
 * - Broken connections, framing and bodies, and bytes that are not HTTP (such as `Testcut` and `Testhang`). Prism sends
 *   its own response, or none.
 * - Responses that violate the contract on purpose (such as `Testhtml`). Prism must find these violations.
 * - The variants of a profile: the OpenAPI document describes the default.
 */
import { Control, MockServer, Session } from "@effect-idv/mock-server"
import { HttpClient, HttpClientRequest } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, layer } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Duration, Effect, Layer } from "effect"
import * as Contract from "../../contract/src/Contract.ts"
import * as Prism from "../../contract/test/support/prism.ts"
import { clients } from "../../core/test/support/clients.ts"
import * as EndToEnd from "./support/endToEnd.ts"

/** Every response that the client received. */
const got: Array<{ readonly status: number; readonly violations: string | undefined }> = []

const recording = (layerClient: Layer.Layer<HttpClient.HttpClient>) =>
  Layer.provide(
    Layer.effect(
      HttpClient.HttpClient,
      Effect.map(
        HttpClient.HttpClient,
        HttpClient.tap(({ headers, status }) =>
          Effect.sync(() => got.push({ status, violations: headers["sl-violations"] }))
        )
      )
    ),
    layerClient
  )

const layerPrism = Layer.provideMerge(Prism.layer(Contract.pathOf("openapi.yaml")), MockServer.layerTest)

const inTime = Effect.timeout(Duration.minutes(4))

layer(layerPrism, { excludeTestServices: true, timeout: Duration.minutes(4) })((it) => {
  describe.each(clients)("The client through Prism, with %s", (clientName, layerClient) => {
    it.effect.each(EndToEnd.names)(
      "%s",
      (name) => inTime(EndToEnd.run(name, `prism-${clientName}`, recording(layerClient))),
      EndToEnd.concurrent
    )

    it.effect("fails with a wrong key", () => inTime(EndToEnd.wrongKey(recording(layerClient))))
  })

  describe("Prism", () => {
    it.effect("sees every request, and finds no violation in any request or response", () =>
      Effect.gen(function*() {
        yield* Prism.linesFrom(0, Prism.isRequest, got.length)
        const lines = yield* Effect.delay(Effect.flatMap(Prism.Prism, ({ log }) => log), "200 millis")
        strictEqual(got.length >= 60, true, `${got.length}`)
        deepStrictEqual(lines.filter(Prism.isViolation), [])
        strictEqual(lines.filter(Prism.isRequest).length, got.length)
        deepStrictEqual(got.filter(({ violations }) => violations !== undefined), [])
        deepStrictEqual(
          Array.from(new Set(got.map(({ status }) => status))).toSorted(),
          [200, 401, 403, 429, 500, 503]
        )
      }))
  })

  describe("Prism finds", () => {
    /** A customer, and how many lines Prism has printed so far. */
    const setUp = (customerId: `test-${string}`) =>
      Effect.gen(function*() {
        const { log } = yield* Prism.Prism
        const { url } = yield* MockServer.MockServer
        const control = yield* Control.Control
        const customer = Session.testCustomer(customerId)
        yield* control.create(customer)
        return { control: control.session(customerId), customer, from: (yield* log).length, url }
      })

    it.effect.each(
      [
        ["an unlisted match_found", "unknownMatch", "match_found"],
        ["a page of HTML", "html", "media type"],
        ["a token response without a token", "status", "access_token"]
      ] as const
    )("%s", ([, kind, expected]) =>
      Effect.gen(function*() {
        const { control, customer, from } = yield* setUp(`test-prism-${kind}`)
        yield* kind === "status"
          ? control.fault({
            on: "token",
            what: { kind, status: 200, contentType: "application/json", body: "{\"token_type\":\"Bearer\"}" }
          })
          : control.fault({ on: "aml", what: { kind } })
        const before = got.length
        const error = yield* Effect.flip(EndToEnd.screen("Zoë Testpep")).pipe(
          Effect.provide(EndToEnd.layerIdv(customer, recording(NodeHttpClient.layerUndici)))
        )
        assert.deepInclude(error, { status: 500 })
        const found = got.slice(before).map(({ violations = "" }) => violations)
        assertInclude(found.at(-1), expected)
        yield* Prism.linesFrom(from, Prism.isViolation, found.filter((violations) => violations !== "").length)
      }).pipe(inTime))

    it.effect.each(
      [
        ["a date of birth in another format", { entity_type: "person", name: "Zoë Testpep", dob: "1957-03-14" }, "dob"],
        ["a missing name", { entity_type: "person", dob: "14-03-1957" }, "name"],
        ["another entity type", { entity_type: "company", name: "Zoë Testpep", dob: "14-03-1957" }, "entity_type"],
        ["an additional field", { entity_type: "person", name: "Zoë", dob: "14-03-1957", key: 1 }, "additional"]
      ] as const
    )("%s", ([, body, expected]) =>
      Effect.gen(function*() {
        const { from, url } = yield* setUp(`test-prism-${expected}`)
        const response = yield* HttpClientRequest.post(`${url}/api/aml`).pipe(
          HttpClientRequest.bearerToken("any"),
          HttpClientRequest.bodyUnsafeJson(body),
          HttpClient.execute
        )
        strictEqual(response.status, 422)
        const problem = yield* response.text
        assertInclude(problem, "stoplight.io/prism/errors")
        assertInclude(problem, expected)
        yield* Prism.linesFrom(from, Prism.isViolation, 1)
      }).pipe(Effect.scoped, Effect.provide(NodeHttpClient.layerUndici), inTime))
  })
})
