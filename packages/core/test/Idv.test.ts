import { AmlClient, Idv, IdvApi, TokenProvider } from "@effect-idv/core"
import { OpenApi } from "@effect/platform"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import type { ConfigError } from "effect"
import {
  Config,
  ConfigProvider,
  Duration,
  Effect,
  Fiber,
  Layer,
  Option,
  Redacted,
  Struct,
  SubscriptionRef,
  TestClock
} from "effect"
import * as Ada from "./support/ada.ts"
import * as Service from "./support/service.ts"

const complete = {
  IDV_AUTH_URL: "https://auth.example.com",
  IDV_BASE_URL: "https://api.example.com",
  IDV_CUSTOMER_ID: "acme-bank",
  IDV_CUSTOMER_KEY: "canary-key"
}

const start = (layer: Layer.Layer<Idv.Idv, ConfigError.ConfigError, never>) =>
  Effect.scoped(Effect.asVoid(Layer.build(layer)))

const startEnv = (variables: Record<string, string>) =>
  start(Layer.provide(Idv.layerEnv(), Service.make().layer)).pipe(
    Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(variables)))),
    Effect.match({ onFailure: String, onSuccess: () => "started" })
  )

const without = (name: keyof typeof complete) => Struct.omit(complete, name)

describe("Idv.layerEnv", () => {
  it.effect("starts with the four variables", () =>
    Effect.gen(function*() {
      strictEqual(yield* startEnv(complete), "started")
    }))

  it.effect.each<[string, Record<string, string>, string]>([
    [
      "no auth url",
      without("IDV_AUTH_URL"),
      "(Missing data at IDV_AUTH_URL: \"should be the address of the token endpoint, such as https://auth.example.com\")"
    ],
    [
      "no base url",
      without("IDV_BASE_URL"),
      "(Missing data at IDV_BASE_URL: \"should be the address of the API, such as https://api.example.com\")"
    ],
    [
      "no id",
      without("IDV_CUSTOMER_ID"),
      "(Missing data at IDV_CUSTOMER_ID: \"should be the customer id of the onboarding pack: not empty, without a colon, leading or trailing spaces or line breaks\")"
    ],
    [
      "no key",
      without("IDV_CUSTOMER_KEY"),
      "(Missing data at IDV_CUSTOMER_KEY: \"should be the customer key of the onboarding pack: not empty, without leading or trailing spaces or line breaks\")"
    ],
    [
      "an id with a colon",
      { ...complete, IDV_CUSTOMER_ID: "canary:1" },
      "(Invalid data at IDV_CUSTOMER_ID: \"should be the customer id of the onboarding pack: not empty, without a colon, leading or trailing spaces or line breaks\")"
    ],
    [
      "a key with a newline",
      { ...complete, IDV_CUSTOMER_KEY: "canary\n" },
      "(Invalid data at IDV_CUSTOMER_KEY: \"should be the customer key of the onboarding pack: not empty, without leading or trailing spaces or line breaks\")"
    ],
    [
      "an empty key",
      { ...complete, IDV_CUSTOMER_KEY: "" },
      "(Invalid data at IDV_CUSTOMER_KEY: \"should be the customer key of the onboarding pack: not empty, without leading or trailing spaces or line breaks\")"
    ],
    [
      "a url that is none",
      { ...complete, IDV_AUTH_URL: "canary" },
      "(Invalid data at IDV_AUTH_URL: \"should be the address of the token endpoint, such as https://auth.example.com\")"
    ],
    [
      "another scheme",
      { ...complete, IDV_BASE_URL: "ftp://canary.example" },
      "(Invalid data at IDV_BASE_URL: \"should be an https: URL\")"
    ],
    [
      "credentials in a url",
      { ...complete, IDV_BASE_URL: "https://canary:canary@x.example" },
      "(Invalid data at IDV_BASE_URL: \"should be a URL without user name and password\")"
    ],
    [
      "http to another host",
      { ...complete, IDV_BASE_URL: "http://canary.example" },
      "(Invalid data at IDV_BASE_URL: \"should be an https: URL. Plain http: needs a loopback address, or allowInsecure (IDV_ALLOW_INSECURE=true with Idv.layerEnv)\")"
    ],
    [
      "a flag that is neither",
      { ...complete, IDV_ALLOW_INSECURE: "canary" },
      "(Invalid data at IDV_ALLOW_INSECURE: \"should be true or false\")"
    ],
    ["http to another host, allowed", {
      ...complete,
      IDV_BASE_URL: "http://canary.example",
      IDV_ALLOW_INSECURE: "true"
    }, "started"]
  ])("with %s", ([, variables, expected]) =>
    Effect.gen(function*() {
      const printed = yield* startEnv(variables)
      strictEqual(printed, expected)
      strictEqual(printed.includes("canary"), false)
    }))

  it.effect("reads each option from the variable with its name, as text or as JSON", () => {
    const service = Service.make({ aml: () => Effect.never })
    return Effect.gen(function*() {
      const aml = yield* AmlClient.AmlClient
      const check = Effect.flatMap(Ada.person, aml.check).pipe(Effect.flip)
      const checks = yield* Effect.fork(Effect.all([check, check], { concurrency: 2 }))
      yield* TestClock.adjust("2 seconds")
      const errors = yield* Fiber.join(checks)
      deepStrictEqual(
        errors.map((error) => error._tag === "AmlTimeout" && [error.sent, Duration.toSeconds(error.deadline)]),
        [
          ["unknown", 2],
          ["no", 2]
        ]
      )
      const { token } = yield* SubscriptionRef.get((yield* TokenProvider.TokenProvider).status)
      const { expiresAt, requestedAt } = Option.getOrThrow(token)
      strictEqual(expiresAt - requestedAt, 600_000)
    }).pipe(
      Effect.provide(Layer.provide(Idv.layerEnv(), service.layer)),
      Effect.withConfigProvider(ConfigProvider.fromMap(
        new Map(Object.entries({
          ...complete,
          IDV_CUSTOMER_ID: "4711",
          IDV_CONCURRENCY: "1",
          IDV_DEADLINE: "2 seconds",
          IDV_TOKEN_POLICY: "{\"lifetime\":600000}"
        }))
      ))
    )
  })

  it.effect.each<[string, string, string]>([
    ["IDV_CONCURRENCY", "many", "an integer over 0"],
    ["IDV_CONCURRENCY", "", "an integer over 0"],
    ["IDV_RETRY", "canary", "\"safe\", \"always\", \"never\" or a Schedule"],
    ["IDV_ENVIRONMENT", "canary canary", "1 to 64 letters, digits, dots, hyphens or underscores"],
    ["IDV_TOKEN_POLICY", "canary", "an object"],
    ["IDV_TOKEN_POLICY.attempts", "{\"attempts\":0}", "an integer over 0"]
  ])("names %s with the value %j", ([path, value, expected]) =>
    Effect.gen(function*() {
      const layer = Layer.provide(Idv.layerEnv(), Service.make().layer)
      const error = yield* start(layer).pipe(
        Effect.withConfigProvider(
          ConfigProvider.fromMap(new Map(Object.entries({ ...complete, [path.split(".")[0] ?? ""]: value })))
        ),
        Effect.flip
      )
      strictEqual(Idv.describeConfigError(error), `${path} should be ${expected}`)
    }))

  it.effect("takes options beside the environment, and does not read their variables", () => {
    const service = Service.make()
    return Effect.gen(function*() {
      const { get } = yield* TokenProvider.TokenProvider
      yield* get
      strictEqual(service.tokenRequests[0]?.url, "http://other.example/oauth/service")
    }).pipe(
      Effect.provide(Layer.provide(
        Idv.layerEnv({ authUrl: "http://other.example", allowInsecure: true, customerKey: Redacted.make("k") }),
        service.layer
      )),
      Effect.withConfigProvider(ConfigProvider.fromMap(
        new Map(
          Object.entries({ ...without("IDV_CUSTOMER_KEY"), IDV_AUTH_URL: "canary", IDV_ALLOW_INSECURE: "canary" })
        )
      ))
    )
  })

  it.effect("reports an invalid option beside the environment", () =>
    Effect.gen(function*() {
      const error = yield* start(Layer.provide(Idv.layerEnv({ concurrency: 0 }), Service.make().layer)).pipe(
        Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(complete)))),
        Effect.flip
      )
      strictEqual(Idv.describeConfigError(error), "concurrency should be an integer over 0")
    }))

  it.effect("reports one line for each variable, without its value", () =>
    Effect.gen(function*() {
      const error = yield* start(Layer.provide(Idv.layerEnv(), Service.make().layer)).pipe(
        Effect.withConfigProvider(
          ConfigProvider.fromMap(
            new Map(Object.entries({ ...without("IDV_CUSTOMER_KEY"), IDV_BASE_URL: "canary-url" }))
          )
        ),
        Effect.flip
      )
      deepStrictEqual(
        Idv.describeConfigError(error).split("\n").sort().map((line) => line.split(/ (?:is|should)/)[0]),
        [
          "IDV_BASE_URL",
          "IDV_CUSTOMER_KEY"
        ]
      )
      strictEqual(Idv.describeConfigError(error).includes("canary"), false)
    }))

  it.effect("says once that a variable of the program is missing", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Effect.withConfigProvider(Config.string("REGION"), ConfigProvider.fromEnv()))
      strictEqual(Idv.describeConfigError(error), "REGION is missing")
    }))

  it.effect("names missing and invalid variables together", () =>
    Effect.gen(function*() {
      const printed = yield* startEnv({ ...without("IDV_CUSTOMER_ID"), IDV_CUSTOMER_KEY: "k\n", IDV_BASE_URL: "x" })
      deepStrictEqual(printed.match(/(?<= at )IDV_[A-Z_]+/g), ["IDV_CUSTOMER_ID", "IDV_CUSTOMER_KEY", "IDV_BASE_URL"])
    }))

  it.effect("names every missing or invalid variable once", () =>
    Effect.gen(function*() {
      const printed = yield* startEnv({})
      deepStrictEqual(printed.match(/IDV_[A-Z_]+/g)?.sort(), Object.keys(complete))
      const malformed = yield* startEnv({
        IDV_AUTH_URL: "https://canary:canary@x.example",
        IDV_CUSTOMER_ID: "canary:1",
        IDV_CUSTOMER_KEY: "canary\n",
        IDV_ALLOW_INSECURE: "canary"
      })
      deepStrictEqual(
        new Set(malformed.match(/(?<= at )IDV_[A-Z_]+/g)),
        new Set([...Object.keys(complete), "IDV_ALLOW_INSECURE"])
      )
      strictEqual(malformed.match(/(?<= at )IDV_[A-Z_]+/g)?.length, 5)
      strictEqual(malformed.includes("canary"), false)
    }))
})

