import { AmlClient, AmlError, Idv, IdvHttp, TokenProvider } from "@effect-idv/effect-4"
import { Config, ConfigProvider, Duration, Effect, Exit, Layer, Option, Redacted, Schema } from "effect"
import { deepStrictEqual, ok, strictEqual, throws } from "node:assert"
import { describe, it } from "vitest"
import * as Client from "./support/client.ts"

const server = Client.useServer()

const canary = "canaryValue"

/** The lines about a configuration that the layer refuses. */
const problemsOf = <A>(layer: Layer.Layer<A, Config.ConfigError>, variables: Readonly<Record<string, string>> = {}) =>
  Effect.scoped(Layer.build(layer)).pipe(
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: variables }))),
    Effect.flip,
    Effect.map((error) => {
      ok(error instanceof Config.ConfigError)
      ok(!`${error.message} ${String(error)} ${JSON.stringify(error)}`.includes(canary))
      return Idv.describeConfigError(error).split("\n")
    })
  )

const overUndici = Layer.provide(IdvHttp.layerUndici())

describe("A ConfigError of Effect 4", () => {
  it("names every missing and invalid variable of layerEnv, without its value", () =>
    Effect.runPromise(Effect.gen(function*() {
      deepStrictEqual(
        yield* problemsOf(overUndici(Idv.layerEnv()), {
          IDV_AUTH_URL: "https://auth.example.com",
          IDV_BASE_URL: canary,
          IDV_CUSTOMER_KEY: canary,
          IDV_DEADLINE: canary
        }),
        [
          "IDV_CUSTOMER_ID is missing: it should be the customer id of the onboarding pack: not empty, without a colon, leading or trailing spaces or line breaks",
          "IDV_BASE_URL should be the address of the API, such as https://api.example.com",
          "IDV_DEADLINE should be a duration over 0 and at most 2147483647 ms (24.8 days), such as \"30 seconds\""
        ]
      )
    })))

  it("names every option of layerConfig that cannot be loaded, or else every invalid one", () =>
    Effect.runPromise(Effect.gen(function*() {
      const config = {
        authUrl: Config.String("AUTH"),
        baseUrl: Config.succeed("https://api.example.com"),
        customerId: Config.String("CUSTOMER"),
        customerKey: Config.Redacted("KEY"),
        concurrency: Config.Int("CONCURRENCY")
      }
      const layer = overUndici(Idv.layerConfig(config))
      const unloaded = yield* problemsOf(layer, { KEY: canary, CUSTOMER: "acme-bank", CONCURRENCY: canary })
      deepStrictEqual(unloaded.map((line) => line.split(" ")[0]), ["AUTH", "CONCURRENCY"])
      const variables = { AUTH: canary, KEY: canary, CUSTOMER: "acme-bank", CONCURRENCY: "0" }
      deepStrictEqual(yield* problemsOf(layer, variables), [
        "authUrl should be the address of the token endpoint, such as https://auth.example.com",
        "concurrency should be an integer over 0"
      ])
    })))

  it("names a proxy and a certificate that cannot be used", () =>
    Effect.runPromise(Effect.gen(function*() {
      const lines = [
        ...yield* problemsOf(IdvHttp.layerEnv(), { HTTPS_PROXY: canary }),
        ...yield* problemsOf(IdvHttp.layerEnv(), { IDV_CLIENT_CERT: canary, IDV_CLIENT_KEY: canary }),
        ...yield* problemsOf(IdvHttp.layerUndici({ connect: { ca: canary } }))
      ]
      deepStrictEqual(lines.map((line) => line.split(" ")[0]), [
        "HTTPS_PROXY",
        "IDV_CLIENT_CERT",
        "IDV_CLIENT_KEY",
        "connect.ca"
      ])
    })))

  it("names a key that a program without types did not redact", () =>
    Effect.runPromise(Effect.gen(function*() {
      const options: Idv.Options = Object.assign({
        authUrl: "https://auth.example.com",
        baseUrl: "https://api.example.com",
        customerId: "acme-bank",
        customerKey: Redacted.make("key")
      }, { customerKey: canary })
      const [line] = yield* problemsOf(overUndici(Idv.layer(options)))
      strictEqual(line?.split(" ")[0], "customerKey")
    })))
})

