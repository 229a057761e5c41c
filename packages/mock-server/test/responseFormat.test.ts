import * as AccessToken from "@effect-idv/core/AccessToken"
import * as AmlCredential from "@effect-idv/core/AmlCredential"
import * as PersonName from "@effect-idv/core/PersonName"
import * as Violation from "@effect-idv/core/Violation"
import * as Profile from "@effect-idv/mock-server/Profile"
import { assert, describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Duration, Either, Option, Redacted } from "effect"
import * as TokenResponse from "../../core/src/internal/token/tokenResponse.ts"
import * as ResponseFormat from "../src/internal/service/responseFormat.ts"
import { tokenLifetimeSeconds } from "../src/internal/session/choices.ts"
import type * as Response from "../src/internal/wire/response.ts"

const now = Date.UTC(2026, 1, 28, 11, 30, 15, 250)
const token = "ZGVtby1jdXN0b21lcg.0123456789abcdef"

const profileWith = (patch: Profile.Patch) => Profile.apply(Profile.defaultProfile, patch)
const textOf = ({ body }: Response.Response): string => new TextDecoder().decode(body)
const jsonOf = (response: Response.Response): unknown => JSON.parse(textOf(response))
const summaryOf = (response: Response.Response) => [response.status, response.headers, textOf(response)]

const isAccepted = (name: Profile.Name, value: string): boolean =>
  Profile.points.some((point) =>
    point.name === name && point.variants.some((variant) => variant.value === value && variant.client === "accepts")
  )

const uncacheable = { "cache-control": "no-store", pragma: "no-cache" }

describe("tokenResponse", () => {
  const grant = (patch: Profile.Patch) => ResponseFormat.tokenResponse(profileWith(patch), token)
  const readByClient = (response: Response.Response) =>
    TokenResponse.decode(AccessToken.Field.literals)(
      response.body,
      response.headers["content-type"]?.startsWith("text/plain") ?? true
    )

  it("is the response of RFC 6749 by default, to the byte", () => {
    deepStrictEqual(summaryOf(grant({})), [
      200,
      { "content-type": "application/json", ...uncacheable },
      `{"access_token":"${token}","token_type":"Bearer","expires_in":3600}`
    ])
  })

  it.each<[Profile.Profile["tokenField"], unknown]>([
    ["accessToken", { accessToken: token, tokenType: "Bearer", expiresIn: 3600 }],
    ["token", { token, token_type: "Bearer", expires_in: 3600 }],
    ["data.access_token", { data: { access_token: token, token_type: "Bearer", expires_in: 3600 } }]
  ])("has type and lifetime beside a token in %s", (tokenField, expected) => {
    deepStrictEqual(jsonOf(grant({ tokenField })), expected)
  })

  it("is only the token as plain text", () => {
    deepStrictEqual(summaryOf(grant({ tokenField: "text" })), [
      200,
      { "content-type": "text/plain; charset=utf-8", ...uncacheable },
      token
    ])
  })

  it.each<[Profile.Profile["tokenType"], unknown]>([
    ["bearer", { access_token: token, token_type: "bearer", expires_in: 3600 }],
    ["absent", { access_token: token, expires_in: 3600 }],
    ["other", { access_token: token, token_type: "mac", expires_in: 3600 }]
  ])("can have the type %s", (tokenType, expected) => {
    deepStrictEqual(jsonOf(grant({ tokenType })), expected)
  })

  it.each<[Profile.Profile["tokenLifetime"], unknown, number]>([
    ["3600", { expires_in: 3600 }, 3600],
    ["absent", {}, 3600],
    ["text", { expires_in: "3600" }, 3600],
    ["longer", { expires_in: 86_400 }, 3600],
    ["shorter", { expires_in: 60 }, 60],
    ["null", { expires_in: null }, 3600],
    ["zero", { expires_in: 0 }, 3600],
    ["garbage", { expires_in: "soon" }, 3600]
  ])("states the lifetime %s as %j for a token that is valid for %d s", (tokenLifetime, fields, seconds) => {
    deepStrictEqual(
      jsonOf(grant({ tokenLifetime })),
      Object.assign({ access_token: token, token_type: "Bearer" }, fields)
    )
    strictEqual(tokenLifetimeSeconds(profileWith({ tokenLifetime })), seconds)
  })

  it.each(["200", "201", "203"] as const)("can have the status %s, also as plain text", (tokenStatus) => {
    strictEqual(grant({ tokenStatus }).status, Number(tokenStatus))
    strictEqual(grant({ tokenStatus, tokenField: "text" }).status, Number(tokenStatus))
  })

  const { tokenField: { literals: fields }, tokenLifetime: { literals: lifetimes }, tokenType: { literals: types } } =
    Profile.Profile.fields

  it.each(fields)("has a token in %s that the client reads, if it accepts the type", (tokenField) => {
    for (const tokenType of types) {
      const read = readByClient(grant({ tokenField, tokenType }))
      const isTypeShown = tokenField !== "text"
      strictEqual(Either.isRight(read), !isTypeShown || isAccepted("tokenType", tokenType), tokenType)
      if (Either.isRight(read)) strictEqual(Redacted.value(read.right.value), token)
    }
  })

  it.each(lifetimes)(
    "the client uses a token of lifetime %s for as long as it is valid, and no longer",
    (tokenLifetime) => {
      const profile = profileWith({ tokenLifetime })
      const read = Either.getOrThrow(readByClient(ResponseFormat.tokenResponse(profile, token)))
      const { expiresAt } = TokenResponse.toToken(read, now)
      strictEqual(expiresAt, now + tokenLifetimeSeconds(profile) * 1000)
    }
  )
})