describe("Idv.layer", () => {
  const startWith = (options: Partial<Idv.Options>) =>
    start(Layer.provide(Idv.layer({ ...Service.options, ...options }), Service.make().layer)).pipe(
      Effect.match({
        onFailure: (error) => error._op === "InvalidData" ? error.path.join() : error._op,
        onSuccess: () => "started"
      })
    )

  it.effect.each<[string, string]>([
    ["http://localhost:4010", "started"],
    ["http://idv.localhost", "authUrl"],
    ["https://auth.example.com/oauth/service", "authUrl"],
    ["https://auth.example.com/prefix/oauth/service//", "authUrl"],
    ["http://127.0.0.1:4010", "started"],
    ["http://127.8.8.8", "started"],
    ["http://[::1]:4010", "started"],
    ["https://auth.example.com/prefix/", "started"],
    ["http://127.0.0.1.evil.example", "authUrl"],
    ["http://localhost.evil.example", "authUrl"],
    ["http://10.0.0.1", "authUrl"],
    ["http://0.0.0.0", "authUrl"],
    ["", "authUrl"],
    ["auth.example.com", "authUrl"],
    ["file:///etc/passwd", "authUrl"]
  ])("with authUrl %o: %s", ([authUrl, expected]) =>
    Effect.gen(function*() {
      strictEqual(yield* startWith({ authUrl }), expected)
    }))

  it.effect("allows http: to any host only with allowInsecure", () =>
    Effect.gen(function*() {
      strictEqual(yield* startWith({ baseUrl: "http://10.0.0.1" }), "baseUrl")
      strictEqual(yield* startWith({ baseUrl: "http://10.0.0.1", allowInsecure: true }), "started")
    }))

  it.effect.each<[string, string]>([
    ["https://h.example", "https://h.example/api/aml"],
    ["https://h.example/", "https://h.example/api/aml"],
    ["https://h.example:8443/v1", "https://h.example:8443/v1/api/aml"],
    ["https://h.example/v1//", "https://h.example/v1/api/aml"],
    ["https://h.example/v1?key=1#x", "https://h.example/v1/api/aml"]
  ])("joins %o to %s", ([baseUrl, expected]) => {
    const service = Service.make({ aml: () => Effect.succeed(new Response(null, { status: 403 })) })
    return Effect.gen(function*() {
      const aml = yield* AmlClient.AmlClient
      yield* Effect.ignore(aml.check(yield* Ada.person))
      strictEqual(service.amlRequests[0]?.url, expected)
    }).pipe(Effect.provide(Layer.provide(Idv.layer({ ...Service.options, baseUrl }), service.layer)))
  })

  it.effect("layerConfig loads each option from Config", () => {
    const layer = Idv.layerConfig({
      authUrl: Config.string("A"),
      baseUrl: Config.string("B"),
      customerId: Config.succeed("acme-bank"),
      customerKey: Config.redacted("K"),
      deadline: Config.duration("D"),
      tokenPolicy: { attempts: Config.integer("N"), expiryMargin: Config.duration("D") }
    })
    return Effect.gen(function*() {
      yield* start(Layer.provide(layer, Service.make().layer))
    }).pipe(Effect.withConfigProvider(ConfigProvider.fromMap(
      new Map([["A", "https://a.example"], ["B", "https://b.example"], ["K", "key"], ["D", "5 seconds"], ["N", "5"]])
    )))
  })
})

describe("IdvApi", () => {
  it("describes the two documented operations, each with its security", () => {
    const { components, paths } = OpenApi.fromApi(IdvApi.IdvApi)
    deepStrictEqual(Object.entries(paths).map(([path, item]) => [path, Object.keys(item), item.post?.security ?? []]), [
      ["/oauth/service", ["post"], [{ customer: [] }]],
      ["/api/aml", ["post"], [{ accessToken: [] }]]
    ])
    deepStrictEqual({ ...components.securitySchemes }, {
      customer: { type: "http", scheme: "basic" },
      accessToken: { type: "http", scheme: "bearer" }
    })
  })
})
