import { AmlClient, Idv, Person, TokenProvider } from "@effect-idv/core"
import { FetchHttpClient } from "@effect/platform"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Layer, Redacted } from "effect"
import { readFileSync } from "node:fs"
import { clients } from "./support/clients.ts"
import * as RawServer from "./support/rawServer.ts"
import * as Service from "./support/service.ts"

const parse = (request: string) => {
  const [head = "", body = ""] = request.split("\r\n\r\n")
  const [requestLine = "", ...lines] = head.split("\r\n")
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.replace(/^[^:]*: */, "")])
  )
  return { requestLine, headers, body }
}

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))

/** Headers that the HTTP client adds by itself. */
const ofTheClient = ["connection", "accept-language", "accept-encoding", "sec-fetch-mode"]

describe("FetchHttpClient", () => {
  it.live("keeps the options of a RequestInit that is provided to the layer, except for redirects", () => {
    const inits: Array<RequestInit | undefined> = []
    const fetch: typeof globalThis.fetch = (_, init) => {
      inits.push(init)
      return Promise.resolve(Service.json({ access_token: "t", expires_in: 3600 }))
    }
    const layer = TokenProvider.layer(Service.options).pipe(
      Layer.provide(FetchHttpClient.layer),
      Layer.provide(Layer.succeed(FetchHttpClient.Fetch, fetch)),
      Layer.provide(Layer.succeed(FetchHttpClient.RequestInit, { credentials: "omit", redirect: "follow" }))
    )
    return Effect.gen(function*() {
      yield* (yield* TokenProvider.TokenProvider).get
      deepStrictEqual(inits.map((init) => [init?.credentials, init?.redirect]), [["omit", "manual"]])
    }).pipe(Effect.provide(layer))
  })
})

describe.each(clients)("On the wire, with %s", (_, layerClient) => {
  const check = (options: Partial<Idv.Options>) =>
    Effect.gen(function*() {
      const aml = yield* AmlClient.AmlClient
      return yield* aml.check(yield* Person.make({ name: "Zoë Testpep", dateOfBirth: "1957-03-14" }))
    }).pipe(
      Effect.provide(Idv.layer({ ...Service.options, ...options })),
      Effect.provide(layerClient)
    )

  it.scopedLive("both requests are exactly as in sections 4.1 and 4.2 of the service document", () =>
    Effect.gen(function*() {
      const credential = Service.credential({}, {
        name: "Zoë Testpep",
        birth_year: "1957",
        match_found: "Potential match"
      })
      const server = yield* RawServer.make((request, socket) => {
        socket.end(
          RawServer.ok(
            request.startsWith("POST /auth/oauth/service")
              ? { access_token: "the-token", expires_in: 3600 }
              : credential
          )
        )
      })
      const result = yield* check({
        authUrl: `${server.url}/auth/?query=1#fragment`,
        baseUrl: `${server.url}/v1`,
        customerKey: Redacted.make("kéy:with=colon")
      }).pipe(
        Effect.withSpan("sign-up"),
        Effect.map(({ result }) => result)
      )
      strictEqual(result, "Potential match")

      const [token, aml, ...more] = server.requests.map(parse)
      strictEqual(more.length, 0)
      const host = new URL(server.url).host
      const ours = (headers: Map<string, string> | undefined) =>
        Object.fromEntries([...headers ?? []].filter(([name]) => !ofTheClient.includes(name)))

      strictEqual(token?.requestLine, "POST /auth/oauth/service HTTP/1.1")
      deepStrictEqual(ours(token?.headers), {
        host,
        accept: "application/json",
        authorization: `Basic ${Buffer.from("acme-bank:kéy:with=colon").toString("base64")}`,
        "content-type": "application/x-www-form-urlencoded",
        "content-length": "29",
        "user-agent": `effect-idv/${version}`
      })
      strictEqual(token?.body, "grant_type=client_credentials")

      strictEqual(aml?.requestLine, "POST /v1/api/aml HTTP/1.1")
      const body = "{\"entity_type\":\"person\",\"name\":\"Zoë Testpep\",\"dob\":\"14-03-1957\"}"
      deepStrictEqual(ours(aml?.headers), {
        host,
        accept: "application/json",
        authorization: "Bearer the-token",
        "content-type": "application/json",
        "content-length": String(Buffer.byteLength(body)),
        "user-agent": `effect-idv/${version}`
      })
      strictEqual(aml?.body, body)
    }))

  it.scopedLive("a redirect from either endpoint is not followed", () =>
    Effect.gen(function*() {
      const target = yield* RawServer.make((_, socket) => socket.end(RawServer.ok(Service.credential())))
      const redirect =
        `HTTP/1.1 307 Temporary Redirect\r\nlocation: ${target.url}/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`
      const server = yield* RawServer.make((request, socket) => {
        socket.end(
          request.startsWith("POST /first") || request.startsWith("POST /api")
            ? redirect
            : RawServer.ok({ access_token: "t", expires_in: 3600 })
        )
      })
      const tagOf = (authUrl: string) =>
        Effect.map(Effect.flip(check({ authUrl, baseUrl: server.url })), ({ _tag }) => _tag)
      strictEqual(yield* tagOf(`${server.url}/first`), "TokenResponseInvalid")
      strictEqual(yield* tagOf(server.url), "AmlResponseInvalid")
      deepStrictEqual(target.requests, [])
    }))

  it.scopedLive("a refused connection: unavailable, and nothing was sent", () =>
    Effect.gen(function*() {
      const server = yield* RawServer.make((_, socket) =>
        socket.end(RawServer.ok({ access_token: "t", expires_in: 3600 }))
      )
      const closed = yield* Effect.scoped(RawServer.make(() => {}))
      const token = yield* Effect.flip(check({ authUrl: closed.url, baseUrl: server.url }))
      deepStrictEqual([token._tag, "reason" in token && token.reason], ["TokenEndpointUnavailable", "unreachable"])
      const aml = yield* Effect.flip(check({ authUrl: server.url, baseUrl: closed.url }))
      deepStrictEqual(
        [aml._tag, "reason" in aml && aml.reason, "sent" in aml && aml.sent],
        ["AmlUnavailable", "unreachable", "no"]
      )
    }))

  it.scopedLive.each<[string, string, string]>([
    ["before the head of the response", "", "unknown"],
    [
      "in the middle of the body",
      "HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\n{\"credential_type\":\"aml\"",
      "answered"
    ]
  ])(
    "the connection breaks %s: unavailable, with sent",
    ([, bytes, sent]) =>
      Effect.gen(function*() {
        const server = yield* RawServer.make((request, socket) => {
          if (request.startsWith("POST /oauth")) socket.end(RawServer.ok({ access_token: "t", expires_in: 3600 }))
          else if (bytes === "") socket.destroy()
          else socket.write(bytes, () => socket.destroy())
        })
        const error = yield* Effect.flip(check({ authUrl: server.url, baseUrl: server.url }))
        deepStrictEqual([error._tag, "sent" in error && error.sent], ["AmlUnavailable", sent])
      })
  )
})
