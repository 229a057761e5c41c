import { AmlClient, AmlError, Failure, Idv, Person } from "@effect-idv/core"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Duration, Effect, Layer, Redacted, Schema } from "effect"
import { gzipSync } from "node:zlib"
import * as Ada from "./support/ada.ts"
import { renderings } from "./support/canary.ts"
import * as Service from "./support/service.ts"

const canary = "canaryFreeText"
const token = "canaryAccessToken.eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhY21lIn0"
const input: Person.Input = { name: "Zoë Canaryfirst Łukasik", dateOfBirth: "1931-07-29" }

const AnyAmlError = Schema.Union(
  AmlError.AmlUnauthorized,
  AmlError.AmlForbidden,
  AmlError.AmlRequestRejected,
  AmlError.AmlRateLimited,
  AmlError.AmlUnavailable,
  AmlError.AmlTimeout,
  AmlError.AmlResponseInvalid,
  AmlError.AmlResponseMismatch
)
const isOne = Schema.is(AnyAmlError)
const encode = Schema.encode(AnyAmlError)
const decode = Schema.decodeUnknown(AnyAmlError)

/** The failure of one check of this person with this response. */
const failure = (response: () => Response, person: Person.Input = input) => {
  const service = Service.make({
    token: () => Effect.sync(() => Service.json({ access_token: token, expires_in: 3600 })),
    aml: () => Effect.sync(response)
  })
  return Effect.gen(function*() {
    const aml = yield* AmlClient.AmlClient
    const error = yield* Effect.flip(aml.check(yield* Person.make(person)))
    assert(isOne(error), error._tag)
    return error
  }).pipe(Effect.provide(Layer.provide(Idv.layer({ ...Service.options, retry: "never" }), service.layer)))
}

const reportedBy = (error: AmlError.AmlError) => ({
  code: "code" in error ? error.code : undefined,
  detail: "detail" in error ? error.detail : undefined
})

/** Two statuses of different errors, in turn: all of them within 20 shapes. */
const statusesOf = (turn: number): ReadonlyArray<readonly [number, AmlError.AmlError["_tag"]]> => {
  const rejected = [[400, 404, 409, 413, 422][turn % 5] ?? 418, "AmlRequestRejected"] as const
  const unavailable = [[500, 502, 503, 504][Math.floor(turn / 4) % 4] ?? 599, "AmlUnavailable"] as const
  const others = [[401, "AmlUnauthorized"], [403, "AmlForbidden"], [429, "AmlRateLimited"], unavailable] as const
  return [rejected, others[turn % 4] ?? unavailable]
}

interface Shape {
  readonly body: string | Uint8Array<ArrayBuffer> | null
  readonly headers?: Record<string, string>
  readonly code?: string
  /** Texts that `detail` contains. Without it there is no `detail`. */
  readonly detail?: ReadonlyArray<string>
}

const json = (body: unknown, expected: Omit<Shape, "body"> = {}): Shape => ({
  headers: { "content-type": "application/json" },
  ...expected,
  body: JSON.stringify(body)
})

const problem = (body: unknown, expected: Omit<Shape, "body" | "headers">): Shape => ({
  headers: { "content-type": "application/problem+json" },
  ...expected,
  body: JSON.stringify(body)
})

const canaryDetail = { detail: [canary] }
const html = `<html><head><title>502 Bad Gateway</title></head><body>${canary}</body></html>`
const bytes = (text: string, ...more: ReadonlyArray<number>) =>
  Uint8Array.from([...more, ...new TextEncoder().encode(text)])
const deep = (open: string, close: string) => `${open.repeat(100_000)}1${close.repeat(100_000)}`

