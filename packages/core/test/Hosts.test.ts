import { Idv } from "@effect-idv/core"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Fiber, Layer, Schema, TestClock } from "effect"
import { AmlTimeout } from "../src/AmlError.ts"
import { isLoopback } from "../src/Loopback.ts"
import * as Ada from "./support/ada.ts"
import { renderings } from "./support/canary.ts"
import { hangs, lost, noSuchHost, noTls, refused, respondsWith, today, untrusted } from "./support/scripted.ts"
import * as Service from "./support/service.ts"

const addresses = {
  authUrl: "https://auth.example.com/canary-path?canary=query#canary",
  baseUrl: "https://API.example.com:8443/canary-path/?canary=query#canary"
}

const failure = (handlers: Parameters<typeof Service.make>[0], options: Partial<Idv.Options> = {}) => {
  const layer = Idv.layer({ ...Service.options, ...addresses, retry: "never", ...options })
  return Effect.gen(function*() {
    yield* TestClock.setTime(today)
    const fiber = yield* Effect.fork(Effect.flip(Ada.check))
    yield* TestClock.adjust("1 minute")
    return yield* Fiber.join(fiber)
  }).pipe(Effect.provide(Layer.provide(layer, Service.make(handlers).layer)))
}

const nothing: Service.Handler = () => Effect.sync(() => new Response(""))

describe("A transport error", () => {
  it.effect.each<[string, Service.Handler, string]>([
    ["the connection is refused", refused, "at api.example.com:8443 is not available: it does not accept"],
    ["the name is not known", noSuchHost, "at api.example.com:8443 is not available: its host name cannot be"],
    ["there is no TLS", noTls, "at api.example.com:8443 is not available: the TLS connection failed"],
    ["the certificate is not trusted", untrusted, "at api.example.com:8443 is not available: its certificate is not"],
    ["the connection is lost", lost, "at api.example.com:8443 is not available: the connection was lost"],
    ["the status is 503", respondsWith(503), "at api.example.com:8443 is not available: it responded with status 503"],
    ["there is no response", hangs, "No response from api.example.com:8443 within 30s"],
    ["it redirects", respondsWith(302), "The service at api.example.com:8443 responded with 302"],
    ["the response is empty", nothing, "The service at api.example.com:8443 responded with 200"]
  ])(
    "of the check names only the host and port of the address, when %s",
    ([, aml, expected]) =>
      Effect.gen(function*() {
        const error = yield* failure({ aml })
        strictEqual(error.message.includes(expected), true, error.message)
        deepStrictEqual(renderings(error).filter((text) => /canary/i.test(text)), [])
      })
  )

  it.effect.each<[string, Service.Handler, string]>([
    [
      "the connection is refused",
      refused,
      "The token endpoint at auth.example.com:443 is not available: it does not accept"
    ],
    ["the name is not known", noSuchHost, "The token endpoint at auth.example.com:443 is not available: its host"],
    ["the certificate is not trusted", untrusted, "at auth.example.com:443 is not available: its certificate is not"],
    ["the status is 500", respondsWith(500), "at auth.example.com:443 is not available: it responded with status 500"],
    ["there is no response", hangs, "No token from auth.example.com:443 within 10s"],
    ["it redirects", respondsWith(307), "The token endpoint at auth.example.com:443 responded with 307"],
    ["the response is empty", nothing, "The token endpoint at auth.example.com:443 responded with 200"]
  ])(
    "of the token names only the host and port of the address, when %s",
    ([, token, expected]) =>
      Effect.gen(function*() {
        const error = yield* failure({ token }, { tokenPolicy: { attempts: 1 } })
        strictEqual(error.message.includes(expected), true, error.message)
        deepStrictEqual(renderings(error).filter((text) => /canary/i.test(text)), [])
      })
  )

  it.effect.each<[string, string]>([
    ["http://127.0.0.1:4010", "127.0.0.1:4010"],
    ["http://localhost", "localhost:80"],
    ["http://[::1]:4010/x", "[::1]:4010"],
    ["https://bücher.example", "xn--bcher-kva.example:443"]
  ])("of %s names %s", ([baseUrl, host]) =>
    Effect.gen(function*() {
      const error = yield* failure({ aml: refused }, { baseUrl })
      strictEqual(error.message.includes(`at ${host} is not`), true, error.message)
    }))

  it.effect("never contains a user name or password: an address with them is rejected, and not shown", () =>
    Effect.gen(function*() {
      for (const userInfo of ["canary:canary@", "canary@", ":canary@"]) {
        for (const option of ["authUrl", "baseUrl"] as const) {
          const layer = Idv.layer({ ...Service.options, [option]: `https://${userInfo}api.example.com` })
          const error = yield* Effect.flip(Effect.scoped(Layer.build(Layer.provide(layer, Service.make().layer))))
          strictEqual(
            Idv.describeConfigError(error),
            `${option} should be a URL without user name and password`
          )
        }
      }
    }))

  it.effect("stored without a host can be decoded", () =>
    Effect.gen(function*() {
      const stored = { _tag: "AmlTimeout", sent: "no", deadline: 1000 }
      const error = yield* Schema.decodeUnknown(AmlTimeout)(stored)
      strictEqual(
        error.message,
        "No response within 1s (sent: no: the check waited for a place (concurrency), a token, a connection or a retry)"
      )
      deepStrictEqual(yield* Schema.encode(AmlTimeout)(error), stored)
    }))
})

describe("A host of this machine", () => {
  it.each<[string, boolean]>([
    ["localhost", true],
    ["127.0.0.1", true],
    ["127.8.8.8", true],
    ["::1", true],
    ["[::1]", true],
    ["[::1", false],
    ["127.0.0.1.example.com", false],
    ["127.0.0", false],
    ["localhost.example.com", false],
    ["0.0.0.0", false],
    ["", false]
  ])("%j: %s", (host, expected) => {
    strictEqual(isLoopback(host), expected)
  })
})
