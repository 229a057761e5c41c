import { AmlCredential, Violation } from "@effect-idv/core"
import * as Fault from "@effect-idv/mock-server/Fault"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Duration, Effect, Either, FastCheck, Redacted } from "effect"
import { PCGRandom } from "effect/Utils"
import * as Kinds from "../src/internal/faults/kinds.ts"
import * as RetryAfter from "../src/internal/faults/retryAfter.ts"
import * as Response from "../src/internal/wire/response.ts"

const now = Date.UTC(2026, 1, 3, 4, 5, 6, 789)

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const text = (bytes: Uint8Array): string => new TextDecoder("utf-8", { fatal: true }).decode(bytes)
const isJson = (body: Uint8Array) =>
  Either.isRight(Either.try((): unknown => JSON.parse(new TextDecoder().decode(body))))

const broken = (response: Response.Response, what: (typeof Fault.What)["Encoded"]) =>
  Effect.map(Fault.make({ on: "aml", what }), (fault) => {
    const random = new PCGRandom(1)
    return Kinds.apply(response, fault.what, { now, random: () => random.number() })
  })

/** The response of a fault that leaves HTTP intact. */
const wholeOf = (response: Response.Response, what: (typeof Fault.What)["Encoded"]) =>
  Effect.filterOrDie(
    Effect.map(broken(response, what), (delivery) => delivery._tag === "Whole" ? delivery.response : undefined),
    (response) => response !== undefined,
    () => new Error(`${what.kind} is scripted`)
  )

/** The steps, with the bytes as text. */
const scriptOf = (response: Response.Response, what: (typeof Fault.What)["Encoded"]) =>
  Effect.map(broken(response, what), (delivery) => {
    if (delivery._tag === "Whole") return ["whole"]
    deepStrictEqual(delivery.response, response)
    return delivery.steps.map(Response.Step.$match({
      Write: ({ bytes }) => text(bytes),
      Wait: ({ millis }) => millis,
      Fin: () => "FIN",
      Reset: () => "RST",
      Hang: () => "HANG"
    }))
  })

const small = Response.text(200, "application/json", "{\"a\":\"bcd\"}", { "x-id": "7" })
const head = (...framing: ReadonlyArray<string>) =>
  ["HTTP/1.1 200 OK", "content-type: application/json", "x-id: 7", ...framing, "connection: close", "", ""].join("\r\n")

const wire = {
  credential_type: "aml",
  credential_name: "AML",
  issued_by: "Mock",
  issuer_id: "7d9f6c52-4b1e-4c39-9a76-2f0e8d1b5a64",
  cred_version: "1.0",
  credentials: {
    attributes: {
      name: "Ada Testclear",
      birth_year: "1990",
      searched_on: "2026-02-03 04:05:06",
      match_found: "No",
      aml_profile: "https://mock.test/profiles/0123456789abcdef0123456789abcdef0123456789abcdef",
      extra: [1]
    }
  },
  more: null
}
const credential = Response.json(200, wire)