describe("tokenError", () => {
  const basicChallenge = { "www-authenticate": "Basic realm=\"idv-mock\", charset=\"UTF-8\"" }
  const refusal = (
    tokenError: Profile.Profile["tokenError"],
    status: 400 | 401 | 405 | 413 | 415,
    headers?: Record<string, string>
  ) =>
    ResponseFormat.tokenError(profileWith({ tokenError }), {
      status,
      error: "invalid_client",
      description: "the key is wrong",
      ...(headers && { headers })
    })
  const oauth = "{\"error\":\"invalid_client\",\"error_description\":\"the key is wrong\"}"
  const json = { "content-type": "application/json" }

  it("is an OAuth error by default, to the byte", () => {
    deepStrictEqual(summaryOf(refusal("401", 401)), [401, { ...json, ...uncacheable, ...basicChallenge }, oauth])
    deepStrictEqual(summaryOf(refusal("401", 400)), [400, { ...json, ...uncacheable }, oauth])
  })

  it("is problem details for errors before OAuth by default, to the byte", () => {
    deepStrictEqual(summaryOf(refusal("401", 405, { allow: "POST" })), [
      405,
      { "content-type": "application/problem+json", allow: "POST" },
      "{\"type\":\"about:blank\",\"title\":\"Method Not Allowed\",\"status\":405,\"detail\":\"the key is wrong\"}"
    ])
  })

  it("has no challenge in a 400 for a wrong key", () => {
    deepStrictEqual(summaryOf(refusal("400", 401)), [400, { ...json, ...uncacheable }, oauth])
  })

  it("has an OAuth error and no challenge in a 200", () => {
    deepStrictEqual(summaryOf(refusal("200", 401)), [200, { ...json, ...uncacheable }, oauth])
    deepStrictEqual(summaryOf(refusal("200", 400)), [200, { ...json, ...uncacheable }, oauth])
  })

  it("keeps the status and the challenge with an empty body", () => {
    deepStrictEqual(summaryOf(refusal("empty", 401)), [401, { ...uncacheable, ...basicChallenge }, ""])
    deepStrictEqual(summaryOf(refusal("empty", 415)), [415, {}, ""])
  })

  it("keeps the status and drops the challenge with the page of a gateway", () => {
    const { headers, status, ...response } = refusal("html", 401)
    strictEqual(status, 401)
    deepStrictEqual(headers, { "content-type": "text/html; charset=utf-8", ...uncacheable })
    assertInclude(textOf({ headers, status, ...response }), "<h1>401 Unauthorized</h1>")
  })

  it("keeps the status and the challenge with problem details", () => {
    deepStrictEqual(summaryOf(refusal("problem", 401)), [
      401,
      { "content-type": "application/problem+json", ...uncacheable, ...basicChallenge },
      "{\"type\":\"about:blank\",\"title\":\"Unauthorized\",\"status\":401,\"detail\":\"the key is wrong\"}"
    ])
  })

  it.each(["400", "200", "problem"] as const)(
    "does not change errors before OAuth with the variant %s",
    (tokenError) => {
      for (const status of [405, 413, 415] as const) {
        deepStrictEqual(summaryOf(refusal(tokenError, status)), summaryOf(refusal("401", status)))
      }
    }
  )

  it.each(Profile.Profile.fields.tokenError.literals)("has no token for the client with %s", (tokenError) => {
    const decode = TokenResponse.decode(AccessToken.Field.literals)
    for (const status of [400, 401, 405] as const) {
      strictEqual(Either.isLeft(decode(refusal(tokenError, status).body, true)), true)
    }
  })
})

