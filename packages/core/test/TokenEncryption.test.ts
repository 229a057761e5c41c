import type { TokenProvider } from "@effect-idv/core"
import * as TokenSharing from "@effect-idv/core/TokenSharing"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Config, ConfigError, ConfigProvider, Effect, Logger, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import * as TokenEncryption from "../src/internal/tokenStore/tokenEncryption.ts"
import * as Canary from "./support/canary.ts"
import * as MemoryStore from "./support/memoryStore.ts"
import * as Service from "./support/service.ts"
import * as Tokens from "./support/tokens.ts"

const key = (id: string, bytes = 32): TokenSharing.Key => ({
  id,
  key: Redacted.make(randomBytes(bytes).toString("base64"))
})

const sharingOf = (store: MemoryStore.Store, options: TokenSharing.Options) =>
  TokenSharing.make(store.connect().service, options)

/** The token of a new process with these keys. What it stores in the background is stored when it ends. */
const tokenOf = (
  service: ReturnType<typeof Service.make>,
  store: MemoryStore.Store,
  keys: TokenSharing.Options,
  options: Partial<TokenProvider.Options> = {}
) =>
  Effect.scoped(
    Effect.flatMap(
      Tokens.make(service, { ...options, sharing: sharingOf(store, keys) }),
      (provider) => Effect.map(provider.get, Tokens.textOf)
    )
  )

const messages = (error: unknown): string => {
  assert(ConfigError.isConfigError(error))
  return error._op === "And" ? `${messages(error.left)}; ${messages(error.right)}` : String(error)
}

describe("Encryption of stored tokens", () => {
  const [old, next, other] = [key("2026-10"), key("2026-11"), key("2026-11")]

  it.live("a process with the key reads the token", () => {
    const [service, store] = [Service.make(), MemoryStore.make()]
    return Effect.gen(function*() {
      strictEqual(yield* tokenOf(service, store, { encryptionKey: old }), "token-1")
      strictEqual(yield* tokenOf(service, store, { encryptionKey: old }), "token-1")
      strictEqual(service.tokenRequests.length, 1)
    })
  })

  it.live("while keys rotate, processes with either key read the tokens of both", () => {
    const [service, store] = [Service.make(), MemoryStore.make()]
    return Effect.gen(function*() {
      yield* tokenOf(service, store, { encryptionKey: old })
      strictEqual(yield* tokenOf(service, store, { encryptionKey: old, decryptionKey: next }), "token-1")
      strictEqual(yield* tokenOf(service, store, { encryptionKey: next, decryptionKey: old }), "token-1")
      store.values.clear()
      yield* tokenOf(service, store, { encryptionKey: next, decryptionKey: old })
      strictEqual(yield* tokenOf(service, store, { encryptionKey: old, decryptionKey: next }), "token-2")
      strictEqual(yield* tokenOf(service, store, { encryptionKey: next }), "token-2")
    })
  })

  it.live.each<[string, TokenSharing.Options]>([
    ["another id", { encryptionKey: old }],
    ["the same id", { encryptionKey: other }]
  ])("a wrong key with %s is a miss with a warning, and the token is replaced", ([, wrong]) => {
    const [service, store] = [Service.make(), MemoryStore.make()]
    const logged: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => void logged.push(`${logLevel.label} ${String(message)}`))
    return Effect.gen(function*() {
      yield* tokenOf(service, store, { encryptionKey: next })
      strictEqual(yield* tokenOf(service, store, wrong), "token-2")
      strictEqual(yield* tokenOf(service, store, wrong), "token-2")
      deepStrictEqual(logged.map((line) => /^WARN The stored token is ignored: it /.test(line)), [true])
    }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
  })

  it.live("a token that was copied from another name is not used", () => {
    const [service, store] = [Service.make(), MemoryStore.make()]
    return Effect.gen(function*() {
      yield* tokenOf(service, store, { encryptionKey: old })
      const [value = ""] = store.values.values()
      yield* tokenOf(service, store, { encryptionKey: old }, { customerId: "other-bank" })
      for (const name of store.values.keys()) store.values.set(name, value)
      strictEqual(yield* tokenOf(service, store, { encryptionKey: old }, { customerId: "other-bank" }), "token-3")
      strictEqual(yield* tokenOf(service, store, { encryptionKey: old }), "token-1")
    })
  })

  const encryptionWithOld = TokenEncryption.make([old])

  it.live("a text is decrypted only under the name for which it was encrypted", () =>
    Effect.gen(function*() {
      const encryption = yield* encryptionWithOld
      const text = yield* encryption.encrypt("text", "name")
      strictEqual(yield* encryption.decrypt(text, "name"), "text")
      strictEqual(yield* Effect.flip(encryption.decrypt(text, "other")), "corrupt")
    }))

  it.live("a text that is longer than any token is not decrypted", () =>
    Effect.gen(function*() {
      const encryption = yield* encryptionWithOld
      const roundTrip = (length: number) =>
        Effect.flatMap(encryption.encrypt("a".repeat(length), "name"), (text) => encryption.decrypt(text, "name"))
      // The longest response, as base64, and some more.
      strictEqual((yield* roundTrip(1.25 * 2 ** 20)).length, 1.25 * 2 ** 20)
      strictEqual(yield* Effect.flip(roundTrip(2 ** 21)), "corrupt")
    }))

  it.live("each token is encrypted with a different initialization vector", () => {
    const store = MemoryStore.make()
    return Effect.gen(function*() {
      const service = Service.make({ token: () => Effect.sync(() => Service.tokenResponse(1)) })
      yield* tokenOf(service, store, { encryptionKey: old })
      const [first] = store.values.values()
      store.values.clear()
      yield* tokenOf(service, store, { encryptionKey: old })
      assert(first !== undefined && ![...store.values.values()].includes(first))
    })
  })

  it.live("neither the store nor what is printed contains a secret", () => {
    const store = MemoryStore.make()
    const secrets = ["canaryCustomerId", "canaryCustomerKey", "canaryAccessToken"]
    const options = { customerId: "canaryCustomerId", customerKey: Redacted.make("canaryCustomerKey") }
    const service = Service.make({
      token: () => Effect.sync(() => Service.json({ access_token: "canaryAccessToken" }))
    })
    return Effect.gen(function*() {
      const keys = { encryptionKey: old, decryptionKey: next }
      const { printed } = yield* Canary.everythingPrinted(
        Effect.forEach([keys, { encryptionKey: other }], (keys) => tokenOf(service, store, keys, options), {
          discard: true
        }),
        String
      )
      const stored = [...store.values].flat()
      const decoded = stored.flatMap((text) =>
        (["base64", "base64url", "hex"] as const).map((encoding) => Buffer.from(text, encoding).toString("latin1"))
      )
      const everything = [printed, ...stored, ...decoded].join("\n")
      const found = [...secrets, ...[old, next, other].map(({ key }) => Redacted.value(key))]
        .flatMap((secret) => [secret, Buffer.from(secret).toString("base64").replace(/=+$/, "")])
        .filter((secret) => everything.includes(secret))
      deepStrictEqual(found, [])
      strictEqual(stored.length, 2)
    })
  })
})

