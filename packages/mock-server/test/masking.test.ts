import { assert, describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { FastCheck } from "effect"
import * as Masking from "../src/internal/masking.ts"

const utf8 = new TextEncoder()

const base64 = (text: string) => Buffer.from(text).toString("base64")

const asked = (change: Partial<Masking.RequestParts>, reveal = false) =>
  Masking.maskRequest(
    { operation: "aml", method: "POST", target: "/api/aml", headers: {}, body: new Uint8Array(), ...change },
    reveal
  )

const amlBody = (body: string | Uint8Array) => asked({ body: typeof body === "string" ? utf8.encode(body) : body }).body

const form = (body: string) => asked({ operation: "token", body: utf8.encode(body) }).body

const answered = (body: string, reveal = false) =>
  Masking.maskResponse("aml", { status: 200, headers: {}, body: utf8.encode(body) }, reveal).body

const canary = "canary"

/** JSON of any shape whose every value is a canary, or holds one. */
const canaries: FastCheck.Arbitrary<unknown> = FastCheck.letrec<{ value: unknown; leaf: string; key: string }>(
  (tie) => ({
    leaf: FastCheck.tuple(
      FastCheck.string(),
      FastCheck.constantFrom(" Testpep", "", ` ${canary}`, "person", "client_credentials")
    ).map(([before, after]) => `${before}${canary}${after}`),
    key: FastCheck.oneof(
      FastCheck.constantFrom("name", "dob", "entity_type", "access_token", "data", "__proto__", "toJSON", "path", "0"),
      FastCheck.string()
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
  it("keeps the customer id of Basic credentials, never the key", () => {
    const authorization = (value: string) => asked({ headers: { authorization: value } }).headers["authorization"]
    strictEqual(authorization(`Basic ${base64("demo-customer:demo-key")}`), "Basic demo-customer:***")
    strictEqual(authorization(`bASIC   ${base64("demo-customer:a:b")}`), "Basic demo-customer:***")
    for (
      const credentials of [
        "",
        "%%%",
        base64("demo-key"),
        base64(":demo-key"),
        base64("demo\ncustomer:demo-key"),
        base64("demo\u202ecustomer:demo-key"),
        base64(`${"x".repeat(65)}:demo-key`),
        Buffer.from([0x61, 0xff, 0x3a, 0x62]).toString("base64"),
        `${base64("a:b")}, Bearer ${canary}`
      ]
    ) strictEqual(authorization(`Basic ${credentials}`), "Basic ***")
    strictEqual(authorization(`Bearer ${canary}`), "Bearer ***")
    strictEqual(authorization(`bearer ${canary} ${canary}`), "Bearer ***")
    strictEqual(authorization(`Digest username=${canary}`), "***")
    strictEqual(authorization(canary), "***")
  })

  it("hides headers that hold secrets, and keeps the others", () => {
    deepStrictEqual(
      asked({
        headers: {
          Cookie: canary,
          "proxy-authorization": canary,
          "X-Api-Key": canary,
          "x-access-token": canary,
          "x-shared-secret": canary,
          "x-auth": canary,
          accept: "*/*",
          "content-type": "application/json"
        }
      }).headers,
      {
        Cookie: "***",
        "proxy-authorization": "***",
        "X-Api-Key": "***",
        "x-access-token": "***",
        "x-shared-secret": "***",
        "x-auth": "***",
        accept: "*/*",
        "content-type": "application/json"
      }
    )
  })

  it.each([
    ["{\"entity_type\":\"person\",\"name\":\"Zoë Testpep\",\"dob\":\"01-02-1990\"}", "person", "*** Testpep"],
    ["{\"entity_type\":\"person\",\"name\":\" Zoë\\t TESTSANC \",\"dob\":\"01-02-1990\"}", "person", "*** TESTSANC"],
    ["{\"entity_type\":\"person\",\"name\":\"Testpep\",\"dob\":null}", "person", "Testpep"],
    ["{\"entity_type\":\"company\",\"name\":\"Testpep Zoë\",\"dob\":1}", "***", "***"],
    ["{\"entity_type\":[\"person\"],\"name\":[\"Zoë Testpep\"],\"dob\":{\"a\":1}}", "***", "***"],
    ["{\"entity_type\":1,\"n\\u0061me\":\"\",\"dob\":[]}", "***", "***"]
  ])("of %s, shows entity_type %s and name %s", (body, entity_type, name) => {
    deepStrictEqual(JSON.parse(amlBody(body)), { entity_type, name, dob: "***" })
  })

  it("keeps the names of unknown fields and hides their values", () => {
    strictEqual(
      amlBody("{\"full_name\":\"Zoë\",\"a\":{\"name\":\"Zoë Testpep\",\"b\":[1,true,null]},\"Zoë Hopper\":1}"),
      "{\"full_name\":\"***\",\"a\":{\"name\":\"*** Testpep\",\"b\":[\"***\",\"***\",\"***\"]},\"***\":\"***\"}"
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
      assert.notInclude(asked({ target: `/api/aml?${text}` }).target.toLowerCase(), canary)
    }))
  })

  it("keeps the grant type of this service, and no other value of a form", () => {
    strictEqual(form("grant_type=client_credentials"), "grant_type=client_credentials")
    strictEqual(
      form("grant_type=password&client_secret=s&scope=&grant_type=client_credentials&=x&c2VjcmV0==&secret"),
      "grant_type=***&client_secret=***&scope=&grant_type=client_credentials&***=***&***=***&***"
    )
    strictEqual(form("my secret"), "(9 bytes, not shown)")
  })

  it("does not show a body that is not what its operation sends", () => {
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
    strictEqual(asked({ operation: "other", body: utf8.encode("{\"a\":1}") }).body, "(7 bytes, not shown)")
    strictEqual(amlBody(""), "")
  })

  it("keeps __proto__ as the name of a field", () => {
    strictEqual(
      amlBody("{\"__proto__\":{\"name\":\"x\"},\"constructor\":1}"),
      "{\"__proto__\":{\"name\":\"***\"},\"constructor\":\"***\"}"
    )
    const headers = Object.fromEntries([["__proto__", "x"], ["accept", "y"]])
    deepStrictEqual(Object.entries(asked({ headers }).headers), [["__proto__", "x"], ["accept", "y"]])
  })

  it.each([
    ["/oauth/service", "/oauth/service"],
    ["/api/aml?name=Zoë&debug=&x", "/api/aml?name=***&debug=&***"],
    ["/api/aml#Zoë", "/api/aml***"],
    ["/api/aml?a=b?c=d#e", "/api/aml?a=***"],
    ["/aml-profiles/a/b", "/aml-profiles/***"],
    [`/x/${"y".repeat(32)}/${"z".repeat(33)}/v`, `/x/${"y".repeat(32)}/***/v`],
    ["http://user:secret@host/api/aml", "***"],
    ["", "***"]
  ])("shows the target %s as %s", (target, expected) => {
    strictEqual(asked({ target }).target, expected)
  })

  it("shows everything to whoever asks for it", () => {
    const headers = { authorization: "Bearer abc", cookie: "a=b" }
    const target = "/aml-profiles/abc?name=Zoë"
    deepStrictEqual(asked({ target, headers, body: utf8.encode("\ufeff{\"name\": \"Zoë\"}") }, true), {
      method: "POST",
      target,
      headers,
      body: "\ufeff{\"name\": \"Zoë\"}"
    })
    strictEqual(asked({ body: Uint8Array.of(0x7b, 0xff, 0x7d) }, true).body, "(3 bytes, hex 7bff7d)")
    strictEqual(
      asked({ body: new Uint8Array(300).fill(0xff) }, true).body,
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
      id_token: "***"
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
    ["{\"status\":422,\"errors\":[{\"path\":\"a.dob\",\"reason\":\"missing\"},{\"path\":\"Zoë Hopper\"}]}", {
      status: 422,
      errors: [{ path: "a.dob", reason: "missing" }, { path: "***" }]
    }]
  ])("hides tokens and people in %s", (body, expected) => {
    deepStrictEqual(JSON.parse(answered(body)), expected)
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
      assert.notInclude(answered(JSON.stringify(wrapped)), canary)
    }))
  })

  it("does not show pages and texts", () => {
    strictEqual(answered("<h1>Zoë</h1>"), "(13 bytes, not shown)")
    strictEqual(answered("\"token\""), "(7 bytes, not shown)")
    strictEqual(answered("<h1>Zoë</h1>", true), "<h1>Zoë</h1>")
  })

  it("keeps the challenge, and hides cookies", () => {
    const headers = { "www-authenticate": "Bearer error=\"invalid_token\"", "set-cookie": "a=b", "retry-after": "1" }
    deepStrictEqual(Masking.maskResponse("aml", { status: 401, headers, body: new Uint8Array() }, false), {
      status: 401,
      headers: { ...headers, "set-cookie": "***" },
      body: ""
    })
  })
})
