import { AmlClient, AmlError, Failure, Idv, Person, TokenProvider } from "@effect-idv/core"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Cause, Effect, Exit, Layer, Redacted } from "effect"
import { gzipSync } from "node:zlib"
import { everythingPrinted, transportIn } from "./support/canary.ts"
import { clients } from "./support/clients.ts"
import * as MovableClock from "./support/movableClock.ts"
import * as RawServer from "./support/rawServer.ts"
import * as Service from "./support/service.ts"
import { counted, measured } from "./support/tokens.ts"
import { type Fault, faults, hiddenFaults } from "./support/wireFaults.ts"

const canaries = {
  customerKey: "canaryCustomerKey",
  token: "canaryAccessToken",
  name: "Canaryfirst Canarylast",
  givenName: "Canaryfirst",
  dateOfBirth: "1931-07-29",
  wireDate: "29-07-1931",
  profile: "https://idv.example.com/canaryProfile"
}

/** A clear credential about the person. With no fault may it become a result. */
const clear = Service.credential({}, { name: canaries.name, birth_year: "1931", aml_profile: canaries.profile })

/** Long, because the machine may be busy. For a fault that only the deadline ends, the test moves the clock. */
const deadline = "1 minute"

type Expected = readonly [tag: Failure.Failure["_tag"], sent: AmlError.Sent]

const lost: Expected = ["AmlUnavailable", "unknown"]
const brokenOff: Expected = ["AmlUnavailable", "answered"]
const invalid: Expected = ["AmlResponseInvalid", "answered"]

/** `answered` if a complete and valid head arrived. Without one `sent` is unknown. */
const expected: Record<string, Expected> = {
  "reset before headers": lost,
  "reset mid headers": lost,
  "reset mid body": brokenOff,
  "early FIN": lost,
  "FIN mid headers": lost,
  "truncated": brokenOff,
  "truncated chunks": brokenOff,
  "bad chunk": brokenOff,
  "false gzip": brokenOff,
  "truncated gzip": brokenOff,
  "a reset in a body without a length": invalid,
  "an unknown content coding": brokenOff,
  "an unknown content coding of a plain body": brokenOff,
  "a gzip that was compressed twice": invalid,
  "duplicate Content-Length": lost,
  "Content-Length and chunks": lost,
  "random bytes": lost,
  "drip": ["AmlTimeout", "answered"],
  "drip of headers": ["AmlTimeout", "unknown"],
  "hang": ["AmlTimeout", "unknown"],
  "hang mid body": ["AmlTimeout", "answered"],
  "5 MB body": invalid,
  "5 MB in a gzip of a few bytes": invalid,
  "HTML 200": invalid,
  "invalid UTF-8": invalid,
  "no content": invalid
}

/** `fetch` does not fail if a gzip is cut off, so the text is invalid. It decompresses once, and a gzip remains. */
const expectedByFetch: typeof expected = {
  "truncated gzip": invalid,
  "a gzip that was compressed twice": brokenOff
}

const responseOf = (body: string | Uint8Array, ...lines: ReadonlyArray<string>) =>
  Buffer.concat([
    Buffer.from(`HTTP/1.1 200 OK\r\n${[...lines, "connection: close"].join("\r\n")}\r\n\r\n`),
    Buffer.from(body)
  ])

const isAml = (request: string) => request.startsWith("POST /api/aml ")

/** Returns a token, and this response to each AML request. */
const serve = (respond: Fault) =>
  Effect.map(
    RawServer.make((request, socket) =>
      isAml(request)
        ? respond(socket, JSON.stringify(clear))
        : void socket.end(RawServer.ok({ access_token: canaries.token, token_type: "Bearer", expires_in: 3600 }))
    ),
    ({ requests, url }) => ({ url, amlRequests: () => requests.filter(isAml).length })
  )

describe("The catalogue of wire faults", () => {
  it("has an expected error for each fault", () => {
    deepStrictEqual(Object.keys(expected).sort(), Object.keys(faults).sort())
  })
})

