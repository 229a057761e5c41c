import * as Fault from "@effect-idv/mock-server/Fault"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Arbitrary, Duration, Effect, Either, FastCheck, JSONSchema, Schema } from "effect"
import { kindsOf } from "../src/internal/schema/discriminatedUnion.ts"

const whats = Fault.kinds.map(({ kind }) => kind).join(", ")
const whens = "always, nth, first, every, probability, window"

const refusals = (input: unknown) =>
  Either.match(Fault.decodeUnknown(input), {
    onLeft: (violations) => violations.map(({ expected, path, problem }) => `${path} ${problem}: ${expected}`),
    onRight: () => ["accepted"]
  })

const json = (fault: Fault.Fault): string => JSON.stringify(Schema.encodeSync(Fault.Fault)(fault))

const faults = Arbitrary.make(Fault.Fault).filter((fault) =>
  Fault.kinds.some(({ kind, on }) => kind === fault.what.kind && (on.length === 2 || fault.on === on[0]))
)

describe("Fault", () => {
  it.effect("has a default for every field of every kind", () =>
    Effect.forEach(Fault.kinds, ({ kind, on }) =>
      Effect.gen(function*() {
        for (const each of on) {
          const fault = yield* Fault.make({ on: each, what: { kind } })
          deepStrictEqual(fault.when, { kind: "always" })
          strictEqual(fault.what.kind, kind)
        }
      })))

  it.effect("fills in the documented defaults", () =>
    Effect.gen(function*() {
      const what = (what: (typeof Fault.What)["Encoded"]) =>
        Effect.map(Fault.make({ on: "aml", what }), (fault) => fault.what)
      deepStrictEqual(yield* what({ kind: "latency" }), {
        kind: "latency",
        distribution: { kind: "fixed", delay: Duration.seconds(2) }
      })
      deepStrictEqual(yield* what({ kind: "status" }), {
        kind: "status",
        status: 503,
        contentType: "text/plain; charset=utf-8"
      })
      deepStrictEqual(yield* what({ kind: "quota" }), {
        kind: "quota",
        limit: 10,
        per: Duration.minutes(1),
        retryAfter: "profile"
      })
      deepStrictEqual(yield* what({ kind: "drip" }), { kind: "drip", bytes: 1, every: Duration.millis(100) })
      deepStrictEqual(yield* what({ kind: "truncation" }), { kind: "truncation" })
    }))

  it("describes every kind of its schema with a sentence of its own", () => {
    deepStrictEqual(Fault.kinds.map(({ kind }) => String(kind)), kindsOf(Fault.What.ast))
    strictEqual(new Set(Fault.kinds.map(({ description }) => description)).size, Fault.kinds.length)
  })

  it("survives a round trip through JSON", () => {
    FastCheck.assert(
      FastCheck.property(faults, (fault) => {
        const text = json(fault)
        strictEqual(Either.match(Fault.decodeUnknown(JSON.parse(text)), { onLeft: String, onRight: json }), text)
      }),
      { numRuns: 300, seed: 1 }
    )
  })

  it.effect("decodes durations from milliseconds and from text", () =>
    Effect.gen(function*() {
      const pairs: ReadonlyArray<readonly [number | string, number]> = [
        [0, 0],
        [1500, 1500],
        [0.5, 0.5],
        ["2 seconds", 2000],
        ["1.5 minutes", 90_000]
      ]
      for (const [every, millis] of pairs) {
        const fault = yield* Fault.make(JSON.stringify({ on: "aml", what: { kind: "drip", every } }))
        strictEqual(fault.what.kind === "drip" && Duration.toMillis(fault.what.every), millis)
      }
    }))

  it.each([-1, "-1 seconds", "soon", "", NaN, Infinity, true, null, {}])(
    "refuses the duration %j",
    (every) => {
      deepStrictEqual(refusals({ on: "aml", what: { kind: "drip", every } }), [
        "what.every invalid: a number of milliseconds from 0 to 2147483647 (24.8 days), or a text such as \"2 seconds\""
      ])
    }
  )

  it("lists the kinds for an unknown or missing kind", () => {
    deepStrictEqual(refusals({ on: "aml", what: { kind: "explode" }, when: {} }), [
      `when.kind missing: one of ${whens}`,
      `what.kind invalid: one of ${whats}`
    ])
    deepStrictEqual(refusals({ on: "aml", what: "hang", when: [] }), [
      `when invalid: an object whose kind is one of ${whens}`,
      `what invalid: an object whose kind is one of ${whats}`
    ])
    deepStrictEqual(refusals({ on: "aml", what: { kind: "constructor" } }), [`what.kind invalid: one of ${whats}`])
  })

  it("reports all wrong fields of a known kind, each at its path", () => {
    deepStrictEqual(
      refusals({
        id: "no blanks",
        on: "all",
        when: { kind: "nth", n: 0 },
        what: { kind: "status", status: 199, retryAfter: { kind: "seconds", seconds: "1" }, contentType: "a\r\nb" },
        ttl: 0
      }),
      [
        "id invalid: 1 to 64 letters, digits, dots, underscores and hyphens, not beginning with a dot",
        "on invalid: one of token, aml, both",
        "when.n invalid: a whole number from 1",
        "what.status invalid: a whole number from 200 to 599",
        "what.contentType invalid: a text of printable ASCII characters",
        "what.retryAfter.seconds invalid: a whole number from 0",
        "ttl invalid: a number of milliseconds from 1, or a text such as \"2 seconds\""
      ]
    )
    deepStrictEqual(
      refusals({ on: "aml", when: { kind: "probability", p: 0, seed: 0.5 }, what: { kind: "hang", at: "foot" } }),
      [
        "when.p invalid: a number over 0 and at most 1",
        "when.seed invalid: a whole number",
        "what.at invalid: one of headers, body"
      ]
    )
    deepStrictEqual(
      refusals({
        on: "aml",
        when: { kind: "window" },
        what: { kind: "latency", distribution: { kind: "uniform", min: 2, max: 1 } }
      }),
      [
        "when.for missing: a number of milliseconds from 1, or a text such as \"2 seconds\"",
        "what.distribution invalid: a min that is at most max"
      ]
    )
    deepStrictEqual(refusals({ on: "aml", what: { kind: "oversize", bytes: 64 * 1024 * 1024 + 1 } }), [
      "what.bytes invalid: a whole number from 1 to 67108864"
    ])
    deepStrictEqual(refusals({ on: "aml", what: { kind: "quota", retryAfter: "soon" } }), [
      "what.retryAfter invalid: \"profile\", or an object whose kind is one of seconds, date, garbage"
    ])
    deepStrictEqual(refusals({ on: "aml", what: { kind: "quota", retryAfter: { kind: "soon" } } }), [
      "what.retryAfter.kind invalid: one of seconds, date, garbage"
    ])
  })

  it("refuses an unknown key on every level", () => {
    deepStrictEqual(
      refusals({ on: "aml", how: 1, when: { kind: "always", n: 1 }, what: { kind: "hang", for: 1 } }),
      [
        "how unexpected: no such field",
        "when.n unexpected: no such field",
        "what.for unexpected: no such field"
      ]
    )
  })

  it("refuses a fault of the credential on the token endpoint", () => {
    for (const kind of ["somebodyElse", "unknownMatch"]) {
      deepStrictEqual(refusals({ on: "token", what: { kind } }), [`on invalid: aml for ${kind}`])
      deepStrictEqual(refusals({ on: "both", what: { kind } }), [`on invalid: aml for ${kind}`])
    }
  })

  it("never repeats a refused value", () => {
    const canary = "canary-4711"
    const input = { on: canary, id: `${canary} `, when: { kind: canary }, what: { kind: "hang", at: canary } }
    strictEqual(refusals(input).length, 4)
    strictEqual(JSON.stringify(refusals(input)).includes(canary), false)
    strictEqual(String(Either.getLeft(Fault.make(`${canary}:${canary}`))).includes(canary), false)
  })

  it("has a self-contained JSON schema, also as a payload in OpenAPI", () => {
    const own = JSON.stringify(JSONSchema.make(Fault.Fault))
    deepStrictEqual(Array.from(own.matchAll(/"\$ref":"([^"]*)"/g), ([, target]) => target), ["#/$defs/Fault"])
    for (const { kind } of Fault.kinds) assertInclude(own, `{"kind":{"type":"string","enum":["${kind}"]}`)

    const api = HttpApi.make("mock").add(
      HttpApiGroup.make("faults").add(HttpApiEndpoint.post("set", "/faults").setPayload(Fault.Fault))
    )
    const { components, paths } = OpenApi.fromApi(api)
    assertInclude(JSON.stringify(paths), "\"$ref\":\"#/components/schemas/Fault\"")
    assertInclude(JSON.stringify(components.schemas["Fault"]), "\"enum\":[\"somebodyElse\"]")
  })
})

describe("Fault.make", () => {
  const lines: ReadonlyArray<readonly [string, typeof Fault.Fault.Encoded]> = [
    ["aml:hang", { on: "aml", what: { kind: "hang" } }],
    ["token:status=401", { on: "token", what: { kind: "status", status: 401 } }],
    ["aml:status=503:nth=2", { on: "aml", what: { kind: "status" }, when: { kind: "nth", n: 2 } }],
    ["both:latency=2 seconds:every=3", { on: "both", what: { kind: "latency" }, when: { kind: "every", n: 3 } }],
    ["both:latency=1500", {
      on: "both",
      what: { kind: "latency", distribution: { kind: "fixed", delay: "1.5 seconds" } }
    }],
    ["aml:reset=body:first=2", { on: "aml", what: { kind: "reset", at: "body" }, when: { kind: "first", n: 2 } }],
    ["aml:fin=body", { on: "aml", what: { kind: "fin", at: "body" } }],
    ["aml:html:probability=0.1", { on: "aml", what: { kind: "html" }, when: { kind: "probability", p: 0.1 } }],
    ["aml:truncation=3:window=1 minute", {
      on: "aml",
      what: { kind: "truncation", keep: 3 },
      when: { kind: "window", for: 60_000 }
    }],
    ["token:quota=5:always", { on: "token", what: { kind: "quota", limit: 5 } }],
    [" aml : drip = 50 millis : nth = 1 ", {
      on: "aml",
      what: { kind: "drip", every: 50 },
      when: { kind: "nth", n: 1 }
    }],
    ["aml:randomBytes=9", { on: "aml", what: { kind: "randomBytes", length: 9 } }],
    ["aml:oversize=100", { on: "aml", what: { kind: "oversize", bytes: 100 } }],
    [" {\"on\":\"aml\",\"what\":{\"kind\":\"hang\",\"at\":\"body\"},\"id\":\"mine\"}", {
      id: "mine",
      on: "aml",
      what: { kind: "hang", at: "body" }
    }]
  ]

  it.effect.each(lines)("%s", ([text, encoded]) =>
    Effect.gen(function*() {
      strictEqual(json(yield* Fault.make(text)), json(yield* Fault.make(encoded)))
    }))

  const form = "on:what[=value][:when[=value]], such as aml:hang or token:status=503:nth=2, or a JSON object"

  it.each([
    ["", `the value is invalid: expected ${form}`],
    ["aml", `the value is invalid: expected ${form}`],
    ["aml:hang:nth=1:more", `the value is invalid: expected ${form}`],
    [":hang", "on is invalid: expected one of token, aml, both"],
    ["aml:explode=3", `what.kind is invalid: expected one of ${whats}`],
    ["aml:constructor=3", `what.kind is invalid: expected one of ${whats}`],
    ["aml:hang:sometimes=3", `when.kind is invalid: expected one of ${whens}`],
    ["aml:hang:nth", "when.n is missing: expected a whole number from 1"],
    ["aml:hang:first=two", "when.n is invalid: expected a whole number from 1"],
    ["aml:status=abc", "what.status is invalid: expected a whole number from 200 to 599"],
    ["aml:html=1", "what is invalid: expected html without a value"],
    ["aml:hang:always=1", "when is invalid: expected always without a value"],
    ["{", "the value is invalid: expected JSON text in UTF-8"],
    ["{\"on\":\"aml\",\"what\":{}}", `what.kind is missing: expected one of ${whats}`]
  ])("refuses %j", (text, expected) => {
    strictEqual(
      Either.match(Fault.make(text), { onLeft: ({ message }) => message, onRight: () => "accepted" }),
      `Not a fault: ${expected}`
    )
  })
})
