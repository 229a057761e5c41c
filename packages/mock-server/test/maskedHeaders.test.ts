import type { Session } from "@effect-idv/mock-server"
import { Control, type Journal, MockServer } from "@effect-idv/mock-server"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, FastCheck, Inspectable, Layer, Logger, Redacted } from "effect"
import * as EntryLine from "../src/internal/command/entryLine.ts"
import * as Words from "../src/internal/journal/headerWords.ts"
import { maskRequestHeaders, maskResponseHeaders } from "../src/internal/journal/maskedHeaders.ts"
import * as Plain from "./support/plain.ts"
import { send } from "./support/rawClient.ts"

const shown = (name: string, value: string) => maskRequestHeaders({ [name]: value })[name]

describe("The value of a header", () => {
  it.each([
    ["content-type", "application/json; charset=utf-8"],
    ["content-type", "application/x-www-form-urlencoded"],
    ["content-type", "Application/Problem+JSON;Charset=\"UTF-8\""],
    ["accept", "text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8"],
    ["accept-encoding", "gzip, deflate, br;q=1.0, *;q=0"],
    ["accept-language", "en-US,en;q=0.9,de;q=0.8"],
    ["accept-language", "*"],
    ["user-agent", "undici"],
    ["user-agent", "node"],
    ["user-agent", "curl/8.5.0"],
    ["user-agent", "python-requests/2.31.0"],
    ["user-agent", "Go-http-client/1.1"],
    ["user-agent", "Apache-HttpClient/4.5.14 (Java/17.0.2)"],
    ["user-agent", "axios/1.7.2"],
    [
      "user-agent",
      "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.6099.109 Safari/537.36"
    ],
    ["host", "127.0.0.1:4010"],
    ["host", "localhost"],
    ["host", "[::1]:8080"],
    ["connection", "keep-alive, Upgrade"],
    ["keep-alive", "timeout=5, max=100"],
    ["content-length", "72"],
    ["transfer-encoding", "chunked"],
    ["cache-control", "no-cache, max-age=0"],
    ["expect", "100-continue"],
    ["sec-fetch-mode", "cors"]
  ])("%s: %s is shown", (name, value) => {
    strictEqual(shown(name, value), value)
  })

  it.each([
    ["content-type", "multipart/form-data; boundary=Canarina", "multipart/form-data; boundary=***"],
    ["content-type", "application/json; name=\"Canarina\"", "application/json; ***=\"***\""],
    ["content-type", "application/vnd.canarina+json", "application/***"],
    ["content-type", "29/07/1873", "***/***/***"],
    ["accept", "Canarina", "***"],
    ["accept-language", "canarina-Ca;q=0.1957", "***;q=***"],
    ["user-agent", "curl/8.5.0 Canarina/1.0 (29.07.1873)", "curl/8.5.0 ***/*** (***)"],
    ["user-agent", "curl/29.07.1873", "curl/***"],
    ["user-agent", "curl/29.7.1873", "curl/***"],
    ["user-agent", "curl/1873.7.29", "curl/***"],
    ["user-agent", "18730729", "***"],
    ["host", "canarina.example:4010", "***"],
    ["host", "29.07.18.73", "***"],
    ["host", "localhost:4010.canarina", "***"],
    ["traceparent", "00-63616e6172696e610000000000000000-0000000029071873-01", "00-***-***-01"],
    ["traceparent", "00-canarina-b7ad6b7169203331-01", "***"],
    ["traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-canarina", "***"],
    ["content-length", "29071873", "***"],
    ["date", "Tue, 29 Jul 1873 00:00:00 GMT", "***"],
    ["retry-after", "29071873", "***"],
    ["location", "https://canarina.example/", "***"],
    ["www-authenticate", "Canarina", "***"]
  ])("%s: %s is shown as %s", (name, value, expected) => {
    strictEqual(shown(name, value), expected)
  })

  it("of a response is shown if the mock server itself wrote it", () => {
    const own = {
      "allow": "POST",
      "date": "Sat, 31 Jan 2026 12:00:00 GMT",
      "retry-after": "Sat, 31 Jan 2026 12:00:00 GMT",
      "www-authenticate": "Bearer realm=\"idv-mock\", error=\"invalid_token\"",
      "cache-control": "no-store"
    }
    deepStrictEqual(maskResponseHeaders(own), own)
    deepStrictEqual(maskResponseHeaders({ "retry-after": "Canarina", "content-type": "canarina/29071873" }), {
      "retry-after": "***",
      "content-type": "***/***"
    })
  })

  it("shows no part of a canary, whatever surrounds it", () => {
    const header = FastCheck.constantFrom(...Words.names)
    const noise = FastCheck.oneof(FastCheck.string(), FastCheck.constantFrom(" ", ";q=", "/", ", ", "\"", "curl/", "="))
    FastCheck.assert(FastCheck.property(header, noise, noise, (name, before, after) => {
      FastCheck.pre(name !== "authorization")
      for (const mask of [maskRequestHeaders, maskResponseHeaders]) {
        assert.notMatch(JSON.stringify(mask({ [name]: `${before}canarina${after}` })), /canarina/i)
      }
    }))
  })
})

const canary = { key: "s3cret-Canarina-key", name: "Zoë Canarina", dob: "29-07-1873" }

const customer: Session.Customer = { customerId: "leak-customer", customerKey: Redacted.make(canary.key) }

