/** The reserved names, for clients that cannot use the control API. */
import { AmlClient, AmlError, Idv, Person, TokenError } from "@effect-idv/core"
import { MockServer, Session, TestPerson } from "@effect-idv/mock-server"
import { NodeHttpClient } from "@effect/platform-node"
import { describe, it, layer } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Either, Fiber, Layer, Random, TestClock } from "effect"
import * as RawClient from "./support/rawClient.ts"

/** - `wire`: what arrives. `client`: the outcome of a check by `@effect-idv/core`. */
interface Expected {
  readonly wire: (answer: RawClient.Answer, name: string) => void
  readonly client: string
}

const bodyOf = (answer: RawClient.Answer) => {
  const { body, statusLine } = RawClient.parse(answer)
  deepStrictEqual([answer.end, statusLine], ["fin", "HTTP/1.1 200 OK"])
  return body.toString()
}

const attributesOf = (answer: RawClient.Answer) => JSON.parse(bodyOf(answer)).credentials.attributes

const found = (result: string): Expected => ({
  wire: (answer, name) => {
    const { birth_year, match_found, name: echo } = attributesOf(answer)
    deepStrictEqual([Buffer.from(name, "latin1").toString(), birth_year, match_found], [echo, "1990", result])
  },
  client: result
})

const refused = (statusLine: string, client: string, retryAfter?: string): Expected => ({
  wire: (answer) => {
    const parsed = RawClient.parse(answer)
    deepStrictEqual(
      [answer.end, parsed.statusLine, parsed.body.length, parsed.headers["retry-after"]],
      ["fin", `HTTP/1.1 ${statusLine}`, 0, retryAfter]
    )
  },
  client
})

/** Half of a body with a potential match. */
const half = (end: RawClient.End): Expected["wire"] => (answer) => {
  const { body, headers, statusLine } = RawClient.parse(answer)
  deepStrictEqual(
    [answer.end, statusLine, headers["content-length"], body[0]],
    [end, "HTTP/1.1 200 OK", String(body.length * 2 + Number(headers["content-length"]) % 2), "{".charCodeAt(0)]
  )
}

const nothing: Expected["wire"] = ({ end, text }) => deepStrictEqual([end, text], ["open", ""])

const expected: Record<string, Expected> = {
  Testclear: found("No"),
  Testpep: found("Potential match"),
  Testsanc: found("Potential match"),
  Testslow: { wire: nothing, client: "AmlTimeout" },
  Testhang: { wire: nothing, client: "AmlTimeout" },
  Test401: refused("401 Unauthorized", "AmlUnauthorized"),
  Test403: refused("403 Forbidden", "AmlForbidden"),
  Test429: refused("429 Too Many Requests", "AmlRateLimited", "1"),
  Test500: refused("500 Internal Server Error", "AmlUnavailable"),
  Test503: refused("503 Service Unavailable", "AmlUnavailable", "1"),
  Testhtml: {
    wire: (answer) => strictEqual(bodyOf(answer).startsWith("<!doctype html>"), true),
    client: "AmlResponseInvalid"
  },
  Testempty: { wire: (answer) => strictEqual(bodyOf(answer), ""), client: "AmlResponseInvalid" },
  Testcut: { wire: half("fin"), client: "AmlUnavailable" },
  Testreset: { wire: half("reset"), client: "AmlUnavailable" },
  Testecho: {
    wire: (answer) => {
      const { birth_year, match_found, name } = attributesOf(answer)
      deepStrictEqual([birth_year, match_found, name], ["1901", "Potential match", "Somebody Else"])
    },
    client: "AmlResponseMismatch"
  },
  Testunknown: {
    wire: (answer) => {
      const { match_found } = attributesOf(answer)
      strictEqual(typeof match_found === "string" && !["No", "Potential match"].includes(match_found), true)
    },
    client: "AmlResponseInvalid"
  }
}

const words = TestPerson.reserved.map(({ lastWord }) => lastWord)

/** Each reserved name after a name that is not ASCII, and in another case. */
const namesOf = (word: string) => [
  `Ada ${word}`,
  `Zoe\u0308 Mu\u0308ller ${word.toUpperCase()}`,
  `Иван  王\u3000${word.toLowerCase()} `,
  word.replace(/.$/, (last) => last.toUpperCase())
]

/** The name as a text with one character per byte, as the raw client sends it. */
const bytes = (name: string) => Buffer.from(name).toString("latin1")

