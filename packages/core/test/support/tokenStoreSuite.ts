/** The tests that each token store passes on a real server, also with several processes. */
import type { TokenProvider } from "@effect-idv/core"
import type * as TokenSharing from "@effect-idv/core/TokenSharing"
import type * as TokenStore from "@effect-idv/core/TokenStore"
import { assert, layer } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import type { Layer } from "effect"
import {
  Array as Arr,
  type ConfigError,
  Context,
  Duration,
  Effect,
  Exit,
  Fiber,
  Logger,
  Option,
  Redacted,
  Scope
} from "effect"
import { randomBytes } from "node:crypto"
import { eventually, withLongerLimits } from "./eventually.ts"
import * as RawServer from "./rawServer.ts"
import * as Service from "./service.ts"
import * as SharingProcess from "./sharingProcess.ts"
import * as TcpProxy from "./tcpProxy.ts"
import * as Tokens from "./tokens.ts"

/** A server, started for a test file. */
export class Server extends Context.Tag("test/TokenStoreServer")<Server, {
  /** Creates a database, and returns its URL. */
  readonly createDatabase: Effect.Effect<string>
  /** The directory of its files, if nothing else writes to it. */
  readonly directory?: string
}>() {}

export interface TokenStoreModule {
  /** Shares tokens in the database, over a client that starts without it. */
  readonly make: (
    url: string,
    options: TokenSharing.Options
  ) => Effect.Effect<TokenSharing.Sharing, ConfigError.ConfigError, Scope.Scope>
  readonly makeStore: (url: string) => Effect.Effect<TokenStore.TokenStore, ConfigError.ConfigError, Scope.Scope>
  /** Everything that the database contains: names, values, and the bytes of files. */
  readonly contents: (url: string) => Effect.Effect<ReadonlyArray<string>, unknown, Server | Scope.Scope>
}

/** A machine under load is slower. */
const lateMillis = 150

const newKey = (id: string): TokenSharing.Key => ({ id, key: Redacted.make(randomBytes(32).toString("base64")) })

const database = Effect.flatMap(Server, ({ createDatabase }) => createDatabase)

/** A database behind a proxy that can fail. */
const proxied = Effect.gen(function*() {
  const direct = yield* database
  const url = new URL(direct)
  const proxy = yield* TcpProxy.make(Number(url.port))
  url.port = String(proxy.port)
  return { direct, proxy, url: url.href }
})

const text = (provider: TokenProvider.Service) => Effect.map(provider.get, Tokens.textOf)

const ttl = Duration.minutes(1)

