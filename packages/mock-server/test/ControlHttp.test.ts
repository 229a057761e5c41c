import { type Fault, MockServer, Session } from "@effect-idv/mock-server"
import type { HttpClient, HttpMethod } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it, vi } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import {
  Cause,
  Context,
  Duration,
  Effect,
  Exit,
  Fiber,
  Layer,
  Logger,
  Predicate,
  Record,
  Schedule,
  Scope,
  Supervisor
} from "effect"
import { IncomingMessage } from "node:http"
import { Socket } from "node:net"
import { eventually } from "../../core/test/support/eventually.ts"
import * as App from "../src/internal/server/app.ts"
import * as InProcessClient from "../src/internal/wire/inProcessClient.ts"
import { Lifecycle } from "../src/internal/wire/lifecycle.ts"
import * as Request from "../src/internal/wire/request.ts"
import * as Doors from "./support/doors.ts"
import { type Answer, check, control, json, request, token, tokenRequest } from "./support/plain.ts"
import { amlRequest, connect } from "./support/rawClient.ts"

const layers: ReadonlyArray<
  readonly [string, Layer.Layer<MockServer.MockServer | HttpClient.HttpClient, MockServer.MockServerError>]
> = [
  ["on a socket", Layer.merge(MockServer.layerTest, NodeHttpClient.layerUndici)]
]

const demo = "/sessions/demo-customer"

/** Each violation as `path problem: expected`. */
const violations = ({ headers, status, text }: Answer) => {
  deepStrictEqual([status, headers["content-type"]], [400, "application/json"])
  const { _tag, violations } = JSON.parse(text)
  strictEqual(_tag, "ControlRefused")
  strictEqual(text.includes("canary"), false, text)
  return Array.from(violations, ({ expected, path, problem }) => `${path} ${problem}: ${expected}`)
}

const problem = ({ headers, status, text }: Answer) => {
  strictEqual(headers["content-type"], "application/problem+json")
  const body = JSON.parse(text)
  strictEqual(body.status, status)
  strictEqual(text.includes("canary"), false, text)
  return [status, body.title]
}

const post = (path: string, body: string | Uint8Array, headers: Record<string, string> = json) =>
  request("POST", `/_mock${path}`, { body, headers })

