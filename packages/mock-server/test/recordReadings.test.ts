/** What a recording reads from the mock server: every behaviour of its profile. */
import { Headers, HttpBody, HttpClient, HttpClientRequest } from "@effect/platform"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect, Option, Redacted } from "effect"
import { Control, MockServer, Profile, Session } from "../src/index.ts"
import type { Exchange } from "../src/internal/record/exchange.ts"
import { read } from "../src/internal/record/readings.ts"

const { customerId, customerKey: key } = Session.testCustomer("test-recording")
const customerKey = Redacted.value(key)
const basic = (key: string) => `Basic ${Buffer.from(`${customerId}:${key}`).toString("base64")}`

/** Sends a request, and returns the exchange as the proxy of a recording sees it. */
const send = (operation: "token" | "aml", authorization: string, body: string, type?: string) =>
  Effect.gen(function*() {
    const target = operation === "token" ? "/oauth/service" : "/api/aml"
    const contentType = type ?? (operation === "token" ? "application/x-www-form-urlencoded" : "application/json")
    const url = new URL(`http://localhost${target}`)
    const client = yield* HttpClient.HttpClient
    const response = yield* client.execute(
      HttpClientRequest.post(url, { headers: { authorization }, body: HttpBody.text(body, contentType) })
    )
    const exchange: Exchange = {
      operation,
      url,
      request: {
        method: "POST",
        target,
        headers: Headers.fromInput({ authorization, "content-type": contentType }),
        headersProblem: Option.none(),
        isSecure: false,
        body: Buffer.from(body),
        isWhole: true
      },
      response: {
        status: response.status,
        headers: response.headers,
        body: new Uint8Array(yield* response.arrayBuffer)
      },
      at: yield* Effect.clockWith(({ currentTimeMillis }) => currentTimeMillis),
      millis: 0
    }
    return exchange
  })

const form = "grant_type=client_credentials"
const check = (name: string) => JSON.stringify({ entity_type: "person", name, dob: "14-03-1957" })

describe("A recording", () => {
  // A behaviour whose reading is forgotten would keep its default in the recorded profile.
  it.effect.each(["default", "hostile"] as const)(
    "reads every behaviour of the profile %s",
    (preset) =>
      Effect.gen(function*() {
        const { create, session } = yield* Control.Control
        yield* create({ customerId, customerKey: key, profile: { preset } })
        const granted = yield* send("token", basic(customerKey), form)
        const token = /"access_?[tT]oken":"([^"]+)"/.exec(Buffer.from(granted.response.body).toString())?.[1]
        const bearer = `Bearer ${token}`
        const exchanges = [
          granted,
          yield* send("token", basic(customerKey), `${form}&scope=aml`),
          yield* send("token", basic("wrong"), form),
          yield* send("aml", bearer, check("Zoë Ana Testclear")),
          yield* send("aml", bearer, check("Zoë Ana Testclear"), "application/json; charset=utf-8"),
          yield* send("aml", bearer, check("Zoë\u0000Testclear")),
          yield* send("aml", bearer, check(""))
        ]
        const { advance, fault } = session(customerId)
        yield* fault({ on: "aml", what: { kind: "quota", limit: 1, per: "1 hour" } })
        exchanges.push(yield* send("aml", bearer, check("Ada Test")), yield* send("aml", bearer, check("Ada Test")))
        yield* advance("2 hours")
        exchanges.push(yield* send("aml", bearer, check("Ada Test")))
        const shown = exchanges.flatMap((exchange) =>
          read(exchange, exchange.operation === "aml").shown.map(({ name, word }) => `${name}: ${word}`)
        )
        const expected = Object.entries(Profile.presets[preset]).map(([name, value]) => `${name}: ${value}`)
        deepStrictEqual(expected.filter((each) => !shown.includes(each)), [])
      }).pipe(Effect.provide(MockServer.layerHttpClient))
  )
})
