/** Every fault as a raw client sees it, without an HTTP library: the bytes, and how the stream ends. */
import { Control, Fault, MockServer } from "@effect-idv/mock-server"
import { describe, it, layer } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Either, Layer, Supervisor } from "effect"
import { eventually } from "../../core/test/support/eventually.ts"
import * as RawClient from "./support/rawClient.ts"

type On = "token" | "aml"

/** - `body`: the response of the endpoint, before a fault changes it or its delivery. */
interface Seen {
  readonly on: On
  readonly answer: RawClient.Answer
  readonly body: string
  readonly url: string
}

/**
 * - `before`: how many requests come before the fault fires.
 * - `patience`: when the client gives up; 5 seconds if absent.
 */
interface Case {
  readonly what: (typeof Fault.What)["Encoded"]
  readonly delivery: "whole" | "scripted"
  readonly before?: number
  readonly patience?: number
  readonly check: (seen: Seen) => void | Effect.Effect<void>
}

const own: Record<On, ReadonlyArray<string>> = {
  token: ["content-type: application/json", "cache-control: no-store", "pragma: no-cache"],
  aml: ["content-type: application/json"]
}

/** The date is that of the session, which runs. */
const withoutDate = (text: string): string => text.replace(/\r\ndate: [^\r]*/, "\r\ndate: <date>")

const head = (on: On, ...framing: ReadonlyArray<string>) =>
  ["HTTP/1.1 200 OK", ...own[on], "date: <date>", ...framing, "connection: close", "", ""].join("\r\n")

const half = (body: string) => body.slice(0, Math.floor(body.length / 2))
const withLength = ({ body, on }: Seen, sent: string) => head(on, `content-length: ${body.length}`) + sent

/** Responses with correct framing, whatever their content. */
const framed = (answer: RawClient.Answer, statusLine = "HTTP/1.1 200 OK") => {
  const parsed = RawClient.parse(answer)
  strictEqual(parsed.statusLine, statusLine)
  strictEqual(answer.end, "fin")
  strictEqual(parsed.names.filter((name) => name === "content-length").length, 1)
  strictEqual(parsed.headers["content-length"], String(parsed.body.length))
  strictEqual(parsed.headers["transfer-encoding"], undefined)
  strictEqual(parsed.headers["connection"], "close")
  return { headers: parsed.headers, body: parsed.body, text: parsed.body.toString() }
}

const isJson = (text: string) => Either.isRight(Either.try((): unknown => JSON.parse(text)))

const intact = ({ answer, body }: Seen) => strictEqual(framed(answer).text, body)

const late = (least: number) => (seen: Seen) => {
  intact(seen)
  const { firstByte = 0 } = seen.answer
  strictEqual(firstByte >= least - 2, true, `the first byte after ${firstByte} ms`)
}

const silentFor = (millis: number) => ({ millis: waited }: RawClient.Answer) =>
  strictEqual(waited >= millis, true, `waited ${waited} ms`)

const exactly = (end: RawClient.End, expected: (seen: Seen) => string) => (seen: Seen) => {
  strictEqual(withoutDate(seen.answer.text), expected(seen))
  strictEqual(seen.answer.end, end)
}

const attributes = (text: string) => JSON.parse(text).credentials.attributes

const ended = (seen: Seen) =>
  Effect.gen(function*() {
    const { answer, on, url } = seen
    const refused = on === "aml"
      ? answer
      : yield* RawClient.send(url, RawClient.amlRequest(JSON.parse(framed(answer).text).access_token))
    const { headers } = framed(refused, "HTTP/1.1 401 Unauthorized")
    strictEqual(headers["www-authenticate"], "Bearer realm=\"idv-mock\", error=\"invalid_token\"")
  })