describe.each(layers)("A request that the control API %s rejects", (_, layer) => {
  it.layer(layer)((it) => {
    it.effect.each<[string, string | Uint8Array]>([
      ["cut", "{\"advance\":\"canary"],
      ["not JSON", "advance=canary"],
      ["blank", " "],
      ["not UTF-8", Buffer.from("{\"advance\":\"canary\xff\"}", "latin1")],
      ["UTF-16", Buffer.from("{\"advance\":1}", "utf16le")]
    ])("has a body that is %s", ([, body]) =>
      Effect.gen(function*() {
        deepStrictEqual(violations(yield* post(`${demo}/clock`, body)), [" invalid: JSON text in UTF-8"])
      }))

    it.effect.each<[string, string, ReadonlyArray<string>]>([
      [`${demo}/clock`, "{\"advance\":1,\"advance\":\"canary\"}", ["advance"]],
      [`${demo}/clock`, "{\"advance\":1,\"adv\\u0061nce\" : {\"a\":[1,2]}}", ["advance"]],
      [`${demo}/faults`, "{\"on\":\"aml\",\"what\":{\"kind\":\"hang\",\"at\":\"body\",\"at\":\"body\"}}", ["what.at"]],
      [
        "/sessions",
        "{\"customerId\":\"x\",\"faults\":[{\"on\":\"aml,[{\"},[],{\"what\":{\"kind\":\":\",\"kind\":1},\"on\":1,\"on\":1}]}",
        ["faults.2.what.kind", "faults.2.on"]
      ]
    ])(
      "to %s has a duplicate key, which is reported with its path: %s",
      ([path, body, paths]) =>
        Effect.gen(function*() {
          deepStrictEqual(
            violations(yield* post(path, body)),
            paths.map((path) => `${path} invalid: each key once in an object: this is a duplicate key`)
          )
        })
    )

    it.effect("has many duplicate keys, or is deeply nested, and gets a short response", () =>
      Effect.gen(function*() {
        const duplicates = Array.from({ length: 200 }, (_, index) => `"k${index}":1,"k${index}":2`).join()
        strictEqual(violations(yield* post(`${demo}/clock`, `{${duplicates}}`)).length, 20)
        const deep = `${"[".repeat(25_000)}{${duplicates}}${"]".repeat(25_000)}`
        const [violation = "", ...others] = violations(yield* post(`${demo}/clock`, deep))
        deepStrictEqual(others, [])
        strictEqual(violation.startsWith("0.0.0.") && violation.length < 300, true, violation)
      }))

    it.effect("has a content coding, which the server does not decode", () =>
      Effect.gen(function*() {
        const answer = yield* post(`${demo}/clock`, "{\"frozen\":false}", { ...json, "content-encoding": "gzip" })
        deepStrictEqual(violations(answer), ["Content-Encoding unexpected: a body without a content coding"])
      }))

    it.effect.each<[string, string, ReadonlyArray<string>]>([
      ["POST", "/sessions", [
        "customerId missing: 1 to 128 visible characters of ASCII, without a colon, and not . or .. alone"
      ]],
      ["POST", `${demo}/clock`, [" invalid: an object with one or more of real, set, advance, frozen"]],
      ["POST", `${demo}/faults`, ["on missing: one of token, aml, both", "what missing: an object whose kind is"]],
      ["POST", `${demo}/verify`, ["kind missing: one of exactly, atLeast, never, inOrder, nothingUnexpected"]]
    ])("%s %s has an empty body, which counts as the empty object", ([, path, expected]) =>
      Effect.gen(function*() {
        for (const body of ["", "{}"]) {
          const found = violations(yield* post(path, body))
          strictEqual(found.length, expected.length)
          expected.forEach((start, index) => assertInclude(found[index], start))
        }
      }))

    it.effect("has many violations, of which only the first are listed and the others counted", () =>
      Effect.gen(function*() {
        const body = (count: number) =>
          Object.fromEntries(Array.from({ length: count }, (_, index) => [`field${index}`, "canary"]))
        strictEqual(violations(yield* control("POST", `${demo}/clock`, body(20))).at(-1)?.includes("not listed"), false)
        const answer = yield* control("POST", `${demo}/clock`, body(2000))
        const found = violations(answer)
        deepStrictEqual(found.slice(19), [" invalid: none of 1981 more violations, which are not listed"])
        strictEqual(found[18], "field18 unexpected: one of real, set, advance, frozen")
        strictEqual(answer.text.length < 4000, true, `${answer.text.length} characters`)
      }))

    it.effect("has the query parameter status twice", () =>
      Effect.gen(function*() {
        const found = violations(yield* control("GET", `${demo}/journal?status=401&status=canary`))
        deepStrictEqual(found, ["status invalid: a status, a whole number from 100 to 599"])
      }))

    it.effect.each<[string, unknown, string]>([
      ["/sessions", null, " invalid: an object with customerId, and any of"],
      ["/sessions", ["canary"], " invalid: an object with customerId, and any of"],
      ["/sessions", { "customerId": "x", "a.b": 1 }, "a.b unexpected: one of customerId, customerKey, seed"],
      [`${demo}/clock`, { advance: [1] }, "advance invalid: a number of milliseconds from 0"],
      [`${demo}/clock`, { frozen: "canary" }, "frozen invalid: true or false"],
      [`${demo}/tokens/revoke`, "canary", " invalid: an object with token, or with nothing"],
      [`${demo}/reset`, { hard: "canary" }, " invalid: an empty object, or no body"],
      [`${demo}/verify`, { kind: "inOrder", patterns: [{}, { status: 1 }] }, "patterns.1.status invalid: a status"]
    ])("POST %s has the body %j, which no other door can send", ([path, body, expected]) =>
      Effect.gen(function*() {
        assertInclude(violations(yield* control("POST", path, body)).join(), expected)
      }))

    it.effect("has a body over 64 KiB, and the next request works", () =>
      Effect.gen(function*() {
        const body = (length: number) => `{"token":"${"x".repeat(length - 12)}"}`
        deepStrictEqual(violations(yield* post(`${demo}/tokens/revoke`, body(65_537))), [
          " invalid: a body of at most 65536 bytes"
        ])
        strictEqual((yield* post(`${demo}/tokens/revoke`, body(65_536))).status, 200)
        strictEqual(violations(yield* post(`${demo}/tokens/revoke`, "canary".repeat(2_000_000))).length, 1)
        strictEqual(violations(yield* post(`${demo}/tokens/revoke`, "[".repeat(60_000) + "]".repeat(5000))).length, 1)
        strictEqual(violations(yield* post(`${demo}/verify`, "[".repeat(30_000) + "]".repeat(30_000))).length, 1)
        strictEqual((yield* control("GET", demo)).status, 200)
      }))

    it.effect.each<[string, number]>([
      ["application/json", 200],
      ["Application/JSON; charset=\"UTF-8\"", 200],
      ["application/json; charset=latin1", 400],
      ["text/plain", 400],
      ["application/x-www-form-urlencoded", 400],
      ["multipart/form-data; boundary=x", 400],
      ["application/jsonp", 400],
      ["", 400]
    ])("has the content type %o: %d", ([contentType, expected]) =>
      Effect.gen(function*() {
        const headers: Record<string, string> = contentType === "" ? {} : { "content-type": contentType }
        const answer = yield* post(`${demo}/clock`, "{\"frozen\":false}", headers)
        strictEqual(answer.status, expected)
        if (expected === 400) {
          deepStrictEqual(violations(answer), [
            "Content-Type invalid: application/json in UTF-8, or no header and no body"
          ])
        }
      }))

    it.effect("comes from a form of another site, without a body", () =>
      Effect.gen(function*() {
        for (const contentType of ["text/plain", "application/x-www-form-urlencoded"]) {
          for (const path of [`${demo}/reset`, `${demo}/tokens/revoke`]) {
            strictEqual(violations(yield* post(path, "", { "content-type": contentType })).length, 1)
          }
        }
        strictEqual((yield* post(`${demo}/reset`, "", {})).status, 200)
        strictEqual((yield* request("POST", `/_mock${demo}/reset`)).status, 200)
      }))

    it.effect("is invalid, and changes nothing", () =>
      Effect.gen(function*() {
        const before = (yield* control("GET", demo)).text
        yield* control("POST", `${demo}/clock`, { frozen: true, advance: -1 })
        yield* control("PATCH", `${demo}/profile`, { preset: "hostile", tokenStatus: "canary" })
        yield* control("POST", "/sessions", { customerId: "other", faults: [{}] })
        const after = (yield* control("GET", demo)).text
        const still = ({ clock, ...info }: { readonly clock: { readonly frozen: boolean } }) => [clock.frozen, info]
        deepStrictEqual(still(JSON.parse(after)), still(JSON.parse(before)))
        strictEqual((yield* control("GET", "/sessions/other")).status, 404)
      }))
  })
})