const shapes: Record<string, Shape> = {
  "nothing": { body: null },
  "blanks": { body: " \r\n\t " },
  "the HTML of a gateway": { body: html, headers: { "content-type": "text/html" }, ...canaryDetail },
  "plain text": { body: `${canary}: no healthy upstream`, headers: { "content-type": "text/plain" }, ...canaryDetail },
  "XML": { body: `<error><code>E1</code><message>${canary}</message></error>`, ...canaryDetail },
  "a form": { body: `error=invalid_request&error_description=${canary}`, ...canaryDetail },
  "a problem with the URI of a type": problem(
    { type: "https://idv.example.com/problems/out-of-credit", title: "Out of credit", detail: canary },
    { code: "https://idv.example.com/problems/out-of-credit", detail: ["Out of credit", canary] }
  ),
  "a problem with the URN of a type": problem({ type: "urn:problem:idv:out-of-credit", title: canary }, {
    code: "urn:problem:idv:out-of-credit",
    ...canaryDetail
  }),
  "a problem of type about:blank": problem({ type: "about:blank", title: "Bad Request", detail: canary }, {
    detail: ["Bad Request", canary]
  }),
  "a problem of a title alone": problem({ title: canary, status: 400 }, canaryDetail),
  "a problem with a code of its own": problem({ type: "about:blank", code: "DOB_FORMAT", detail: canary }, {
    code: "DOB_FORMAT",
    ...canaryDetail
  }),
  "a problem whose type has a query": problem(
    { type: `https://idv.example.com/p?name=${canary}`, title: "No" },
    canaryDetail
  ),
  "an OAuth error": json({ error: "invalid_request", error_description: canary, error_uri: "https://x.example" }, {
    code: "invalid_request",
    ...canaryDetail
  }),
  "an OAuth error without a description": json({ error: "invalid_token" }, { code: "invalid_token" }),
  "the error of Spring": json({
    timestamp: "2026-11-20T09:30:00Z",
    status: 400,
    error: "Bad Request",
    message: canary,
    path: "/api/aml"
  }, { detail: ["Bad Request", canary] }),
  "a code": json({ code: "DOB_FORMAT" }, { code: "DOB_FORMAT" }),
  "a code and a message": json({ code: "dob.format-1", message: canary }, { code: "dob.format-1", ...canaryDetail }),
  "a code that is a number": json({ code: 40012, message: canary }, { code: "40012", ...canaryDetail }),
  "a code that is 0": json({ code: 0, message: canary }, { code: "0", ...canaryDetail }),
  "errorCode": json({ errorCode: "E-77", message: canary }, { code: "E-77", ...canaryDetail }),
  "error_code": json({ error_code: 77, reason: canary }, { code: "77", ...canaryDetail }),
  "an error in an object": json({ error: { code: "DOB_FORMAT", message: canary } }, {
    code: "DOB_FORMAT",
    ...canaryDetail
  }),
  "an error in an object, with a number": json({ error: { code: 403, message: canary, errors: [{ reason: "x" }] } }, {
    code: "403",
    ...canaryDetail
  }),
  "an error that is a sentence": json({ error: `Something broke: ${canary}` }, canaryDetail),
  "an error that is a flag": json({ error: true, message: canary }, canaryDetail),
  "an error that is null": json({ error: null, code: null, message: canary }, canaryDetail),
  "a list of errors": json({
    errors: [{ status: "422", code: "DOB_FORMAT", title: "Invalid", detail: canary }, { code: "NAME_SHORT" }]
  }, { code: "DOB_FORMAT", detail: ["Invalid", canary] }),
  "a list of errors, the first without a code": json({ errors: [{ message: "first" }, { code: "X2" }] }, {
    code: "X2",
    detail: ["first"]
  }),
  "a list of strings": json({ errors: [`${canary} is not a name`, "and no date"] }, {
    detail: [canary, "and no date"]
  }),
  "a record of lists": json({ errors: { dob: [`${canary} is not a date`], name: ["is too long", "is odd"] } }, {
    detail: [canary, "is too long", "is odd"]
  }),
  "a record of objects": json({ errors: { dob: { code: "DOB_FORMAT", message: canary } } }, {
    code: "DOB_FORMAT",
    ...canaryDetail
  }),
  "errors that are a number": json({ errors: 3, message: canary }, canaryDetail),
  "the errors of FastAPI": json(
    { detail: [{ loc: ["body", "dob"], msg: canary, type: "value_error.date" }] },
    canaryDetail
  ),
  "the outer code before the inner": json({ code: "OUTER", error: { code: "MIDDLE" }, errors: [{ code: "INNER" }] }, {
    code: "OUTER"
  }),
  "a list": json([{ code: "DOB_FORMAT", message: canary }], { code: "DOB_FORMAT", ...canaryDetail }),
  "an empty list": json([], { detail: ["[]"] }),
  "an empty object": json({}, { detail: ["{}"] }),
  "a string": json(canary, canaryDetail),
  "null": json(null, { detail: ["null"] }),
  "a number": json(42, { detail: ["42"] }),
  "fields of other types": json({ code: ["X"], message: { text: canary }, title: 3, type: false }, canaryDetail),
  "a duplicate key": {
    body: `{"code":"FIRST","code":"SECOND","message":"${canary}"}`,
    code: "SECOND",
    ...canaryDetail
  },
  "__proto__ and constructor": {
    body: `{"__proto__":{"code":"POLLUTED"},"constructor":{"code":"X"},"message":"${canary}"}`,
    ...canaryDetail
  },
  "100,000 levels of lists": { body: deep("[", "]"), detail: ["[[["] },
  "100,000 levels of objects": { body: deep("{\"error\":", "}"), detail: ["{\"error\":"] },
  "100,000 levels in errors": { body: `{"code":"DEEP","errors":${deep("[", "]")}}`, code: "DEEP" },
  "invalid UTF-8": { body: bytes(canary, 0xc3, 0x28, 0xff), ...canaryDetail },
  "JSON in invalid UTF-8": {
    body: Uint8Array.from([...bytes("{\"code\":\"DOB_FORMAT\",\"message\":\""), 0xc3, 0x28, ...bytes(`${canary}"}`)]),
    code: "DOB_FORMAT",
    ...canaryDetail
  },
  "JSON after a byte order mark": {
    body: bytes(`{"code":"DOB_FORMAT","message":"${canary}"}`, 0xef, 0xbb, 0xbf),
    code: "DOB_FORMAT",
    ...canaryDetail
  },
  "5 MB": { body: `{"code":"DOB_FORMAT","message":"${canary}${"x".repeat(5_000_000)}"}` },
  "5 MB in a few bytes": {
    body: Uint8Array.from(gzipSync(`{"code":"DOB_FORMAT","message":"${canary}${"x".repeat(5_000_000)}"}`)),
    headers: { "content-encoding": "gzip" }
  },
  "truncated JSON": { body: `{"code":"DOB_FORMAT","message":"${canary}`, ...canaryDetail },
  "JSON that is called HTML": json({ code: "DOB_FORMAT", message: canary }, {
    headers: { "content-type": "text/html; charset=utf-8" },
    code: "DOB_FORMAT",
    ...canaryDetail
  }),
  "JSON that is called an image": json({ code: "DOB_FORMAT", message: canary }, {
    headers: { "content-type": "image/png" },
    code: "DOB_FORMAT",
    ...canaryDetail
  }),
  "HTML that is called JSON": { body: html, headers: { "content-type": "application/json" }, ...canaryDetail },
  "gzip": {
    body: Uint8Array.from(gzipSync(`{"code":"DOB_FORMAT","message":"${canary}"}`)),
    headers: { "content-type": "application/json", "content-encoding": "gzip" },
    code: "DOB_FORMAT",
    ...canaryDetail
  },
  "a gzip that is cut off": {
    body: Uint8Array.from(gzipSync(`{"code":"DOB_FORMAT","message":"${canary}"}`).subarray(0, -12)),
    headers: { "content-encoding": "gzip" }
  },
  "an unknown content coding without a body": { body: null, headers: { "content-encoding": "klingon" } },
  "a code with blanks": json({ code: `bad ${canary}` }, canaryDetail),
  "a code with quotes": json({ code: `"${canary}"` }, canaryDetail),
  "a code of two lines": json({ code: `E1\n${canary}` }, canaryDetail),
  "a code in letters of another alphabet": json({ code: `ошибка_${canary}` }, canaryDetail),
  "a code of 65 letters": json({ code: canary.padEnd(65, "x") }, canaryDetail),
  "a code of 64 letters": json({ code: "x".repeat(64) }, { code: "x".repeat(64) }),
  "a code that is empty": json({ code: "", message: canary }, canaryDetail),
  "a code that is not an integer": json({ code: 1.5, message: canary }, canaryDetail),
  "no code but another": json({ code: `bad ${canary}`, errors: [{ code: "DOB_FORMAT" }] }, {
    code: "DOB_FORMAT",
    ...canaryDetail
  }),
  "a clear credential": json(Service.credential(), { detail: ["match_found"] })
}

