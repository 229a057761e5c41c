import { HttpClient, HttpClientResponse } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Chunk, Effect, Redacted, Ref, Schema } from "effect"
import { MockServer } from "../../mock-server/src/index.ts"
import * as Conformance from "../src/Conformance.ts"
import * as Contract from "../src/Contract.ts"

const target: Conformance.Target = {
  kind: "sandbox",
  authUrl: "http://localhost",
  baseUrl: "http://localhost",
  customerId: "demo-customer",
  customerKey: Redacted.make("demo-key"),
  budget: 10_000,
  spacing: 0,
  wrongKeys: true
}

const Pair = Schema.Struct({ name: Schema.String, value: Schema.String })

/** What HAR 1.2 requires of an entry. */
const Har = Schema.parseJson(Schema.Struct({
  log: Schema.Struct({
    version: Schema.Literal("1.2"),
    creator: Schema.Struct({ name: Schema.String, version: Schema.String }),
    entries: Schema.Array(Schema.Struct({
      startedDateTime: Schema.Date,
      time: Schema.Number,
      request: Schema.Struct({
        method: Schema.String,
        url: Schema.String,
        headers: Schema.Array(Pair),
        postData: Schema.optional(Schema.Struct({ mimeType: Schema.String, text: Schema.String }))
      }),
      response: Schema.Struct({
        status: Schema.Number,
        statusText: Schema.String,
        headers: Schema.Array(Pair),
        content: Schema.Struct({ size: Schema.Number, mimeType: Schema.String, text: Schema.optional(Schema.String) })
      })
    }))
  })
}))

/** A run with its HAR. */
const recorded = (cases: ReadonlyArray<Conformance.Case>, changed: Partial<Conformance.Target> = {}) =>
  Effect.gen(function*() {
    const exchanges = yield* Ref.make(Chunk.empty<Conformance.MaskedExchange>())
    const report = yield* Conformance.verify({ ...target, ...changed }, yield* Contract.load(), {
      cases,
      onExchange: (exchange) => Ref.update(exchanges, Chunk.append(exchange))
    })
    const text = Conformance.toHar(Chunk.toReadonlyArray(yield* Ref.get(exchanges)), { version: "1" })
    return { report, text, entries: (yield* Schema.decode(Har)(text)).log.entries }
  }).pipe(Effect.provide(NodeContext.layer))

const persons = ["Zoë", "Zo%C3", "Testclear", "Testpep", "Иван", "Noor", "Ida", "Otto", "1990", "1957", "1980"]

describe("The HAR of a run", () => {
  it.live("has every request and response, without a person, an id, a key or a token", () =>
    Effect.gen(function*() {
      const { entries, report, text } = yield* recorded(
        Conformance.cases.filter(({ steps }, i) => i < 100 || i % 5 === 0 && steps.length < 5)
      )
      strictEqual(entries.length, report.requests)
      deepStrictEqual([...persons, "demo-key", "demo-customer"].filter((canary) => text.includes(canary)), [])
      const [token] = entries
      const check = entries.find(({ request, response }) => request.url.endsWith("/api/aml") && response.status === 200)
      deepStrictEqual(token?.request.headers[0], {
        name: "authorization",
        value: "Basic base64($IDV_CUSTOMER_ID:$IDV_CUSTOMER_KEY)"
      })
      strictEqual(
        token?.response.content.text,
        "{\"access_token\":\"(hidden)\",\"token_type\":\"Bearer\",\"expires_in\":3600}"
      )
      assertInclude(check?.response.content.text, "\"match_found\":\"No\"")
      assert(entries.some(({ response }) => response.status === 422))
    }).pipe(Effect.provide(MockServer.layerHttpClient)))

  it.live("says that an unknown key was sent where the customer's may be logged", () =>
    Effect.gen(function*() {
      const { text } = yield* recorded(
        Conformance.cases.filter(({ id }) => id === "aml.authorization.customer"),
        { wrongKeys: false }
      )
      assertInclude(text, "Basic base64($UNKNOWN_ID:$UNKNOWN_KEY)")
      strictEqual(text.includes("Bearer $IDV_CUSTOMER"), false)
    }).pipe(Effect.provide(MockServer.layerHttpClient)))

  it.live("hides what a service writes into names and values that the document does not show", () =>
    Effect.gen(function*() {
      const body = {
        "access_token": "canary-token",
        "canary-name": "No",
        "expires_in": "canary",
        "error": "canary-error",
        "data": { "token": ["canary", { "canary": 19900201 }] },
        "match_found": "canary",
        "searched_on": "1990-02-01 00:00:00"
      }
      const canaries = HttpClient.make((request) =>
        Effect.succeed(HttpClientResponse.fromWeb(
          request,
          request.url.endsWith("/oauth/service")
            ? Response.json(body, {
              headers: {
                "x-canary": "canary",
                "cache-control": "no-store; canary",
                "www-authenticate": "canary realm=\"canary\"",
                "content-type": "application/json; canary"
              }
            })
            : new Response("canary 01-02-1990", {
              headers: { "content-type": "text/plain", "location": "/canary", "cache-control": "zoe-canary, no-store" }
            })
        ))
      )
      const { entries, text } = yield* Effect.provideService(
        recorded(Conformance.cases.filter(({ id }) => id === "token.granted" || id === "aml.answered")),
        HttpClient.HttpClient,
        canaries
      )
      strictEqual(/canary|1990/.exec(text), null)
      deepStrictEqual(entries.map(({ response }) => [response.status, response.content.mimeType]), [
        [200, "application/json"],
        // The request that shows a web page, and then the check.
        [200, "text/plain"],
        [200, "text/plain"]
      ])
    }))

  it.live("says why a request has no response", () =>
    Effect.gen(function*() {
      const late = HttpClient.make(() => Effect.never)
      const exchanges = yield* Ref.make(Chunk.empty<Conformance.MaskedExchange>())
      yield* Conformance.verify({ ...target, deadline: 1 }, yield* Contract.load(), {
        cases: Conformance.cases.filter(({ id }) => id === "token.granted"),
        onExchange: (exchange) => Ref.update(exchanges, Chunk.append(exchange))
      }).pipe(Effect.provideService(HttpClient.HttpClient, late))
      const har = yield* Schema.decode(Har)(Conformance.toHar(Chunk.toReadonlyArray(yield* Ref.get(exchanges))))
      deepStrictEqual(har.log.entries.map(({ response: { status, statusText } }) => [status, statusText]), [
        [0, "no response in time"]
      ])
    }).pipe(Effect.provide(NodeContext.layer)))
})