describe("apply, with HTTP intact", () => {
  it.effect("leaves the response as it is for faults that act before or after it", () =>
    Effect.gen(function*() {
      for (const kind of ["latency", "tokenExpiry", "tokenRevocation", "quota"] as const) {
        deepStrictEqual(yield* wholeOf(small, { kind }), small)
      }
    }))

  it.effect("status: replaces the whole response", () =>
    Effect.gen(function*() {
      deepStrictEqual(yield* wholeOf(small, { kind: "status" }), Response.empty(503))
      deepStrictEqual(
        yield* wholeOf(small, { kind: "status", status: 418, body: "{}", contentType: "application/problem+json" }),
        Response.text(418, "application/problem+json", "{}")
      )
      deepStrictEqual(
        yield* wholeOf(small, { kind: "status", status: 500, body: "nö" }),
        Response.text(500, "text/plain; charset=utf-8", "nö")
      )
    }))

  it.effect("status: has no body if the status has none", () =>
    Effect.gen(function*() {
      for (const status of [204, 205, 304]) {
        deepStrictEqual(yield* wholeOf(small, { kind: "status", status, body: "more" }), Response.empty(status))
      }
    }))

  it.effect("status: Retry-After as seconds, as a date that is not too early, and as garbage", () =>
    Effect.gen(function*() {
      const retryAfter = (retryAfter: (typeof Fault.RetryAfter)["Encoded"]) =>
        Effect.map(wholeOf(small, { kind: "status", retryAfter }), ({ headers }) => headers)
      deepStrictEqual(yield* retryAfter({ kind: "seconds", seconds: 17 }), { "retry-after": "17" })
      deepStrictEqual(yield* retryAfter({ kind: "date", in: "1 minute" }), {
        "retry-after": "Tue, 03 Feb 2026 04:06:07 GMT"
      })
      deepStrictEqual(yield* retryAfter({ kind: "date", in: 211 }), { "retry-after": "Tue, 03 Feb 2026 04:05:07 GMT" })
      deepStrictEqual(yield* retryAfter({ kind: "garbage" }), { "retry-after": "soon" })
    }))

  it.effect("falseGzip: adds a header", () =>
    Effect.gen(function*() {
      deepStrictEqual(yield* wholeOf(small, { kind: "falseGzip" }), {
        ...small,
        headers: { "content-type": "application/json", "x-id": "7", "content-encoding": "gzip" }
      })
    }))

  it.effect("malformedJson: cuts the body in half", () =>
    Effect.gen(function*() {
      deepStrictEqual(yield* wholeOf(small, { kind: "malformedJson" }), { ...small, body: bytes("{\"a\":") })
      const pairs: ReadonlyArray<readonly [string, string]> = [["", "{"], ["1", "{"], ["1234", "{12"], ["{}{}", "{{}"]]
      for (const [body, expected] of pairs) {
        const response = yield* wholeOf(Response.text(200, "application/json", body), { kind: "malformedJson" })
        strictEqual(text(response.body), expected)
      }
    }))

  it("malformedJson: is never JSON, whatever the body was", () => {
    const body = FastCheck.oneof(FastCheck.json(), FastCheck.string(), FastCheck.json().map((text) => text + text))
    FastCheck.assert(
      FastCheck.property(body, (body) => {
        const delivery = Kinds.apply(Response.text(200, "x/y", body), { kind: "malformedJson" }, {
          now,
          random: () => 0
        })
        strictEqual(isJson(delivery.response.body), false)
      }),
      { seed: 1, numRuns: 500 }
    )
  })

  it.effect("invalidUtf8: adds one byte at the end of the longest value, which a lenient reader accepts", () =>
    Effect.gen(function*() {
      const breakText = (body: string) =>
        Effect.map(
          wholeOf(Response.text(200, "application/json", body), { kind: "invalidUtf8" }),
          (response) => Buffer.from(response.body).toString("latin1")
        )
      strictEqual(
        yield* breakText("{\"the longest\":\"a\",\"b\":[\"xyz\",1]}"),
        "{\"the longest\":\"a\",\"b\":[\"xyz\xff\",1]}"
      )
      strictEqual(yield* breakText("{\"a\":\"xyz\",\"b\":\"x\"}"), "{\"a\":\"xyz\xff\",\"b\":\"x\"}")
      strictEqual(yield* breakText("{\"a\":\"xy\",\"b\":\"uv\"}"), "{\"a\":\"xy\xff\",\"b\":\"uv\"}")
      strictEqual(yield* breakText("{\"a\":\"q\\\"u\"}"), "{\"a\":\"q\\\"u\xff\"}")
      strictEqual(yield* breakText("{\"a\":1}"), "{\"a\":1}\xff")
      strictEqual(yield* breakText(""), "\xff")

      const response = yield* wholeOf(credential, { kind: "invalidUtf8" })
      strictEqual(Either.isLeft(Violation.decodeJson(AmlCredential.AmlCredential)(response.body)), true)
      const lenient: unknown = JSON.parse(new TextDecoder().decode(response.body))
      strictEqual(Either.isRight(Violation.decodeUnknown(AmlCredential.AmlCredential)(lenient)), true)
    }))

  it.effect("invalidUtf8: counts bytes, and not characters", () =>
    Effect.gen(function*() {
      const response = yield* wholeOf(Response.text(200, "application/json", "{\"ä\":\"ö€\"}"), { kind: "invalidUtf8" })
      deepStrictEqual(
        Buffer.from(response.body),
        Buffer.concat([bytes("{\"ä\":\"ö€"), Uint8Array.of(0xff), bytes("\"}")])
      )
    }))

  it.effect("empty: removes only the body", () =>
    Effect.gen(function*() {
      deepStrictEqual(yield* wholeOf(small, { kind: "empty" }), { ...small, body: new Uint8Array() })
    }))

  it.effect("html: is a page with the status of the response", () =>
    Effect.gen(function*() {
      deepStrictEqual(
        yield* wholeOf(small, { kind: "html" }),
        Response.text(
          200,
          "text/html; charset=utf-8",
          "<!doctype html>\n<html><head><title>Sign in</title></head><body><h1>Sign in</h1></body></html>\n",
          { "x-id": "7" }
        )
      )
    }))

  it.effect("oversize: is the same JSON with one more field, one byte over the limit", () =>
    Effect.gen(function*() {
      for (const size of [1000, 2 ** 21]) {
        const { body, ...others } = yield* wholeOf(credential, { kind: "oversize", bytes: size })
        deepStrictEqual(others, { status: 200, headers: credential.headers })
        strictEqual(body.length, size + 1)
        const { padding, ...fields } = JSON.parse(text(body))
        deepStrictEqual(fields, wire)
        strictEqual(/^x+$/.test(padding), true)
      }
    }))

  it.effect("oversize: is a JSON object for a body that is not one", () =>
    Effect.gen(function*() {
      for (const body of ["", "no", "[1]", "{}"]) {
        const response = yield* wholeOf(Response.text(200, "x/y", body), { kind: "oversize", bytes: 20 })
        strictEqual(text(response.body), "{\"padding\":\"xxxxxxx\"}")
      }
    }))

  it.effect("somebodyElse: is a valid credential of another person, and equal otherwise", () =>
    Effect.gen(function*() {
      const { body, ...others } = yield* wholeOf(credential, { kind: "somebodyElse" })
      deepStrictEqual(others, { status: 200, headers: credential.headers })
      deepStrictEqual(JSON.parse(text(body)), {
        ...wire,
        credentials: { attributes: { ...wire.credentials.attributes, name: "Somebody Else", birth_year: "1901" } }
      })
      const { credentials } = yield* Violation.decodeJson(AmlCredential.AmlCredential)(body)
      strictEqual(Redacted.value(credentials.attributes.name), "Somebody Else")

      const again = yield* wholeOf({ ...credential, body }, { kind: "somebodyElse" })
      const { attributes } = JSON.parse(text(again.body)).credentials
      deepStrictEqual([attributes.name, attributes.birth_year], ["Another Person", "1902"])
    }))

  it.effect("unknownMatch: has a match_found that is not listed, and is equal otherwise", () =>
    Effect.gen(function*() {
      const { body } = yield* wholeOf(credential, { kind: "unknownMatch" })
      deepStrictEqual(JSON.parse(text(body)), {
        ...wire,
        credentials: { attributes: { ...wire.credentials.attributes, match_found: "Under review" } }
      })
    }))

  it.effect("somebodyElse and unknownMatch do not change a body that is not a credential", () =>
    Effect.gen(function*() {
      for (const kind of ["somebodyElse", "unknownMatch"] as const) {
        for (const body of ["", "[]", "{\"credentials\":{}}", "{\"credentials\":{\"attributes\":1}}"]) {
          const response = Response.text(401, "application/json", body)
          deepStrictEqual(yield* wholeOf(response, { kind }), response)
        }
      }
    }))
})

