/** Whatever a client sends, the server responds or closes the connection, never crashes, and handles the next request. */
import { Control, type Journal, MockServer } from "@effect-idv/mock-server"
import { describe, it, layer } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Array as Arr, Effect } from "effect"
import { eventually } from "../../core/test/support/eventually.ts"
import * as RawClient from "./support/rawClient.ts"

const form = "grant_type=client_credentials"
const formLength = `Content-Length: ${form.length}`

/** A token request with the given headers for the length of the body. */
const post = (
  headers: ReadonlyArray<string>,
  body: string | Uint8Array = form,
  line = "POST /oauth/service HTTP/1.1"
) =>
  Buffer.concat([
    Buffer.from(
      [
        line,
        "Host: mock.test",
        `Authorization: Basic ${Buffer.from("test-robust:test-key").toString("base64")}`,
        "Content-Type: application/x-www-form-urlencoded",
        ...headers,
        "\r\n"
      ].join("\r\n")
    ),
    Buffer.from(body)
  ])

const once = (...headers: ReadonlyArray<string>) => ["Connection: close", ...headers]
const padded = (bytes: number) => `${form}&pad=`.padEnd(bytes, "x")
const ofLength = (bytes: number) => post(once(`Content-Length: ${bytes}`), padded(bytes))
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
const chunked = once("Transfer-Encoding: chunked")
const lines = (...lines: ReadonlyArray<string>) => `${lines.join("\r\n")}\r\n\r\n`

/** The statuses of the responses in their order. */
const statuses = (text: string) => Array.from(text.matchAll(/HTTP\/1\.1 (\d{3})/g), ([, status]) => Number(status))

const KiB = 1024

/** The bytes to send, the statuses of the responses, and the rules in the journal. */
const cases: Record<string, readonly [string | Uint8Array, ReadonlyArray<number>, ReadonlyArray<string>]> = {
  "a body of 64 KiB": [ofLength(64 * KiB), [200], ["token.granted"]],
  "a body of 64 KiB and a byte": [ofLength(64 * KiB + 1), [413], ["token.body-too-long"]],
  "a body of 1 MiB": [ofLength(KiB * KiB), [413], ["token.body-too-long"]],
  "a body in chunks": [post(chunked, `${chunk("grant_type=")}${chunk("client_credentials")}0\r\n\r\n`), [200], [
    "token.granted"
  ]],
  "1 MiB in chunks": [post(chunked, `${chunk(padded(KiB)).repeat(KiB)}0\r\n\r\n`), [413], ["token.body-too-long"]],
  "a chunk with an extension, and a trailer": [
    post(chunked, `${form.length.toString(16)};a=b\r\n${form}\r\n0\r\nX-Trailer: 1\r\n\r\n`),
    [200],
    ["token.granted"]
  ],
  "a chunk size that is not a number": [post(chunked, `zz\r\n${form}\r\n0\r\n\r\n`), [400], ["request.cut-off"]],
  "a chunk size that is too small": [post(chunked, `5\r\n${form}\r\n0\r\n\r\n`), [400], ["request.cut-off"]],
  "an unknown transfer coding": [post(once("Transfer-Encoding: gzip")), [400], ["request.cut-off"]],
  "a Content-Length that is too small": [post(once("Content-Length: 10")), [400], ["token.grant-type"]],
  "two equal Content-Lengths": [post(once(formLength, formLength)), [400], ["http.malformed"]],
  "two Content-Lengths": [post(once(formLength, "Content-Length: 5")), [400], ["http.malformed"]],
  "a Content-Length and chunks": [post([...chunked, formLength], `${chunk(form)}0\r\n\r\n`), [400], ["http.malformed"]],
  "a Content-Length that is a word": [post(once("Content-Length: many")), [400], ["http.malformed"]],
  "a negative Content-Length": [post(once("Content-Length: -1")), [400], ["http.malformed"]],
  // Node 22 rejects 1,000 headers, and Node 20 accepts them.
  "900 headers": [post(once(formLength, ...Arr.makeBy(900, (i) => `X-${i}: ${i}`))), [200], ["token.granted"]],
  "a header of 100 KB": [post(once(formLength, `X-Big: ${"x".repeat(100_000)}`)), [431], ["http.malformed"]],
  "100 KB of headers": [
    post(once(formLength, ...Arr.makeBy(1000, (i) => `X-${i}: ${"x".repeat(90)}`))),
    [431],
    ["http.malformed"]
  ],
  "a NUL in a header": [post(once(formLength, "X-Nul: a\0b")), [400], ["http.malformed"]],
  "non-ASCII bytes in a header": [post(once(formLength, "X-Name: Zoë")), [200], ["token.granted"]],
  "a header without a colon": [post(once(formLength, "X-Nothing")), [400], ["http.malformed"]],
  "lines that end with LF only": [post(once(formLength)).toString().replaceAll("\r", ""), [400], ["http.malformed"]],
  "HTTP/0.9": ["GET /\r\n\r\n", [404], ["path.unknown"]],
  "HTTP/1.0": [post([formLength], form, "POST /oauth/service HTTP/1.0"), [200], ["token.granted"]],
  "HTTP/3.0": [post(once(formLength), form, "POST /oauth/service HTTP/3.0"), [400], ["http.malformed"]],
  "the preface of HTTP/2": ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [400], ["http.malformed"]],
  "an unknown method": [lines("BREW /api/aml HTTP/1.1", "Host: mock.test"), [400], ["http.malformed"]],
  "a TLS handshake": [Uint8Array.of(0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0), [400], ["http.malformed"]],
  "OPTIONS *": [lines("OPTIONS * HTTP/1.1", "Host: mock.test", "Connection: close"), [404], ["path.unknown"]],
  "CONNECT": [lines("CONNECT mock.test:443 HTTP/1.1", "Host: mock.test:443"), [405], ["http.malformed"]],
  "a target that is an absolute address": [
    post(once(formLength), form, "POST http://elsewhere.test/oauth/service HTTP/1.1"),
    [200],
    ["token.granted"]
  ],
  "a target that cannot be decoded": [
    lines("GET /aml-profiles/%zz%00?%ff HTTP/1.1", "Host: mock.test", "Connection: close"),
    [404],
    ["profile.unknown"]
  ],
  "an invalid Host": [
    lines("GET /aml-profiles/x HTTP/1.1", "Host: [:::", "Connection: close"),
    [400],
    ["request.headers"]
  ],
  "HEAD": [lines("HEAD /api/aml HTTP/1.1", "Host: mock.test", "Connection: close"), [405], ["aml.method"]],
  "Expect: 100-continue": [post(once(formLength, "Expect: 100-continue")), [100, 200], ["token.granted"]],
  "another Expect": [post(once(formLength, "Expect: a-miracle")), [417], ["http.malformed"]]
}