/** The spellings and encodings that a mistake may produce. */
const spellings = [
  canary.key,
  "Canarina",
  "CANARINA",
  "Zoe_Canarina",
  encodeURIComponent(canary.name),
  Buffer.from(canary.name).toString("base64"),
  Buffer.from(canary.name).toString("base64url"),
  Buffer.from(canary.name).toString("hex"),
  Buffer.from(canary.key).toString("hex"),
  canary.dob,
  "1873-07-29",
  "29.07.1873",
  "29/07/1873",
  "29071873",
  "18730729"
]

const headersOf = (secret: string): ReadonlyArray<string> => {
  const token = secret.replaceAll(/[^\w.-]/g, "")
  const hex = Buffer.from(secret).toString("hex").padEnd(32, "0").slice(0, 32)
  return [
    `x-${token}: 1`,
    `${token}: ${secret}`,
    `Content-Type: application/json; ${token}=1`,
    `Content-Type: application/json; charset="${secret}"`,
    `Content-Type: ${secret}`,
    `Accept: ${secret}`,
    `Accept: application/json; q=0.5; v=${secret}`,
    `Accept-Charset: ${secret}`,
    `Accept-Encoding: gzip, ${secret}`,
    `Accept-Language: en, ${secret};q=0.5`,
    `User-Agent: ${secret}`,
    `User-Agent: curl/${secret}`,
    `User-Agent: curl/8.5.0 (${secret})`,
    `traceparent: ${secret}`,
    `traceparent: 00-${hex}-b7ad6b7169203331-01`,
    `traceparent: 00-0af7651916cd43dd8448eb211c80319c-${hex.slice(0, 16)}-01`,
    `tracestate: app=${secret}`,
    `baggage: name=${secret}`,
    `b3: ${secret}`,
    `Host: ${secret}`,
    `Host: ${token}.example:4010`,
    `Connection: ${secret}`,
    `Keep-Alive: timeout=${secret}`,
    `Cache-Control: ${secret}`,
    `Pragma: ${secret}`,
    `Date: ${secret}`,
    `ETag: "${secret}"`,
    `TE: ${secret}`,
    `Trailer: ${secret}`,
    `Upgrade: ${secret}`,
    `Vary: ${secret}`,
    `Allow: ${secret}`,
    `WWW-Authenticate: Basic realm="${secret}"`,
    `Retry-After: ${secret}`,
    `Location: http://${token}.example/`,
    `Content-Encoding: ${secret}`,
    `Sec-Fetch-Mode: ${secret}`
  ]
}

const folded = (text: string) => text.normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase()

describe("A key, a name or a date of birth in a header", () => {
  it.scopedLive("reaches no journal, page, command line, metric or log", () =>
    Effect.gen(function*() {
      const reported: Array<Journal.Entry> = []
      const logged: Array<string> = []
      const logger = Logger.make(({ cause, message }) => logged.push(Inspectable.toStringUnknown([message, cause])))
      yield* Effect.gen(function*() {
        const { url } = yield* MockServer.MockServer
        const own = yield* Plain.token(customer.customerId, canary.key)
        const secrets = [...spellings, own, own.split(".")[1] ?? ""]
        const all = secrets.flatMap(headersOf)
        yield* Effect.forEach(all, (header, index) => {
          const is = (name: string) => header.toLowerCase().startsWith(name)
          const headers = [
            ...(is("host:") ? [] : ["Host: localhost"]),
            ...(is("connection:") ? [] : ["Connection: close"]),
            ...(is("content-type:") ? [] : ["Content-Type: application/json"]),
            `Authorization: Bearer ${index % 2 === 0 ? own : "unknown"}`,
            "Content-Length: 2",
            header
          ]
          return send(url, `POST /api/aml HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n{}`, 2000)
        }, { concurrency: 10 })

        const { metrics, session, unmatchedRequests } = yield* Control.Control
        const journal = (yield* session(customer.customerId).journal()).entries
        const unmatched = (yield* unmatchedRequests()).entries
        strictEqual(journal.length + unmatched.length >= all.length, true, `${journal.length} and ${unmatched.length}`)
        const page = yield* Plain.control("GET", `/ui/${customer.customerId}`)
        const [first] = journal.slice(-1)
        const exchange = yield* Plain.control("GET", `/ui/${customer.customerId}/exchanges/${first?.id}`)
        strictEqual(page.status + exchange.status, 400)
        const texts = {
          journal: JSON.stringify(journal),
          unmatched: JSON.stringify(unmatched),
          reported: JSON.stringify(reported),
          lines: reported.flatMap((entry) => [EntryLine.json(entry), EntryLine.pretty(false)(entry)]).join("\n"),
          pages: page.text + exchange.text,
          metrics: yield* metrics,
          logs: logged.join("\n")
        }
        for (const [where, text] of Object.entries(texts)) {
          const found = secrets.filter((secret) => folded(text).includes(folded(secret)))
          deepStrictEqual(found, [], where)
        }
      }).pipe(
        Effect.provide(Layer.merge(
          MockServer.layer({
            port: 0,
            customers: [customer],
            onExchange: (entry) => Effect.sync(() => reported.push(entry))
          }),
          NodeHttpClient.layerUndici
        )),
        Effect.provide(Logger.replace(Logger.defaultLogger, logger))
      )
    }))
})
