import { assert, describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { FastCheck } from "effect"
import { inspect } from "node:util"
import { runs } from "../../core/test/support/cases.ts"
import * as Masking from "../src/internal/journal/masking.ts"
import * as ResponseFormat from "../src/internal/service/responseFormat.ts"
import type * as Journal from "../src/Journal.ts"
import * as Profile from "../src/Profile.ts"

const utf8 = new TextEncoder()

const base64 = (text: string) => Buffer.from(text).toString("base64")

const maskedRequest = (
  { operation = "aml", ...change }: Partial<Masking.RequestParts & Pick<Journal.Entry, "operation">>,
  reveal = false
) =>
  Masking.maskRequest(
    operation,
    { method: "POST", target: "/api/aml", headers: {}, body: new Uint8Array(), ...change },
    reveal
  )

const amlBody = (body: string | Uint8Array) =>
  maskedRequest({ body: typeof body === "string" ? utf8.encode(body) : body }).body

const form = (body: string) => maskedRequest({ operation: "token", body: utf8.encode(body) }).body

const maskedResponseBody = (body: string, reveal = false) =>
  Masking.maskResponse({ status: 200, delivery: "whole", headers: {}, body: utf8.encode(body) }, reveal).body

const maskedRedirect = (location: string): Readonly<Record<string, string>> =>
  Masking.maskResponse({ status: 307, delivery: "whole", headers: { location }, body: new Uint8Array() }, false).headers

const canary = "canary"

/** JSON of any shape in which every value contains a canary. */
const canaries: FastCheck.Arbitrary<unknown> = FastCheck.letrec<{ value: unknown; leaf: string; key: string }>(
  (tie) => ({
    leaf: FastCheck.tuple(
      FastCheck.string(),
      FastCheck.constantFrom(" Testpep", "", ` ${canary}`, "person", "client_credentials")
    ).map(([before, after]) => `${before}${canary}${after}`),
    key: FastCheck.oneof(
      FastCheck.constantFrom("name", "dob", "entity_type", "access_token", "data", "__proto__", "toJSON", "path", "0"),
      FastCheck.string(),
      FastCheck.constantFrom(canary, `x-${canary}`, `${canary}_${canary}`)
    ),
    value: FastCheck.oneof(
      { maxDepth: 6 },
      tie("leaf"),
      FastCheck.array(tie("value"), { maxLength: 4 }),
      FastCheck.array(FastCheck.tuple(tie("key"), tie("value")), { maxLength: 4 }).map(Object.fromEntries)
    )
  })
).value

describe("maskRequest", () => {
  it("shows the id of a demo or test customer in Basic credentials, and never a key, even if they are swapped", () => {
    const authorization = (value: string) =>
      maskedRequest({ headers: { authorization: value } }).headers["authorization"]
    strictEqual(authorization(`Basic ${base64("demo-customer:demo-key")}`), "Basic demo-customer:***")
    strictEqual(authorization(`bASIC   ${base64("demo-customer:a:b")}`), "Basic demo-customer:***")
    strictEqual(authorization(`Basic ${base64("test-a.B_1:test-key")}`), "Basic test-a.B_1:***")
    for (
      const credentials of [
        "",
        "%%%",
        base64("demo-key"),
        base64(":demo-key"),
        base64("demo-key:demo-customer"),
        base64("test-key:test-a"),
        base64("another-customer:its-key"),
        base64("demo-customer\n:demo-key"),
        base64("test-\u202ea:test-key"),
        base64("test-:test-key"),
        base64(`test-${"x".repeat(60)}:test-key`),
        Buffer.from([0x61, 0xff, 0x3a, 0x62]).toString("base64"),
        `${base64("a:b")}, Bearer ${canary}`
      ]
    ) strictEqual(authorization(`Basic ${credentials}`), "Basic ***")
    strictEqual(authorization(`Bearer ${canary}`), "Bearer ***")
    strictEqual(authorization(`bearer ${canary} ${canary}`), "Bearer ***")
    strictEqual(authorization(`Digest username=${canary}`), "***")
    strictEqual(authorization(canary), "***")
  })

  it("shows only the values of headers that are known to be harmless", () => {
    const harmless = {
      Accept: "*/*",
      "content-type": "application/json",
      host: "127.0.0.1:4010",
      "sec-fetch-site": "same-origin",
      "user-agent": "undici"
    }
    const others = ["Cookie", "proxy-authorization", "referer", "x-api-key", "x-request-id", "date", "b3"]
    deepStrictEqual(
      maskedRequest({ headers: { ...harmless, ...Object.fromEntries(others.map((name) => [name, canary])) } }).headers,
      { ...harmless, ...Object.fromEntries(others.map((name) => [name, "***"])) }
    )
  })

  it("hides the names of unknown headers, and loses none", () => {
    deepStrictEqual(
      maskedRequest({ headers: { "x-canary": "1", "***": "2", "Zoë": "3", "a b": "4", "": "5", "X-Request-Id": "6" } })
        .headers,
      { "***": "***", "*** 2": "***", "*** 3": "***", "*** 4": "***", "*** 5": "***", "X-Request-Id": "***" }
    )
  })

  it("cuts the values of headers to 256 characters", () => {
    const accept = (count: number) => maskedRequest({ headers: { accept: "json, ".repeat(count) } }).headers["accept"]
    strictEqual(accept(42), "json, ".repeat(42))
    strictEqual(accept(43), `${"json, ".repeat(43).slice(0, 255)}…`)
    strictEqual(accept(10_000), accept(43))
  })

  it("keeps 100 headers, and counts the others", () => {
    const headers = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`x-${index}`, canary]))
    strictEqual(Object.keys(maskedRequest({ headers: headers(100) }).headers).length, 100)
    const shown = Object.entries(maskedRequest({ headers: headers(103) }).headers)
    strictEqual(shown.length, 101)
    deepStrictEqual(shown.slice(-2), [["*** 100", "***"], ["…", "3 more"]])
  })

  it.each([
    ["{\"entity_type\":\"person\",\"name\":\"Zoë Testpep\",\"dob\":\"01-02-1990\"}", "person", "*** Testpep"],
    ["{\"entity_type\":\"person\",\"name\":\" Zoë\\t TESTSANC \",\"dob\":\"01-02-1990\"}", "person", "*** TESTSANC"],
    ["{\"entity_type\":\"person\",\"name\":\"Testpep\",\"dob\":null}", "person", "Testpep"],
    ["{\"entity_type\":\"company\",\"name\":\"Testpep Zoë\",\"dob\":1}", "***", "***"],
    ["{\"entity_type\":[\"person\"],\"name\":[\"Zoë Testpep\"],\"dob\":{\"a\":1}}", "***", "***"],
    ["{\"entity_type\":1,\"n\\u0061me\":\"\",\"dob\":[]}", "***", "***"]
  ])("shows of %s the entity_type %s and the name %s", (body, entity_type, name) => {
    deepStrictEqual(JSON.parse(amlBody(body)), { entity_type, name, dob: "***" })
  })

  it("hides the names of unknown fields, and loses none of them", () => {
    strictEqual(
      amlBody("{\"ZoeCanary\":\"Zoë\",\"a\":{\"name\":\"Zoë Testpep\",\"b\":[1,true,null]},\"dob\":1,\"\":1}"),
      "{\"***\":\"***\",\"*** 2\":{\"name\":\"*** Testpep\",\"***\":[\"***\",\"***\",\"***\"]},\"dob\":\"***\",\"*** 3\":\"***\"}"
    )
  })

  it("shows no canary of any JSON", () => {
    FastCheck.assert(FastCheck.property(canaries, (value) => {
      const shown = amlBody(JSON.stringify(value))
      assert.notInclude(shown, canary)
      assert.notInclude(amlBody(JSON.stringify({ value })), canary)
      assert.notInclude(form(JSON.stringify(value)), canary)
    }))
  })

  it("shows no canary of any form", () => {
    const pair = FastCheck.tuple(FastCheck.constantFrom("grant_type", "client_secret", "scope", canary.toUpperCase()))
    FastCheck.assert(FastCheck.property(FastCheck.array(pair), FastCheck.string(), (pairs, noise) => {
      const text = pairs.map(([name]) => `${name}=${canary}${encodeURIComponent(noise)}`).join("&")
      assert.notInclude(form(text).toLowerCase(), canary)
      assert.notInclude(maskedRequest({ target: `/api/aml?${text}` }).target.toLowerCase(), canary)
    }))
  })

  it("shows the grant type of this service, and no other value of a form", () => {
    strictEqual(form("grant_type=client_credentials"), "grant_type=client_credentials")
    strictEqual(
      form("grant_type=password&client_secret=s&scope=&grant_type=client_credentials&=x&c2VjcmV0==&secret"),
      "grant_type=***&client_secret=***&scope=&grant_type=client_credentials&***=***&***=***&***"
    )
    strictEqual(form("my secret"), "(9 bytes, not shown)")
  })

  it("does not show a body that does not belong to its operation", () => {
    const deep = (levels: number) => `${"{\"a\":".repeat(levels)}1${"}".repeat(levels)}`
    for (
      const body of [
        canary,
        `"${canary}"`,
        `["${canary}"]`,
        "{",
        "{\"name\":\"a\",\"name\":\"b\"}",
        deep(64),
        deep(100_000),
        `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
        `{"a":"${"x".repeat(256 * 1024)}"}`
      ]
    ) strictEqual(amlBody(body), `(${body.length} bytes, not shown)`)
    assertInclude(amlBody(deep(63)), "***")
    strictEqual(amlBody(Uint8Array.of(0x7b, 0xff, 0x7d)), "(3 bytes, not shown)")
    strictEqual(maskedRequest({ operation: "other", body: utf8.encode("{\"a\":1}") }).body, "(7 bytes, not shown)")
    strictEqual(amlBody(""), "")
  })

  it("treats __proto__ as any other name", () => {
    strictEqual(
      amlBody("{\"__proto__\":{\"name\":\"x\"},\"constructor\":1}"),
      "{\"***\":{\"name\":\"***\"},\"*** 2\":\"***\"}"
    )
    const headers = Object.fromEntries([["__proto__", "x"], ["accept", "json"]])
    deepStrictEqual(Object.entries(maskedRequest({ headers }).headers), [["***", "***"], ["accept", "json"]])
  })

  it.each([
    ["/oauth/service", "/oauth/service"],
    ["/api/aml?name=Zoë&debug=&x", "/api/aml?name=***&***=&***"],
    ["/api/aml#Zoë", "/api/aml***"],
    ["/api/aml?a=b?c=d#e", "/api/aml?***=***"],
    ["/aml-profiles/a/b", "/aml-profiles/***"],
    ["/v1/zoe/api/aml/", "/v1/***/api/aml/"],
    ["/Zoe/zoë/zo%65/zo e/%/API", "/***/***/***/***/***/API"],
    ["/api/amlcheck", "/api/amlcheck"],
    ["/api/aml-check/Zoe", "/api/aml-check/***"],
    ["/API/Aml", "/API/Aml"],
    ["/oath/service", "/oath/service"],
    ["/ouath/servcie", "/ouath/servcie"],
    ["/oauth/servics", "/oauth/servics"],
    ["/oauth/sarvice", "/oauth/sarvice"],
    ["/oauxth/service", "/oauxth/service"],
    ["/oauth-service/token", "/oauth-service/token"],
    ["/api/ali", "/api/***"],
    ["/api/amal", "/api/***"],
    ["/api/amlZoe", "/api/***"],
    ["/api/aml1990", "/api/***"],
    ["/api/amlcheck?name=Zoe", "/api/amlcheck?name=***"],
    ["/v1/v1/v1/v1/v1/v1/v1/v1", "/v1/v1/v1/v1/v1/v1/v1/v1"],
    ["/v1/v1/v1/v1/v1/v1/v1/v1/v1?zoe=y", "***?***=***"],
    ["mock.test:443", "***"],
    ["*", "***"],
    ["http://user:secret@host/api/aml", "***"],
    ["", "***"]
  ])("shows the target %s as %s", (target, expected) => {
    strictEqual(maskedRequest({ target }).target, expected)
  })

  it("cuts a target to 512 characters", () => {
    const target = (pairs: number) => maskedRequest({ target: `/api/aml?${"&".repeat(pairs - 1)}` }).target
    strictEqual(target(125), `/api/aml?${Array.from({ length: 125 }, () => "***").join("&")}`)
    strictEqual(target(10_000).length, 512)
    strictEqual(target(10_000).endsWith("…"), true)
  })

  it("shows no canary and no percent sign of any target", () => {
    const piece = FastCheck.oneof(
      FastCheck.constantFrom("/", "?", "&", "=", "#", "%", "//", "http://", "@", "/api/aml", "/aml-profiles/"),
      FastCheck.constantFrom("CANARY", `%63anary`, `${canary}%20`, `x${"9".repeat(32)}${canary}`, `=${canary}&`),
      FastCheck.string().map(encodeURIComponent)
    )
    FastCheck.assert(FastCheck.property(FastCheck.array(piece), (pieces) => {
      const target = pieces.join("")
      const shown = maskedRequest({ target }).target
      assert.notMatch(shown, /canary|%|\/\/[^/]*@/i)
      strictEqual(shown.length <= 512, true)
      assert.notMatch(maskedRedirect(target)["location"] ?? "", /canary|%/i)
    }))
  })

  it("shows no name, key or token beside the words of a mistyped path", () => {
    const secrets = ["Ali", "Abi", "Chuck", "South", "Serge", "Oscar", "19900201", "demo-key", "a1b2c3d4e5", canary]
    const typed = [
      "api",
      "aml",
      "amlcheck",
      "oauth",
      "servcie",
      "oath",
      "token",
      "-",
      ".",
      "_",
      "/",
      "/api/",
      "/oauth/"
    ]
    const pieces = FastCheck.array(FastCheck.constantFrom(...secrets, ...typed), { minLength: 1, maxLength: 6 })
    FastCheck.assert(
      FastCheck.property(pieces, (pieces) => {
        const segments = maskedRequest({ target: `/${pieces.join("")}` }).target.split("/")
        for (const segment of segments) {
          assert.notMatch(segment, /ali|abi|chuck|south|serge|oscar|\d|key|canary/i)
        }
      }),
      { numRuns: runs(200) }
    )
  })

  it("shows everything with reveal", () => {
    const headers = { authorization: "Bearer abc", cookie: "a=b" }
    const target = "/aml-profiles/abc?name=Zoë"
    deepStrictEqual(maskedRequest({ target, headers, body: utf8.encode("\ufeff{\"name\": \"Zoë\"}") }, true), {
      method: "POST",
      target,
      headers,
      body: "\ufeff{\"name\": \"Zoë\"}"
    })
    strictEqual(maskedRequest({ body: Uint8Array.of(0x7b, 0xff, 0x7d) }, true).body, "(3 bytes, hex 7bff7d)")
    strictEqual(
      maskedRequest({ body: new Uint8Array(300).fill(0xff) }, true).body,
      `(300 bytes, hex ${"ff".repeat(256)}…)`
    )
  })
})

describe("maskResponse", () => {
  it.each([
    ["{\"access_token\":\"x\",\"token_type\":\"Bearer\",\"expires_in\":3600}", {
      access_token: "***",
      token_type: "Bearer",
      expires_in: 3600
    }],
    ["{\"accessToken\":\"x\",\"tokenType\":\"Bearer\",\"id_token\":[\"x\"]}", {
      accessToken: "***",
      tokenType: "Bearer",
      "***": "***"
    }],
    ["{\"data\":{\"token\":{\"a\":\"x\"},\"expires_in\":null}}", { data: { token: "***", expires_in: null } }],
    ["{\"credential_name\":\"AML\",\"credentials\":{\"attributes\":[{\"name\":\"x\",\"match_found\":\"No\"}]}}", {
      credential_name: "AML",
      credentials: { attributes: [{ name: "***", match_found: "No" }] }
    }],
    ["{\"birth_year\":1990,\"aml_profile\":\"x\",\"searched_on\":\"2026-01-01 00:00:00\"}", {
      birth_year: "***",
      aml_profile: "***",
      searched_on: "2026-01-01 00:00:00"
    }],
    ["{\"status\":422,\"errors\":[{\"path\":\"dob\",\"reason\":\"missing\"},{\"path\":\"Zoë\"},{\"path\":\"\"}]}", {
      status: 422,
      errors: [{ path: "dob", reason: "missing" }, { path: "***" }, { path: "" }]
    }],
    [
      "{\"errors\":[{\"code\":\"body_invalid\",\"field\":\"name\"},{\"field\":\"zoe\"},{\"field\":[\"dob\"]},{\"path\":\"a.dob\"}]}",
      {
        errors: [{ code: "body_invalid", field: "name" }, { field: "***" }, { field: "***" }, { path: "***" }]
      }
    ],
    [
      "{\"ZoeCanary\":\"Zoë\",\"links\":{\"zoe\":[\"Zoë\"],\"self\":\"x\"},\"\":1,\"ok\":{\"name\":\"x\"},\"lists\":[\"pep\"]}",
      {
        "***": "***",
        links: { "***": "***", self: "x" },
        "*** 2": "***",
        "*** 3": "***",
        lists: ["pep"]
      }
    ]
  ])("hides tokens and persons in %s", (body, expected) => {
    deepStrictEqual(JSON.parse(maskedResponseBody(body)), expected)
  })

  it("shows no canary under the name of a secret, at any depth", () => {
    const name = FastCheck.constantFrom("access_token", "refreshToken", "ID-TOKEN", "name", "birth_year", "aml_profile")
    const around = FastCheck.array(FastCheck.constantFrom("data", "credentials", "__proto__", undefined), {
      maxLength: 80
    })
    FastCheck.assert(FastCheck.property(name, canaries, around, (name, value, around) => {
      const wrapped = around.reduce<unknown>(
        (inner, key) => key === undefined ? [1, inner] : Object.fromEntries([["ok", 1], [key, inner]]),
        { [name]: value }
      )
      assert.notInclude(maskedResponseBody(JSON.stringify(wrapped)), canary)
    }))
  })

  it("shows no canary that is the name of a field, or the path of one", () => {
    const around = FastCheck.array(FastCheck.constantFrom("data", "errors", "credentials", undefined), { maxLength: 9 })
    const name = FastCheck.string().map((noise) => `${noise}${canary}`)
    FastCheck.assert(FastCheck.property(name, FastCheck.constantFrom("path", "field"), around, (name, key, around) => {
      const wrapped = around.reduce<unknown>(
        (inner, key) => key === undefined ? [inner] : { [key]: inner },
        { [name]: name, [`${name}2`]: { [name]: [name] }, [key]: name }
      )
      const body = JSON.stringify({ data: wrapped })
      assert.notInclude(maskedResponseBody(body), canary)
      assert.notInclude(amlBody(body), canary)
    }))
  })

  it("shows every field that a profile adds to a response", () => {
    const everything = Profile.points.flatMap(({ name, variants }) =>
      variants.map(({ value }) => ({ ...Profile.defaultProfile, [name]: value }))
    )
    const replies = everything.flatMap((profile) => [
      ResponseFormat.tokenResponse(profile, canary),
      ResponseFormat.credential(profile, credential),
      ResponseFormat.tokenError(profile, { status: 401, error: "invalid_client", description: "No" }),
      ResponseFormat.amlError(profile, { status: 422, code: "a", detail: "b", errors: [{ path: "dob", reason: "c" }] })
    ])
    for (const response of replies) {
      const { body } = Masking.maskResponse({ ...response, delivery: "whole" }, false)
      assert.notInclude(body, canary)
      assert.notInclude(body, "\"***\":")
      if (response.headers["content-type"]?.includes("json") === true) assert.notInclude(body, "not shown")
    }
  })

  it.each([
    ["/api/aml?redirected", "/api/aml?***"],
    ["http://elsewhere.invalid/oauth/service", "http://elsewhere.invalid/oauth/service"],
    ["HTTPS://[::1]:8080/aml-profiles/abc", "HTTPS://[::1]:8080/aml-profiles/***"],
    ["http://elsewhere.invalid", "http://elsewhere.invalid"],
    ["http://elsewhere.invalid?name=Zoë", "http://elsewhere.invalid/?name=***"],
    ["http://user:secret@elsewhere.invalid/api/aml", "***"],
    [`http://elsewhere.invalid/${"x".repeat(33)}?a=b`, "http://elsewhere.invalid/***?***=***"],
    ["https://canary.example/api/aml", "***"],
    ["javascript:alert(1)", "***"]
  ])("shows the location %s as %s", (location, expected) => {
    deepStrictEqual(maskedRedirect(location), { location: expected })
  })

  it("does not show pages and plain texts", () => {
    strictEqual(maskedResponseBody("<h1>Zoë</h1>"), "(13 bytes, not shown)")
    strictEqual(maskedResponseBody("\"token\""), "(7 bytes, not shown)")
    strictEqual(maskedResponseBody("<h1>Zoë</h1>", true), "<h1>Zoë</h1>")
  })

  it("lets no printer reach what it masks later", () => {
    const canary = "canary-4711"
    const headers = { authorization: `Bearer ${canary}`, "x-name": canary }
    const body = utf8.encode(JSON.stringify({ name: canary, access_token: canary }))
    const masked = [
      Masking.maskRequest("aml", { method: "POST", target: `/${canary}`, headers, body }, false),
      Masking.maskResponse({ status: 200, delivery: "whole", headers, body }, false)
    ]
    for (const value of [...masked, ...masked]) {
      assert.notInclude(inspect(value, { depth: null, showHidden: true }), canary)
      assert.notInclude(inspect(value, { depth: null, showHidden: true, getters: true }), canary)
      assert.notInclude(JSON.stringify(value), canary)
      assert.notInclude(JSON.stringify(Object.getOwnPropertyDescriptors(value)), canary)
    }
  })

  it("shows the challenge, and hides cookies", () => {
    const headers = { "www-authenticate": "Bearer error=\"invalid_token\"", "set-cookie": "a=b", "retry-after": "1" }
    deepStrictEqual(Masking.maskResponse({ status: 401, delivery: "whole", headers, body: new Uint8Array() }, false), {
      status: 401,
      delivery: "whole",
      headers: { ...headers, "set-cookie": "***" },
      body: ""
    })
  })
})

const credential = {
  credential_type: "aml",
  credential_name: "AML",
  issued_by: "Mock",
  issuer_id: "7d9f6c52-4b1e-4c39-9a76-2f0e8d1b5a64",
  cred_version: "1.0",
  credentials: {
    attributes: {
      name: canary,
      birth_year: canary,
      searched_on: "2026-01-01 00:00:00",
      match_found: "No",
      aml_profile: canary
    }
  }
} as const
