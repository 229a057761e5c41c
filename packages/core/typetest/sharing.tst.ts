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
declare const store: TokenStore.TokenStore
declare const options: Idv.Options
declare const cluster: Cluster

const configKey = { id: Config.string("TOKEN_KEY_ID"), key: Config.redacted("TOKEN_KEY") }

describe("TokenStore", () => {
  test("may fail with anything, and only a lead has a scope", () => {
    expect<ReturnType<TokenStore.TokenStore["read"]>>().type.toBe<Effect.Effect<Option.Option<string>, unknown>>()
    expect<ReturnType<TokenStore.TokenStore["compareAndPut"]>>().type.toBe<Effect.Effect<boolean, unknown>>()
    expect<ReturnType<TokenStore.TokenStore["compareAndDelete"]>>().type.toBe<Effect.Effect<boolean, unknown>>()
    expect<ReturnType<TokenStore.TokenStore["tryLead"]>>().type.toBe<Effect.Effect<boolean, unknown, Scope.Scope>>()
  })
})

type Sharing<R = never> = Effect.Effect<TokenSharing.Sharing, ConfigError.ConfigError, R>

describe("TokenSharing", () => {
  test("takes a store, and fails with a ConfigError only", () => {
    expect(TokenSharing.make(store, { encryptionKey: key })).type.toBe<Sharing>()
    expect(TokenSharing.makeConfig(store, { encryptionKey: configKey })).type.toBe<Sharing>()
  })

  test("requires an encryption key, which is Redacted", () => {
    expect(TokenSharing.make).type.not.toBeCallableWith(store, {})
    expect(TokenSharing.make).type.not.toBeCallableWith(store, { encryptionKey: { id: "a", key: "secret" } })
    expect(TokenSharing.make).type.toBeCallableWith(store, { encryptionKey: { id: "a", key: redacted } })
  })

  test("is an option of the client, whose layer requires what the store requires, except a scope", () => {
    type Client<R = never> = Layer.Layer<Idv.Idv, ConfigError.ConfigError, HttpClient.HttpClient | R>
    expect(Idv.layerEnv()).type.toBe<Client>()
    expect(Idv.layerEnv({ concurrency: 500 })).type.toBe<Client>()
    expect(Idv.layerEnv({ sharing: TokenSharing.make(store, { encryptionKey: key }) })).type.toBe<Client>()
    expect(Idv.layerEnv({ sharing: TokenStoreSql.make({ encryptionKey: key }) })).type.toBe<
      Client<SqlClient.SqlClient>
    >()
    expect(Idv.layerEnv({ sharing: TokenStoreRedis.make({ url: redacted, encryptionKey: key }) })).type.toBe<Client>()
    expect(Idv.layer({ ...options, sharing: TokenStoreSql.make({ encryptionKey: key }) })).type.toBe<
      Client<SqlClient.SqlClient>
    >()
  })

  test("cannot be wired beside the client", () => {
    expect(Layer.merge).type.not.toBeCallableWith(Idv.layerEnv(), TokenStoreSql.make({ encryptionKey: key }))
    expect(Layer.provide).type.not.toBeCallableWith(Idv.layerEnv(), TokenStoreSql.make({ encryptionKey: key }))
  })
})

describe("TokenStoreSql", () => {
  test("requires a SqlClient, and fails with a ConfigError only", () => {
    expect(TokenStoreSql.make({ encryptionKey: key })).type.toBe<Sharing<SqlClient.SqlClient>>()
    expect(TokenStoreSql.makeConfig({ encryptionKey: configKey })).type.toBe<Sharing<SqlClient.SqlClient>>()
    expect(TokenStoreSql.makeStore).type.toBe<
      Effect.Effect<TokenStore.TokenStore, ConfigError.ConfigError, SqlClient.SqlClient>
    >()
  })
})

describe("TokenStoreRedis", () => {
  test("requires a scope for its connection, and fails with a ConfigError only", () => {
    expect(TokenStoreRedis.make({ url: redacted, encryptionKey: key })).type.toBe<Sharing<Scope.Scope>>()
    expect(TokenStoreRedis.makeConfig({ url: Config.redacted("REDIS_URL"), encryptionKey: configKey })).type.toBe<
      Sharing<Scope.Scope>
    >()
  })

  test("takes a client of one server or of a cluster, and then cannot fail", () => {
    expect(TokenStoreRedis.makeStore(redis)).type.toBe<TokenStore.TokenStore>()
    expect(TokenStoreRedis.makeStore(cluster)).type.toBe<TokenStore.TokenStore>()
  })

  test("takes a URL as text or Redacted, and requires it", () => {
    expect(TokenStoreRedis.make).type.toBeCallableWith({ url: "redis://127.0.0.1:6379", encryptionKey: key })
    expect(TokenStoreRedis.make).type.not.toBeCallableWith({ encryptionKey: key })
  })
})