/** Only what never responds, or late, is waited for. */
const policyFor = (word: string) => ({
  deadline: expected[word]?.client === "AmlTimeout" ? "1 second" : "1 minute",
  retry: "never"
} as const)

const check = (name: string, policy: AmlClient.PolicyOptions = policyFor("")) =>
  Effect.gen(function*() {
    const aml = yield* AmlClient.AmlClient
    const person = yield* Person.make({ name, dateOfBirth: "1957-03-14" })
    return yield* Effect.either(AmlClient.withPolicy(aml.check(person), policy)).pipe(
      Effect.map(Either.match({
        onLeft: (error) => {
          strictEqual(AmlError.isAmlError(error) || TokenError.isTokenError(error), true)
          return String(error._tag)
        },
        onRight: ({ result }) => String(result)
      }))
    )
  })

const layerIdv = Layer.unwrapEffect(
  Effect.map(MockServer.MockServer, ({ options }) => Idv.layer({ ...options, ...Session.testCustomer("test-core") }))
)

describe("A reserved name", () => {
  it("has a case, each of them", () => {
    deepStrictEqual(Object.keys(expected).toSorted(), words.toSorted())
  })

  it.effect("Testslow returns \"No\" after 5 seconds, and not before", () =>
    Effect.gen(function*() {
      const fiber = yield* Effect.fork(check("Ada Testslow", { deadline: "30 seconds" }))
      yield* TestClock.adjust(4_999)
      strictEqual((yield* Fiber.poll(fiber))._tag, "None")
      yield* TestClock.adjust(1)
      strictEqual(yield* Fiber.join(fiber), "No")
    }).pipe(Effect.provide(layerIdv.pipe(Layer.provide(MockServer.layerHttpClient)))))

  it.effect("does not count at another position, and the result is always \"No\"", () =>
    Effect.gen(function*() {
      for (const word of words.filter((word) => word !== "Testclear")) {
        for (const name of [`${word} Ada`, `Ada ${word}-Smith`, `Ada${word}`]) {
          strictEqual(yield* check(name), "No", name)
        }
      }
      for (let i = 0; i < 3; i++) strictEqual(yield* check("Grace Brewster Hopper"), "No")
    }).pipe(Effect.provide(layerIdv.pipe(Layer.provide(MockServer.layerHttpClient)))))

  // Last, because `it.effect` belongs to the layer from here on.
  layer(
    layerIdv.pipe(Layer.provideMerge(MockServer.layerTest), Layer.provide(NodeHttpClient.layerUndici)),
    { excludeTestServices: true }
  )((it) => {
    it.effect.each(words)(
      "%s is answered as its name has it, in any case and after any name",
      (word) =>
        Effect.gen(function*() {
          const { url } = yield* MockServer.MockServer
          const token = yield* RawClient.token(url, "test-raw")
          yield* Effect.forEach(namesOf(word), (name) =>
            Effect.gen(function*() {
              const body = JSON.stringify({ entity_type: "person", name, dob: "01-02-1990" })
              const answer = yield* RawClient.send(
                url,
                RawClient.request("POST /api/aml", {
                  "Authorization": `Bearer ${token}`,
                  "Content-Type": "application/json"
                }, body),
                300
              )
              expected[word]?.wire(answer, bytes(name))
            }), { concurrency: "unbounded" })
          strictEqual(yield* RawClient.works(url, "test-raw"), true)
        })
    )

    it.effect.each(words)(
      "%s is a failure with a type to the client, or what it finds",
      (word) =>
        Effect.gen(function*() {
          const { url } = yield* MockServer.MockServer
          strictEqual(yield* check(`Ada ${word}`, policyFor(word)), expected[word]?.client)
          strictEqual(yield* check("Zoë Testpep"), "Potential match")
          strictEqual(yield* RawClient.works(url, "test-raw"), true)
        })
    )

    it.effect("all at once on the connections of one client receive only their own responses", () =>
      Effect.gen(function*() {
        const shuffled = yield* Random.shuffle([...words, ...words, ...words])
        const order = Array.from(shuffled)
        const outcomes = yield* Effect.forEach(order, (word) => check(`Ada ${word}`, policyFor(word)), {
          concurrency: 12
        })
        deepStrictEqual(outcomes, order.map((word) => expected[word]?.client))
      }))
  })
})
