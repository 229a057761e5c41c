import type { TokenProvider } from "@effect-idv/core"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import type { ConfigError } from "effect"
import { Effect, Redacted } from "effect"
import * as Credentials from "../src/internal/token/credentials.ts"
import { userAgent } from "../src/internal/wire/version.ts"
import * as Service from "./support/service.ts"
import { get, make, provide, status } from "./support/tokens.ts"

const refused = (options: Partial<TokenProvider.Options>) => Effect.scoped(Effect.flip(make(Service.make(), options)))

/** The names of the options in a `ConfigError`. */
const named = (error: ConfigError.ConfigError): ReadonlyArray<string> =>
  error._op === "And" || error._op === "Or"
    ? [...named(error.left), ...named(error.right)]
    : [error.path.join(".")]

const basic = (headers: Readonly<Record<string, string>> | undefined) =>
  Buffer.from(headers?.["authorization"]?.replace(/^Basic /, "") ?? "", "base64").toString()

describe("The token request", () => {
  it.effect(
    "is a POST to /oauth/service with a form body, Accept: application/json and Basic credentials, and no key in the body or URL",
    () => {
      const service = Service.make()
      return Effect.gen(function*() {
        strictEqual(service.tokenRequests.length, 0)
        yield* get
        deepStrictEqual(service.tokenRequests, [{
          url: "https://auth.example.com/oauth/service",
          method: "POST",
          headers: {
            accept: "application/json",
            authorization: `Basic ${Buffer.from("acme-bank:s3cret-key").toString("base64")}`,
            "content-type": "application/x-www-form-urlencoded",
            "content-length": "29",
            "user-agent": userAgent
          },
          body: "grant_type=client_credentials"
        }])
      }).pipe(provide(service))
    }
  )

  it.effect.each<[string, string]>([
    ["https://auth.example.com/", "https://auth.example.com/oauth/service"],
    ["https://auth.example.com//", "https://auth.example.com/oauth/service"],
    ["https://auth.example.com/v2", "https://auth.example.com/v2/oauth/service"],
    ["https://auth.example.com/v2/", "https://auth.example.com/v2/oauth/service"],
    ["https://auth.example.com/v2?tenant=1#here", "https://auth.example.com/v2/oauth/service"],
    ["https://auth.example.com:8443", "https://auth.example.com:8443/oauth/service"]
  ])(
    "joins the address with one slash, keeps its prefix and drops its query: %s",
    ([authUrl, expected]) => {
      const service = Service.make()
      return Effect.gen(function*() {
        yield* get
        strictEqual(service.tokenRequests[0]?.url, expected)
      }).pipe(provide(service, { authUrl }))
    }
  )

  it.effect("an address with user name and password is rejected, and the error does not show them", () =>
    Effect.gen(function*() {
      const error = yield* refused({ authUrl: "https://canary:secret@auth.example.com" })
      deepStrictEqual(named(error), ["authUrl"])
      strictEqual(/canary|secret/.test(`${error}${JSON.stringify(error)}`), false)
    }))

  it.effect.each([":", "+", "/=", "%", "a b", "schlüssel", "🔑", ":+/=%& ü🔑x"])(
    "a key with special characters is sent as base64 of its UTF-8 bytes: %s",
    (key) => {
      const service = Service.make()
      return Effect.gen(function*() {
        yield* get
        strictEqual(basic(service.tokenRequests[0]?.headers), `acme-bank:${key}`)
      }).pipe(provide(service, { customerKey: Redacted.make(key) }))
    }
  )

  it.effect.each<[string, string]>([
    [" %&+£€", "+%25%26%2B%C2%A3%E2%82%AC"],
    [":+/=%& ü🔑x", "%3A%2B%2F%3D%25%26+%C3%BC%F0%9F%94%91x"],
    ["plain-Key_1.2*", "plain-Key_1.2*"]
  ])("with rfc6749 the key %j is form-encoded to %s", ([key, encoded]) => {
    const service = Service.make()
    return Effect.gen(function*() {
      yield* get
      strictEqual(basic(service.tokenRequests[0]?.headers), `acme-bank:${encoded}`)
    }).pipe(provide(service, { customerKey: Redacted.make(key), basicEncoding: "rfc6749" }))
  })

  it.effect(
    "a customer id with a colon is rejected with plain encoding, and accepted with rfc6749",
    () => {
      const service = Service.make()
      const customerId = "acme:bank"
      return Effect.gen(function*() {
        deepStrictEqual(named(yield* refused({ customerId })), ["customerId"])
        yield* get
        strictEqual(basic(service.tokenRequests[0]?.headers), "acme%3Abank:s3cret-key")
      }).pipe(provide(service, { customerId, basicEncoding: "rfc6749" }))
    }
  )

  it.effect.each<[Partial<TokenProvider.Options>, ReadonlyArray<string>]>([
    [{ customerKey: Redacted.make("") }, ["customerKey"]],
    [{ customerKey: Redacted.make("canary\n") }, ["customerKey"]],
    [{ customerKey: Redacted.make("can\r\nary") }, ["customerKey"]],
    [{ customerKey: Redacted.make(" canary") }, ["customerKey"]],
    [{ customerKey: Redacted.make("canary\u00a0") }, ["customerKey"]],
    [{ customerKey: Redacted.make("canary\ud800") }, ["customerKey"]],
    [{ customerKey: Redacted.make("canary\n"), basicEncoding: "rfc6749" }, ["customerKey"]],
    [{ customerId: "", customerKey: Redacted.make("") }, ["customerId", "customerKey"]],
    [{ customerId: "canary " }, ["customerId"]]
  ])(
    "an empty key or one that ends with a line break is a ConfigError without its value: %j",
    ([options, expected]) =>
      Effect.gen(function*() {
        const error = yield* refused(options)
        deepStrictEqual(named(error), expected)
        strictEqual(/canary|ary/.test(`${error}${JSON.stringify(error)}`), false)
      })
  )

  it.effect("all invalid options are named at once", () =>
    Effect.gen(function*() {
      const error = yield* refused({
        authUrl: "http://auth.example.com",
        customerId: "a:b",
        customerKey: Redacted.make(""),
        tokenFields: JSON.parse("[\"acces_token\"]"),
        tokenPolicy: { attempts: 0 }
      })
      deepStrictEqual(named(error), ["authUrl", "customerId", "customerKey", "tokenFields.0", "tokenPolicy.attempts"])
    }))

  it.effect.each(["{}", "{\"customerId\":1,\"customerKey\":\"canary\"}"])(
    "credentials of another type, such as from a vault, are rejected and named: %s",
    (json) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(Credentials.make(JSON.parse(json)))
        deepStrictEqual(named(error), ["customerId", "customerKey"])
      })
  )

  it.effect("an http: address is rejected unless it is loopback or allowInsecure is set", () =>
    Effect.gen(function*() {
      const service = Service.make()
      deepStrictEqual(named(yield* refused({ authUrl: "http://auth.example.com" })), ["authUrl"])
      deepStrictEqual(named(yield* refused({ authUrl: "http://localhost.example.com" })), ["authUrl"])
      for (const host of ["127.0.0.1:1", "localhost:1", "[::1]:1"]) yield* make(service, { authUrl: `http://${host}` })
      yield* make(service, { authUrl: "http://auth.example.com", allowInsecure: true })
    }).pipe(Effect.scoped))

  it.effect.each([301, 302, 303, 307, 308])(
    "a redirect with %d is TokenResponseInvalid, and no request goes to its target",
    (code) => {
      const service = Service.make({
        token: () => Effect.succeed(status(code, { location: "https://evil.example/oauth/service" }))
      })
      return Effect.gen(function*() {
        assert.deepInclude(yield* Effect.flip(get), { _tag: "TokenResponseInvalid", status: code })
        deepStrictEqual(service.tokenRequests.map(({ url }) => url), ["https://auth.example.com/oauth/service"])
      }).pipe(provide(service))
    }
  )
})