describe("TokenSharing.make", () => {
  const good = key("good")
  const build = (options: TokenSharing.Options) => Effect.flip(sharingOf(MemoryStore.make(), options))

  it.live.each<[string, TokenSharing.Options, string]>([
    ["no key", JSON.parse("{}"), "encryptionKey"],
    [
      "a key that is not Redacted",
      JSON.parse("{\"encryptionKey\":{\"id\":\"a\",\"key\":\"canary\"}}"),
      "encryptionKey.key"
    ],
    ["an empty key", { encryptionKey: { id: "a", key: Redacted.make("") } }, "encryptionKey.key"],
    ["a key of 16 bytes", { encryptionKey: key("a", 16) }, "encryptionKey.key"],
    ["a key of 33 bytes", { encryptionKey: key("a", 33) }, "encryptionKey.key"],
    [
      "a key that is not base64",
      { encryptionKey: { id: "a", key: Redacted.make("canary!".repeat(6)) } },
      "encryptionKey.key"
    ],
    ["an id with a dot", { encryptionKey: { ...good, id: "canary.1" } }, "encryptionKey.id"],
    ["a second key that is short", { encryptionKey: good, decryptionKey: key("b", 8) }, "decryptionKey.key"],
    ["a deadline of 0", { encryptionKey: good, deadline: 0 }, "deadline"],
    ["two keys with one id", { encryptionKey: good, decryptionKey: key("good") }, "decryptionKey.id"]
  ])("%s is a ConfigError that names the field, and no value", ([, options, field]) =>
    Effect.gen(function*() {
      const message = messages(yield* build(options))
      assert(message.includes(field), message)
      assert(!message.includes("canary"), message)
      for (const { key } of [options.encryptionKey, options.decryptionKey].filter((key) => key !== undefined)) {
        const text = Redacted.isRedacted(key) ? Redacted.value(key) : ""
        assert(text === "" || !message.includes(text), message)
      }
    }))

  it.live("with options from Config names every variable that is missing or invalid", () =>
    Effect.gen(function*() {
      const provider = ConfigProvider.fromMap(new Map([["TOKEN_KEY", "canary"]]))
      const error = yield* TokenSharing.makeConfig(MemoryStore.make().connect().service, {
        encryptionKey: { id: Config.string("TOKEN_KEY_ID"), key: Config.redacted("TOKEN_KEY") }
      }).pipe(
        Effect.withConfigProvider(provider),
        Effect.flip
      )
      const message = messages(error)
      assert(message.includes("TOKEN_KEY_ID") && message.includes("encryptionKey"), message)
      assert(!message.includes("canary"), message)
    }))
})