describe.concurrent.each(clients)("Wire faults of the AML operation, with %s", (clientName, client) => {
  const check = (options: Partial<Idv.Options>) =>
    Effect.gen(function*() {
      // The deadline covers only the fault.
      yield* (yield* TokenProvider.TokenProvider).get
      const aml = yield* AmlClient.AmlClient
      return yield* aml.check(yield* Person.make({ name: canaries.name, dateOfBirth: canaries.dateOfBirth }))
    }).pipe(
      Effect.provide(Layer.provide(
        Idv.layer({
          ...Service.options,
          customerKey: Redacted.make(canaries.customerKey),
          deadline,
          ...options
        }),
        client
      ))
    )

  const fails = ([tag, sent]: Expected, options: Partial<Idv.Options>) =>
    Effect.gen(function*() {
      const { exit, printed } = yield* everythingPrinted(
        check(options),
        (cause) => Cause.pretty(cause, { renderErrorCause: true })
      )
      assert(Exit.isFailure(exit) && exit.cause._tag === "Fail", "it is not a failure")
      const { error } = exit.cause
      assert(AmlError.isAmlError(error))
      deepStrictEqual([error._tag, Failure.facts(error).sent], [tag, sent])
      deepStrictEqual(transportIn(exit.cause), [])
      deepStrictEqual(Object.values(canaries).filter((canary) => printed.includes(canary)), [])
      return error
    })

  it.scopedLive.each(Object.entries(faults))(
    "%s: a typed AML error within the deadline, after one request",
    ([name, fault]) =>
      Effect.gen(function*() {
        const expectation = (clientName === "FetchHttpClient.layer" ? expectedByFetch[name] : undefined) ??
          expected[name]
        assert(expectation !== undefined)
        const { clock, moveOnceRead } = MovableClock.make()
        const { amlRequests, url } = yield* serve((socket, body) => {
          fault(socket, body)
          if (expectation[0] === "AmlTimeout") moveOnceRead(deadline)
        })
        yield* Effect.withClock(fails(expectation, { authUrl: url, baseUrl: url }), clock)
        strictEqual(amlRequests(), 1)
      })
  )

  it.scopedLive.each(Object.entries(hiddenFaults))(
    "%s: no result, if the client shows it",
    ([, { fault, isShownBy }]) =>
      Effect.gen(function*() {
        const { url } = yield* serve(fault)
        const options = { authUrl: url, baseUrl: url }
        if (isShownBy.test(clientName)) yield* fails(brokenOff, options)
        else strictEqual((yield* check(options)).result, "No")
      })
  )

  it.scopedLive("a refused connection: certainly not performed, and not counted as a request", () =>
    Effect.gen(function*() {
      const { url } = yield* serve(() => {})
      const closed = yield* Effect.scoped(RawServer.make(() => {}))
      const error = yield* fails(["AmlUnavailable", "no"], { authUrl: url, baseUrl: closed.url })
      assert.deepInclude(error, { reason: "unreachable" })
      strictEqual(yield* counted("idv_aml_requests"), 0)
    }).pipe(measured(`refused with ${clientName}`)))

  it.scopedLive.each(Object.entries(faults).filter(([name]) => expected[name] === lost))(
    "%s, once, with retry: always: the second request succeeds",
    ([, fault]) =>
      Effect.gen(function*() {
        const { amlRequests, url } = yield* serve((socket, body) =>
          amlRequests() === 1 ? fault(socket, body) : void socket.end(RawServer.ok(clear))
        )
        const options = { authUrl: url, baseUrl: url, retry: "always" } as const
        strictEqual((yield* check(options)).result, "No")
        strictEqual(amlRequests(), 2)
      })
  )

  const limit = 1024 * 1024
  const withLength = (length: number) => {
    const body = JSON.stringify({ ...clear, pad: "" })
    return body.replace("\"pad\":\"", `$&${"x".repeat(length - Buffer.byteLength(body))}`)
  }
  const framings: Record<string, Fault> = {
    "a length": (socket, body) => void socket.end(responseOf(body, `content-length: ${Buffer.byteLength(body)}`)),
    "chunks": (socket, body) =>
      void socket.end(
        responseOf(`${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\n\r\n`, "transfer-encoding: chunked")
      ),
    "gzip": (socket, body) => void socket.end(responseOf(gzipSync(body), "content-encoding: gzip"))
  }

  it.scopedLive.each(Object.entries(framings))(
    "with %s, a body of 1 MiB is accepted, and one byte more is not",
    ([, send]) =>
      Effect.gen(function*() {
        let length = limit
        const { url } = yield* serve((socket) => send(socket, withLength(length)))
        const options = { authUrl: url, baseUrl: url }
        strictEqual((yield* check(options)).result, "No")
        length++
        const error = yield* fails(invalid, options)
        assert.deepInclude(error, { status: 200 })
      })
  )

  it.scopedLive.each<readonly [number, AmlError.AmlError["_tag"]]>([
    [400, "AmlRequestRejected"],
    [403, "AmlForbidden"],
    [429, "AmlRateLimited"],
    [500, "AmlUnavailable"],
    [503, "AmlUnavailable"]
  ])("a truncated clear credential with status %d: the status decides", ([status, tag]) =>
    Effect.gen(function*() {
      const body = JSON.stringify(clear)
      const { amlRequests, url } = yield* serve((socket) =>
        void socket.end(`HTTP/1.1 ${status} Whatever\r\ncontent-length: 9999\r\nconnection: close\r\n\r\n${body}`)
      )
      const error = yield* fails([tag, "answered"], { authUrl: url, baseUrl: url })
      strictEqual("status" in error ? error.status : 429, status)
      strictEqual(amlRequests(), 1)
    }))

  it.scopedLive("307 to another origin: a typed AML error, and no request to that origin", () =>
    Effect.gen(function*() {
      const target = yield* serve((socket) => void socket.end(RawServer.ok(clear)))
      const { amlRequests, url } = yield* serve((socket) =>
        void socket.end(
          `HTTP/1.1 307 Go\r\nlocation: ${target.url}/api/aml\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`
        )
      )
      yield* fails(invalid, { authUrl: url, baseUrl: url })
      deepStrictEqual([amlRequests(), target.amlRequests()], [1, 0])
    }))
})
