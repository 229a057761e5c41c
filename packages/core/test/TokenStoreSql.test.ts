import * as TokenStore from "@effect-idv/core/TokenStore"
import * as TokenStoreSql from "@effect-idv/core/TokenStoreSql"
import { SqlClient } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Array as Arr, Clock, Context, Duration, Effect, Layer, Option, Redacted, Scope } from "effect"
import { randomBytes } from "node:crypto"
import * as Postgres from "../../../tools/test-services/Postgres.ts"
import * as RawServer from "./support/rawServer.ts"
import * as Service from "./support/service.ts"
import * as SharingProcess from "./support/sharingProcess.ts"
import * as TcpProxy from "./support/tcpProxy.ts"
import * as Tokens from "./support/tokens.ts"

class Database extends Context.Tag("test/Database")<Database, { readonly create: Effect.Effect<string> }>() {}

const layerDatabase = Layer.scoped(
  Database,
  Effect.map(Postgres.make, ({ createDatabase }) => ({ create: createDatabase }))
).pipe(Layer.orDie)

const key = randomBytes(32).toString("base64")
const options = { encryptionKey: { id: "test", key: Redacted.make(key) } }
const client = (url: string) => PgClient.layer({ url: Redacted.make(url) })

/** Responds with `token-1`, `token-2` and so on, after 300 ms. */
const tokenServer = RawServer.make((_request, socket) => {
  count++
  const token = `token-${count}`
  setTimeout(() => socket.end(RawServer.ok({ access_token: token, expires_in: 3600 })), 300)
})
let count = 0

const store = (url: string) =>
  Effect.map(Layer.build(Layer.provide(TokenStoreSql.layerStore, client(url))), Context.get(TokenStore.TokenStore))

const ttl = Duration.seconds(2)