const seen: Array<Journal.Entry> = []
const onExchange = (entry: Journal.Entry) => Effect.sync(() => void seen.push(entry))

/** The rules of the recorded entries, once there are `count`. */
const rules = (count: number) =>
  eventually(`${count} entries`, () => seen.map(({ rule }) => rule), ({ length }) => length >= count)

const works = Effect.gen(function*() {
  const { url } = yield* MockServer.MockServer
  strictEqual(yield* RawClient.works(url, "test-next"), true)
  seen.length = 0
})

/** Uses a connection that the client keeps open. */
const connected = <A, E, R>(use: (connection: RawClient.Connection) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(
    MockServer.MockServer,
    ({ url }) => Effect.scoped(Effect.flatMap(RawClient.connect(url), use))
  )

const answers = (count: number) => ({ isEnough: (text: string) => statuses(text).length >= count })

describe("A client that sends", () => {
  it.live("pipelined requests and disconnects does not delay the stop of the server", () =>
    Effect.gen(function*() {
      // A stop that waits for a connection takes the grace period, and the test hangs.
      yield* Effect.gen(function*() {
        const { url } = yield* MockServer.MockServer
        const session = (yield* Control.Control).session("test-robust")
        yield* session.fault({ on: "token", what: { kind: "hang" }, when: { kind: "nth", n: 1 } })
        yield* Effect.scoped(Effect.gen(function*() {
          const { write } = yield* RawClient.connect(url)
          yield* write(Buffer.concat(Arr.makeBy(3, () => post([formLength]))))
          yield* rules(3)
        }))
        // The stop waits for no idle connection, unless requests count as active.
        const { answer, write } = yield* RawClient.connect(url)
        yield* write(post([formLength]))
        yield* answer(answers(1))
      }).pipe(
        Effect.provide(MockServer.layer({ port: 0, gracePeriod: "10 minutes", onExchange })),
        Effect.scoped
      )
    }))

  layer(MockServer.layer({ port: 0, onExchange }), { excludeTestServices: true })((it) => {
    it.effect.each(Object.entries(cases))("%s", ([, [bytes, expected, expectedRules]]) =>
      Effect.gen(function*() {
        const { url } = yield* MockServer.MockServer
        seen.length = 0
        const answer = yield* RawClient.send(url, bytes)
        deepStrictEqual([answer.end, ...statuses(answer.text)], ["fin", ...expected])
        deepStrictEqual(yield* rules(expectedRules.length), expectedRules)
        deepStrictEqual(seen.filter(({ why }) => why === ""), [])
        yield* works
      }))

    it.effect("a body that is too long can use the connection again", () =>
      connected(({ answer, write }) =>
        Effect.gen(function*() {
          yield* write(post([`Content-Length: ${KiB * KiB}`], padded(KiB * KiB)))
          yield* answer(answers(1))
          yield* write(post([formLength]))
          const { end, text } = yield* answer(answers(2))
          deepStrictEqual([end, ...statuses(text)], ["open", 413, 200])
          yield* works
        })
      ))

    it.effect.each(["websocket", "h2c"])(
      "an upgrade to %s gets a response as if it had not",
      (protocol) =>
        connected(({ answer, write }) =>
          Effect.gen(function*() {
            yield* write(post(["Connection: Upgrade", `Upgrade: ${protocol}`, formLength]))
            yield* answer(answers(1))
            yield* write(post(once(formLength)))
            const { end, text } = yield* answer()
            deepStrictEqual([end, ...statuses(text)], ["fin", 200, 200])
            yield* works
          })
        )
    )

    it.effect("pipelined requests gets the responses in their order, even if the first is slow", () =>
      connected(({ answer, write }) =>
        Effect.gen(function*() {
          const session = (yield* Control.Control).session("test-robust")
          yield* session.fault({ on: "token", what: latency, when: { kind: "nth", n: 1 } })
          const unknown = lines("GET /unknown HTTP/1.1", "Host: mock.test")
          const wrong = post([formLength], form.replace("client", "other_"))
          yield* write(Buffer.concat([post([formLength]), Buffer.from(unknown), wrong, post(once(formLength))]))
          const { millis, text } = yield* answer()
          deepStrictEqual(statuses(text), [200, 404, 400, 200])
          strictEqual(millis >= 295, true, `${millis} ms`)
          yield* works
        })
      ))

    it.effect.each<[string, string, number]>([
      ["garbage", "GARBAGE\r\n\r\n", 400],
      ["CONNECT", lines("CONNECT a:1 HTTP/1.1", "Host: a:1"), 405],
      ["an unknown Expect", lines("GET / HTTP/1.1", "Host: mock.test", "Expect: a-miracle"), 417]
    ])(
      "%s after a request still gets the response to the request, and then its own",
      ([, next, status]) =>
        connected(({ answer, write }) =>
          Effect.gen(function*() {
            yield* write(Buffer.concat([post([formLength]), Buffer.from(next)]))
            const { end, text } = yield* answer()
            deepStrictEqual([end, ...statuses(text)], ["fin", 200, status])
            deepStrictEqual((yield* rules(2)).toSorted(), ["http.malformed", "token.granted"])
            yield* works
          })
        )
    )

    it.effect("a body one byte each 50 ms gets a response", () =>
      connected(({ answer, write }) =>
        Effect.gen(function*() {
          yield* write(post(once(formLength), ""))
          yield* Effect.forEach(form, (byte) => Effect.zipRight(Effect.sleep("50 millis"), write(byte)))
          const { end, text } = yield* answer()
          deepStrictEqual([end, ...statuses(text)], ["fin", 200])
          yield* works
        })
      ))

    it.effect.each(["destroy", "reset", "half"] as const)(
      "half a body and disconnects (%s) does no harm",
      (how) =>
        connected((connection) =>
          Effect.gen(function*() {
            yield* connection.write(post([formLength], form.slice(0, 9)))
            yield* Effect.sleep("50 millis")
            yield* connection[how]
            deepStrictEqual(yield* rules(1), ["request.cut-off"])
            yield* works
          })
        )
    )

    it.effect("a request and disconnects before the response does no harm", () =>
      connected((connection) =>
        Effect.gen(function*() {
          const session = (yield* Control.Control).session("test-robust")
          yield* session.fault({ on: "token", what: latency, when: { kind: "nth", n: 1 } })
          yield* connection.write(post([formLength]))
          deepStrictEqual(yield* rules(1), ["token.granted"])
          yield* connection.reset
          yield* Effect.sleep("400 millis")
          yield* works
        })
      ))

    it.effect("CONNECT and resets the connection at once does no harm", () =>
      Effect.gen(function*() {
        const ask = connected(({ reset, write }) =>
          Effect.zipRight(write(lines("CONNECT a:1 HTTP/1.1", "Host: a:1")), reset)
        )
        yield* Effect.replicateEffect(ask, 300, { concurrency: 20, discard: true })
        yield* works
      }))

    it.effect("a malformed request leaves a masked target in the journal", () =>
      Effect.gen(function*() {
        const { url } = yield* MockServer.MockServer
        yield* RawClient.send(url, lines("CONNECT zoecanary.test:443 HTTP/1.1", "Host: mock.test"))
        yield* rules(1)
        deepStrictEqual(seen.map(({ request }) => request), [{
          method: "CONNECT",
          target: "***",
          headers: {},
          body: ""
        }])
        yield* works
        yield* RawClient.send(
          url,
          lines("GET /ZoeCanary/x?name=Zoe HTTP/1.1", "Host: mock.test", "Expect: a-miracle")
        )
        yield* rules(1)
        deepStrictEqual(seen.map(({ request }) => request.target), ["/***/***?name=***"])
        yield* works
      }))

    it.effect("requests for long responses and never reads does no harm", () =>
      connected(({ pause, write }) =>
        Effect.gen(function*() {
          const session = (yield* Control.Control).session("test-robust")
          const { id } = yield* session.fault({ on: "token", what: { kind: "oversize", bytes: 4_000_000 } })
          yield* pause
          yield* write(Buffer.concat(Arr.makeBy(5, () => post([formLength]))))
          strictEqual((yield* rules(5)).length, 5)
          yield* works
          yield* session.removeFault(id)
        })
      ))

    it.effect("malformed input leaves an entry with the reason, without its content", () =>
      Effect.gen(function*() {
        const { url } = yield* MockServer.MockServer
        yield* RawClient.send(url, post(once(formLength, "X-Canary: can\0ary")))
        yield* RawClient.send(url, Uint8Array.of(0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0))
        yield* rules(2)
        deepStrictEqual(
          seen.map(({ customerId, response, unexpected, why }) => [customerId, response.status, unexpected, why]),
          [
            [null, 400, true, "The input is not an HTTP request: Invalid header value char"],
            [null, 400, true, "The client speaks TLS, and the mock server was started without --tls"]
          ]
        )
        strictEqual(/canary/i.test(JSON.stringify(seen)), false)
        const { entries } = yield* Effect.flatMap(Control.Control, ({ unmatchedRequests }) =>
          unmatchedRequests({ rule: "http.malformed" }))
        deepStrictEqual(
          entries.slice(-2).map(({ id }) =>
            id
          ),
          seen.map(({ id }) => id)
        )
      }))
  })

  layer(MockServer.layer({ port: 0, requestTimeout: "1 second", onExchange }), { excludeTestServices: true })((it) => {
    it.effect("an incomplete request gets 408 after the request timeout, or a closed connection", () =>
      Effect.gen(function*() {
        const { url } = yield* MockServer.MockServer
        seen.length = 0
        const [head, body, long, silent] = yield* Effect.all([
          RawClient.send(url, "POST /oauth/service HT"),
          RawClient.send(url, post([formLength], form.slice(0, 9))),
          RawClient.send(url, post(["Content-Length: 100"])),
          RawClient.send(url, "")
        ], { concurrency: "unbounded" })
        for (const answer of [head, body, long]) {
          deepStrictEqual([answer.end, ...statuses(answer.text)], ["fin", 408])
          strictEqual(answer.millis >= 500, true, `${answer.millis} ms`)
        }
        deepStrictEqual([silent.end, silent.text], ["fin", ""])
        // A silent connection leaves no entry.
        deepStrictEqual((yield* rules(3)).toSorted(), ["http.malformed", "request.cut-off", "request.cut-off"])
        yield* works
      }))
  })
})

const latency = { kind: "latency", distribution: { kind: "fixed", delay: 300 } } as const
