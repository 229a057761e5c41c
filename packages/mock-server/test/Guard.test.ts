import { Control, MockServer, Session } from "@effect-idv/mock-server"
import { Headers, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { ConfigProvider, Effect, Either, Exit, Layer, Redacted, TestServices } from "effect"
import * as Guard from "../src/internal/http/guard.ts"
import * as App from "../src/internal/server/app.ts"
import { basic, check, control, tokenRequest } from "./support/plain.ts"
import { send } from "./support/rawClient.ts"

const loopback: Guard.Options = { host: "127.0.0.1", token: undefined, allowedHosts: [] }

const responseTo = (
  options: Partial<Guard.Options>,
  headers: Record<string, string>,
  { method = "GET", url = "/_mock/sessions" } = {}
) =>
  Guard.make({ ...loopback, ...options }, Effect.succeed(HttpServerResponse.empty())).pipe(
    Effect.flatMap(({ app }) => app),
    Effect.provide(App.layer([Session.demoCustomer], {})),
    Effect.provideService(
      HttpServerRequest.HttpServerRequest,
      HttpServerRequest.fromWeb(new Request("http://localhost/", { method })).modify({
        url,
        headers: Headers.fromInput(headers)
      })
    ),
    Effect.scoped
  )

const status = (...request: Parameters<typeof responseTo>) => Effect.map(responseTo(...request), ({ status }) => status)

const passed = 204
/** The status of a health check of a server that has not started. */
const ofHealthCheck = (url: string) => url.includes("ready") ? 503 : 200
const forbidden = 403

describe("The Host header of a request to the control API", () => {
  it.effect.each<[string, number]>([
    ["127.0.0.1", passed],
    ["127.0.0.1:4010", passed],
    ["localhost", passed],
    ["localhost:4010", passed],
    ["LocalHost:1", passed],
    ["localhost.", passed],
    ["localhost.:4010", passed],
    ["[::1]", passed],
    ["[::1]:4010", passed],
    ["[0:0:0:0:0:0:0:1]:4010", passed],
    ["", forbidden],
    [" ", forbidden],
    [":4010", forbidden],
    ["evil.example", forbidden],
    ["evil.example:4010", forbidden],
    ["localhost.evil.example", forbidden],
    ["127.0.0.1.evil.example", forbidden],
    ["127.0.0.1.nip.io", forbidden],
    ["evillocalhost", forbidden],
    ["local host", forbidden],
    ["localhost..", forbidden],
    [".localhost", forbidden],
    ["xn--lcalhost-01a", forbidden],
    ["lоcalhost", forbidden],
    ["127.0.0.1@evil.example", forbidden],
    ["evil.example@127.0.0.1", forbidden],
    ["127.0.0.1:80@evil.example", forbidden],
    ["127.0.0.1/evil.example", forbidden],
    ["127.0.0.1?evil.example", forbidden],
    ["127.0.0.1#evil.example", forbidden],
    ["127.0.0.1\\evil.example", forbidden],
    ["127.0.0.1,evil.example", forbidden],
    ["127.0.0.1%00", forbidden],
    ["127.0.0.1:99999", forbidden],
    ["127.0.0.1:x", forbidden],
    ["::1", forbidden],
    ["[::1", forbidden],
    ["[::2]", forbidden],
    ["192.168.1.5", forbidden],
    ["0.0.0.0", forbidden]
  ])("%o: %d", ([host, expected]) =>
    Effect.gen(function*() {
      strictEqual(yield* status({}, { host }), expected)
    }))

  it.effect("is required", () =>
    Effect.gen(function*() {
      const response = yield* responseTo({}, {})
      deepStrictEqual([response.status, response.headers["content-type"]], [forbidden, "application/problem+json"])
    }))

  it.effect("can be an allowed name in any case and with any port", () =>
    Effect.gen(function*() {
      const allowedHosts = ["Mock.Internal", "mock_server:4010", "box."]
      for (const host of ["mock.internal", "MOCK.internal.:80", "mock_server", "mock_server:1", "box", "box."]) {
        strictEqual(yield* status({ allowedHosts }, { host }), passed, host)
      }
      for (const host of ["a.mock.internal", "internal", "mock.internal.evil.example", "boxx"]) {
        strictEqual(yield* status({ allowedHosts }, { host }), forbidden, host)
      }
    }))

  it.effect("can be any address, but no other name, if the server listens beyond loopback", () =>
    Effect.gen(function*() {
      for (const host of ["0.0.0.0", "::", "10.0.0.7", "box"]) {
        for (const name of ["10.0.0.7:4010", "[fe80::1]:4010", "localhost", "127.0.0.1"]) {
          strictEqual(yield* status({ host }, { host: name }), passed, name)
        }
        strictEqual(yield* status({ host }, { host: "evil.example" }), forbidden)
      }
      strictEqual(yield* status({ host: "box" }, { host: "box:4010" }), passed)
      strictEqual(yield* status({ host: "127.0.0.2" }, { host: "127.0.0.2:4010" }), passed)
      strictEqual(yield* status({ host: "::1" }, { host: "[::1]:4010" }), passed)
    }))

  it.effect.each<[string, number]>([
    ["http://evil.example/_mock/sessions", forbidden],
    ["HTTP://evil.example/_mock/sessions", forbidden],
    ["https://evil.example/_mock/sessions", forbidden],
    ["http://evil.example", forbidden],
    ["http://127.0.0.1@evil.example/_mock/sessions", forbidden],
    ["http://evil.example@127.0.0.1/_mock/sessions", forbidden],
    ["http:///_mock/sessions", forbidden],
    ["http://127.0.0.1:4010/_mock/sessions", passed]
  ])("is checked in an absolute target too: %s is %d", ([url, expected]) =>
    Effect.gen(function*() {
      strictEqual(yield* status({}, { host: "127.0.0.1:4010" }, { url }), expected)
      strictEqual(yield* status({}, { host: "evil.example" }, { url }), forbidden)
    }))
})

describe("A page in a browser", () => {
  const host = "127.0.0.1:4010"

  it.effect.each<[string, number]>([
    ["http://127.0.0.1:4010", passed],
    ["https://127.0.0.1:4010", passed],
    ["http://127.0.0.1:4011", forbidden],
    ["http://127.0.0.1", forbidden],
    ["http://localhost:4010", forbidden],
    ["http://evil.example", forbidden],
    ["http://127.0.0.1:4010.evil.example", forbidden],
    ["http://127.0.0.1:4010@evil.example", forbidden],
    ["http://127.0.0.1:4010, http://evil.example", forbidden],
    ["chrome-extension://127.0.0.1:4010", forbidden],
    ["null", forbidden],
    ["", forbidden]
  ])("of the origin %o gets %d", ([origin, expected]) =>
    Effect.gen(function*() {
      strictEqual(yield* status({}, { host, origin }), expected)
      strictEqual(yield* status({}, { host, origin }, { method: "POST" }), expected)
    }))

  it.effect("of this server is accepted behind a TLS proxy", () =>
    Effect.gen(function*() {
      const origin = "https://mock.internal"
      strictEqual(yield* status({ allowedHosts: ["mock.internal"] }, { host: "mock.internal", origin }), passed)
      strictEqual(yield* status({ allowedHosts: ["mock.internal"] }, { host: "localhost", origin }), forbidden)
    }))

  const visit = { "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" }

  it.effect.each<[string, Record<string, string>, string, number]>([
    ["may post to its own server", { "sec-fetch-site": "same-origin" }, "POST", passed],
    ["may be opened by its address", { "sec-fetch-site": "none", ...visit }, "GET", passed],
    ["of another site may link here", { "sec-fetch-site": "cross-site", ...visit }, "GET", passed],
    ["of another site may not post a form", { "sec-fetch-site": "cross-site", ...visit }, "POST", forbidden],
    [
      "of another site may not show this one in a frame",
      { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" },
      "GET",
      forbidden
    ],
    [
      "of another site may not fetch",
      { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" },
      "GET",
      forbidden
    ],
    [
      "of another site may not load it as a script",
      { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "script" },
      "GET",
      forbidden
    ]
  ])("%s", ([, headers, method, expected]) =>
    Effect.gen(function*() {
      strictEqual(yield* status({}, { host, ...headers }, { method }), expected)
    }))
})

describe("The control token", () => {
  const token = Redacted.make("s3cret:ü")
  const latin1 = (text: string) => Buffer.from(text).toString("latin1")

  it.effect.each<[string, string | undefined, number]>([
    ["as Bearer", "Bearer s3cret", passed],
    ["as Bearer in another case", "bEARER  s3cret", passed],
    ["as the password of any user", basic("anybody:s3cret"), passed],
    ["as the password of an empty user", basic(":s3cret"), passed],
    ["as a user", basic("s3cret:"), 401],
    ["as a user without a password", basic("s3cret"), 401],
    ["missing", undefined, 401],
    ["empty", "", 401],
    ["Bearer alone", "Bearer ", 401],
    ["Bearer with an empty quoted text", "Bearer \"\"", 401],
    ["wrong", "Bearer canary", 401],
    ["longer", "Bearer s3crets", 401],
    ["shorter", "Bearer s3cre", 401],
    ["in another case", "Bearer S3CRET", 401],
    ["under another scheme", "Token s3cret", 401],
    ["under no scheme", "s3cret", 401],
    ["followed by another", "Bearer s3cret x", 401],
    ["empty, as a password", basic("anybody:"), 401],
    ["wrong, as a password", basic("anybody:canary"), 401]
  ])("%s: %s is %d", ([, authorization, expected]) =>
    Effect.gen(function*() {
      const headers = { host: "localhost", ...(authorization !== undefined && { authorization }) }
      const answer = yield* responseTo({ token: Redacted.make("s3cret") }, headers)
      strictEqual(answer.status, expected)
      if (expected === 401) {
        assertInclude(answer.headers["www-authenticate"], "Basic realm=")
        const { body } = answer
        const text = body._tag === "Uint8Array" ? Buffer.from(body.body).toString() : ""
        assertInclude(text, "The control token is missing or wrong")
        strictEqual(/s3cret|canary/.test(text), false)
      }
    }))

  it.effect("may contain colons and non-ASCII letters as a password", () =>
    Effect.gen(function*() {
      strictEqual(yield* status({ token }, { host: "localhost", authorization: basic("x:s3cret:ü") }), passed)
      strictEqual(yield* status({ token }, { host: "localhost", authorization: latin1(basic("x:s3cret")) }), 401)
    }))

  it.effect("is not required by the health checks, and by every other path", () =>
    Effect.gen(function*() {
      const at = (url: string) => status({ token }, { host: "localhost" }, { url })
      for (const url of ["/_mock/live", "/_mock/ready", "/_mock/live?x", "http://localhost/_mock/live"]) {
        strictEqual(yield* at(url), ofHealthCheck(url), url)
      }
      for (
        const url of [
          "/_mock/live/",
          "/_mock/live/../sessions",
          "/_mock/live;x",
          "/_mock/live#x",
          "/_mock/LIVE",
          "/_mock/%6cive",
          "/_mock//live",
          "/_mock/metrics",
          "/_mock/openapi.json",
          "/_mock/docs",
          "/_mock/ui",
          "/_mock",
          "/_mock/sessions?/_mock/live",
          "http://localhost/_mock/sessions?/_mock/live"
        ]
      ) strictEqual(yield* at(url), 401, url)
      strictEqual(yield* status({ token }, { host: "localhost" }), 401)
    }))
})

describe("The health checks", () => {
  const urls = ["/_mock/live", "/_mock/ready"]

  it.effect("respond to a name of this server, and to no page of another site", () =>
    Effect.gen(function*() {
      for (const url of urls) {
        strictEqual(yield* status({}, { host: "evil.example" }, { url }), forbidden)
        strictEqual(yield* status({}, { host: "10.0.0.7:4010" }, { url }), forbidden)
        strictEqual(yield* status({}, { host: "localhost", origin: "http://evil.example" }, { url }), forbidden)
        strictEqual(yield* status({}, { host: "localhost" }, { url: `http://evil.example${url}` }), forbidden)
      }
    }))

  it.effect("respond to a probe that uses an address, if the server listens beyond loopback", () =>
    Effect.gen(function*() {
      const options = { host: "0.0.0.0", token: Redacted.make("s3cret") }
      for (const url of urls) {
        for (const host of ["10.0.0.7:4010", "[fe80::1]:4010", "localhost:4010"]) {
          strictEqual(yield* status(options, { host }, { url }), ofHealthCheck(url), host)
        }
        strictEqual(yield* status(options, { host: "evil.example" }, { url }), forbidden)
      }
    }))
})

describe("A server", () => {
  const start = (options: MockServer.Options, environment: ReadonlyArray<readonly [string, string]> = []) =>
    Layer.build(MockServer.layer({ port: 0, ...options })).pipe(
      Effect.scoped,
      Effect.withConfigProvider(ConfigProvider.fromMap(new Map(environment))),
      Effect.either,
      Effect.map(Either.match({ onLeft: ({ code }) => code, onRight: () => "started" }))
    )

  it.live.each(["0.0.0.0", "::", "", "::ffff:127.0.0.1", "192.0.2.1", "example.org", "localhost.", "127.1"])(
    "beyond loopback, as on %o, does not start without a token",
    (host) =>
      Effect.gen(function*() {
        strictEqual(yield* start({ host }), "CONTROL_TOKEN_MISSING")
        strictEqual(yield* start({ host, controlToken: Redacted.make("") }), "CONTROL_TOKEN_MISSING")
      })
  )

  it.live("starts on loopback without a token, and anywhere with one", () =>
    Effect.gen(function*() {
      for (const host of ["127.0.0.1", "127.0.0.2", "localhost"]) strictEqual(yield* start({ host }), "started", host)
      strictEqual(yield* start({ host: "0.0.0.0", controlToken: Redacted.make("s3cret") }), "started")
    }))

  it.live("does not start in production, unless it is forced", () =>
    Effect.gen(function*() {
      const production = [["NODE_ENV", "production"]] as const
      strictEqual(yield* start({}, production), "PRODUCTION")
      strictEqual(yield* start({ force: false }, production), "PRODUCTION")
      strictEqual(yield* start({ force: true }, production), "started")
      strictEqual(yield* start({}, [["NODE_ENV", "test"]]), "started")
      strictEqual(yield* start({}), "started")
    }))

  it.live("that does not start reports what to do", () =>
    Effect.gen(function*() {
      const { message } = yield* Effect.flip(Effect.scoped(Layer.build(MockServer.layer({ host: "0.0.0.0", port: 0 }))))
      strictEqual(
        message,
        "Cannot listen on 0.0.0.0:0: beyond loopback the control API needs a token: set controlToken (IDV_MOCK_CONTROL_TOKEN or --control-token)"
      )
    }))
})

describe("On a socket", () => {
  const token = Redacted.make("s3cret")

  it.layer(Layer.merge(MockServer.layer({ port: 0, controlToken: token }), NodeHttpClient.layerUndici))((it) => {
    const raw = (...lines: ReadonlyArray<string>) =>
      Effect.gen(function*() {
        const { url } = yield* MockServer.MockServer
        const { text } = yield* TestServices.provideLive(
          send(url, `${lines.join("\r\n")}\r\nConnection: close\r\n\r\n`, 60_000)
        )
        return text
      })
    const bearer = "Authorization: Bearer s3cret"
    const statusOf = (text: string) => Number(text.split(" ")[1])

    it.effect("the data plane needs no token, and responds to any Host", () =>
      Effect.gen(function*() {
        strictEqual((yield* tokenRequest("test-a")).status, 200)
        const answer = yield* raw("POST /oauth/service HTTP/1.1", "Host: evil.example", "Origin: http://evil.example")
        assertInclude(answer, "HTTP/1.1 415 ")
        assertInclude(yield* raw("GET /api/aml HTTP/1.0"), "HTTP/1.1 405 ")
      }))

    it.effect("the control API responds to its own Host with the token", () =>
      Effect.gen(function*() {
        const { url } = yield* MockServer.MockServer
        const { host } = new URL(url)
        strictEqual((yield* control("GET", "/sessions")).status, 401)
        assertInclude(yield* raw("GET /_mock/sessions HTTP/1.1", `Host: ${host}`, bearer), "HTTP/1.1 200 ")
        assertInclude(yield* raw(`GET ${url}/_mock/sessions HTTP/1.1`, `Host: ${host}`, bearer), "HTTP/1.1 200 ")
      }))

    it.effect.each<[string, ReadonlyArray<string>]>([
      ["another Host", ["GET /_mock/sessions HTTP/1.1", "Host: evil.example"]],
      ["no Host, in HTTP/1.0", ["GET /_mock/sessions HTTP/1.0"]],
      ["an empty Host", ["GET /_mock/sessions HTTP/1.1", "Host:"]],
      ["two Hosts, the first of which is another", [
        "GET /_mock/sessions HTTP/1.1",
        "Host: evil.example",
        "Host: localhost"
      ]],
      ["another host in its target", ["GET http://evil.example/_mock/sessions HTTP/1.1", "Host: localhost"]],
      ["an origin", ["GET /_mock/sessions HTTP/1.1", "Host: localhost", "Origin: http://evil.example"]],
      ["two origins", [
        "GET /_mock/sessions HTTP/1.1",
        "Host: localhost",
        "Origin: http://localhost",
        "Origin: http://evil.example"
      ]],
      ["a preflight", [
        "OPTIONS /_mock/sessions HTTP/1.1",
        "Host: localhost",
        "Origin: http://evil.example",
        "Access-Control-Request-Method: DELETE"
      ]]
    ])("a request with %s is forbidden, also with the token", ([, lines]) =>
      Effect.gen(function*() {
        const text = yield* raw(...lines, bearer)
        strictEqual(statusOf(text), forbidden, text)
        strictEqual(/access-control/i.test(text), false)
      }))

    it.effect("a request without a Host is malformed in HTTP/1.1", () =>
      Effect.gen(function*() {
        assertInclude(yield* raw("GET /_mock/sessions HTTP/1.1", bearer), "HTTP/1.1 400 ")
      }))

    it.effect.each([
      "/_mock/../_mock/sessions",
      "/_mock/./sessions",
      "/_mock//sessions",
      "/_mock/sessions",
      "/_mock/sessions/",
      "/_mock/SESSIONS",
      "/_mock/%73essions",
      "/_mock/live/../sessions",
      "/_mock/live/%2e%2e/sessions",
      "/_mock/ready/..%2fsessions",
      "/_mock/live;/../sessions",
      "/_mock?/_mock/live",
      "/_mock/sessions?/_mock/live",
      "http://localhost/_mock/sessions",
      "http://localhost//_mock/sessions",
      "//localhost/_mock/sessions",
      "//_mock/sessions",
      "/_MOCK/sessions",
      "/%5fmock/sessions",
      "/_mock%2fsessions",
      "/_mock\\sessions",
      "/x/../_mock/sessions",
      "/./_mock/sessions",
      "*_mock/sessions",
      "/_mock;/sessions",
      "/_mock#/sessions"
    ])("no path bypasses the token: %s", (target) =>
      Effect.gen(function*() {
        const text = yield* raw(`GET ${target} HTTP/1.1`, "Host: localhost")
        assertInclude([400, 401, 404].join(), String(statusOf(text)))
        strictEqual(text.includes("demo-customer"), false)
      }))

    it.effect.each(["/_mock/../api/aml", "/_mock/..%2fapi%2faml", "/_mock/%2e%2e/oauth/service", "/_mock/api/aml"])(
      "with the token, no path leads from the control API to the data plane: %s",
      (target) =>
        Effect.gen(function*() {
          const text = yield* raw(`GET ${target} HTTP/1.1`, "Host: localhost", bearer)
          assertInclude(text, "HTTP/1.1 404 ")
          assertInclude(text, "/_mock/openapi.json")
        })
    )

    it.effect("the service of the layer needs no token", () =>
      Effect.gen(function*() {
        const { sessions } = yield* Control.Control
        strictEqual(Exit.isSuccess(yield* Effect.exit(sessions)), true)
      }))

    it.effect("the control token is not valid for the data plane, and an access token not for the control API", () =>
      Effect.gen(function*() {
        strictEqual((yield* check("s3cret")).status, 401)
        const issued: string = JSON.parse((yield* tokenRequest("test-a")).text).access_token
        strictEqual((yield* control("GET", "/sessions", undefined, { authorization: `Bearer ${issued}` })).status, 401)
        strictEqual(
          (yield* control("GET", "/sessions", undefined, { authorization: basic("test-a:test-key") })).status,
          401
        )
      }))
  })
})