describe("An error response", () => {
  it.effect.each(Object.entries(shapes).map(([name, shape], turn) => [name, shape, turn] as const))(
    "with %s: its status decides, and free text is not shown",
    ([, shape, turn]) =>
      Effect.gen(function*() {
        for (const [status, tag] of statusesOf(turn)) {
          const error = yield* failure(() =>
            new Response(shape.body, { status, headers: { ...shape.headers, "retry-after": "7" } })
          )
          strictEqual(error._tag, tag)
          strictEqual("status" in error ? error.status : 429, status)

          const { code, detail } = reportedBy(error)
          strictEqual(code, shape.code, `code under ${status}`)
          strictEqual(detail !== undefined, shape.detail !== undefined, `detail under ${status}`)
          strictEqual(detail === undefined || Redacted.isRedacted(detail), true)
          const text = detail === undefined ? "" : Redacted.value(detail)
          deepStrictEqual(shape.detail?.filter((part) => !text.includes(part)) ?? [], [])
          assert(text.length <= 1000, `${text.length} characters of detail`)

          const { retryAfter, sent } = Failure.facts(error)
          deepStrictEqual(
            retryAfter,
            [408, 425, 429].includes(status) || status >= 500 ? Duration.seconds(7) : undefined
          )
          strictEqual(sent, "answered")

          const encoded = yield* encode(error)
          strictEqual("detail" in encoded, false)
          strictEqual(JSON.stringify(encoded).includes(canary), false)
          strictEqual(renderings(error).join("\n").includes(canary), false)
          const decoded = yield* decode(JSON.parse(JSON.stringify(encoded)))
          deepStrictEqual([decoded._tag, reportedBy(decoded).code], [tag, code])
          strictEqual(decoded.message, error.message)
        }
      })
  )

  it.effect("without Retry-After reports no wait", () =>
    Effect.gen(function*() {
      for (const status of [429, 500, 503]) {
        const error = yield* failure(() => new Response("{}", { status }))
        strictEqual(Failure.facts(error).retryAfter, undefined)
        strictEqual("retryAfter" in (yield* encode(error)), false)
      }
    }))

  it.live("with 300,000 errors in a list is read: a time that grows with their square would be hours", () =>
    Effect.gen(function*() {
      for (const entry of ["{}", "1"]) {
        const body = `{"code":"MANY","errors":[${Array.from({ length: 300_000 }, () => entry).join()}]}`
        const error = yield* failure(() => new Response(body, { status: 422 }))
        assert.deepInclude(error, { _tag: "AmlRequestRejected", code: "MANY" })
      }
    }))
})

