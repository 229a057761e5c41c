import { Idv } from "@effect-idv/core"
import { Control, MockServer } from "@effect-idv/mock-server"
import { HttpBody, HttpClient, HttpClientRequest } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import {
  Array as Arr,
  Context,
  Deferred,
  Effect,
  Either,
  Exit,
  Fiber,
  Layer,
  Redacted,
  Runtime,
  Scope,
  Stream,
  TestClock
} from "effect"
import { createConnection } from "node:net"
import { clients } from "../../core/test/support/clients.ts"
import * as EndToEnd from "./support/endToEnd.ts"

/** The client on any `HttpClient`, as the first customer of the mock server. */
const layerIdv = Layer.unwrapEffect(Effect.map(MockServer.MockServer, ({ options }) => Idv.layer(options)))

/** The sent requests by path. */
const layerCounting = (paths: Array<string>) =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(
      HttpClient.HttpClient,
      HttpClient.tapRequest(({ url }) => Effect.sync(() => paths.push(new URL(url).pathname)))
    )
  )

const count = (paths: ReadonlyArray<string>, path: string) => paths.filter((other) => other === path).length

describe("The client against the mock, in process and under the TestClock", () => {
  it.effect("100 checks send 1 token request, still 1 after 38 minutes, and 2 after 60", () => {
    const paths: Array<string> = []
    return Effect.gen(function*() {
      const fibers = yield* Effect.forkAll(
        Arr.makeBy(100, (i) => EndToEnd.screen(i % 2 === 0 ? "A Testclear" : "B Testpep"))
      )
      const answers = yield* Fiber.join(fibers)
      deepStrictEqual(answers, Arr.makeBy(100, (i) => i % 2 === 0 ? "No" : "Potential match"))
      strictEqual(count(paths, "/oauth/service"), 1)
      strictEqual(count(paths, "/api/aml"), 100)

      yield* TestClock.setTime(38 * 60_000)
      strictEqual(yield* EndToEnd.screen("A Testclear"), "No")
      strictEqual(count(paths, "/oauth/service"), 1)

      yield* TestClock.setTime(60 * 60_000)
      strictEqual(yield* EndToEnd.screen("A Testclear"), "No")
      strictEqual(count(paths, "/oauth/service"), 2)
    }).pipe(
      Effect.provide(Layer.provide(layerIdv, layerCounting(paths)).pipe(Layer.provide(MockServer.layerHttpClient)))
    )
  })

  it.effect("a token that expires early is renewed, and the check is replayed", () => {
    const paths: Array<string> = []
    const layer = Layer.provide(layerIdv, layerCounting(paths)).pipe(Layer.provideMerge(MockServer.layerHttpClient))
    return Effect.gen(function*() {
      strictEqual(yield* EndToEnd.screen("A Testclear"), "No")
      const { session } = yield* Control.Control
      yield* session("demo-customer").advance("61 minutes")
      strictEqual(yield* EndToEnd.screen("B Testpep"), "Potential match")
      deepStrictEqual(paths, ["/oauth/service", "/api/aml", "/api/aml", "/oauth/service", "/api/aml"])
    }).pipe(Effect.provide(layer))
  })

  it.effect.each(["Testreset", "Testcut", "Testempty", "Testecho"])(
    "%s fails at once, in the time of the TestClock",
    (word) =>
      Effect.gen(function*() {
        assert((yield* Effect.flip(EndToEnd.screen(`Ada ${word}`)))._tag.startsWith("Aml"))
      }).pipe(Effect.provide(Layer.provide(layerIdv, MockServer.layerHttpClient)))
  )

  it.effect("accepts every kind of request body, as a socket does", () => {
    const form = new FormData()
    form.set("grant_type", "client_credentials")
    const bodies: ReadonlyArray<readonly [HttpBody.HttpBody, number]> = [
      [HttpBody.text("grant_type=client_credentials", "application/x-www-form-urlencoded"), 200],
      [HttpBody.raw("grant_type=client_credentials", { contentType: "application/x-www-form-urlencoded" }), 200],
      [
        HttpBody.stream(
          Stream.make("grant_type=", "client_credentials").pipe(Stream.encodeText),
          "application/x-www-form-urlencoded"
        ),
        200
      ],
      [HttpBody.formData(form), 415],
      [HttpBody.empty, 415]
    ]
    return Effect.forEach(bodies, ([body, expected]) =>
      Effect.gen(function*() {
        const response = yield* HttpClientRequest.post("http://localhost/oauth/service").pipe(
          HttpClientRequest.basicAuth("demo-customer", "demo-key"),
          HttpClientRequest.setBody(body),
          HttpClient.execute
        )
        strictEqual(response.status, expected)
      })).pipe(Effect.provide(MockServer.layerHttpClient))
  })

  it.effect("a wrong key fails with TokenRejected", () => {
    const layer = MockServer.MockServer.pipe(
      Effect.map(({ options }) => Idv.layer({ ...options, customerKey: Redacted.make("wrong") })),
      Layer.unwrapEffect,
      Layer.provide(MockServer.layerHttpClient)
    )
    return Effect.gen(function*() {
      assert.deepInclude(yield* Effect.flip(EndToEnd.screen("A Testclear")), {
        _tag: "TokenRejected",
        status: 401,
        code: "invalid_client"
      })
    }).pipe(Effect.provide(layer))
  })
})