describe("apply, byte by byte", () => {
  it.effect("reset: sends nothing or half of the body", () =>
    Effect.gen(function*() {
      deepStrictEqual(yield* scriptOf(small, { kind: "reset" }), ["RST"])
      deepStrictEqual(yield* scriptOf(small, { kind: "reset", at: "body" }), [
        head("content-length: 11"),
        "{\"a\":",
        "RST"
      ])
    }))

  it.effect("fin: sends nothing or half of the body", () =>
    Effect.gen(function*() {
      deepStrictEqual(yield* scriptOf(small, { kind: "fin" }), ["FIN"])
      deepStrictEqual(yield* scriptOf(small, { kind: "fin", at: "body" }), [
        head("content-length: 11"),
        "{\"a\":",
        "FIN"
      ])
    }))

  it.effect("hang: sends nothing or half of the body, and does not end", () =>
    Effect.gen(function*() {
      deepStrictEqual(yield* scriptOf(small, { kind: "hang" }), ["HANG"])
      deepStrictEqual(yield* scriptOf(small, { kind: "hang", at: "body" }), [
        head("content-length: 11"),
        "{\"a\":",
        "HANG"
      ])
    }))

  it.effect("truncation: sends `keep` bytes, always fewer than the Content-Length", () =>
    Effect.gen(function*() {
      const sent = (keep: number | undefined, response = small) =>
        scriptOf(response, { kind: "truncation", ...(keep !== undefined && { keep }) })
      const first = head("content-length: 11")
      deepStrictEqual(yield* sent(undefined), [first, "{\"a\":", "FIN"])
      deepStrictEqual(yield* sent(0), [first, "", "FIN"])
      deepStrictEqual(yield* sent(3), [first, "{\"a", "FIN"])
      deepStrictEqual(yield* sent(99), [first, "{\"a\":\"bcd\"", "FIN"])
      deepStrictEqual(yield* sent(99, Response.empty(401)), [
        "HTTP/1.1 401 Unauthorized\r\ncontent-length: 1\r\nconnection: close\r\n\r\n",
        "",
        "FIN"
      ])
    }))

  it.effect("badChunk: sends a valid chunk, and then one whose size is not a number", () =>
    Effect.gen(function*() {
      deepStrictEqual(yield* scriptOf(small, { kind: "badChunk" }), [
        head("transfer-encoding: chunked"),
        "6\r\n{\"a\":\"\r\nzz\r\nbcd\"}\r\n0\r\n\r\n",
        "FIN"
      ])
      deepStrictEqual((yield* scriptOf(Response.empty(200), { kind: "badChunk" }))[1], "zz\r\n\r\n0\r\n\r\n")
    }))

  it.effect("duplicateLength: has two different lengths", () =>
    Effect.gen(function*() {
      deepStrictEqual(yield* scriptOf(small, { kind: "duplicateLength" }), [
        head("content-length: 11", "content-length: 12"),
        "{\"a\":\"bcd\"}",
        "FIN"
      ])
    }))

  it.effect("randomBytes: sends `length` bytes instead of a response, the same for the same seed", () =>
    Effect.gen(function*() {
      const once = yield* broken(small, { kind: "randomBytes" })
      const again = yield* broken(small, { kind: "randomBytes" })
      deepStrictEqual(once, again)
      const [first, ...others] = once._tag === "Scripted" ? once.steps : []
      const written = first?._tag === "Write" ? first.bytes : new Uint8Array()
      strictEqual(written.length, 512)
      strictEqual(new Set(written).size > 150, true)
      deepStrictEqual(others, [Response.Step.Fin()])
    }))

  it.effect("drip: sends the head at once, then a few bytes at a time", () =>
    Effect.gen(function*() {
      deepStrictEqual(yield* scriptOf(small, { kind: "drip", bytes: 4, every: "1 second" }), [
        head("content-length: 11"),
        1000,
        "{\"a\"",
        1000,
        ":\"bc",
        1000,
        "d\"}",
        "FIN"
      ])
      const drops = yield* scriptOf(small, { kind: "drip" })
      strictEqual(drops.length, 1 + 2 * 11 + 1)
      strictEqual(drops.filter((step) => step === 100).length, 11)
    }))

  it.effect("sends a status without a reason phrase", () =>
    Effect.gen(function*() {
      deepStrictEqual(
        (yield* scriptOf(Response.empty(299), { kind: "truncation" }))[0],
        "HTTP/1.1 299 \r\ncontent-length: 1\r\nconnection: close\r\n\r\n"
      )
    }))
})

describe("RetryAfter.headers", () => {
  it("has a date in whole seconds that is not too early", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.nat(), FastCheck.nat({ max: 100_000 }), (offset, millis) => {
        const at = now + offset
        const date = Date.parse(
          RetryAfter.headers({ kind: "date", in: Duration.millis(millis) }, at)["retry-after"] ?? ""
        )
        strictEqual(date >= at + millis && date < at + millis + 1000, true)
      }),
      { seed: 1 }
    )
  })
})