layer(layerDatabase, { timeout: "60 seconds", excludeTestServices: true })("TokenStoreSql on PostgreSQL", (it) => {
  it.scoped("20 processes that start at once send one token request", () =>
    Effect.gen(function*() {
      const url = yield* Effect.flatMap(Database, ({ create }) => create)
      const server = yield* tokenServer
      const processes = yield* Effect.replicateEffect(SharingProcess.start(server.url, url, key), 20, {
        concurrency: 4
      })
      const results = yield* Effect.forEach(processes, ({ get }) => get, { concurrency: "unbounded" })
      strictEqual(server.requests.length, 1)
      strictEqual(Arr.dedupe(results.map(({ token }) => token)).length, 1)
    }))

  it.scoped("if the leading process is killed before it stores its token, the others send one more request", () =>
    Effect.gen(function*() {
      const url = yield* Effect.flatMap(Database, ({ create }) => create)
      let requests = 0
      const server = yield* RawServer.make((_request, socket) => {
        if (requests++ > 0) socket.end(RawServer.ok({ access_token: `token-${requests}`, expires_in: 3600 }))
      })
      const start = SharingProcess.start(server.url, url, key)
      const leading = yield* start
      const others = yield* Effect.replicateEffect(start, 5)
      yield* leading.go
      yield* Effect.repeat(Effect.sleep("10 millis"), { until: () => server.requests.length === 1 })
      const results = yield* Effect.all([
        Effect.forEach(others, ({ get }) => get, { concurrency: "unbounded" }),
        Effect.delay(leading.kill, "300 millis")
      ], { concurrency: 2 })
      deepStrictEqual(Arr.dedupe(results[0].map(({ token }) => token)), ["token-2"])
      strictEqual(server.requests.length, 2)
      // The lock ends with the connection, so the others do not wait for long.
      assert(results[0].every(({ took }) => took < 2000), JSON.stringify(results[0]))
    }))

  it.scoped("stores, replaces and deletes only what is still there", () =>
    Effect.gen(function*() {
      const { compareAndDelete, compareAndPut, read } = yield* Effect.flatMap(Database, ({ create }) =>
        Effect.flatMap(create, store))
      const put = (previous: Option.Option<string>, next: string) =>
        compareAndPut({ name: "name", previous, next, ttl })
      strictEqual(Option.isNone(yield* read("name")), true)
      strictEqual(yield* put(Option.some("a"), "b"), false)
      strictEqual(yield* put(Option.none(), "a"), true)
      strictEqual(yield* put(Option.none(), "b"), false)
      strictEqual(yield* put(Option.some("x"), "b"), false)
      strictEqual(yield* put(Option.some("a"), "b"), true)
      deepStrictEqual(yield* read("name"), Option.some("b"))
      strictEqual(yield* compareAndDelete("name", "a"), false)
      strictEqual(yield* compareAndDelete("name", "b"), true)
      strictEqual(Option.isNone(yield* read("name")), true)
    }))

  it.scoped("one process leads for a name, until its scope is closed", () =>
    Effect.gen(function*() {
      const url = yield* Effect.flatMap(Database, ({ create }) => create)
      const [first, second] = [yield* store(url), yield* store(url)]
      const scope = yield* Scope.make()
      strictEqual(yield* Scope.extend(first.tryLead("name", ttl), scope), true)
      strictEqual(yield* Effect.scoped(second.tryLead("name", ttl)), false)
      strictEqual(yield* Effect.scoped(first.tryLead("name", ttl)), false)
      strictEqual(yield* Effect.scoped(second.tryLead("other", ttl)), true)
      yield* Scope.close(scope, yield* Effect.exit(Effect.void))
      strictEqual(yield* Effect.scoped(second.tryLead("name", ttl)), true)
      // A process that does not lead keeps no connection: the pool has ten.
      const leading = yield* Scope.make()
      strictEqual(yield* Scope.extend(first.tryLead("held", ttl), leading), true)
      strictEqual((yield* Effect.replicateEffect(second.tryLead("held", ttl), 30)).some(Boolean), false)
      strictEqual((yield* Effect.replicateEffect(Effect.scoped(first.tryLead("name", ttl)), 30)).every(Boolean), true)
    }))

  it.scoped.each<TcpProxy.Mode>(["hangs", "garbage", "down"])(
    "a database that %s costs a caller at most 200 ms",
    (mode) =>
      Effect.gen(function*() {
        const url = new URL(yield* Effect.flatMap(Database, ({ create }) => create))
        const proxy = yield* TcpProxy.make(Number(url.port))
        url.port = String(proxy.port)
        const service = Service.make()
        const sharing = Layer.provide(TokenStoreSql.layer(options), client(url.href))
        const provider = yield* Effect.provide(Tokens.make(service), yield* Layer.build(sharing))
        yield* proxy.set(mode)
        const started = yield* Clock.currentTimeMillis
        strictEqual(Tokens.textOf(yield* provider.get), "token-1")
        const took = (yield* Clock.currentTimeMillis) - started
        // The timers of a machine under load are late.
        assert(took < 200 + 150, `${took} ms`)
        yield* proxy.set("down")
      })
  )

  it.scoped("the table contains no secret", () =>
    Effect.gen(function*() {
      const url = yield* Effect.flatMap(Database, ({ create }) => create)
      const service = Service.make({
        token: () => Effect.sync(() => Service.json({ access_token: "canaryAccessToken" }))
      })
      yield* Effect.scoped(Effect.gen(function*() {
        const sharing = yield* Layer.build(Layer.provide(TokenStoreSql.layer(options), client(url)))
        const { get } = yield* Effect.provide(
          Tokens.make(service, { customerId: "canaryId", customerKey: Redacted.make("canaryKey") }),
          sharing
        )
        yield* get
      }))
      const sql = Context.get(yield* Layer.build(client(url)), SqlClient.SqlClient)
      const rows = yield* sql`SELECT * FROM idv_tokens`
      strictEqual(rows.length, 1)
      assert(!/canary/i.test(JSON.stringify(rows)))
      const decoded = Object.values(rows[0] ?? {}).map((text) =>
        Buffer.from(String(text), "base64url").toString("latin1")
      )
      assert(!/canary/i.test(decoded.join("\n")))
    }))

  it.scoped("a table of another version is a ConfigError that names it", () =>
    Effect.gen(function*() {
      const url = yield* Effect.flatMap(Database, ({ create }) => create)
      const sql = Context.get(yield* Layer.build(client(url)), SqlClient.SqlClient)
      yield* sql`CREATE TABLE idv_tokens (name text, canary text)`
      const error = yield* Effect.flip(store(url))
      assert("_op" in error && error._op === "InvalidData", String(error))
      deepStrictEqual(error.path, ["idv_tokens"])
    }))
})
