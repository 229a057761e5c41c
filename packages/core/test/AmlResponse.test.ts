import { AmlClient, type Idv } from "@effect-idv/core"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { atStart, check, provide, result, today } from "./support/ada.ts"
import * as Service from "./support/service.ts"

describe("AmlClient fails closed", () => {
  it.effect.each<[string, unknown, string]>([
    ["match_found missing", Service.credential({}, { match_found: undefined }), "AmlResponseInvalid"],
    ["match_found null", Service.credential({}, { match_found: null }), "AmlResponseInvalid"],
    ["match_found \"no\"", Service.credential({}, { match_found: "no" }), "AmlResponseInvalid"],
    ["match_found \"NO\"", Service.credential({}, { match_found: "NO" }), "AmlResponseInvalid"],
    ["match_found \" No\"", Service.credential({}, { match_found: " No" }), "AmlResponseInvalid"],
    ["match_found false", Service.credential({}, { match_found: false }), "AmlResponseInvalid"],
    ["the attributes alone", Service.attributes, "AmlResponseInvalid"],
    ["an empty object", {}, "AmlResponseInvalid"],
    ["no match list", { matches: [] }, "AmlResponseInvalid"],
    ["another birth year", Service.credential({}, { birth_year: "1991" }), "AmlResponseMismatch"],
    ["another name", Service.credential({}, { name: "Ada Other" }), "AmlResponseMismatch"]
  ])("%s is never \"No\"", ([, body, tag]) => {
    const service = Service.make({ aml: () => Effect.succeed(Service.json(body)) })
    return Effect.gen(function*() {
      yield* atStart
      strictEqual((yield* Effect.flip(result))._tag, tag)
      strictEqual(service.amlRequests.length, 1)
    }).pipe(provide(service))
  })

  it.effect.each<[number, string]>([
    [202, "AmlResponseInvalid"],
    [203, "AmlResponseInvalid"],
    [204, "AmlResponseInvalid"],
    [205, "AmlResponseInvalid"],
    [206, "AmlResponseInvalid"],
    [207, "AmlResponseInvalid"],
    [226, "AmlResponseInvalid"],
    [299, "AmlResponseInvalid"],
    [301, "AmlResponseInvalid"],
    [302, "AmlResponseInvalid"],
    [304, "AmlResponseInvalid"],
    [307, "AmlResponseInvalid"],
    [400, "AmlRequestRejected"],
    [403, "AmlForbidden"],
    [404, "AmlRequestRejected"],
    [422, "AmlRequestRejected"],
    [429, "AmlRateLimited"],
    [500, "AmlUnavailable"],
    [503, "AmlUnavailable"]
  ])("a clear credential with status %d is not a result", ([status, tag]) => {
    const service = Service.make({
      aml: () =>
        Effect.sync(() =>
          [204, 205, 304].includes(status)
            ? new Response(null, { status })
            : Service.json(Service.credential(), { status })
        )
    })
    return Effect.gen(function*() {
      yield* atStart
      strictEqual((yield* Effect.flip(result))._tag, tag)
      strictEqual(service.amlRequests.length, 1)
    }).pipe(provide(service))
  })

  it.effect.each<[string, string, string]>([
    ["match_found twice", "\"match_found\":\"No\"", "\"match_found\":\"Potential match\",\"match_found\":\"No\""],
    [
      "match_found twice, once escaped",
      "\"match_found\":\"No\"",
      "\"match_found\":\"Potential match\",\"match\\u005ffound\":\"No\""
    ],
    ["two names", "\"name\":", "\"name\":\"Somebody Else\",\"name\":"],
    ["two holders", "\"credentials\":", "\"credentials\":{\"attributes\":{}},\"credentials\" :"]
  ])("%s is never \"No\", because parsers differ in which key they use", ([, part, replacement]) => {
    const body = JSON.stringify(Service.credential()).replace(part, replacement)
    const service = Service.make({ aml: () => Effect.sync(() => new Response(body)) })
    return Effect.gen(function*() {
      yield* atStart
      const error = yield* Effect.flip(result)
      strictEqual(
        error.message,
        `The service at api.example.com:443 responded with 200 (text/plain, ${body.length} bytes), which breaks the contract: the value is invalid: ` +
          "expected JSON text with each key once in an object"
      )
    }).pipe(provide(service))
  })

  it.effect("a body nested deeper than the stack is decoded without an exception", () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`
    const body = JSON.stringify(Service.credential()).replace("{", `{"extra":${deep},`)
    const service = Service.make({
      aml: (_, count) => Effect.sync(() => new Response(count === 1 ? body : deep))
    })
    return Effect.gen(function*() {
      yield* atStart
      strictEqual(yield* result, "No")
      strictEqual((yield* Effect.flip(result))._tag, "AmlResponseInvalid")
    }).pipe(provide(service))
  })

  it.effect("keys in strings, and equal keys in different objects, do not count as repeated", () => {
    const body = Service.credential({
      issued_by: "\"name\": {\"a:b\" : }",
      extra: ["a:b", ": ", { name: 1 }, { name: "\\" }]
    })
    const service = Service.make({ aml: () => Effect.sync(() => Service.json(body)) })
    return Effect.gen(function*() {
      yield* atStart
      strictEqual(yield* result, "No")
    }).pipe(provide(service))
  })

  const text = JSON.stringify(Service.credential())
  it.effect.each<[string, () => Response]>([
    ["empty", () => new Response(null)],
    ["cut off", () => new Response(text.slice(0, -1))],
    ["HTML", () => new Response("<html>No</html>")],
    ["invalid UTF-8", () => new Response(Uint8Array.from([...new TextEncoder().encode(text), 0xff]))],
    ["too long", () => new Response(text + " ".repeat(2 ** 20))],
    [
      "too long, though it says that it is short",
      () => new Response(text + " ".repeat(2 ** 20), { headers: { "content-length": "5" } })
    ]
  ])("a body that is %s is AmlResponseInvalid", ([, response]) => {
    const service = Service.make({ aml: () => Effect.sync(response) })
    return Effect.gen(function*() {
      yield* atStart
      strictEqual((yield* Effect.flip(result))._tag, "AmlResponseInvalid")
    }).pipe(provide(service))
  })

  it.effect.each<[string, Record<string, unknown>]>([
    ["an error", { error: "invalid_request" }],
    ["a blank error", { error: " " }],
    ["an error in an object", { error: { code: null } }],
    ["an error that is true", { error: true }],
    ["an error by number", { error: 1 }],
    ["errors", { errors: [{ message: "not searched" }] }],
    ["errors with nothing said", { errors: [null] }],
    ["errors by field", { errors: { dob: "invalid" } }],
    ["errors as text", { errors: "none" }],
    ["no error, but errors", { error: null, errors: ["x"] }]
  ])("a clear credential with %s is not a result", ([, fields]) => {
    const service = Service.make({ aml: () => Effect.sync(() => Service.json(Service.credential(fields))) })
    return Effect.gen(function*() {
      yield* atStart
      const error = yield* Effect.flip(result)
      assert(error._tag === "AmlResponseInvalid")
      deepStrictEqual(error.violations.map(String), [
        `${"errors" in fields ? "errors" : "error"} is invalid: expected no error`
      ])
    }).pipe(provide(service))
  })

  it.effect.each([null, false, 0, "", [], {}])("an error or errors field of %j is not an error", (nothing) => {
    const body = Service.credential({ error: nothing, errors: nothing })
    const service = Service.make({ aml: () => Effect.sync(() => Service.json(body)) })
    return Effect.gen(function*() {
      yield* atStart
      strictEqual(yield* result, "No")
    }).pipe(provide(service))
  })

  const hours = 3_600_000
  const searched = (offset: number) => new Date(today + offset).toISOString().slice(0, 19).replace("T", " ")
  const byDefault = { searchedOnTolerance: undefined }

  it.effect.each<[string, string, Partial<Idv.Options>, string]>([
    ["48 hours ago", searched(-48 * hours), byDefault, "No"],
    ["a second more than 48 hours ago", searched(-48 * hours - 1000), byDefault, "AmlResponseInvalid"],
    ["48 hours ahead", searched(48 * hours), byDefault, "No"],
    ["a second more than 48 hours ahead", searched(48 * hours + 1000), byDefault, "AmlResponseInvalid"],
    ["in 1999", "1999-12-31 23:59:59", byDefault, "AmlResponseInvalid"],
    ["in 2099", "2099-01-01 00:00:00", byDefault, "AmlResponseInvalid"],
    ["in the year 1", "0001-01-01 00:00:00", byDefault, "AmlResponseInvalid"],
    ["in 2099, which is allowed", "2099-01-01 00:00:00", { searchedOnTolerance: "30000 days" }, "No"],
    ["an hour ago, which is too long", searched(-hours), { searchedOnTolerance: "59 minutes" }, "AmlResponseInvalid"]
  ])("a search %s, at %s", ([, searched_on, options, expected]) => {
    const body = Service.credential({}, { searched_on })
    const service = Service.make({ aml: () => Effect.sync(() => Service.json(body)) })
    return Effect.gen(function*() {
      yield* atStart
      strictEqual(yield* Effect.merge(Effect.mapError(result, ({ _tag }) => _tag)), expected)
    }).pipe(provide(service, options))
  })

  it.effect("the error about the search time names the option for a moved clock, which a single check can set", () => {
    const service = Service.make()
    return Effect.gen(function*() {
      // The TestClock starts in 1970, and the search was in 2026.
      const error = yield* Effect.flip(check)
      assert(error._tag === "AmlResponseInvalid")
      deepStrictEqual(error.violations.map(String), [
        "credentials.attributes.searched_on is invalid: expected a time within 2d of this client's clock " +
        "(if the clock of a mock server or of a test was moved, set the option searchedOnTolerance)"
      ])
      strictEqual(error.message.includes("2026"), false)
      const { result } = yield* AmlClient.withPolicy(check, { searchedOnTolerance: "100000 days" })
      strictEqual(result, "No")
    }).pipe(provide(service, byDefault))
  })

  it.effect("the error about a status names the accepted ones", () => {
    const service = Service.make({ aml: () => Effect.sync(() => Service.json(Service.credential(), { status: 202 })) })
    return Effect.gen(function*() {
      yield* atStart
      const error = yield* Effect.flip(check)
      assert(error._tag === "AmlResponseInvalid")
      deepStrictEqual(error.violations.map(String), [
        "the value is invalid: expected a credential, with status 200 or 201"
      ])
    }).pipe(provide(service))
  })

  it.effect("an error response shows its code, unless it repeats the person", () => {
    const codes = ["dob_format", "ada_testclear"]
    const service = Service.make({
      aml: (_, count) => Effect.sync(() => Service.json({ code: codes[count - 1] }, { status: 422 }))
    })
    return Effect.gen(function*() {
      for (const expected of ["dob_format", undefined]) {
        const error = yield* Effect.flip(check)
        assert(error._tag === "AmlRequestRejected")
        strictEqual(error.code, expected)
      }
    }).pipe(provide(service))
  })

  it.effect("all invalid fields are reported", () => {
    const body = Service.credential({ error: "x", issuer_id: "x" }, { searched_on: "x" })
    const service = Service.make({ aml: () => Effect.sync(() => Service.json(body)) })
    return Effect.gen(function*() {
      yield* atStart
      const error = yield* Effect.flip(result)
      assert(error._tag === "AmlResponseInvalid")
      deepStrictEqual(error.violations.map(({ path }) => path), [
        "error",
        "issuer_id",
        "credentials.attributes.searched_on"
      ])
    }).pipe(provide(service))
  })

  it.effect("accepts 201, a byte order mark, and a name with other case and spaces", () => {
    const service = Service.make({
      aml: () =>
        Effect.sync(() =>
          new Response(`\ufeff${JSON.stringify(Service.credential({}, { name: "ADA  TESTCLEAR" }))}`, { status: 201 })
        )
    })
    return Effect.gen(function*() {
      yield* atStart
      strictEqual(yield* result, "No")
    }).pipe(provide(service))
  })
})