describe.each(clients)("The client against the mock on a socket, with %s", (clientName, layerClient) => {
  it.live.each(EndToEnd.names)(
    "%s",
    (name) => Effect.provide(EndToEnd.run(name, clientName, layerClient), MockServer.layerTest),
    EndToEnd.concurrent
  )

  it.live("fails with a wrong key", () => Effect.provide(EndToEnd.wrongKey(layerClient), MockServer.layerTest))
})

describe("MockServer", () => {
  it.effect("begins and removes no session for a wrong key", () =>
    Effect.gen(function*() {
      const { session, sessions, unmatchedRequests } = yield* Control.Control
      const request = HttpClientRequest.post("http://localhost/oauth/service").pipe(
        HttpClientRequest.basicAuth("test-nobody", "wrong"),
        HttpClientRequest.setBody(HttpBody.text("grant_type=client_credentials", "application/x-www-form-urlencoded"))
      )
      strictEqual((yield* HttpClient.execute(request)).status, 401)
      deepStrictEqual((yield* sessions).map(({ customerId }) => customerId), ["demo-customer"])
      deepStrictEqual((yield* unmatchedRequests()).entries.map(({ rule }) => rule), ["token.credentials"])
      strictEqual((yield* Effect.flip(session("test-nobody").info))._tag, "SessionUnknown")
    }).pipe(Effect.provide(MockServer.layerHttpClient)))

  it.effect("fires no fault for a token that it never issued", () =>
    Effect.gen(function*() {
      const { session } = yield* Control.Control
      const demo = session("demo-customer")
      yield* demo.fault({ on: "aml", when: { kind: "nth", n: 1 }, what: { kind: "status" } })
      const forged = HttpClientRequest.post("http://localhost/api/aml").pipe(
        HttpClientRequest.bearerToken(`${Buffer.from("demo-customer").toString("base64url")}.0000`)
      )
      strictEqual((yield* HttpClient.execute(forged)).status, 401)
      deepStrictEqual((yield* demo.faults).map(({ fired, seen }) => [seen, fired]), [[0, 0]])
    }).pipe(Effect.provide(MockServer.layerHttpClient)))

  it.effect("responds with 500 to its own defect, and records it without the message", () =>
    Effect.gen(function*() {
      const { unmatchedRequests } = yield* Control.Control
      strictEqual((yield* HttpClient.get("http://localhost/nowhere")).status, 500)
      const [, entry] = (yield* unmatchedRequests()).entries
      assert.deepInclude(entry, { rule: "server.defect", unexpected: false })
      strictEqual(JSON.stringify(entry).includes("canary"), false)
    }).pipe(
      Effect.provide(MockServer.layerHttpClientWith({
        onExchange: ({ rule }) => rule === "server.defect" ? Effect.void : Effect.die(new Error("canary"))
      }))
    ))

  it.scopedLive("reports a port in use and a host of another machine as a readable error", () =>
    Effect.gen(function*() {
      const start = (options: MockServer.Options) =>
        Effect.either(Layer.build(MockServer.layer(options))).pipe(
          Effect.map(Either.match({ onLeft: ({ message }) => message, onRight: () => "started" }))
        )
      const { url } = Context.get(yield* Layer.build(MockServer.layerTest), MockServer.MockServer)
      const port = Number(new URL(url).port)
      strictEqual(yield* start({ port }), `Cannot listen on 127.0.0.1:${port}: the port is in use`)
      for (const port of [-1, 65_536, 80.5, Number.NaN]) {
        strictEqual(
          yield* start({ port }),
          `Cannot listen on 127.0.0.1:${port}: a port must be a whole number from 0 to 65535`
        )
      }
      strictEqual(
        yield* start({ port: 0, host: "192.0.2.1", controlToken: Redacted.make("control") }),
        "Cannot listen on 192.0.2.1:0: the host is not an address of this machine"
      )
    }))

  it.effect("stops even if a client keeps a silent connection, also under the TestClock", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const context = yield* Layer.build(MockServer.layerTest).pipe(Scope.extend(scope))
      const { port } = new URL(Context.get(context, MockServer.MockServer).url)
      const closed = yield* Deferred.make<void>()
      const runtime = yield* Effect.runtime()
      yield* Effect.async<void>((resume) => {
        const socket = createConnection(Number(port), "127.0.0.1", () => resume(Effect.void))
        socket.on("error", () => {})
        socket.on("close", () => Runtime.runSync(runtime)(Deferred.succeed(closed, undefined)))
      })
      yield* Scope.close(scope, Exit.void)
      yield* Deferred.await(closed)
    }), 5000)

  it.scopedLive("provides valid options for Idv.layer, also on another loopback address", () =>
    Effect.gen(function*() {
      const { options } = Context.get(
        yield* Layer.build(MockServer.layer({ host: "127.0.0.2", port: 0 })),
        MockServer.MockServer
      )
      strictEqual(options.allowInsecure, true)
      yield* Layer.build(Layer.provide(Idv.layer(options), NodeHttpClient.layerUndici))
    }))

  it.scopedLive("listens on loopback by default", () =>
    Effect.gen(function*() {
      const { url } = Context.get(yield* Layer.build(MockServer.layerTest), MockServer.MockServer)
      strictEqual(new URL(url).hostname, "127.0.0.1")
    }))
})
