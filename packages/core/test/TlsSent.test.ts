/** `sent` when a TLS connection fails, with real servers. */
import { AmlClient, Failure, Idv, Person } from "@effect-idv/core"
import { NodeHttpClient } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect, Layer, Redacted } from "effect"
import { connect, createServer, type Socket } from "node:net"
import { createServer as createTlsServer, type SecureVersion, type TlsOptions } from "node:tls"
import * as SelfSigned from "../../mock-server/src/internal/tls/selfSigned.ts"
import * as RawServer from "./support/rawServer.ts"
import * as Service from "./support/service.ts"

type Listening = ReturnType<typeof createServer>

const listening = <S extends Listening>(server: S) =>
  Effect.acquireRelease(
    Effect.async<number>((resume) => {
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(Effect.succeed(typeof address === "object" ? address?.port ?? 0 : 0))
      })
    }),
    () => Effect.sync(() => server.close())
  )

/** Checks a person over TLS at this port. The token comes without TLS. */
const check = (port: number, ca: string) =>
  Effect.gen(function*() {
    const token = yield* RawServer.make((_, socket) =>
      void socket.end(RawServer.ok({ access_token: "t", expires_in: 3600 }))
    )
    const layer = Layer.orDie(Layer.provide(
      Idv.layer({ ...Service.options, authUrl: token.url, baseUrl: `https://127.0.0.1:${port}` }),
      Layer.provide(NodeHttpClient.layerWithoutAgent, NodeHttpClient.makeAgentLayer({ ca }))
    ))
    return yield* Effect.flip(Effect.provide(
      Effect.gen(function*() {
        const aml = yield* AmlClient.AmlClient
        return yield* aml.check(yield* Person.make({ name: "Ada Testclear", dateOfBirth: "1957-03-14" }))
      }),
      layer
    ))
  })

const secured = (options: TlsOptions, onRequest: (socket: Socket) => void = () => {}) =>
  Effect.gen(function*() {
    const { ca, keyPair: { cert, key } } = yield* SelfSigned.make(["127.0.0.1"], Date.now())
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
    return { ca, requests, port: yield* listening(server) }
  })

const factsOf = (error: Failure.Failure) => [
  error._tag,
  Failure.facts(error).sent,
  "reason" in error ? error.reason : undefined
]

describe("A check over TLS", () => {
  const versions: ReadonlyArray<SecureVersion> = ["TLSv1.2", "TLSv1.3"]
  const injected = [
    ["a plain response", "HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n"],
    ["a broken record", "\u0017\u0003\u0003\u0000\u0005abcde"]
  ] as const

  it.scopedLive.each(versions.flatMap((version) => injected.map(([what, bytes]) => [version, what, bytes] as const)))(
    "%s: after the whole request, %s may follow a check that was performed",
    ([version, , bytes]) =>
      Effect.gen(function*() {
        let client: Socket | undefined
        const { ca, port, requests } = yield* secured(
          { minVersion: version, maxVersion: version },
          () => client?.write(bytes, "latin1")
        )
        const proxy = createServer((socket) => {
          client = socket
          const upstream = connect(port, "127.0.0.1")
          for (const [from, to] of [[socket, upstream], [upstream, socket]] as const) {
            from.on("data", (chunk) => to.write(chunk))
            from.on("error", () => {})
            from.on("close", () => to.destroy())
          }
        })
        const error = yield* check(yield* listening(proxy), ca)
        deepStrictEqual([...factsOf(error).slice(0, 2), requests.length], ["AmlUnavailable", "unknown", 1])
      })
  )

  it.scopedLive("that a plain HTTP port refuses says so", () =>
    Effect.gen(function*() {
      const { ca } = yield* secured({})
      const plain = createServer((socket) => {
        socket.on("error", () => {})
        socket.once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"))
      })
      deepStrictEqual(factsOf(yield* check(yield* listening(plain), ca)), ["AmlUnavailable", "unknown", "tls"])
    }))

  it.scopedLive("with a server that requires a client certificate fails because of TLS, and blames no certificate", () =>
    Effect.gen(function*() {
      const { ca, port } = yield* secured({ requestCert: true, rejectUnauthorized: true })
      deepStrictEqual(factsOf(yield* check(port, ca)), ["AmlUnavailable", "unknown", "tls"])
    }))

  it.scopedLive("whose certificate is not trusted was certainly not sent", () =>
    Effect.gen(function*() {
      const { port, requests } = yield* secured({})
      const { ca } = yield* secured({})
      deepStrictEqual(factsOf(yield* check(port, ca)), ["AmlUnavailable", "no", "certificate"])
      deepStrictEqual(requests, [])
    }))
})