export const suite = (name: string, layerServer: Layer.Layer<Server>, store: TokenStoreModule) => {
  const key = newKey("test")
  const encryptionKey = Redacted.value(key.key)

  /** On a busy machine, the database may take longer than the default deadline of 200 ms. */
  const deadline = "1 minute"
  const withDefaultDeadline = { encryptionKey: key }

  /** A provider of another process, with a connection of its own. */
  const provider = (
    service: ReturnType<typeof Service.make>,
    url: string,
    options: TokenSharing.Options = { encryptionKey: key, deadline },
    providerOptions: Partial<TokenProvider.Options> = {}
  ) =>
    Effect.flatMap(
      store.make(url, options),
      (sharing) => Tokens.make(service, { ...providerOptions, sharing: Effect.succeed(sharing) })
    )

  /** What the store contains, once there is something else than before: a provider stores its token in the background. */
  const contentsAfter = (url: string, before = "") =>
    eventually(
      "a new token in the store",
      Effect.orElseSucceed(Effect.map(store.contents(url), (texts) => texts.join("\n")), () => ""),
      (now) => now !== "" && now !== before
    )

  const connect = store.makeStore

  layer(layerServer, { excludeTestServices: true })(name, (it) => {
    it.scoped("8 processes that start at once send one token request", () =>
      Effect.gen(function*() {
        const url = yield* database
        let count = 0
        const server = yield* RawServer.make((_request, socket) => {
          const token = `token-${++count}`
          setTimeout(() => socket.end(RawServer.ok({ access_token: token, expires_in: 3600 })), 300)
        })
        const processes = yield* Effect.replicateEffect(
          SharingProcess.start(server.url, url, encryptionKey),
          8,
          { concurrency: 4 }
        )
        const results = yield* Effect.forEach(processes, ({ get }) => get, { concurrency: "unbounded" })
        strictEqual(server.requests.length, 1)
        strictEqual(Arr.dedupe(results.map(({ token }) => token)).length, 1)
      }))

    it.scoped.each(["SIGKILL", "SIGSTOP"] as const)(
      "after %s of the leading process, the others send one more request",
      (signal) =>
        Effect.gen(function*() {
          const url = yield* database
          let requests = 0
          const server = yield* RawServer.make((_request, socket) => {
            if (requests++ === 0) return
            const response = RawServer.ok({ access_token: `token-${requests}`, expires_in: 3600 })
            // Slow enough that all of them would send a request if all led.
            setTimeout(() => socket.end(response), 500)
          })
          const start = SharingProcess.start(server.url, url, encryptionKey)
          const leading = yield* start
          const others = yield* Effect.replicateEffect(start, 2)
          yield* leading.go
          yield* eventually("a token request", () => server.requests.length, (count) => count === 1)
          const [results] = yield* Effect.all([
            Effect.forEach(others, ({ get }) => get, { concurrency: "unbounded" }),
            Effect.delay(leading.kill(signal), "300 millis")
          ], { concurrency: 2 })
          deepStrictEqual(Arr.dedupe(results.map(({ token }) => token)), ["token-2"])
          strictEqual(server.requests.length, 2)
        })
    )

    it.scoped("stores, replaces and deletes only what is still there", () =>
      Effect.gen(function*() {
        const { compareAndDelete, compareAndPut, read } = yield* Effect.flatMap(database, connect)
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
        const url = yield* database
        const [first, second] = [yield* connect(url), yield* connect(url)]
        const scope = yield* Scope.make()
        strictEqual(yield* Scope.extend(first.tryLead("name", ttl), scope), true)
        strictEqual(yield* Effect.scoped(second.tryLead("name", ttl)), false)
        strictEqual(yield* Effect.scoped(first.tryLead("name", ttl)), false)
        strictEqual(yield* Effect.scoped(second.tryLead("other", ttl)), true)
        yield* Scope.close(scope, Exit.void)
        strictEqual(yield* Effect.scoped(second.tryLead("name", ttl)), true)
        // A process that does not lead keeps nothing, such as a connection of a pool.
        const leading = yield* Scope.make()
        strictEqual(yield* Scope.extend(first.tryLead("held", ttl), leading), true)
        strictEqual((yield* Effect.replicateEffect(second.tryLead("held", ttl), 30)).some(Boolean), false)
        strictEqual((yield* Effect.replicateEffect(Effect.scoped(first.tryLead("name", ttl)), 30)).every(Boolean), true)
      }))

    it.scoped("a process leads for longer than the time to live of its lead", () =>
      Effect.gen(function*() {
        const url = yield* database
        const [first, second] = [yield* connect(url), yield* connect(url)]
        yield* withLongerLimits(1000, (millis) =>
          Effect.scoped(Effect.gen(function*() {
            const name = `name-${millis}`
            strictEqual(yield* first.tryLead(name, Duration.millis(millis)), true)
            yield* Effect.sleep(1.25 * millis)
            strictEqual(yield* Effect.scoped(second.tryLead(name, ttl)), false)
          })))
      }))

    it.scoped("a 401 for a token that another process has replaced costs no request", () =>
      Effect.gen(function*() {
        const url = yield* database
        const service = Service.make()
        const [first, second] = [yield* provider(service, url), yield* provider(service, url)]
        const stale = yield* first.get
        const firstContents = yield* contentsAfter(url)
        strictEqual(yield* text(second), "token-1")
        yield* first.invalidate(stale)
        strictEqual(yield* text(first), "token-2")
        yield* contentsAfter(url, firstContents)
        yield* second.invalidate(stale)
        strictEqual(yield* text(second), "token-2")
        strictEqual(service.tokenRequests.length, 2)
      }))

    it.scoped("a server that answers late costs a caller at most 200 ms, and the late lead is given back", () =>
      Effect.gen(function*() {
        const { direct, proxy, url } = yield* proxied
        const service = Service.make({ token: Tokens.slow("300 millis") })
        const slow = yield* provider(service, url, withDefaultDeadline)
        const store = yield* connect(url)
        yield* proxy.set("late")
        const { took } = yield* Tokens.timed(slow.get)
        assert(took < 300 + 200 + lateMillis, `${took} ms`)
        const asking = yield* Effect.fork(Effect.scoped(store.tryLead("name", Duration.minutes(1))))
        yield* Effect.sleep("100 millis")
        yield* Effect.fork(Fiber.interrupt(asking))
        // Three replies of PostgreSQL, and one of Redis, each late.
        const other = yield* connect(direct)
        const leads = Effect.scoped(other.tryLead("name", ttl))
        yield* eventually("the late lead given back", Effect.delay(leads, "200 millis"), (leads) => leads)
        yield* proxy.set("down")
      }))

    const modes = ["hangs", "garbage", "down"] as const

    it.scoped.each(modes)("a server in the mode %s costs a caller at most 200 ms", (mode) =>
      Effect.gen(function*() {
        const { proxy, url } = yield* proxied
        const { get } = yield* provider(Service.make(), url, withDefaultDeadline)
        yield* proxy.set(mode)
        const { result, took } = yield* Tokens.timed(get)
        strictEqual(Tokens.textOf(result), "token-1")
        assert(took < 200 + lateMillis, `${took} ms`)
        yield* proxy.set("down")
      }))

    it.scoped.each(modes)(
      "a server in the mode %s from the start does not prevent it, and costs a caller 200 ms",
      (mode) =>
        Effect.gen(function*() {
          const { proxy, url } = yield* proxied
          yield* proxy.set(mode)
          const { result: { get }, took: startTook } = yield* Tokens.timed(
            provider(Service.make(), url, withDefaultDeadline)
          )
          assert(startTook < 2000 + 1000, `${startTook} ms`)
          const { result, took } = yield* Tokens.timed(get)
          strictEqual(Tokens.textOf(result), "token-1")
          assert(took < 200 + lateMillis, `${took} ms`)
          yield* proxy.set("down")
        })
    )

    it.scoped.each(modes)(
      "a server in the mode %s while the leading process waits for its token costs nothing",
      (mode) =>
        Effect.gen(function*() {
          const { proxy, url } = yield* proxied
          const service = Service.make({
            token: (_, count) => Effect.zipRight(proxy.set(mode), Tokens.respondAfter("300 millis", count))
          })
          const { get } = yield* provider(service, url, withDefaultDeadline)
          const { result, took } = yield* Tokens.timed(get)
          strictEqual(Tokens.textOf(result), "token-1")
          assert(took < 300 + 200 + lateMillis, `${took} ms`)
          // The next acquisition meets the same server.
          yield* Effect.sleep("100 millis")
          yield* proxy.set("down")
        })
    )

    it.scoped.each(modes)(
      "a server in the mode %s while a process waits for another one costs it at most 200 ms",
      (mode) =>
        Effect.gen(function*() {
          const { direct, proxy, url } = yield* proxied
          const service = Service.make({
            token: (_, count) => count === 1 ? Effect.never : Tokens.respondAfter(300, count)
          })
          const leading = yield* provider(service, direct)
          const following = yield* provider(service, url, withDefaultDeadline)
          yield* Effect.fork(leading.get)
          yield* eventually("a token request", () => service.tokenRequests.length, (count) => count === 1)
          yield* Effect.fork(Effect.delay(proxy.set(mode), "200 millis"))
          const { result, took } = yield* Tokens.timed(following.get)
          strictEqual(Tokens.textOf(result), "token-2")
          // It had followed for 200 ms, and its next look was at most 200 ms away.
          assert(took < 200 + 200 + 300 + 200 + lateMillis, `${took} ms`)
          yield* proxy.set("down")
        })
    )

    it.scoped("shares tokens again once the server is back", () =>
      Effect.gen(function*() {
        const { proxy, url } = yield* proxied
        const service = Service.make()
        const first = yield* provider(service, url)
        yield* proxy.set("down")
        strictEqual(yield* text(first), "token-1")
        yield* proxy.set("passes")
        const isStored = Effect.match(store.contents(url), {
          onFailure: () => false,
          onSuccess: (texts) => texts.length > 0
        })
        const refreshed = Effect.zipRight(first.refresh, Effect.delay(isStored, "100 millis"))
        yield* eventually("a token in the store", refreshed, (isStored) => isStored)
        const second = yield* provider(service, url)
        const requests = service.tokenRequests.length
        deepStrictEqual([yield* text(second), service.tokenRequests.length], [yield* text(first), requests])
      }))

    it.scoped("a wrong key is a miss with one warning, and a rotated key reads both", () =>
      Effect.gen(function*() {
        const url = yield* database
        const service = Service.make()
        const [old, next, wrong] = [newKey("old"), newKey("next"), newKey("old")]
        const logged: Array<string> = []
        // On a busy machine, what a process does in the background may fail, which it also logs.
        const logger = Logger.make(({ logLevel, message }) => {
          if (String(message).includes("ignored")) logged.push(`${logLevel.label} ${String(message)}`)
        })
        const tokenWith = (options: TokenSharing.Options) =>
          Effect.scoped(Effect.flatMap(provider(service, url, { ...options, deadline }), text)).pipe(
            Effect.provide(Logger.replace(Logger.defaultLogger, logger))
          )
        strictEqual(yield* tokenWith({ encryptionKey: old }), "token-1")
        strictEqual(yield* tokenWith({ encryptionKey: old, decryptionKey: next }), "token-1")
        strictEqual(yield* tokenWith({ encryptionKey: next, decryptionKey: old }), "token-1")
        deepStrictEqual(logged, [])
        strictEqual(yield* tokenWith({ encryptionKey: wrong }), "token-2")
        strictEqual(logged.length, 1)
        assert(/^WARN The stored token is ignored: it cannot be decrypted/.test(logged[0] ?? ""), logged[0] ?? "")
        strictEqual(yield* tokenWith({ encryptionKey: wrong }), "token-2")
      }))

    it.scoped("neither names, nor values, nor files contain a secret", () =>
      Effect.gen(function*() {
        const url = yield* database
        const service = Service.make({
          token: () => Effect.sync(() => Service.json({ access_token: "canaryAccessToken" }))
        })
        yield* Effect.scoped(
          Effect.flatMap(
            provider(service, url, { encryptionKey: key, deadline }, {
              customerId: "canaryId",
              customerKey: Redacted.make("canaryKey")
            }),
            ({ get }) => get
          )
        )
        const contents = yield* store.contents(url)
        assert(contents.some((text) => text.includes("idv-token-")), "nothing is stored")
        const decoded = contents.flatMap((text) =>
          (["base64", "base64url", "hex"] as const).map((encoding) => Buffer.from(text, encoding).toString("latin1"))
        )
        const all = [...contents, ...decoded].join("\n")
        const secrets = ["canary", encryptionKey, Buffer.from("canaryAccessToken").toString("base64").slice(0, 20)]
        deepStrictEqual(secrets.filter((secret) => all.toLowerCase().includes(secret.toLowerCase())), [])
      }))
  })
}