const cases: Record<Fault.What["kind"], ReadonlyArray<Case>> = {
  latency: [
    { what: { kind: "latency", distribution: { kind: "fixed", delay: 250 } }, delivery: "whole", check: late(250) },
    {
      what: { kind: "latency", distribution: { kind: "uniform", min: 100, max: 150 } },
      delivery: "whole",
      check: late(100)
    },
    {
      what: { kind: "latency", distribution: { kind: "normal", mean: 120, deviation: 0 } },
      delivery: "whole",
      check: late(120)
    },
    {
      what: { kind: "latency", distribution: { kind: "logNormal", median: 120, sigma: 0 } },
      delivery: "whole",
      check: late(120)
    }
  ],
  status: [
    {
      what: { kind: "status" },
      delivery: "whole",
      check: ({ answer }) => {
        const { headers, text } = framed(answer, "HTTP/1.1 503 Service Unavailable")
        strictEqual(text, "")
        strictEqual(headers["retry-after"], undefined)
      }
    },
    {
      what: {
        kind: "status",
        status: 429,
        body: "{\"slow\":\"döwn\"}",
        contentType: "application/problem+json",
        retryAfter: { kind: "seconds", seconds: 7 }
      },
      delivery: "whole",
      check: ({ answer }) => {
        const { headers, text } = framed(answer, "HTTP/1.1 429 Too Many Requests")
        strictEqual(text, "{\"slow\":\"döwn\"}")
        strictEqual(headers["content-type"], "application/problem+json")
        strictEqual(headers["retry-after"], "7")
      }
    },
    {
      what: { kind: "status", retryAfter: { kind: "date", in: "90 seconds" } },
      delivery: "whole",
      check: ({ answer }) => {
        const { headers } = framed(answer, "HTTP/1.1 503 Service Unavailable")
        const { date = "", "retry-after": retryAfter = "" } = headers
        strictEqual(new Date(retryAfter).toUTCString(), retryAfter)
        const wait = Date.parse(retryAfter) - Date.parse(date)
        strictEqual(wait >= 89_000 && wait <= 91_000, true, `in ${wait} ms`)
      }
    },
    {
      what: { kind: "status", status: 500, retryAfter: { kind: "garbage", text: "when it suits" } },
      delivery: "whole",
      check: ({ answer }) =>
        strictEqual(framed(answer, "HTTP/1.1 500 Internal Server Error").headers["retry-after"], "when it suits")
    },
    {
      what: { kind: "status", status: 204, body: "not sent" },
      delivery: "whole",
      check: ({ answer }) => {
        const { body, headers, statusLine } = RawClient.parse(answer)
        strictEqual(statusLine, "HTTP/1.1 204 No Content")
        strictEqual(headers["transfer-encoding"], undefined)
        strictEqual(body.length, 0)
        strictEqual(answer.end, "fin")
      }
    }
  ],
  reset: [
    { what: { kind: "reset" }, delivery: "scripted", check: exactly("reset", () => "") },
    {
      what: { kind: "reset", at: "body" },
      delivery: "scripted",
      check: exactly("reset", (seen) => withLength(seen, half(seen.body)))
    }
  ],
  fin: [
    { what: { kind: "fin" }, delivery: "scripted", check: exactly("fin", () => "") },
    {
      what: { kind: "fin", at: "body" },
      delivery: "scripted",
      check: exactly("fin", (seen) => withLength(seen, half(seen.body)))
    }
  ],
  truncation: [
    {
      what: { kind: "truncation" },
      delivery: "scripted",
      check: exactly("fin", (seen) => withLength(seen, half(seen.body)))
    },
    {
      what: { kind: "truncation", keep: 0 },
      delivery: "scripted",
      check: exactly("fin", (seen) => withLength(seen, ""))
    },
    {
      what: { kind: "truncation", keep: 17 },
      delivery: "scripted",
      check: exactly("fin", (seen) => withLength(seen, seen.body.slice(0, 17)))
    },
    {
      what: { kind: "truncation", keep: 1_000_000 },
      delivery: "scripted",
      check: exactly("fin", (seen) => withLength(seen, seen.body.slice(0, -1)))
    }
  ],
  badChunk: [
    {
      what: { kind: "badChunk" },
      delivery: "scripted",
      check: exactly("fin", ({ body, on }) => {
        const size = Math.ceil(body.length / 2)
        return head(on, "transfer-encoding: chunked") +
          `${size.toString(16)}\r\n${body.slice(0, size)}\r\nzz\r\n${body.slice(size)}\r\n0\r\n\r\n`
      })
    }
  ],
  falseGzip: [
    {
      what: { kind: "falseGzip" },
      delivery: "whole",
      check: (seen) => {
        strictEqual(framed(seen.answer).headers["content-encoding"], "gzip")
        intact(seen)
      }
    }
  ],
  duplicateLength: [
    {
      what: { kind: "duplicateLength" },
      delivery: "scripted",
      check: exactly(
        "fin",
        ({ body, on }) => head(on, `content-length: ${body.length}`, `content-length: ${body.length + 1}`) + body
      )
    }
  ],
  randomBytes: [
    {
      what: { kind: "randomBytes" },
      delivery: "scripted",
      check: ({ answer }) => {
        strictEqual(answer.bytes.length, 512)
        strictEqual(answer.text.startsWith("HTTP/"), false)
        strictEqual(new Set(answer.bytes).size > 100, true)
        strictEqual(answer.end, "fin")
      }
    },
    {
      what: { kind: "randomBytes", length: 7 },
      delivery: "scripted",
      check: ({ answer }) => deepStrictEqual([answer.bytes.length, answer.end], [7, "fin"])
    }
  ],
  malformedJson: [
    {
      what: { kind: "malformedJson" },
      delivery: "whole",
      check: ({ answer }) => {
        const { headers, text } = framed(answer)
        strictEqual(headers["content-type"], "application/json")
        strictEqual(text.startsWith("{"), true)
        strictEqual(isJson(text), false)
      }
    }
  ],
  invalidUtf8: [
    {
      what: { kind: "invalidUtf8" },
      delivery: "whole",
      check: ({ answer }) => {
        const { body, headers, text } = framed(answer)
        strictEqual(headers["content-type"], "application/json")
        strictEqual(body.filter((byte) => byte === 0xff).length, 1)
        strictEqual(isJson(text), true)
      }
    }
  ],
  empty: [
    {
      what: { kind: "empty" },
      delivery: "whole",
      check: ({ answer }) => strictEqual(framed(answer).body.length, 0)
    }
  ],
  html: [
    {
      what: { kind: "html" },
      delivery: "whole",
      check: ({ answer }) => {
        const { headers, text } = framed(answer)
        strictEqual(headers["content-type"], "text/html; charset=utf-8")
        strictEqual(text.startsWith("<!doctype html>\n<html>"), true)
      }
    }
  ],
  drip: [
    {
      what: { kind: "drip", bytes: 20, every: 15 },
      delivery: "scripted",
      check: (seen) => {
        exactly("fin", (seen) => withLength(seen, seen.body))(seen)
        const { answer, body } = seen
        const drops = Math.ceil(body.length / 20)
        strictEqual(answer.arrivals > drops / 2, true, `in ${answer.arrivals} pieces`)
        silentFor(drops * 14)(answer)
      }
    }
  ],
  hang: [
    {
      what: { kind: "hang" },
      delivery: "scripted",
      patience: 300,
      check: (seen) => {
        exactly("open", () => "")(seen)
        silentFor(300)(seen.answer)
      }
    },
    {
      what: { kind: "hang", at: "body" },
      delivery: "scripted",
      patience: 300,
      check: (seen) => {
        exactly("open", (seen) => withLength(seen, half(seen.body)))(seen)
        silentFor(300)(seen.answer)
      }
    }
  ],
  oversize: [
    {
      what: { kind: "oversize" },
      delivery: "whole",
      check: ({ answer }) => {
        const { text } = framed(answer)
        strictEqual(text.length > 2 * 1024 * 1024, true)
        strictEqual(isJson(text), true)
      }
    },
    {
      what: { kind: "oversize", bytes: 100_000 },
      delivery: "whole",
      check: ({ answer }) => {
        const { text } = framed(answer)
        strictEqual(text.length > 100_000 && text.length < 110_000, true)
        strictEqual(isJson(text), true)
      }
    }
  ],
  somebodyElse: [
    {
      what: { kind: "somebodyElse" },
      delivery: "whole",
      check: ({ answer }) => {
        const { birth_year, match_found, name } = attributes(framed(answer).text)
        deepStrictEqual({ birth_year, match_found, name }, {
          birth_year: "1901",
          match_found: "No",
          name: "Somebody Else"
        })
      }
    }
  ],
  unknownMatch: [
    {
      what: { kind: "unknownMatch" },
      delivery: "whole",
      check: ({ answer }) => {
        const { match_found, name } = attributes(framed(answer).text)
        strictEqual(name, "Ada Testclear")
        strictEqual(typeof match_found, "string")
        strictEqual(["No", "Potential match"].includes(match_found), false)
      }
    }
  ],
  tokenExpiry: [{ what: { kind: "tokenExpiry" }, delivery: "whole", check: ended }],
  tokenRevocation: [{ what: { kind: "tokenRevocation" }, delivery: "whole", check: ended }],
  quota: [
    {
      what: { kind: "quota", limit: 2, per: "1 hour" },
      delivery: "whole",
      before: 2,
      check: ({ answer }) => {
        const { headers } = framed(answer, "HTTP/1.1 429 Too Many Requests")
        assertInclude(headers["retry-after"], "3600")
        strictEqual(headers["content-type"], "application/problem+json")
      }
    },
    {
      what: { kind: "quota", limit: 1, per: "1 hour", retryAfter: { kind: "garbage" } },
      delivery: "whole",
      before: 1,
      check: ({ answer }) =>
        strictEqual(framed(answer, "HTTP/1.1 429 Too Many Requests").headers["retry-after"], "soon")
    }
  ]
}