describe("amlError", () => {
  const refusal = (
    amlError: Profile.Profile["amlError"],
    errors?: ReadonlyArray<{ readonly path: string; readonly reason: string }>
  ) =>
    ResponseFormat.amlError(profileWith({ amlError }), {
      status: 422,
      code: "body_invalid",
      detail: "The body is wrong",
      headers: { "x-header": "kept" },
      ...(errors && { errors })
    })
  const errors = [{ path: "dob", reason: "missing: expected a date" }, { path: "", reason: "odd" }]

  it("is problem details by default, to the byte", () => {
    deepStrictEqual(summaryOf(refusal("problem", errors)), [
      422,
      { "content-type": "application/problem+json", "x-header": "kept" },
      "{\"type\":\"about:blank\",\"title\":\"Unprocessable Content\",\"status\":422,\"detail\":\"The body is wrong\"," +
      "\"errors\":[{\"path\":\"dob\",\"reason\":\"missing: expected a date\"},{\"path\":\"\",\"reason\":\"odd\"}]}"
    ])
    deepStrictEqual(jsonOf(refusal("problem")), {
      type: "about:blank",
      title: "Unprocessable Content",
      status: 422,
      detail: "The body is wrong"
    })
  })

  it.each<[Profile.Profile["amlError"], string | undefined, string]>([
    ["empty", undefined, ""],
    ["oauth", "application/json", "{\"error\":\"body_invalid\",\"error_description\":\"The body is wrong\"}"],
    ["text", "text/plain; charset=utf-8", "The body is wrong"],
    ["nested", "application/json", "{\"errors\":[{\"code\":\"body_invalid\",\"message\":\"The body is wrong\"}]}"]
  ])("has as %s the content type %s and the body %s", (amlError, contentType, body) => {
    deepStrictEqual(summaryOf(refusal(amlError)), [
      422,
      { ...(contentType && { "content-type": contentType }), "x-header": "kept" },
      body
    ])
  })

  it("has an error for each field as nested", () => {
    deepStrictEqual(jsonOf(refusal("nested", errors)), {
      errors: [
        { code: "body_invalid", message: "missing: expected a date", field: "dob" },
        { code: "body_invalid", message: "odd", field: "" }
      ]
    })
    deepStrictEqual(jsonOf(refusal("nested", [])), jsonOf(refusal("nested")))
  })

  it("is as html the page of a gateway, which knows only the status", () => {
    const response = refusal("html", errors)
    deepStrictEqual([response.status, response.headers], [
      422,
      { "content-type": "text/html; charset=utf-8", "x-header": "kept" }
    ])
    strictEqual(
      textOf(response),
      "<!doctype html>\n<html lang=\"en\">\n<head><title>422 Unprocessable Content</title></head>\n" +
        "<body><center><h1>422 Unprocessable Content</h1></center><hr><center>gateway</center></body>\n</html>\n"
    )
  })
})

