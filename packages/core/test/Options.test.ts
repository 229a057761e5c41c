import { AmlClient, Idv, Screening, TokenProvider, WebError } from "@effect-idv/core"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual, throws } from "@effect/vitest/utils"
import type { Duration, Scope } from "effect"
import { Config, ConfigError, ConfigProvider, Effect, Either, Layer, Schema, Stream } from "effect"
import { readFileSync } from "node:fs"
import * as CheckOptions from "../src/internal/check/checkOptions.ts"
import * as TokenOptions from "../src/internal/token/tokenOptions.ts"
import { renderings } from "./support/canary.ts"
import * as Service from "./support/service.ts"
import { makePolicy } from "./support/tokens.ts"

/** The shortest duration that a timer cannot wait, in milliseconds. */
const tooLong = 2 ** 31

const inWords = "at most 2147483647 ms (24.8 days), such as \"30 seconds\""

/** One line for each error, with its option. */
const linesOf = <A>(started: Effect.Effect<A, ConfigError.ConfigError, Scope.Scope>) =>
  Effect.scoped(started).pipe(
    Effect.match({ onFailure: (error) => Idv.describeConfigError(error).split("\n"), onSuccess: () => ["started"] })
  )

const start = <A>(layer: Layer.Layer<A, ConfigError.ConfigError, never>) => linesOf(Layer.build(layer))

const startWith = (options: object) =>
  start(Layer.provide(Idv.layer(Object.assign({ ...Service.options }, options)), Service.make().layer))

describe("A duration longer than a timer can wait", () => {
  const ofChecks: ReadonlyArray<keyof AmlClient.PolicyOptions> = ["deadline"]
  const ofTokens: ReadonlyArray<keyof TokenProvider.PolicyOptions> = [
    "expiryMargin",
    "attemptDeadline",
    "acquisitionDeadline",
    "rejectionMemory"
  ]
  const all: Array<[string, (duration: Duration.DurationInput) => Either.Either<unknown, ConfigError.ConfigError>]> = [
    ...ofChecks.map((
      name
    ): typeof all[number] => [
      name,
      (duration) => CheckOptions.check({ baseUrl: "https://idv.example.com", [name]: duration })
    ]),
    ...ofTokens.map((name): typeof all[number] => [name, (duration) => makePolicy({ [name]: duration })])
  ]

  it.each(all)("is rejected as %s, and the longest possible one is accepted", (name, make) => {
    for (const duration of [tooLong, "25 days", Infinity, "60 days", BigInt(tooLong) * 1_000_000n] as const) {
      const refused = make(duration)
      assert(Either.isLeft(refused), `${String(duration)} is taken`)
      const [option, reason] = Idv.describeConfigError(refused.left).split(/ should be a duration (?:over 0 and|of) /)
      deepStrictEqual([option?.replace("tokenPolicy.", ""), reason], [name, inWords])
    }
    strictEqual(Either.isRight(make(tooLong - 1)), true)
  })

  it.effect("is rejected by the layer, by Screening, and as a Retry-After", () =>
    Effect.gen(function*() {
      deepStrictEqual(
        yield* startWith({ deadline: tooLong, tokenPolicy: { lifetime: "60 days", attemptDeadline: Infinity } }),
        [
          "tokenPolicy.lifetime should be a duration over 0 and at most \"1 hour\"",
          `tokenPolicy.attemptDeadline should be a duration over 0 and ${inWords}`,
          `deadline should be a duration over 0 and ${inWords}`
        ]
      )
      const run = Screening.summary(Stream.empty, { gracePeriod: tooLong }).pipe(
        Effect.catchIf(ConfigError.isConfigError, (error) => Effect.succeed(Idv.describeConfigError(error)))
      )
      strictEqual(
        yield* Effect.provide(run, AmlClient.layerTest("No")),
        `gracePeriod should be a duration of ${inWords}`
      )
      throws(
        () => WebError.onlyClear({ retryAfter: tooLong }),
        new TypeError(`WebError: retryAfter should be a duration of ${inWords}`)
      )
    }))

  it.effect("is rejected from a variable", () =>
    Effect.gen(function*() {
      const layer = Idv.layerConfig({
        authUrl: Config.succeed("https://auth.example.com"),
        baseUrl: Config.succeed("https://api.example.com"),
        customerId: Config.succeed("acme-bank"),
        customerKey: Config.redacted("K"),
        deadline: Config.duration("D"),
        tokenPolicy: { acquisitionDeadline: Config.duration("D") }
      })
      const lines = yield* start(Layer.provide(layer, Service.make().layer)).pipe(
        Effect.withConfigProvider(ConfigProvider.fromMap(new Map([["K", "key"], ["D", "25 days"]])))
      )
      deepStrictEqual(lines.map((line) => line.split(" ")[0]), ["tokenPolicy.acquisitionDeadline", "deadline"])
    }))
})