const table = Fault.kinds.filter(({ kind }) => kind in cases).flatMap(({ kind, on }) =>
  on.flatMap((on) => cases[kind].map((one, index) => [kind, on, one.what, one, index] as const))
)

describe("A fault on the wire", () => {
  it("has a case for every kind", () => {
    deepStrictEqual(Object.keys(cases), Fault.kinds.map(({ kind }) => kind))
    strictEqual(Object.values(cases).every((cases) => cases.length > 0), true)
  })

  layer(MockServer.layer({ port: 0, reveal: true }), { excludeTestServices: true })((it) => {
    it.effect.each(table)(
      "%s on %s: %j",
      ([kind, on, what, { before = 0, check, delivery, patience }, index]) =>
        Effect.gen(function*() {
          const { url } = yield* MockServer.MockServer
          const customerId = `test-${kind}-${on}-${index}`
          const control = (yield* Control.Control).session(customerId)
          const token = yield* RawClient.token(url, customerId)
          // A scripted response ends a connection that the client would keep open.
          const connection = delivery === "whole" ? "close" : "keep-alive"
          const request = on === "token"
            ? RawClient.tokenRequest(customerId, "test-key", connection)
            : RawClient.amlRequest(token, "Ada Testclear", connection)

          // A quota counts its requests itself.
          const { id } = yield* control.fault({ on, what, ...(before === 0 && { when: { kind: "nth", n: 1 } }) })
          for (let i = 0; i < before; i++) {
            strictEqual(framed(yield* RawClient.send(url, request)).text.length > 0, true)
          }
          const answer = yield* RawClient.send(url, request, patience)

          const { entries } = yield* control.journal({ fault: id })
          deepStrictEqual(
            entries.map(({ faults }) => faults),
            [[{ id, kind, request: before + 1 }]]
          )
          deepStrictEqual(entries.map(({ operation, response }) => [operation, response.delivery]), [[on, delivery]])
          const [entry] = entries
          yield* Effect.asVoid(
            Effect.suspend(() => check({ on, answer, url, body: entry?.response.body ?? "" }) ?? Effect.void)
          )
          if (before > 0) yield* control.clearFaults
          strictEqual(yield* RawClient.works(url, customerId), true)
        })
    )
  })

  layer(MockServer.layer({ port: 0, reveal: true }), { excludeTestServices: true })((it) => {
    const setUp = (customerId: string) =>
      Effect.gen(function*() {
        const { url } = yield* MockServer.MockServer
        const control = (yield* Control.Control).session(customerId)
        const token = yield* RawClient.token(url, customerId)
        const check = (name: string) => RawClient.amlRequest(token, name, "keep-alive")
        const late = { kind: "latency", distribution: { kind: "fixed", delay: 150 } } as const
        yield* control.fault({ on: "aml", when: { kind: "nth", n: 1 }, what: late })
        return { check, control, url }
      })

    it.effect.each<[string, RawClient.End, (body: string) => string]>([
      ["Ada Testcut", "fin", (body) => head("aml", `content-length: ${body.length}`) + half(body)],
      ["Ada Testreset", "reset", (body) => head("aml", `content-length: ${body.length}`) + half(body)],
      ["Ada Testhang", "open", () => ""]
    ])(
      "of a pipelined request comes once those before it are answered: %s",
      ([name, end, expected]) =>
        Effect.gen(function*() {
          const { check, control, url } = yield* setUp(`test-pipelined-${end}`)
          const names = ["Ada Testclear", name, "Zoë Testpep"]
          const answer = yield* RawClient.send(url, Buffer.concat(names.map(check)), 400)
          const { entries } = yield* control.journal({ operation: "aml" })
          const [first = "", second = ""] = entries.map(({ response }) => response.body)
          const at = answer.text.indexOf(first) + first.length
          deepStrictEqual(
            [answer.text.startsWith("HTTP/1.1 200 OK\r\n"), withoutDate(answer.text.slice(at)), answer.end],
            [true, expected(second), end]
          )
          deepStrictEqual(entries[1]?.response.delivery, "scripted")
          strictEqual(yield* RawClient.works(url, `test-pipelined-${end}`), true)
        })
    )

    it.effect("loses every pipelined request behind one that ends the connection", () =>
      Effect.gen(function*() {
        const { check, url } = yield* setUp("test-pipelined-many")
        const names = ["Ada Testclear", ...Array.from({ length: 20 }, () => "Ada Testcut")]
        const { end, text } = yield* RawClient.send(url, Buffer.concat(names.map(check)))
        deepStrictEqual([text.match(/HTTP\/1.1 \d+/g), end], [["HTTP/1.1 200", "HTTP/1.1 200"], "fin"])
        strictEqual(yield* RawClient.works(url, "test-pipelined-many"), true)
      }))
  })

  it.live("of a pipelined request ends when the client leaves before its turn", () =>
    Effect.gen(function*() {
      const supervisor = yield* Supervisor.track
      const running = Effect.map(supervisor.value, (fibers) => fibers.length)
      yield* Effect.gen(function*() {
        const { url } = yield* MockServer.MockServer
        const token = yield* RawClient.token(url, "demo-customer", "demo-key")
        const check = (name: string) => RawClient.amlRequest(token, name, "keep-alive")
        // Counted as below, because this also runs fibers.
        const idle = yield* eventually("a count", running, () => true)
        yield* Effect.scoped(Effect.gen(function*() {
          const connection = yield* RawClient.connect(url)
          yield* connection.write(Buffer.concat([check("Ada Testhang"), check("Ada Testcut")]))
          yield* eventually("two requests in the server", running, (running) => running >= idle + 2)
          strictEqual((yield* connection.answer({ patience: 200 })).text, "")
        }))
        yield* eventually("an idle server", running, (running) => running <= idle)
      }).pipe(Effect.provide(Layer.provide(MockServer.layerTest, Supervisor.addSupervisor(supervisor))))
    }))
})