describe("credential", () => {
  const encoded = (name: string): typeof AmlCredential.AmlCredential.Encoded => ({
    credential_type: "aml",
    credential_name: "AML",
    issued_by: "Mock",
    issuer_id: "7d9f6c52-4b1e-4c39-9a76-2f0e8d1b5a64",
    cred_version: "1.0",
    credentials: {
      attributes: {
        name,
        birth_year: "1990",
        searched_on: "2026-02-28 11:30:15",
        match_found: "No",
        aml_profile: "http://localhost/aml-profiles/1"
      }
    }
  })
  const response = (patch: Profile.Patch, name = "Zoë Ada Testclear") =>
    ResponseFormat.credential(profileWith(patch), encoded(name))
  const decode = Violation.decodeJson(AmlCredential.AmlCredential)
  const nameIn = (response: Response.Response): string =>
    Redacted.value(Either.getOrThrow(decode(response.body)).credentials.attributes.name)

  it("is the credential by default, to the byte", () => {
    deepStrictEqual(summaryOf(response({})), [
      200,
      { "content-type": "application/json" },
      JSON.stringify(encoded("Zoë Ada Testclear"))
    ])
  })

  it.each(["200", "201", "203"] as const)("can have the status %s", (amlStatus) => {
    strictEqual(response({ amlStatus }).status, Number(amlStatus))
  })

  it.each<[Profile.Profile["nameEcho"], string, string]>([
    ["exact", "Zoë Ada Testclear", "王"],
    ["upper", "ZOË ADA TESTCLEAR", "王"],
    ["nfd", "Zoe\u0308 Ada Testclear", "王"],
    ["blanks", " Zoë  Ada  Testclear ", " 王 "],
    ["reordered", "TESTCLEAR, Zoë Ada", "王"]
  ])("repeats the name %s: %o", (nameEcho, long, short) => {
    strictEqual(nameIn(response({ nameEcho })), long)
    strictEqual(nameIn(response({ nameEcho }, "王")), short)
  })

  it("separates the words of a name once, however the request does", () => {
    strictEqual(nameIn(response({ nameEcho: "blanks" }, " Zoë   Testclear ")), " Zoë  Testclear ")
    strictEqual(nameIn(response({ nameEcho: "reordered" }, " Zoë   Ada  Testclear ")), "TESTCLEAR, Zoë Ada")
  })

  it.each(Profile.Profile.fields.nameEcho.literals)(
    "has a name %s that the client accepts, or refuses as declared",
    (nameEcho) => {
      for (const name of ["Zoë Ada Testclear", "Jürgen Weiß", "Ali Işık", "Σωκράτης Παππάς", "Jean-Luc O’Neill"]) {
        const sent = Either.getOrThrow(PersonName.make(name))
        strictEqual(
          PersonName.isEquivalent(sent, nameIn(response({ nameEcho }, name))),
          isAccepted("nameEcho", nameEcho),
          name
        )
      }
    }
  )

  it.each(Profile.Profile.fields.credVersion.literals)(
    "has the version %s that the client accepts, or refuses as declared",
    (credVersion) => {
      const answered = response({ credVersion })
      deepStrictEqual(jsonOf(answered), { ...encoded("Zoë Ada Testclear"), cred_version: credVersion })
      strictEqual(Either.isRight(decode(answered.body)), isAccepted("credVersion", credVersion))
    }
  )

  it("has extra fields at the top, in credentials and in attributes, beside the others", () => {
    const extended = jsonOf(response({ extraFields: "some" }))
    const plain = encoded("Zoë Ada Testclear")
    assert.isObject(extended)
    assert.containsSubset(extended, plain)
    const names = (at: (value: typeof plain) => object) => {
      const known = Object.keys(at(plain))
      const all: ReadonlyArray<string> = Object.keys(at(JSON.parse(textOf(response({ extraFields: "some" })))))
      return all.filter((name) => !known.includes(name)).length
    }
    deepStrictEqual([
      names((value) => value),
      names(({ credentials }) => credentials),
      names(({ credentials }) => credentials.attributes)
    ], [2, 2, 2])
  })

  it("is the same credential for the client with extra fields and without", () => {
    deepStrictEqual(decode(response({ extraFields: "some" }).body), decode(response({}).body))
  })
})

