/** `sent` when a TLS connection fails, with real servers. */
import { AmlClient, Failure, Idv, Person, TokenProvider } from "@effect-idv/core"
import * as IdvHttp from "@effect-idv/core/IdvHttp"
import { FetchHttpClient, type HttpClient } from "@effect/platform"
import { NodeHttpClient, Undici } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Layer, Redacted } from "effect"
import { connect, createServer, type Socket } from "node:net"
import { createServer as createTlsServer, type SecureVersion, type TlsOptions } from "node:tls"
import * as SelfSigned from "../../mock-server/src/internal/wire/selfSigned.ts"
import { listening } from "./support/listening.ts"
import * as MovableClock from "./support/movableClock.ts"
import * as RawServer from "./support/rawServer.ts"
import * as Service from "./support/service.ts"

const certificate = SelfSigned.make(["127.0.0.1"], Date.now())
const trusted = await Effect.runPromise(certificate)
const { ca } = trusted

/** Clients that trust the certificate. `fetch` takes the authority from the dispatcher of the process. */
const clients: ReadonlyArray<readonly [string, Layer.Layer<HttpClient.HttpClient>]> = [
  [
    "FetchHttpClient.layer",
    Layer.unwrapEffect(Effect.sync(() => {
      Undici.setGlobalDispatcher(new Undici.Agent({ connect: { ca } }))
      return FetchHttpClient.layer
    }))
  ],
  [
    "NodeHttpClient.layer",
    Layer.provide(NodeHttpClient.layerWithoutAgent, NodeHttpClient.makeAgentLayer({ ca }))
  ],
  [
    "NodeHttpClient.layerUndici",
    Layer.provide(
      NodeHttpClient.layerUndiciWithoutDispatcher,
      Layer.sync(NodeHttpClient.Dispatcher, () => new Undici.Agent({ connect: { ca } }))
    )
  ],
  ["IdvHttp.layerUndici", Layer.orDie(IdvHttp.layerUndici({ connect: { ca } }))]
]

const deadline = "1 minute"

/** Checks a person over TLS at this port. The token comes without TLS. */
const check = (client: Layer.Layer<HttpClient.HttpClient>, port: number, { clock } = MovableClock.make()) =>
  Effect.gen(function*() {
    const token = yield* RawServer.make((_, socket) =>
      void socket.end(RawServer.ok({ access_token: "t", expires_in: 3600 }))
    )
    const options = { ...Service.options, authUrl: token.url, baseUrl: `https://127.0.0.1:${port}` }
    return yield* Effect.flip(Effect.provide(
      Effect.gen(function*() {
        yield* (yield* TokenProvider.TokenProvider).get
        const aml = yield* AmlClient.AmlClient
        return yield* aml.check(yield* Person.make({ name: "Ada Testclear", dateOfBirth: "1957-03-14" }))
      }),
      Layer.orDie(Layer.provide(Idv.layer({ ...options, deadline }), client))
    ))
  }).pipe(Effect.withClock(clock))

const secured = (
  options: TlsOptions,
  { keyPair: { cert, key } = trusted.keyPair, onRequest = () => {} }: {
    readonly keyPair?: typeof trusted.keyPair
    readonly onRequest?: (socket: Socket) => void
  } = {}
) =>
  Effect.gen(function*() {
    const requests: Array<string> = []
    const server = createTlsServer({ cert, key: Redacted.value(key), ...options }, (socket) => {
      let text = ""
      socket.on("error", () => {})
      socket.on("data", (chunk) => {
        text += chunk.toString("latin1")
        if (!/\r\n\r\n\{.*\}$/s.test(text)) return
        requests.push(text)
        text = ""
        onRequest(socket)
      })
    })
    server.on("tlsClientError", () => {})
    return { requests, port: yield* listening(server) }
  })

const factsOf = (error: Failure.Failure) => [
  error._tag,
  Failure.facts(error).sent,
  "reason" in error ? error.reason : undefined
]