describe("The defaults in the docstrings", () => {
  /** The fields with a `@default` in a module. */
  const documented = (path: string): ReadonlyArray<readonly [string, string]> =>
    Array.from(
      readFileSync(new URL(`../src/internal/${path}`, import.meta.url), "utf8").matchAll(
        /@default ([^\n]+)\n *\*\/\n *readonly (\w+)\?/g
      ),
      ([, text = "", name = ""]) => [name, text]
    )
  const credentials = documented("token/credentials.ts")
  const ofTokens = documented("token/tokenOptions.ts")
  const ofChecks = documented("check/checkOptions.ts")
  const { authUrl, baseUrl, customerId, customerKey } = Service.options
  const required = { authUrl, baseUrl, customerId, customerKey }
  const decode = (options: object) =>
    Either.all([TokenOptions.check({ ...required, ...options }), CheckOptions.check({ ...required, ...options })])

  it.each([...documented("../TokenProvider.ts"), ...credentials, ...ofChecks])("%s is %s", (name, value) => {
    deepStrictEqual(decode(value === "undefined" ? {} : { [name]: JSON.parse(value) }), decode({}))
  })

  it.each(ofTokens)("tokenPolicy.%s is %s", (name, value) => {
    deepStrictEqual(makePolicy({ [name]: JSON.parse(value) }), makePolicy())
  })
})