describe("searchedOn", () => {
  it.each<[Profile.Profile["searchedOn"], string]>([
    ["utc", "2026-02-28 11:30:15"],
    ["ahead", "2026-03-01 01:30:15"],
    ["behind", "2026-02-27 23:30:15"]
  ])("has the time zone %s: %s", (searchedOn, expected) => {
    strictEqual(ResponseFormat.searchedOn(profileWith({ searchedOn }), now), expected)
  })

  it.each<[Profile.Profile["searchedOn"], string, string]>([
    ["ahead", "9999-12-31T23:30:00Z", "9999-12-31 23:59:59"],
    ["ahead", "9999-12-31T09:30:00Z", "9999-12-31 23:30:00"],
    ["behind", "9999-12-31T23:30:00Z", "9999-12-31 11:30:00"],
    ["behind", "0001-01-01T00:30:00Z", "0001-01-01 00:00:00"],
    ["behind", "0001-01-01T12:30:00Z", "0001-01-01 00:30:00"],
    ["ahead", "0001-01-01T00:30:00Z", "0001-01-01 14:30:00"]
  ])("with %s at %s is %s, and stays in the years 0001 to 9999", (searchedOn, at, expected) => {
    strictEqual(ResponseFormat.searchedOn(profileWith({ searchedOn }), Date.parse(at)), expected)
  })
})

describe("rateLimited", () => {
  const limited = (rateLimit: Profile.Profile["rateLimit"], millis: number) =>
    ResponseFormat.rateLimited(profileWith({ rateLimit }), Duration.millis(millis), now)

  it("is a 429 with problem details and whole seconds by default", () => {
    const response = limited("seconds", 1500)
    deepStrictEqual([response.status, response.headers, jsonOf(response)], [
      429,
      { "content-type": "application/problem+json", "retry-after": "2" },
      { type: "about:blank", title: "Too Many Requests", status: 429, detail: "There are too many requests" }
    ])
  })

  it.each([[0, "0"], [1, "1"], [1000, "1"], [1001, "2"], [60_000, "60"]])(
    "rounds %d ms up to %s s",
    (millis, seconds) => {
      strictEqual(limited("seconds", millis).headers["retry-after"], seconds)
    }
  )

  it.each([
    [0, "Sat, 28 Feb 2026 11:30:16 GMT"],
    [750, "Sat, 28 Feb 2026 11:30:16 GMT"],
    [751, "Sat, 28 Feb 2026 11:30:17 GMT"],
    [86_400_000, "Sun, 01 Mar 2026 11:30:16 GMT"]
  ])("has for %d ms the date %s", (millis, date) => {
    strictEqual(limited("date", millis).headers["retry-after"], date)
  })

  it("can have no Retry-After, or an invalid one", () => {
    deepStrictEqual(limited("none", 1000).headers, { "content-type": "application/problem+json" })
    strictEqual(limited("garbage", 1000).headers["retry-after"], "soon")
  })

  it("has the body of other errors of the API", () => {
    const response = ResponseFormat.rateLimited(profileWith({ amlError: "oauth" }), Duration.seconds(1), now)
    deepStrictEqual(jsonOf(response), { error: "rate_limited", error_description: "There are too many requests" })
  })
})

describe("rateLimited with a Retry-After of the fault", () => {
  it("has it in place of the profile's", () => {
    const form = { kind: "garbage", text: "later" } as const
    const response = ResponseFormat.rateLimited(profileWith({ rateLimit: "date" }), Duration.seconds(1), now, form)
    strictEqual(response.headers["retry-after"], "later")
  })
})

describe("redirect", () => {
  const redirect = (redirects: Profile.Profile["redirects"], target = "/api/aml") =>
    ResponseFormat.redirect(profileWith({ redirects }), target)

  it("is none by default, and none for a request that was redirected before", () => {
    deepStrictEqual(redirect("none"), Option.none())
    deepStrictEqual(redirect("same-origin", "/api/aml?redirected"), Option.none())
  })

  it.each<[Profile.Profile["redirects"], string]>([
    ["same-origin", "/api/aml?redirected"],
    ["other-origin", "http://elsewhere.invalid/api/aml"]
  ])("%s leads to %s with a 307", (redirects, location) => {
    deepStrictEqual(Option.map(redirect(redirects), summaryOf), Option.some([307, { location }, ""]))
  })
})
