import { Idv } from "@effect-idv/core"
import * as TokenSharing from "@effect-idv/core/TokenSharing"
import type * as TokenStore from "@effect-idv/core/TokenStore"
import * as TokenStoreRedis from "@effect-idv/core/TokenStoreRedis"
import * as TokenStoreSql from "@effect-idv/core/TokenStoreSql"
import type { HttpClient } from "@effect/platform"
import type { SqlClient } from "@effect/sql"
import { Config, type ConfigError, type Effect, Layer, type Option, type Redacted, type Scope } from "effect"
import type { Cluster, Redis } from "ioredis"
import { describe, expect, test } from "tstyche"

declare const key: TokenSharing.Key
declare const redacted: Redacted.Redacted
declare const redis: Redis
declare const cluster: Cluster

const configKey = { id: Config.string("TOKEN_KEY_ID"), key: Config.redacted("TOKEN_KEY") }

describe("TokenStore", () => {
  test("may fail with anything, and only a lead has a scope", () => {
    expect<ReturnType<TokenStore.Service["read"]>>().type.toBe<Effect.Effect<Option.Option<string>, unknown>>()
    expect<ReturnType<TokenStore.Service["compareAndPut"]>>().type.toBe<Effect.Effect<boolean, unknown>>()
    expect<ReturnType<TokenStore.Service["compareAndDelete"]>>().type.toBe<Effect.Effect<boolean, unknown>>()
    expect<ReturnType<TokenStore.Service["tryLead"]>>().type.toBe<Effect.Effect<boolean, unknown, Scope.Scope>>()
  })
})

describe("TokenSharing", () => {
  test("requires a store, and fails with a ConfigError only", () => {
    type Sharing = Layer.Layer<TokenSharing.TokenSharing, ConfigError.ConfigError, TokenStore.TokenStore>
    expect(TokenSharing.layer({ encryptionKey: key })).type.toBe<Sharing>()
    expect(TokenSharing.layerConfig({ encryptionKey: configKey })).type.toBe<Sharing>()
  })

  test("requires an encryption key, which is Redacted", () => {
    expect(TokenSharing.layer).type.not.toBeCallableWith({})
    expect(TokenSharing.layer).type.not.toBeCallableWith({ encryptionKey: { id: "a", key: "secret" } })
    expect(TokenSharing.layer).type.toBeCallableWith({ encryptionKey: { id: "a", key: redacted } })
  })

  test("is not required by the client, and adds no error to its methods", () => {
    expect(Idv.layerEnv).type.toBe<Layer.Layer<Idv.Idv, ConfigError.ConfigError, HttpClient.HttpClient>>()
    expect(Layer.provide(Idv.layerEnv, TokenSharing.layer({ encryptionKey: key }))).type.toBe<
      Layer.Layer<Idv.Idv, ConfigError.ConfigError, HttpClient.HttpClient | TokenStore.TokenStore>
    >()
  })
})

describe("TokenStoreSql", () => {
  test("requires a SqlClient, and fails with a ConfigError only", () => {
    type Sharing = Layer.Layer<TokenSharing.TokenSharing, ConfigError.ConfigError, SqlClient.SqlClient>
    expect(TokenStoreSql.layer({ encryptionKey: key })).type.toBe<Sharing>()
    expect(TokenStoreSql.layerConfig({ encryptionKey: configKey })).type.toBe<Sharing>()
    expect(TokenStoreSql.layerStore).type.toBe<
      Layer.Layer<TokenStore.TokenStore, ConfigError.ConfigError, SqlClient.SqlClient>
    >()
  })
})

describe("TokenStoreRedis", () => {
  test("requires nothing, and fails with a ConfigError only", () => {
    type Sharing = Layer.Layer<TokenSharing.TokenSharing, ConfigError.ConfigError>
    expect(TokenStoreRedis.layer({ url: redacted, encryptionKey: key })).type.toBe<Sharing>()
    expect(TokenStoreRedis.layerConfig({ url: Config.redacted("REDIS_URL"), encryptionKey: configKey })).type.toBe<
      Sharing
    >()
  })

  test("takes a client of one server or of a cluster, and then cannot fail", () => {
    expect(TokenStoreRedis.layerStore(redis)).type.toBe<Layer.Layer<TokenStore.TokenStore>>()
    expect(TokenStoreRedis.layerStore(cluster)).type.toBe<Layer.Layer<TokenStore.TokenStore>>()
  })

  test("takes a URL as text or Redacted, and requires it", () => {
    expect(TokenStoreRedis.layer).type.toBeCallableWith({ url: "redis://127.0.0.1:6379", encryptionKey: key })
    expect(TokenStoreRedis.layer).type.not.toBeCallableWith({ encryptionKey: key })
  })
})