const versions: ReadonlyArray<SecureVersion> = ["TLSv1.2", "TLSv1.3"]
const injected = [
  ["a plain response", "HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n"],
  ["a broken record", "\u0017\u0003\u0003\u0000\u0005abcde"],
  ["a plain alert", "\u0015\u0003\u0003\u0000\u0002\u0002\u0028"],
  ["a reset", undefined]
] as const

/** The handshake fails. Only `IdvHttp` knows that nothing was sent. */
const handshakes: Record<string, TlsOptions> = {
  "requires a client certificate in TLS 1.2": {
    requestCert: true,
    rejectUnauthorized: true,
    maxVersion: "TLSv1.2"
  },
  "supports only TLS 1.0": { minVersion: "TLSv1", maxVersion: "TLSv1", ciphers: "ALL:@SECLEVEL=0" },
  "supports only HTTP/2": { ALPNProtocols: ["h2"] }
}

describe.concurrent.each(clients)("A check over TLS with %s", (name, client) => {
  const sentIfReported = name === "IdvHttp.layerUndici" ? "no" : "unknown"

  it.scopedLive.each(versions.flatMap((version) => injected.map(([what, bytes]) => [version, what, bytes] as const)))(
    "%s: after the whole request, %s may follow a check that was performed",
    ([version, , bytes]) =>
      Effect.gen(function*() {
        let downstream: Socket | undefined
        const movable = MovableClock.make()
        const { port, requests } = yield* secured({ minVersion: version, maxVersion: version }, {
          onRequest: () => {
            if (bytes === undefined) downstream?.resetAndDestroy()
            else downstream?.write(bytes, "latin1")
            // Undici notices no damage of a TLS record, and waits.
            movable.moveOnceRead(deadline)
          }
        })
        const proxy = createServer((socket) => {
          downstream = socket
          const upstream = connect(port, "127.0.0.1")
          for (const [from, to] of [[socket, upstream], [upstream, socket]] as const) {
            from.on("data", (chunk) => to.write(chunk))
            from.on("error", () => {})
            from.on("close", () => to.destroy())
          }
        })
        const error = yield* check(client, yield* listening(proxy), movable)
        deepStrictEqual([Failure.facts(error).sent, requests.length], ["unknown", 1])
      })
  )

  it.scopedLive("that a plain HTTP port refuses says so", () =>
    Effect.gen(function*() {
      const plain = createServer((socket) => {
        socket.on("error", () => {})
        socket.once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"))
      })
      const error = yield* check(client, yield* listening(plain))
      deepStrictEqual(factsOf(error), ["AmlUnavailable", sentIfReported, "tls"])
    }))

  // The client of Node offers no protocol, so a server for HTTP/2 only may still speak HTTP/1.1 with it.
  it.scopedLive.each(
    Object.entries(handshakes).filter(([what]) => name !== "NodeHttpClient.layer" || !what.endsWith("HTTP/2"))
  )(
    "with a server that %s fails because of TLS, and blames no certificate of the server",
    ([, options]) =>
      Effect.gen(function*() {
        const { port, requests } = yield* secured(options)
        const error = yield* check(client, port)
        deepStrictEqual([...factsOf(error), requests.length], ["AmlUnavailable", sentIfReported, "tls", 0])
        assert.match(error.message, /TLS 1\.2 or 1\.3 and HTTP\/1\.1, and whether it requires a client certificate/)
      })
  )

  it.scopedLive("with a server that requires a client certificate in TLS 1.3, after the request, says so", () =>
    Effect.gen(function*() {
      const { port } = yield* secured({ requestCert: true, rejectUnauthorized: true, minVersion: "TLSv1.3" })
      const error = yield* check(client, port)
      strictEqual(Failure.facts(error).sent, "unknown")
      assert.match(error.message, /whether it requires a client certificate/)
    }))

  it.scopedLive("whose certificate is not trusted was certainly not sent", () =>
    Effect.gen(function*() {
      const { port, requests } = yield* secured({}, yield* certificate)
      deepStrictEqual(factsOf(yield* check(client, port)), ["AmlUnavailable", "no", "certificate"])
      deepStrictEqual(requests, [])
    }))
})