describe.each(layers)("A path of the control API %s", (_, layer) => {
  it.layer(layer)((it) => {
    it.effect.each<[HttpMethod.HttpMethod, string, string]>([
      ["PUT", "/_mock/sessions", "GET, POST"],
      ["DELETE", "/_mock/sessions", "GET, POST"],
      ["POST", "/_mock/live", "GET"],
      ["POST", "/_mock/sessions/canary", "GET, PATCH, DELETE"],
      ["GET", `/_mock${demo}/reset`, "POST"],
      ["POST", `/_mock${demo}/profile`, "GET, PATCH"],
      ["GET", `/_mock${demo}/faults/canary`, "DELETE"],
      ["OPTIONS", `/_mock${demo}`, "GET, PATCH, DELETE"]
    ])("%s %s gets 405 with the allowed methods", ([method, path, allow]) =>
      Effect.gen(function*() {
        const answer = yield* request(method, path)
        deepStrictEqual(problem(answer), [405, "Method Not Allowed"])
        strictEqual(answer.headers["allow"], allow)
        assertInclude(answer.text, allow)
      }))

    it.effect.each(
      [
        ["GET", "/_mock/canary"],
        ["GET", "/_mock/SESSIONS"],
        ["GET", "/_mock//sessions"],
        ["GET", "/_mock/sessions/"],
        ["DELETE", `/_mock${demo}/faults/`],
        ["GET", `/_mock${demo}/canary`],
        ["GET", "/_mock/sessions/a/b/c/d"],
        ["GET", "/_mock/sessions/%zz"],
        ["GET", "/_mock/sessions/%"],
        ["GET", "/_mock/sessions/%ff"],
        ["GET", "/_mock/sessions/%c0%af"],
        ["GET", `/_mock/${"canary/".repeat(1000)}`]
      ] as const
    )("%s %s gets 404 with a reason", ([method, path]) =>
      Effect.gen(function*() {
        const answer = yield* request(method, path)
        strictEqual(answer.status, 404)
        if (answer.headers["content-type"] === "application/json") {
          assertInclude("SessionUnknown FaultUnknown", JSON.parse(answer.text)._tag)
        } else deepStrictEqual(problem(answer), [404, "Not Found"])
      }))

    it.effect("of a missing session gets 404 with the customer id", () =>
      Effect.gen(function*() {
        const { status, text } = yield* control("GET", "/sessions/nobody%2F%25")
        deepStrictEqual([status, JSON.parse(text)], [404, { _tag: "SessionUnknown", customerId: "nobody/%" }])
        const fault = yield* control("DELETE", `${demo}/faults/${"f".repeat(500)}`)
        deepStrictEqual([fault.status, JSON.parse(fault.text)._tag], [404, "FaultUnknown"])
      }))

    it.effect("accepts HEAD like GET", () =>
      Effect.gen(function*() {
        strictEqual((yield* request("HEAD", `/_mock${demo}`)).status, 200)
        strictEqual((yield* request("HEAD", "/_mock/live")).status, 200)
        strictEqual((yield* request("HEAD", "/_mock/nothing")).status, 404)
        strictEqual((yield* request("HEAD", `/_mock${demo}/reset`)).status, 405)
      }))
  })
})

