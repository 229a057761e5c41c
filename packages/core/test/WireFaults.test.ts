import { TokenError, TokenProvider } from "@effect-idv/core"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Cause, Effect, Exit, Redacted } from "effect"
import { gzipSync } from "node:zlib"
import { everythingPrinted, transportIn } from "./support/canary.ts"
import { clients } from "./support/clients.ts"
import * as MovableClock from "./support/movableClock.ts"
import * as RawServer from "./support/rawServer.ts"
import { type Fault, faults } from "./support/wireFaults.ts"

const canaries = {
  customerId: "canaryCustomerId",
  customerKey: "canaryCustomerKey",
  basic: Buffer.from("canaryCustomerId:canaryCustomerKey").toString("base64"),
  token: "canaryAccessToken"
}
const body = JSON.stringify({ access_token: canaries.token, token_type: "Bearer", expires_in: 3600 })

/** The error for each fault. A broken connection is retried, a response is not. */
const expected: Record<keyof typeof faults, TokenError.TokenError["_tag"]> = {
  "drip": "TokenTimeout",
  "drip of headers": "TokenTimeout",
  "hang": "TokenTimeout",
  "hang mid body": "TokenTimeout",
  "5 MB body": "TokenResponseInvalid",
  "5 MB in a gzip of a few bytes": "TokenResponseInvalid",
  "a gzip that was compressed twice": "TokenResponseInvalid",
  "a reset in a body without a length": "TokenResponseInvalid",
  "HTML 200": "TokenResponseInvalid",
  "invalid UTF-8": "TokenResponseInvalid",
  "no content": "TokenResponseInvalid"
}

/** `fetch` does not fail if a gzip is cut off, so the text is invalid. It decompresses once, and a gzip remains. */
const expectedByFetch: typeof expected = {
  "truncated gzip": "TokenResponseInvalid",
  "a gzip that was compressed twice": "TokenEndpointUnavailable"
}

/** Long, because the machine may be busy. For a fault that only the deadline ends, the test moves the clock. */
const tokenPolicy = { attemptDeadline: "1 minute", acquisitionDeadline: "5 minutes" } as const

describe.concurrent.each(clients)("Wire faults of the token endpoint, with %s", (clientName, client) => {
  const acquire = (authUrl: string) =>
    Effect.flatMap(
      TokenProvider.make({
        authUrl,
        tokenPolicy,
        customerId: canaries.customerId,
        customerKey: Redacted.make(canaries.customerKey)
      }),
      ({ get }) => get
    ).pipe(Effect.scoped, Effect.provide(client))

  const fails = (tag: TokenError.TokenError["_tag"], authUrl: string) =>
    Effect.gen(function*() {
      const { exit, printed } = yield* everythingPrinted(acquire(authUrl), (cause) => Cause.pretty(cause))
      assert(Exit.isFailure(exit) && exit.cause._tag === "Fail" && TokenError.isTokenError(exit.cause.error))
      strictEqual(exit.cause.error._tag, tag)
      deepStrictEqual(transportIn(exit.cause), [])
      deepStrictEqual(Object.values(canaries).filter((canary) => printed.includes(canary)), [])
    })

  it.scopedLive.each(Object.entries(faults))(
    "%s: a typed token error within the deadline",
    ([name, fault]) =>
      Effect.gen(function*() {
        const tag = (clientName === "FetchHttpClient.layer" ? expectedByFetch[name] : undefined) ?? expected[name] ??
          "TokenEndpointUnavailable"
        const { clock, moveOnceRead } = MovableClock.make()
        const server = yield* RawServer.make((_request, socket) => {
          fault(socket, body)
          if (tag === "TokenTimeout") moveOnceRead(tokenPolicy.attemptDeadline)
        })
        yield* Effect.withClock(fails(tag, server.url), clock)
        strictEqual(server.requests.length, tag === "TokenResponseInvalid" ? 1 : 3)
      })
  )

  it.scopedLive("a refused connection: a typed token error within the deadline", () =>
    Effect.gen(function*() {
      const closed = yield* Effect.scoped(RawServer.make(() => {}))
      yield* fails("TokenEndpointUnavailable", closed.url)
    }))

  it.scopedLive("302 to another origin: a typed token error, and no request to that origin", () =>
    Effect.gen(function*() {
      const target = yield* RawServer.make((_request, socket) => void socket.end(RawServer.ok(JSON.parse(body))))
      const server = yield* RawServer.make((_request, socket) =>
        void socket.end(
          `HTTP/1.1 302 Found\r\nlocation: ${target.url}/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`
        )
      )
      yield* fails("TokenResponseInvalid", server.url)
      deepStrictEqual([server.requests.length, target.requests.length], [1, 0])
    }))

  const recovers: ReadonlyArray<readonly [string, Fault]> = [
    ["gzip", (socket) => {
      const bytes = gzipSync(body)
      socket.end(Buffer.concat([
        Buffer.from(
          `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bytes.length}\r\nconnection: close\r\n\r\n`
        ),
        bytes
      ]))
    }],
    ["chunks of one byte", (socket) => {
      socket.end(
        `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n${
          [...body].map((character) => `1\r\n${character}\r\n`).join("")
        }0\r\n\r\n`
      )
    }],
    ["a body that ends with the connection", (socket) => {
      socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${body}`)
    }]
  ]
  it.scopedLive.each(recovers)("%s: a token", ([, respond]) =>
    Effect.gen(function*() {
      const server = yield* RawServer.make((_request, socket) => respond(socket, body))
      strictEqual(Redacted.value((yield* acquire(server.url)).value), canaries.token)
    }))

  it.scopedLive("a fault once: the retry gets the token", () =>
    Effect.gen(function*() {
      const server = yield* RawServer.make((_request, socket) =>
        server.requests.length === 1 ? void socket.resetAndDestroy() : void socket.end(RawServer.ok(JSON.parse(body)))
      )
      strictEqual(Redacted.value((yield* acquire(server.url)).value), canaries.token)
      strictEqual(server.requests.length, 2)
    }))
})