/** The places of a code in a body. */
const allPlaces: ReadonlyArray<(code: string | number) => unknown> = [
  (code) => ({ code }),
  (code) => ({ error: code }),
  (code) => ({ errorCode: code, message: "no" }),
  (code) => ({ error: { code } }),
  (code) => ({ errors: [{ code }] }),
  (code) => ({ errors: { dob: { error_code: code } } }),
  (code) => ({ type: code, title: "no" })
]

/** Two places of a code, in turn. `allPlaces` are read by one function, so each text does not need all of them. */
const placesOf = (turn: number) => allPlaces.filter((_, index) => (index + turn) % 4 === 0)

const revealing: ReadonlyArray<readonly [string, string | number, Person.Input?]> = [
  ["the name", "zoe_canaryfirst_lukasik"],
  ["the name in one word", "zoecanaryfirstlukasik"],
  ["the name the other way round", "Lukasik.Zoe"],
  ["a word of the name", "NOT_FOUND_CANARYFIRST"],
  ["a word of the name in another word", "xcanaryfirstx"],
  ["a word of the name without its diaeresis", "no-zoe"],
  ["a word of the name without its stroke", "LUKASIK_IS_LISTED"],
  ["a word of the name in camel case", "matchForZoe"],
  ["a word of the name after an acronym", "PEPZoeFound"],
  ["a short word of the name before a number", "zoe2"],
  ["a word of the name in a URI", "https://idv.example.com/people/Canaryfirst"],
  ["a word of the name in a URN", "urn:person:zoe"],
  ["the date, day first", "dob_29071931"],
  ["the date, day first, as it is sent", "dob-29-07-1931"],
  ["the date, month first", "dob.07.29.1931"],
  ["the date, year first", "D19310729"],
  ["the date, year first, in a URI", "https://idv.example.com/1931/07/29"],
  ["the date as a number", 19310729],
  ["the date as a number, day first", 29071931],
  ["the date with a year of two digits", "dob_290731"],
  ["the date with a year of two digits, year first", "dob_310729"],
  ["the date with a year of two digits, month first", "dob_072931"],
  ["the date without zeros", "dob_29_7_1931"],
  ["the year of birth", "born_1931"],
  ["the year of birth as a number", 1931],
  ["the year of birth at the end of a word", "born1931"],
  ["the year of birth and the month", "born193107"],
  ["the access token", token],
  ["the access token in another case", token.toUpperCase()],
  ["the access token after a word", `expired.${token}`],
  ["the beginning of the access token", token.slice(0, 24)],
  ["the beginning of the access token after a word", `expired_${token.slice(18, 42)}`],
  ["the end of the access token", token.slice(-16)],
  ["a name of short words in one word", "liwu_is_listed", { name: "Li Wu", dateOfBirth: "1931-07-29" }],
  ["a name with a sharp s", "GROSS", { name: "Eva Groß", dateOfBirth: "1931-07-29" }],
  ["a name with an o and a stroke", "soren_found", { name: "Søren Bech", dateOfBirth: "1931-07-29" }],
  ["a name with a d and a stroke", "djokic.x-dordevic", { name: "Mia Đorđević", dateOfBirth: "1931-07-29" }],
  ["a name with an umlaut spelled out", "MUELLER_LISTED", { name: "Eva Müller", dateOfBirth: "1931-07-29" }],
  ["a name of short words, family name first", "wuli", { name: "Li Wu", dateOfBirth: "1931-07-29" }],
  ["a name with an apostrophe", "OHARA", { name: "Sam O’Hara", dateOfBirth: "1931-07-29" }],
  ["a name with a hyphen", "annlee", { name: "Ann-Lee Ng", dateOfBirth: "1931-07-29" }],
  ["a name of one letter", "E", { name: "E", dateOfBirth: "1931-07-29" }],
  ["a name with a number", "3RD", { name: "Sam Roe 3rd", dateOfBirth: "1931-07-29" }],
  ["a name with an ə", "listed_aliyev", { name: "Ramil Əliyev", dateOfBirth: "1931-07-29" }],
  ["a name with hooks", "danladi_kwari", { name: "Ɗanladi Ƙwari", dateOfBirth: "1931-07-29" }],
  ["a name in full width", "canaryfirst", { name: "Ｃａｎａｒｙｆｉｒｓｔ", dateOfBirth: "1931-07-29" }]
]