const member = (value: unknown, ...path: ReadonlyArray<string>): Readonly<Record<string, unknown>> => {
  const found = path.reduce((value, name) => Predicate.isRecord(value) ? value[name] : undefined, value)
  return Predicate.isRecord(found) ? found : assert.fail(`There is no ${path.join(".")}`)
}

describe("The documents of the control API", () => {
  it.layer(MockServer.layerHttpClient)((it) => {
    const document = Effect.map(control("GET", "/openapi.json"), ({ text }): unknown => JSON.parse(text))

    it.effect("include an OpenAPI document without dangling references", () =>
      Effect.gen(function*() {
        const { headers, text } = yield* control("GET", "/openapi.json")
        strictEqual(headers["content-type"], "application/json")
        const spec: unknown = JSON.parse(text)
        strictEqual(member(spec)["openapi"], "3.1.0")
        const schemas = Object.keys(member(spec, "components", "schemas"))
        for (const name of schemas) strictEqual(/^[\w.-]+$/.test(name), true, name)
        const references = Array.from(text.matchAll(/"\$ref":"([^"]*)"/g), ([, reference = ""]) => reference)
        strictEqual(references.length > 10, true)
        for (const reference of references) {
          assertInclude(schemas.map((name) => `#/components/schemas/${name}`).join(" "), reference)
        }
        strictEqual(text.includes("HttpApiDecodeError"), false)
      }))

    it.effect("list every operation once, with its path parameters and a status that it responds with", () =>
      Effect.gen(function*() {
        const ids: Array<unknown> = []
        for (const [path, operations] of Record.toEntries(member(yield* document, "paths"))) {
          const names = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name)
          for (const [method, operation] of Record.toEntries(member(operations))) {
            const { operationId, parameters, responses } = member(operation)
            ids.push(operationId)
            const inPath = Array.isArray(parameters)
              ? parameters.filter((parameter) => parameter.in === "path").map(({ name }) => name)
              : assert.fail()
            deepStrictEqual(inPath, names)
            const at = path.replace("{customerId}", `test-${ids.length}`).replace("{faultId}", "f1")
            yield* control("POST", "/sessions", { customerId: `test-${ids.length}` })
            const answer = yield* request(httpMethod(method), at, {
              ...(method === "post" || method === "patch" ? { body: "", headers: json } : {})
            })
            assert(
              Object.keys(member(responses)).includes(String(answer.status)),
              `${method} ${path}: ${answer.status}`
            )
            strictEqual(answer.headers["content-type"] === "application/problem+json", false, `${method} ${path}`)
          }
        }
        strictEqual(new Set(ids).size, ids.length)
        strictEqual(ids.length, Doors.names.length)
      }))

    it.effect("list the error statuses of each operation", () =>
      Effect.gen(function*() {
        const statuses = Record.map(member(yield* document, "paths"), (operations) =>
          Record.map(member(operations), (operation) =>
            Object.keys(member(operation, "responses")).join(" ")))
        const session = "/_mock/sessions/{customerId}"
        deepStrictEqual(statuses["/_mock/sessions"], { get: "200 401 403 500", post: "200 201 400 401 403 500" })
        deepStrictEqual(statuses[`${session}/verify`], { post: "204 400 401 403 404 409 500" })
        deepStrictEqual(statuses[`${session}/faults/{faultId}`], { delete: "204 401 403 404 500" })
        deepStrictEqual(statuses[`${session}/reset`], { post: "200 400 401 403 404 500" })
        deepStrictEqual(statuses["/_mock/live"], { get: "200 403" })
        deepStrictEqual(statuses["/_mock/ready"], { get: "200 403 503" })
      }))

    it.effect("include a page that loads nothing from other origins", () =>
      Effect.gen(function*() {
        const { headers, status, text } = yield* control("GET", "/docs")
        strictEqual(status, 200)
        assertInclude(headers["content-type"], "text/html")
        assertInclude(text, "idv-mock: the control API")
        deepStrictEqual(text.match(/<(script|link|img|iframe)[^>]*(src|href)=/g), null)
        deepStrictEqual(text.match(/@import|url\(\s*["']?(https?:)?\/\//g), null)
        strictEqual(
          headers["content-security-policy"],
          "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src 'self' data:; " +
            "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'"
        )
      }))

    it.effect.each<[HttpMethod.HttpMethod, string, number, string]>([
      ["GET", "/docs", 200, "no-referrer"],
      ["GET", "/openapi.json", 200, "no-referrer"],
      ["GET", "/sessions", 200, "no-referrer"],
      ["GET", "/metrics", 200, "no-referrer"],
      ["GET", "/live", 200, "no-referrer"],
      ["GET", "/canary", 404, "no-referrer"],
      ["PUT", "/sessions", 405, "no-referrer"],
      ["GET", "/ui/demo-customer", 200, "same-origin"]
    ])(
      "cannot be framed, and have security headers: %s %s",
      ([method, path, status, referrer]) =>
        Effect.gen(function*() {
          const answer = yield* control(method, path)
          strictEqual(answer.status, status)
          strictEqual(answer.headers["x-content-type-options"], "nosniff")
          strictEqual(answer.headers["x-frame-options"], "DENY")
          strictEqual(answer.headers["referrer-policy"], referrer)
        })
    )

    it.effect("include Prometheus metrics that count exchanges and faults", () =>
      Effect.gen(function*() {
        const issued = yield* token("test-metrics")
        yield* check(issued, "Ada Test500")
        yield* check(issued)
        yield* tokenRequest("test-metrics", "wrong")
        const { headers, text } = yield* control("GET", "/metrics")
        assertInclude(headers["content-type"], "text/plain; version=0.0.4")
        const samples = new Map<string, number>()
        const types = new Map<string, string>()
        for (const line of text.split("\n")) {
          if (line === "") continue
          const [, name, type] = /^# (?:HELP|TYPE) ([a-z_]+) (.+)$/.exec(line) ?? []
          if (name !== undefined) {
            if (line.startsWith("# TYPE")) types.set(name, type ?? "")
            continue
          }
          const sample = /^([a-z_]+)(\{([a-z]+="[^"\\\n]*",?)+\})? (\d+)$/.exec(line)
          assert(sample !== null, line)
          assert(types.has(sample[1] ?? ""), line)
          samples.set(`${sample[1]}${sample[2] ?? ""}`, Number(sample[4]))
        }
        deepStrictEqual(Object.fromEntries(types), {
          idv_mock_exchanges_total: "counter",
          idv_mock_faults_total: "counter",
          idv_mock_unexpected_total: "counter",
          idv_mock_sessions: "gauge"
        })
        const exchanges = (labels: string) => samples.get(`idv_mock_exchanges_total{${labels}}`)
        strictEqual(exchanges("operation=\"token\",status=\"200\",rule=\"token.granted\""), 1)
        strictEqual(exchanges("operation=\"aml\",status=\"200\",rule=\"aml.answered\""), 1)
        strictEqual(exchanges("operation=\"aml\",status=\"500\",rule=\"aml.answered\""), 1)
        strictEqual(exchanges("operation=\"token\",status=\"401\",rule=\"token.credentials\""), 1)
        strictEqual(samples.get("idv_mock_faults_total{kind=\"status\"}"), 1)
        strictEqual(samples.get("idv_mock_unexpected_total"), 1)
        strictEqual(text.includes("test-metrics"), false)
      }))
  })
})

const httpMethod = (method: string): HttpMethod.HttpMethod => {
  const upper = method.toUpperCase()
  return upper === "GET" || upper === "POST" || upper === "PUT" || upper === "PATCH" || upper === "DELETE"
    ? upper
    : assert.fail(method)
}

describe("An operation that fails", () => {
  /** The fault as a program without types passes it. */
  const broken = (what: object): Fault.Fault => ({
    ...JSON.parse("{\"on\":\"aml\",\"when\":{\"kind\":\"always\"}}"),
    what
  })

  it.effect.each<[string, object, string]>([
    ["cannot encode its response", { kind: "canary" }, "at 0.fault.what"],
    ["throws", Object.defineProperty({}, "kind", { enumerable: true, get: () => assert.fail("canary") }), "canary"]
  ])("because it %s responds with a 500, and the log says why", ([, what, expected]) => {
    const logged: Array<string> = []
    const logger = Logger.make(({ cause, message }) => logged.push(String(message) + Cause.pretty(cause)))
    return Effect.gen(function*() {
      deepStrictEqual(problem(yield* control("GET", `${demo}/faults`)), [500, "Internal Server Error"])
      strictEqual(logged.length, 1)
      assertInclude(logged[0], "The control API failed")
      assertInclude(logged[0], expected)
      strictEqual((yield* control("GET", "/live")).status, 200)
    }).pipe(
      Effect.provide(MockServer.layerHttpClientWith({ faults: [broken(what)] })),
      Effect.provide(Logger.replace(Logger.defaultLogger, logger))
    )
  })
})

describe("A module of the control API that cannot be loaded", () => {
  const onSocket = Layer.merge(MockServer.layerTest, NodeHttpClient.layerUndici)
  const guard = "../src/internal/http/guard.ts"
  const controlApp = "../src/internal/http/controlApp.ts"

  it.scopedLive.each<[string, string, string, typeof onSocket]>([
    [guard, "on a socket", demo, onSocket],
    [guard, "at a health check", "/live", onSocket],
    [guard, "in process", demo, MockServer.layerHttpClient],
    [controlApp, "on a socket", demo, onSocket],
    [controlApp, "in process", demo, MockServer.layerHttpClient],
    ["@effect/platform/HttpMiddleware", "on a socket", demo, onSocket]
  ])("(%s) leads to a 500 %s, and is loaded at the next request", ([module, , path, layer]) =>
    Effect.gen(function*() {
      vi.doMock(module, () => assert.fail("canary"))
      const get = Effect.provide(control("GET", path), yield* Layer.build(layer))
      const failed = yield* Effect.ensuring(get, Effect.sync(() => vi.doUnmock(module)))
      deepStrictEqual(problem(failed), [500, "Internal Server Error"])
      assertInclude(failed.text, "could not be loaded")
      strictEqual((yield* get).status, 200)
    }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger))))
})

describe("ready", () => {
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`

  it.effect("responds with 503 until the server is ready", () =>
    Effect.gen(function*() {
      const { start } = yield* Lifecycle
      const client = InProcessClient.ofApp(yield* App.ControlPlane)
      const status = Effect.map(client.get("http://localhost/_mock/ready"), ({ status }) => status)
      strictEqual(yield* status, 503)
      strictEqual((yield* client.get("http://localhost/_mock/live")).status, 200)
      yield* start
      strictEqual(yield* status, 200)
    }).pipe(Effect.provide(App.layer([Session.demoCustomer], {}))))

  it.effect("and live respond without loading the control API", () =>
    Effect.gen(function*() {
      yield* Effect.flatMap(Lifecycle, ({ start }) => start)
      const { controlPlane, health } = yield* App.make({ host: "localhost", token: undefined, allowedHosts: [] }).pipe(
        Effect.provideService(App.ControlPlane, Effect.dieMessage("The control API was loaded"))
      )
      const client = InProcessClient.ofApp(controlPlane)
      const inProcess = (path: string, headers: Readonly<Record<string, string>> = {}) =>
        Effect.gen(function*() {
          const response = yield* client.get(`http://localhost${path}`, { headers })
          return {
            status: response.status,
            type: response.headers["x-content-type-options"],
            text: yield* response.text
          }
        })
      const onPort: typeof inProcess = (url, headers = {}) =>
        Effect.map(
          health(
            Request.healthPathOf(url) ?? assert.fail(url),
            Object.assign(new IncomingMessage(new Socket()), {
              method: "GET",
              url,
              headers: { host: "localhost", ...headers }
            })
          ),
          ({ body, headers, status }) => ({
            status,
            type: headers["x-content-type-options"],
            text: Buffer.from(body).toString()
          })
        )
      for (const get of [inProcess, onPort]) {
        for (const name of ["live", "ready"]) {
          const { status, text, type } = yield* get(`/_mock/${name}`)
          deepStrictEqual([status, JSON.parse(text), type], [200, { [name]: true }, "nosniff"])
        }
        strictEqual((yield* get("/_mock/live", { origin: "http://evil" })).status, 403)
      }
    }).pipe(Effect.provide(App.layer([Session.demoCustomer], {}))))

  /** A server with a request that hangs. */
  const hangingServer = (gracePeriod: Duration.DurationInput) =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { url } = Context.get(
        yield* Scope.extend(Layer.build(MockServer.layer({ port: 0, gracePeriod })), scope),
        MockServer.MockServer
      )
      const issued = yield* token("test-hang").pipe(
        Effect.provide(NodeHttpClient.layerUndici),
        Effect.provideService(MockServer.MockServer, {
          url,
          options: { authUrl: url, baseUrl: url, ...Session.demoCustomer }
        })
      )
      const hanging = yield* connect(url)
      yield* hanging.write(amlRequest(issued, "A Testhang", "keep-alive"))
      const asking = yield* connect(url)
      let count = 0
      const isReady = Effect.suspend(() => {
        count++
        return Effect.zipRight(
          asking.write(get("/_mock/ready")),
          asking.answer({ isEnough: (text) => text.split("}").length > count })
        )
      })
      assertInclude((yield* isReady).text, "{\"ready\":true}")
      return { hanging, isReady, stop: Scope.close(scope, Exit.void) }
    })

  it.scopedLive("responds with 503 once the stop has begun, while a request still hangs, which it waits for", () =>
    Effect.gen(function*() {
      const { hanging, isReady, stop } = yield* hangingServer("1 hour")
      const stopped = yield* Effect.fork(stop)
      const { text } = yield* eventually("the stop", isReady, ({ text }) => text.includes("HTTP/1.1 503 "))
      assertInclude(text, "{\"_tag\":\"NotReady\"}")
      strictEqual((yield* hanging.answer({ patience: 200 })).end, "open")
      strictEqual(stopped.unsafePoll(), null)
      yield* hanging.destroy
      yield* Fiber.join(stopped)
    }))

  it.scopedLive("closes a request that hangs for longer than the grace period", () =>
    Effect.gen(function*() {
      const { hanging, stop } = yield* hangingServer("300 millis")
      const [duration] = yield* Effect.timed(stop)
      strictEqual(Duration.toMillis(duration) >= 300, true, String(duration))
      const { end, text } = yield* hanging.answer()
      deepStrictEqual([end === "open", text], [false, ""])
    }))
})

describe("A client that disconnects while it waits for a verification", () => {
  it.live("leaves no waiting fiber behind", () =>
    Effect.gen(function*() {
      const supervisor = yield* Supervisor.track
      const running = Effect.map(supervisor.value, (fibers) => fibers.length)
      const isIdle = Effect.map(running, (n) => n === 0)
      yield* Effect.gen(function*() {
        const { url } = yield* MockServer.MockServer
        const body = "{\"kind\":\"atLeast\",\"n\":1,\"pattern\":{},\"within\":\"10 minutes\"}"
        yield* Effect.scoped(Effect.gen(function*() {
          const connection = yield* connect(url)
          yield* connection.write(
            `POST /_mock${demo}/verify HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
              `Content-Length: ${body.length}\r\n\r\n${body}`
          )
          strictEqual((yield* connection.answer({ patience: 200 })).text, "")
          strictEqual(yield* isIdle, false)
        }))
        yield* Effect.repeat(isIdle, { until: (isIdle) => isIdle, schedule: Schedule.spaced("10 millis") })
      }).pipe(Effect.provide(Layer.provide(MockServer.layerTest, Supervisor.addSupervisor(supervisor))))
    }))
})