describe("Idv", () => {
  it("uses the variables of the ConfigProvider, and the overrides", () =>
    Effect.runPromise(Effect.gen(function*() {
      const session = yield* server.session
      const variables = {
        IDV_AUTH_URL: "http://localhost:1",
        IDV_BASE_URL: session.url,
        IDV_CUSTOMER_ID: session.customerId,
        IDV_CUSTOMER_KEY: session.customerKey
      }
      const check = yield* Client.check().pipe(
        Effect.provide(Layer.provide(Idv.layerEnv({ authUrl: session.url, environment: "test" }), IdvHttp.layerEnv())),
        Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: variables })))
      )
      deepStrictEqual([check.result, check.origin.environment], ["No", "test"])
    })))

  it("reads rotating credentials with the services of the layer, and reports no error of theirs", () =>
    Effect.runPromise(Effect.gen(function*() {
      const session = yield* server.session
      const layer = (credentials: Idv.RotatingOptions["credentials"]) =>
        Layer.provide(Idv.layer({ authUrl: session.url, baseUrl: session.url, credentials }), IdvHttp.layerUndici())
      const { customerId, customerKey } = session
      const good = Effect.succeed({ customerId, customerKey: Redacted.make(customerKey) })
      strictEqual((yield* Effect.provide(Client.check(), layer(good))).result, "No")
      const error = yield* Effect.flip(Effect.provide(Client.check(), layer(Effect.fail(new Error(canary)))))
      ok(error._tag === "TokenEndpointUnavailable" && error.reason === "credentials")
      ok(!JSON.stringify(error).includes(canary))
    })))

  it("tells whether checks can be sent, and why not", () =>
    Effect.runPromise(Effect.gen(function*() {
      const session = yield* server.session
      const states = (key: string) =>
        Effect.gen(function*() {
          const { readiness } = yield* TokenProvider.TokenProvider
          const before = yield* readiness
          yield* Effect.exit(Client.check())
          return [before, yield* readiness]
        }).pipe(Effect.provide(server.layer(session, { customerKey: Redacted.make(key) })))
      deepStrictEqual((yield* states(session.customerKey)).map(({ isReady }) => isReady), [false, true])
      const [, refused] = yield* states("another key")
      strictEqual(Option.getOrUndefined(refused?.failure ?? Option.none())?._tag, "TokenRejected")
    })))

  it("accepts connections that a service of the program passes on", () =>
    Effect.runPromise(Effect.gen(function*() {
      const session = yield* server.session
      const wrapped = Layer.effect(IdvHttp.IdvHttp, Effect.map(IdvHttp.IdvHttp, (http) => ({ ...http })))
      const { customerId, customerKey, url } = session
      const layer = Idv.layer({ authUrl: url, baseUrl: url, customerId, customerKey: Redacted.make(customerKey) }).pipe(
        Layer.provide(wrapped),
        Layer.provide(IdvHttp.layerUndici())
      )
      strictEqual((yield* Effect.provide(Client.check(), layer)).result, "No")
    })))

  it("reports a token endpoint that cannot be reached", () =>
    Effect.runPromise(Effect.gen(function*() {
      const error = yield* Effect.flip(Client.check()).pipe(
        AmlClient.withPolicy({ retry: "never" }),
        Effect.provide(Client.layerOf("http://127.0.0.1:1", { tokenPolicy: { attempts: 1 } }))
      )
      ok(error._tag === "TokenEndpointUnavailable")
      strictEqual(error.reason, "unreachable")
    })))
})

describe("A retryAfter", () => {
  it("is not negative", () => {
    throws(() => new AmlError.AmlRateLimited({ retryAfter: Duration.seconds(-1) }))
    const decode = Schema.decodeUnknownExit(AmlError.AmlRateLimited)
    ok(Exit.isFailure(decode({ _tag: "AmlRateLimited", retryAfter: -1 })))
    ok(Exit.isSuccess(decode({ _tag: "AmlRateLimited", retryAfter: 0 })))
  })
})