describe("An error code", () => {
  it.effect.each(
    revealing.map(([name, secret, person], turn) => [name, secret, person, turn] as const)
  )("that repeats %s is not shown", ([, secret, person = input, turn]) =>
    Effect.gen(function*() {
      for (const place of placesOf(turn)) {
        const error = yield* failure(() => Service.json(place(secret), { status: 422 }), person)
        strictEqual(error._tag, "AmlRequestRejected")
        strictEqual(reportedBy(error).code, undefined, JSON.stringify(place("")))
        const shown = [...renderings(error), JSON.stringify(yield* encode(error))].join("\n")
        // Shorter secrets occur in the stack by chance.
        strictEqual(String(secret).length > 4 && shown.includes(String(secret)), false)
      }
    }))

  it.effect.each<[string, string | undefined]>([
    ["potential_match", undefined],
    ["PEP_HIT", undefined],
    ["pepFound", undefined],
    ["isPEP", undefined],
    ["personListed", undefined],
    ["BLACKLISTED", undefined],
    ["sanctioned_person", undefined],
    ["customer.watchlisted", undefined],
    ["person_listed", undefined],
    ["schema_mismatch", "schema_mismatch"],
    ["ip_not_whitelisted", "ip_not_whitelisted"],
    ["peppol_id", "peppol_id"]
  ])("that may say whether a list contains the person is not shown: %s", ([code, shown]) =>
    Effect.gen(function*() {
      strictEqual(reportedBy(yield* failure(() => Service.json({ code }, { status: 422 }))).code, shown)
    }))

  it.effect("that repeats the person is replaced by one that does not", () =>
    Effect.gen(function*() {
      const body = { code: "zoe", error: "born_1931", errors: [{ code: "CANARYFIRST" }, { code: "DOB_FORMAT" }] }
      strictEqual(reportedBy(yield* failure(() => Service.json(body, { status: 422 }))).code, "DOB_FORMAT")
    }))

  it.effect("that repeats the token that was renewed, or the new one, is not shown", () => {
    const tokens = ["canaryFirstToken", "canarySecondToken"]
    return Effect.gen(function*() {
      for (const code of tokens) {
        const service = Service.make({
          token: (_, count) => Effect.sync(() => Service.json({ access_token: tokens[count - 1] })),
          aml: () => Effect.sync(() => Service.json({ code }, { status: 401 }))
        })
        const error = yield* Effect.gen(function*() {
          const aml = yield* AmlClient.AmlClient
          return yield* Effect.flip(aml.check(yield* Ada.person))
        }).pipe(Effect.provide(Layer.provide(Idv.layer(Service.options), service.layer)))
        assert.deepInclude(error, { _tag: "AmlUnauthorized", renewal: "replayed" })
        strictEqual(renderings(error).join("\n").includes(code), false)
      }
    })
  })

  it.effect.each([
    "invalid_token",
    "invalid_request",
    "DOB_FORMAT",
    "E2907",
    "E29",
    "person.not-found",
    "first_name_missing",
    "lastName",
    "ERR_1932",
    "zoetrope",
    "https://idv.example.com/problems/access-token-expired",
    "urn:ietf:params:oauth:error:invalid_token"
  ].map((code, turn) => [code, turn] as const))(
    "such as %s, which only resembles the person or the token, is kept",
    ([code, turn]) =>
      Effect.gen(function*() {
        for (const place of placesOf(turn)) {
          const error = yield* failure(() => Service.json(place(code), { status: 422 }))
          strictEqual(reportedBy(error).code, code)
          strictEqual(error.message.includes(code), true)
        }
      })
  )
})
