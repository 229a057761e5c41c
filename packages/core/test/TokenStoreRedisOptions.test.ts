import * as TokenStoreRedis from "@effect-idv/core/TokenStoreRedis"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import type { ConfigError } from "effect"
import { Config, ConfigProvider, Effect, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import * as Canary from "./support/canary.ts"
import * as FakeRedis from "./support/fakeRedis.ts"
import * as Service from "./support/service.ts"
import * as Tokens from "./support/tokens.ts"

const encryptionKey = { id: "test", key: Redacted.make(randomBytes(32).toString("base64")) }

/** The paths of the errors, and their texts. */
const flatten = (error: ConfigError.ConfigError): ReadonlyArray<string> =>
  error._op === "And" ? [...flatten(error.left), ...flatten(error.right)] : [String(error)]

const build = (options: TokenStoreRedis.Options) => Effect.scoped(TokenStoreRedis.make(options))

describe("TokenStoreRedis.make", () => {
  it.live.each<[string, TokenStoreRedis.Options["url"]]>([
    ["no URL", JSON.parse("{}").url],
    ["a text that is not a URL", "canary"],
    ["a URL of another protocol", "https://canary:6379"],
    ["a URL without a host", "redis:///0"],
    ["a database that is not a number", "redis://127.0.0.1/canary"],
    ["a query", "redis://127.0.0.1/0?password=canary"],
    ["a fragment", "redis://127.0.0.1/0#canary"],
    ["a port that is too large", "redis://127.0.0.1:66000"],
    ["an escape that is not one", Redacted.make("redis://:canary%@127.0.0.1")],
    ["a password that is not Redacted", "redis://:canary@127.0.0.1"],
    ["a user name that is not Redacted", "redis://canary@127.0.0.1"]
  ])("%s is a ConfigError that names the field, and no value", ([, url]) =>
    Effect.gen(function*() {
      const messages = flatten(yield* Effect.flip(build({ url, encryptionKey })))
      strictEqual(messages.length, 1)
      assert(messages[0]?.includes("url"), messages[0])
      assert(!messages[0]?.includes("canary"), messages[0])
    }))

  it.live("one ConfigError names every invalid option", () =>
    Effect.gen(function*() {
      const options = { url: "canary", encryptionKey: { id: "", key: Redacted.make("canary") }, deadline: 0 }
      const message = flatten(yield* Effect.flip(build(options))).join("\n")
      deepStrictEqual(
        ["url", "encryptionKey.id", "encryptionKey.key", "deadline"].filter((field) => !message.includes(field)),
        []
      )
      assert(!message.includes("canary"), message)
    }))

  it.live("with options from Config names every variable that is missing or invalid", () =>
    Effect.gen(function*() {
      const variables = new Map([["TOKEN_KEY", "canary"], ["REDIS_URL", "redis://user:canary@127.0.0.1"]])
      const error = yield* TokenStoreRedis.makeConfig({
        url: Config.string("REDIS_URL"),
        encryptionKey: { id: Config.string("TOKEN_KEY_ID"), key: Config.redacted("TOKEN_KEY") }
      }).pipe(
        Effect.scoped,
        Effect.withConfigProvider(ConfigProvider.fromMap(variables)),
        Effect.flip
      )
      const message = flatten(error).join("\n")
      deepStrictEqual(["TOKEN_KEY_ID", "url", "encryptionKey.key"].filter((field) => !message.includes(field)), [])
      assert(!message.includes("canary"), message)
    }))

  it.live("a server that is down, or rejects the password, is one warning with a code, and no value", () =>
    Effect.gen(function*() {
      const { host } = yield* FakeRedis.make("-NOAUTH canary\r\n", {
        auth: "-WRONGPASS canary\r\n",
        info: "-NOAUTH canary\r\n"
      })
      const start = (host: string) => build({ url: Redacted.make(`redis://user:canary@${host}/0`), encryptionKey })
      const { exit, printed } = yield* Canary.everythingPrinted(
        Effect.all([start(host), start("127.0.0.1:1")]),
        String
      )
      strictEqual(exit._tag, "Success")
      assert(/not available yet.*WRONGPASS/.test(printed) && /not available yet.*ECONNREFUSED/.test(printed), printed)
      assert(!printed.includes("canary"), printed)
    }).pipe(Effect.scoped))
})

describe("A Redis server with unexpected replies", () => {
  const replies = {
    "an error": "-ERR canary\r\n",
    "another type of value": "-WRONGTYPE canary\r\n",
    "a server that is read-only": "-READONLY canary\r\n",
    "a cluster that has moved": "-MOVED 1 127.0.0.1:1\r\n",
    "OK": "+OK\r\n",
    "a number": ":42\r\n",
    "a list": "*2\r\n:1\r\n:1\r\n",
    "a reply that never ends": "$100000\r\ncanary",
    "text of another protocol": "HTTP/1.1 400 canary\r\n\r\n"
  }

  it.scopedLive.each(Object.entries(replies))(
    "to all commands costs a caller at most 200 ms: %s",
    ([, reply]) =>
      Effect.gen(function*() {
        const { host } = yield* FakeRedis.make(reply)
        const service = Service.make()
        const { exit, printed } = yield* Canary.everythingPrinted(
          Effect.gen(function*() {
            const sharing = TokenStoreRedis.make({ url: `redis://${host}/0`, encryptionKey })
            const provider = yield* Tokens.make(service, { sharing })
            const { result, took } = yield* Tokens.timed(
              provider.get.pipe(Effect.flatMap(provider.invalidate), Effect.zipRight(provider.get))
            )
            strictEqual(Tokens.textOf(result), "token-2")
            return took
          }),
          String
        )
        assert(exit._tag === "Success", printed)
        // Two acquisitions, on a machine under load.
        assert(exit.value < 400 + 150, `${exit.value} ms`)
        assert(!printed.includes("canary"), printed)
      })
  )
})
