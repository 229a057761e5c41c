import { AccessToken, TokenProvider } from "@effect-idv/core"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Either, Redacted } from "effect"
import { gzipSync } from "node:zlib"
import * as Service from "./support/service.ts"
import { counted, get, layer, measured } from "./support/tokens.ts"

const hour = 3600

const body = (bytes: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  new Response(typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes, { headers })

const latin1 = (text: string) => Uint8Array.from(Buffer.from(text, "latin1"))
const utf16 = (text: string) => Uint8Array.from(Buffer.from(text, "utf16le"))
const json = { "content-type": "application/json" }
const text = { "content-type": "text/plain; charset=utf-8" }
const rfc = JSON.stringify({ access_token: "abc", token_type: "Bearer", expires_in: 1800 })
const padded = (length: number) => JSON.stringify({ access_token: "abc", expires_in: 1800, pad: "x".repeat(length) })

/** A token, its lifetime in seconds, and its warnings. */
const token = (value: string, lifetime: number, ...warnings: ReadonlyArray<AccessToken.Warning>) => ({
  value,
  lifetime,
  warnings
})

/** The tag of the failure, and its violations. */
const failure = (tag: string, ...violations: ReadonlyArray<string>) => ({ tag, violations })
const invalid = (...violations: ReadonlyArray<string>) => failure("TokenResponseInvalid", ...violations)

const notAnObject = " is invalid: a token response"
const notJson = " is invalid: JSON text in UTF-8"
const noToken = "access_token is missing: a token of visible ASCII characters"
const badToken = "access_token is invalid: a token of visible ASCII characters"

const responses: ReadonlyArray<
  readonly [string, () => Response, ReturnType<typeof token> | ReturnType<typeof failure>]
> = [
  // The place of the token.
  ["{access_token}", () => Service.json({ access_token: "abc", expires_in: 1800 }), token("abc", 1800)],
  ["{accessToken, expiresIn}", () => Service.json({ accessToken: "abc", expiresIn: 1800 }), token("abc", 1800)],
  ["{token}", () => Service.json({ token: "abc", expires_in: 1800 }), token("abc", 1800)],
  [
    "{data: {access_token}}",
    () => Service.json({ data: { access_token: "abc", expires_in: 1800 } }),
    token("abc", 1800)
  ],
  ["plain text body", () => body("abc.DEF-123_~+/=", text), token("abc.DEF-123_~+/=", hour, "lifetime")],
  [
    "plain text without a content type, ended by a line break",
    () => body("abc\r\n"),
    token("abc", hour, "lifetime")
  ],
  [
    "plain text of an unknown type",
    () => body("abc", { "content-type": "application/jwt" }),
    token("abc", hour, "lifetime")
  ],
  [
    "first valid wins: null, then a token",
    () => Service.json({ access_token: null, token: "abc", expires_in: 1800 }),
    token("abc", 1800)
  ],
  [
    "first valid wins: an invalid token, then a valid one",
    () => Service.json({ access_token: "a b", accessToken: "abc", expires_in: 1800 }),
    token("abc", 1800)
  ],
  [
    "the same token twice",
    () => Service.json({ access_token: "abc", token: "abc", expires_in: 1800 }),
    token("abc", 1800)
  ],
  [
    "two different candidates -> TokenResponseInvalid naming the fields only",
    () => Service.json({ access_token: "canary", data: { access_token: "canary2" } }),
    invalid(
      "access_token is invalid: the same token in each of these fields",
      "data.access_token is invalid: the same token in each of these fields"
    )
  ],
  [
    "unknown fields are ignored",
    () => Service.json({ access_token: "abc", expires_in: 1800, scope: "aml", data: "x", id_token: "y" }),
    token("abc", 1800)
  ],
  // An error is not a token.
  [
    "200 with {\"error\":\"invalid_client\"} -> TokenRejected",
    () => Service.json({ error: "invalid_client" }),
    failure("TokenRejected")
  ],
  [
    "200 with an error beside a token",
    () => Service.json({ access_token: "abc", error: { message: "canary" } }),
    failure("TokenRejected")
  ],
  [
    "200 with an empty error field",
    () => Service.json({ access_token: "abc", expires_in: 1800, error: null }),
    token("abc", 1800)
  ],
  [
    "with \"error\": false",
    () => Service.json({ access_token: "abc", expires_in: 1800, error: false }),
    token("abc", 1800)
  ],
  // Invalid token responses.
  ["200 HTML", () => body("<html>canary</html>", { "content-type": "text/html" }), invalid(notJson)],
  ["200 HTML declared as text", () => body("<html>canary</html>", text), invalid(notJson)],
  ["one word declared as HTML", () => body("canary", { "content-type": "text/html" }), invalid(notJson)],
  ["one word declared as JSON", () => body("canary", json), invalid(notJson)],
  ["empty body", () => new Response(null), invalid(notJson)],
  ["204", () => new Response(null, { status: 204 }), invalid(notJson)],
  ["truncated JSON", () => body(rfc.slice(0, 20), json), invalid(notJson)],
  ["JSON null", () => body("null"), invalid(notAnObject)],
  ["JSON true", () => body("true"), invalid(notAnObject)],
  ["JSON number", () => body("123"), invalid(notAnObject)],
  ["JSON string", () => body("\"canary\""), invalid(notAnObject)],
  ["array", () => Service.json([{ access_token: "canary" }]), invalid(notAnObject)],
  ["empty object", () => Service.json({}), invalid(noToken)],
  [
    "a key twice",
    () => body("{\"access_token\":\"a\",\"access_token\":\"b\"}"),
    invalid(
      " is invalid: JSON text with each key once in an object"
    )
  ],
  ["5 MB body", () => body(padded(5_000_000)), invalid(" is invalid: at most 1048576 bytes")],
  ["1 MB body", () => body(padded(1_000_000)), token("abc", 1800)],
  ["invalid UTF-8", () => body(Uint8Array.of(0x7b, 0xff, 0x7d), json), invalid(notJson)],
  ["plain text of two words", () => body("canary canary", text), invalid(notJson)],
  // Invalid tokens.
  ["access_token \"\"", () => Service.json({ access_token: "" }), invalid(badToken)],
  ["access_token \" \"", () => Service.json({ access_token: " " }), invalid(badToken)],
  ["access_token null", () => Service.json({ access_token: null }), invalid(noToken)],
  ["access_token 123", () => Service.json({ access_token: 123 }), invalid(badToken)],
  ["access_token true", () => Service.json({ access_token: true }), invalid(badToken)],
  ["access_token {}", () => Service.json({ access_token: {} }), invalid(badToken)],
  ["\"a\\r\\nb\"", () => Service.json({ access_token: "a\r\nb" }), invalid(badToken)],
  ["\"töken\"", () => Service.json({ access_token: "töken" }), invalid(badToken)],
  ["\"Bearer\" alone", () => Service.json({ access_token: "Bearer" }), invalid(badToken)],
  [
    "\"Bearer abc\" -> prefix stripped with a warning",
    () => Service.json({ access_token: "Bearer abc", expires_in: 1800 }),
    token("abc", 1800, "prefix")
  ],
  ["\"bearer abc\" as text", () => body("bearer abc", text), token("abc", hour, "prefix", "lifetime")],
  ["\"Bearer Bearer abc\"", () => Service.json({ access_token: "Bearer Bearer abc" }), invalid(badToken)],
  [
    "every visible ASCII character",
    () => Service.json({ access_token: "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", expires_in: 9 }),
    token("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", 9)
  ],
  // The type.
  ["token_type missing", () => Service.json({ access_token: "abc", expires_in: 1800 }), token("abc", 1800)],
  ...["bearer", "BEARER", null].map((token_type) =>
    [
      `token_type ${token_type} -> ok`,
      () => Service.json({ access_token: "abc", token_type, expires_in: 1800 }),
      token("abc", 1800)
    ] as const
  ),
  ...["mac", "DPoP", "", 1].map((token_type) =>
    [
      `token_type ${JSON.stringify(token_type)} -> TokenResponseInvalid`,
      () => Service.json({ access_token: "abc", token_type }),
      invalid("token_type is invalid: Bearer")
    ] as const
  ),
  [
    "data.tokenType mac",
    () => Service.json({ data: { access_token: "abc", tokenType: "mac" } }),
    invalid("data.tokenType is invalid: Bearer")
  ],
  // The lifetime.
  ...[undefined, null, "", "abc", "-5", -5, 0, 0.5, 1e308, true, [1800], {}, "0x708", "NaN"].map((expires_in) =>
    [
      `expires_in ${JSON.stringify(expires_in) ?? "missing"} -> 3600 from request, warning counter +1`,
      () => Service.json({ access_token: "abc", expires_in }),
      token("abc", hour, "lifetime")
    ] as const
  ),
  ["expires_in NaN is not JSON", () => body("{\"access_token\":\"abc\",\"expires_in\":NaN}"), invalid(notJson)],
  ...([[1800, 1800], [7200, hour], ["1800", 1800], [1800.9, 1800], ["1800.9", 1800], [3600, hour]] as const).map((
    [expires_in, lifetime]
  ) =>
    [
      `expires_in ${JSON.stringify(expires_in)} -> ${lifetime}`,
      () => Service.json({ access_token: "abc", expires_in }),
      token("abc", lifetime)
    ] as const
  ),
  [
    "two lifetimes: the shorter",
    () => Service.json({ access_token: "abc", expires_in: 1800, expiresIn: 900 }),
    token("abc", 900)
  ],
  // Encodings.
  ["gzip", () => body(Uint8Array.from(gzipSync(rfc)), { ...json, "content-encoding": "gzip" }), token("abc", 1800)],
  [
    "gzip of 1 MB, already decompressed by fetch",
    () => body(padded(1_000_000), { "content-encoding": "gzip" }),
    token("abc", 1800)
  ],
  [
    "gzip of 5 MB in a few bytes",
    () => body(Uint8Array.from(gzipSync(padded(5_000_000))), { "content-encoding": "gzip" }),
    invalid(" is invalid: at most 1048576 bytes")
  ],
  [
    "truncated gzip",
    () => body(Uint8Array.from(gzipSync(rfc)).slice(0, 30), { "content-encoding": "gzip" }),
    failure("TokenEndpointUnavailable")
  ],
  ["charset iso-8859-1", () =>
    body(latin1("{\"access_token\":\"abc\",\"expires_in\":1800,\"note\":\"é\"}"), {
      "content-type": "application/json; charset=ISO-8859-1"
    }), token("abc", 1800)],
  [
    "charset utf-16le",
    () => body(utf16(rfc), { "content-type": "application/json;charset=\"utf-16le\"" }),
    token("abc", 1800)
  ],
  ["charset utf-8", () => body(rfc, { "content-type": "application/json; charset=UTF-8" }), token("abc", 1800)],
  [
    "an unknown charset",
    () => body(rfc, { "content-type": "text/x; charset=klingon" }),
    token("abc", 1800)
  ],
  ["BOM", () => body(`\ufeff${rfc}`, json), token("abc", 1800)],
  ["BOM of UTF-16", () => body(utf16(`\ufeff${rfc}`), json), token("abc", 1800)],
  // The status.
  ["201", () => Service.tokenResponse(1, { access_token: "abc", expires_in: 1800 }, 201), token("abc", 1800)],
  ["299", () => Service.tokenResponse(1, { access_token: "abc", expires_in: 1800 }, 299), token("abc", 1800)]
]

describe("A token response", () => {
  it.effect.each(responses)("%s", ([name, response, expected]) => {
    const service = Service.make({ token: () => Effect.sync(response) })
    return Effect.gen(function*() {
      const result = yield* Effect.either(get)
      if (Either.isLeft(result)) {
        const violations = result.left._tag === "TokenResponseInvalid"
          ? result.left.violations.map(({ expected, path, problem }) => `${path} is ${problem}: ${expected}`)
          : []
        deepStrictEqual({ tag: result.left._tag, violations }, expected)
        strictEqual(/canary/.test(`${result.left.message}${JSON.stringify(result.left)}`), false)
      } else {
        const { expiresAt, requestedAt, value } = result.right
        const warnings: Array<AccessToken.Warning> = []
        for (const warning of ["prefix", "lifetime", "same_token"] as const) {
          if ((yield* counted("idv_token_warnings", { warning })) === 1) warnings.push(warning)
        }
        deepStrictEqual(
          { value: Redacted.value(value), lifetime: (expiresAt - requestedAt) / 1000, warnings },
          expected
        )
      }
    }).pipe(
      Effect.provide(layer(service, { tokenPolicy: { attempts: 1 } })),
      measured(name)
    )
  })

  it.effect("a 200 with {\"error\":\"invalid_client\"} does not reject the credentials the first time", () => {
    const service = Service.make({
      token: (_, count) =>
        Effect.succeed(count % 2 === 0 ? Service.tokenResponse(count) : Service.json({ error: "invalid_client" }))
    })
    return Effect.gen(function*() {
      const { invalidate } = yield* TokenProvider.TokenProvider
      strictEqual((yield* Effect.flip(get))._tag, "TokenRejected")
      const token = yield* get
      strictEqual(Redacted.value(token.value), "token-2")
      yield* invalidate(token)
      strictEqual((yield* Effect.flip(get))._tag, "TokenRejected")
      strictEqual(Redacted.value((yield* get).value), "token-4")
    }).pipe(Effect.provide(layer(service)))
  })

  it.effect("a 200 with an error does not reject a key the first time, after another key was rejected", () => {
    const service = Service.make({
      token: (_, count) =>
        Effect.succeed(
          count === 1
            ? Service.json({}, { status: 401 })
            : count === 2
            ? Service.json({ error: "invalid_client" })
            : Service.tokenResponse(count)
        )
    })
    const { authUrl, customerId } = Service.options
    let reads = 0
    const credentials = Effect.sync(() => ({ customerId, customerKey: Redacted.make(reads++ === 0 ? "old" : "new") }))
    return Effect.gen(function*() {
      const { get } = yield* TokenProvider.make({ authUrl, credentials })
      yield* Effect.flip(get)
      yield* Effect.flip(get)
      strictEqual(Redacted.value((yield* get).value), "token-3")
    }).pipe(Effect.scoped, Effect.provide(service.layer))
  })

  it.effect("a repeated 200 with an error rejects the credentials from the second time on", () => {
    const service = Service.make({ token: () => Effect.succeed(Service.json({ error: "invalid_client" })) })
    return Effect.gen(function*() {
      yield* Effect.replicateEffect(Effect.flip(get), 100)
      strictEqual(service.tokenRequests.length, 2)
    }).pipe(Effect.provide(layer(service)))
  })

  it.effect("only the configured fields are read", () => {
    const service = Service.make({ token: () => Effect.succeed(Service.json({ access_token: "a", token: "b" })) })
    return Effect.gen(function*() {
      strictEqual(Redacted.value((yield* get).value), "b")
    }).pipe(Effect.provide(layer(service, { tokenFields: ["token", "text"] })))
  })
})

describe("AccessToken", () => {
  it("is the same token if its text is the same, and prints no text", () => {
    const token = (text: string) =>
      new AccessToken.AccessToken({ value: Redacted.make(text), requestedAt: 0, expiresAt: text.length })
    strictEqual(AccessToken.isSame(token("canary"), token("canary")), true)
    strictEqual(AccessToken.isSame(token("canary"), token("other")), false)
    strictEqual([String(token("canary")), JSON.stringify(token("canary"))].join().includes("canary"), false)
  })
})