describe("Invalid options", () => {
  const wrong = {
    nameEcho: "x",
    retry: "sometimes",
    deadline: -1,
    baseUrl: "ftp://canary.example",
    tokenPolicy: { attempts: 0, refreshAfter: 2 },
    tokenFields: ["canary"],
    basicEncoding: "canary",
    customerKey: "canary",
    customerId: "canary:1",
    authUrl: "https://canary:canary@auth.example.com"
  }
  const inOrder = [
    "authUrl",
    "customerId",
    "customerKey",
    "basicEncoding",
    "tokenFields.0",
    "tokenPolicy.refreshAfter",
    "tokenPolicy.attempts",
    "baseUrl",
    "deadline",
    "retry",
    "nameEcho"
  ]
  const named = (lines: ReadonlyArray<string>) => lines.map((line) => line.split(" ")[0])

  it.effect("are all named at once, in a fixed order, without values", () =>
    Effect.gen(function*() {
      for (const options of [wrong, Object.fromEntries(Object.entries(wrong).reverse())]) {
        const lines = yield* startWith(options)
        deepStrictEqual(named(lines), inOrder)
        strictEqual(lines.join().includes("canary"), false)
      }
      deepStrictEqual(named(yield* startWith({ deadline: 0, authUrl: "x", customerId: "" })), [
        "authUrl",
        "customerId",
        "deadline"
      ])
    }))

  it.effect("are read from the getters of a class too", () => {
    class Settings {
      get baseUrl() {
        return "ftp://canary.example"
      }
      get authUrl() {
        return Service.options.authUrl
      }
      readonly customerId = Service.options.customerId
      readonly customerKey = Service.options.customerKey
    }
    return Effect.gen(function*() {
      const lines = yield* start(Layer.provide(Idv.layer(new Settings()), Service.make().layer))
      deepStrictEqual(lines, ["baseUrl should be an https: URL"])
    })
  })

  it.effect("are named when they are omitted in JavaScript, and the layer does not die", () =>
    Effect.gen(function*() {
      const nothing = { authUrl: undefined, baseUrl: undefined, customerId: undefined, customerKey: undefined }
      deepStrictEqual(named(yield* startWith(nothing)), ["authUrl", "customerId", "customerKey", "baseUrl"])
    }))

  const variables = new Map(Object.entries({
    AUTH: "canary",
    ID: "acme-bank",
    DEADLINE: "canary",
    ATTEMPTS: "canary",
    SOFT: "7",
    ENCODING: "canary",
    RETRY: "canary"
  }))
  const config = {
    authUrl: Config.string("AUTH"),
    baseUrl: Config.string("BASE"),
    customerId: Config.string("ID"),
    customerKey: Config.redacted("KEY"),
    basicEncoding: Config.literal("plain", "rfc6749")("ENCODING"),
    tokenPolicy: {
      attempts: Schema.Config("ATTEMPTS", Schema.NumberFromString),
      refreshAfter: Config.number("SOFT")
    },
    retry: Config.mapOrFail(
      Config.string("RETRY"),
      (text) =>
        text === "never"
          ? Either.right("never" as const)
          : Either.left(ConfigError.InvalidData([], `not ${text}`))
    ),
    deadline: Config.duration("DEADLINE")
  }
  const started = <A>(layer: Layer.Layer<A, ConfigError.ConfigError, never>) =>
    Effect.withConfigProvider(start(layer), ConfigProvider.fromMap(variables))

  it.effect("are all named at once, with missing and invalid variables", () =>
    Effect.gen(function*() {
      const lines = yield* started(Layer.provide(Idv.layerConfig(config), Service.make().layer))
      deepStrictEqual(lines, [
        "BASE is missing: it should be set",
        "KEY is missing: it should be set",
        "ENCODING should be one of (plain, rfc6749)",
        "ATTEMPTS has a value that cannot be used",
        "RETRY has a value that cannot be used",
        "DEADLINE should be a duration",
        "authUrl should be the address of the token endpoint, such as https://auth.example.com",
        "tokenPolicy.refreshAfter should be a number between 0 and 1"
      ])
    }))

  it.effect("are named by the layers of the two services too", () =>
    Effect.gen(function*() {
      const { authUrl, baseUrl, basicEncoding, customerId, customerKey, deadline, retry, tokenPolicy } = config
      const tokens = TokenProvider.layerConfig({ authUrl, basicEncoding, customerId, customerKey, tokenPolicy })
      const aml = AmlClient.layerConfig({ baseUrl, deadline, retry, nameEcho: Config.succeed("ignore") })
      deepStrictEqual(named(yield* started(Layer.provide(tokens, Service.make().layer))), [
        "ENCODING",
        "KEY",
        "ATTEMPTS",
        "authUrl",
        "tokenPolicy.refreshAfter"
      ])
      const own = Layer.provide(aml, Layer.merge(TokenProvider.layerTest(), Service.make().layer))
      deepStrictEqual(named(yield* started(own)), ["BASE", "DEADLINE", "RETRY"])
    }))

  it.effect("are not shown in the error", () =>
    Effect.gen(function*() {
      const layer = Layer.provide(Idv.layerConfig(config), Service.make().layer)
      const error = yield* Effect.flip(Effect.scoped(Layer.build(layer))).pipe(
        Effect.withConfigProvider(ConfigProvider.fromMap(variables))
      )
      deepStrictEqual(renderings(error).filter((text) => text.includes("canary")), [])
    }))

  it.effect("are named without their values if all options come from one Config", () =>
    Effect.gen(function*() {
      const { authUrl, baseUrl, customerId, customerKey, deadline } = config
      const all = Config.all({ authUrl, baseUrl, customerId, customerKey, deadline })
      const lines = yield* started(Layer.provide(Idv.layerConfig(all), Service.make().layer))
      deepStrictEqual(lines, [
        "BASE is missing: it should be set",
        "KEY is missing: it should be set",
        "DEADLINE should be a duration"
      ])
    }))
})
