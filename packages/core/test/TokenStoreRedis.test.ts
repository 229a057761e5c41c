import * as TokenStoreRedis from "@effect-idv/core/TokenStoreRedis"
import { layer } from "@effect/vitest"
import { strictEqual } from "@effect/vitest/utils"
import { Duration, Effect, Exit, Fiber, Layer, Redacted, Scope } from "effect"
import { Redis } from "ioredis"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as RedisServer from "../../../tools/test-services/Redis.ts"
import { eventually } from "./support/eventually.ts"
import * as TcpProxy from "./support/tcpProxy.ts"
import { Server, suite } from "./support/tokenStoreSuite.ts"

const layerServer = Layer.orDie(Layer.scoped(Server, RedisServer.make))

/** Connects a client for `makeStore`. */
const connect = (url: string) =>
  Effect.acquireRelease(
    Effect.sync(() => new Redis(url, { ...TokenStoreRedis.clientOptions, lazyConnect: true }).on("error", () => {})),
    (client) => Effect.sync(() => client.disconnect())
  ).pipe(Effect.tap((client) => Effect.promise(() => client.connect())))

const filesOf = (directory: string) =>
  readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) =>
    readFileSync(join(entry.parentPath, entry.name), "latin1")
  )

const connectStore = (url: string) => Effect.map(connect(url), TokenStoreRedis.makeStore)

suite("TokenStoreRedis on Redis", layerServer, {
  make: (url, options) => TokenStoreRedis.make({ ...options, url: Redacted.make(url) }),
  makeStore: connectStore,
  contents: (url) =>
    Effect.gen(function*() {
      const client = yield* connect(url)
      const { directory = "" } = yield* Server
      const names = yield* Effect.promise(() => client.keys("*"))
      if (names.length === 0) return []
      const values = yield* Effect.promise(() => client.mget(names))
      yield* Effect.promise(() => client.save())
      const files = filesOf(directory)
      // The snapshot and the log of commands.
      if (files.filter((file) => names.some((name) => file.includes(name))).length < 2) {
        return yield* Effect.fail("the files do not contain the names")
      }
      return [...names, ...values.map(String), ...files]
    })
})

layer(layerServer, { excludeTestServices: true })("The lead in Redis", (it) => {
  const ttl = Duration.millis(400)
  const longTtl = Duration.minutes(10)
  /** `first` is connected through the proxy. */
  const setup = Effect.gen(function*() {
    const url = new URL(yield* Effect.flatMap(Server, ({ createDatabase }) => createDatabase))
    const [client, second] = [yield* connect(url.href), yield* connectStore(url.href)]
    const proxy = yield* TcpProxy.make(Number(url.port))
    url.port = String(proxy.port)
    return { client, first: yield* connectStore(url.href), proxy, second }
  })

  it.scoped("of a process that was stopped for too long is not prolonged or ended by that process", () =>
    Effect.gen(function*() {
      const { client, first, second } = yield* setup
      const scope = yield* Scope.make()
      strictEqual(yield* Scope.extend(first.tryLead("name", ttl), scope), true)
      // As if it had expired.
      yield* Effect.promise(() => client.del("name-lead"))
      strictEqual(yield* second.tryLead("name", longTtl), true)
      const owner = yield* Effect.promise(() => client.get("name-lead"))
      yield* Effect.sleep("500 millis")
      yield* Scope.close(scope, Exit.void)
      strictEqual(yield* Effect.promise(() => client.get("name-lead")), owner)
    }))

  it.scoped("ends at its time to live if its process dies", () =>
    Effect.gen(function*() {
      const { client, first, proxy, second } = yield* setup
      const leading = yield* Effect.fork(Effect.scoped(Effect.zipRight(first.tryLead("name", longTtl), Effect.never)))
      const timeLeft = Effect.promise(() => client.pttl("name-lead"))
      yield* eventually("a lead", timeLeft, (millis) => millis > 0)
      // Without its connection it can neither prolong nor end its lead.
      yield* proxy.set("down")
      yield* Fiber.interrupt(leading)
      strictEqual(yield* Effect.scoped(second.tryLead("name", ttl)), false)
      // Redis ends it then; here that takes a millisecond instead of ten minutes.
      const left = yield* timeLeft
      strictEqual(left > 0 && left <= Duration.toMillis(longTtl), true)
      yield* Effect.promise(() => client.pexpire("name-lead", 1))
      yield* eventually("the lead of the second", Effect.scoped(second.tryLead("name", ttl)), (leads) => leads)
    }))

  it.scoped("ends with its scope, also if the process that asked for it did not wait for the reply", () =>
    Effect.gen(function*() {
      const { client, first, second } = yield* setup
      yield* Effect.promise(() => client.client("PAUSE", 200, "ALL"))
      const asking = yield* Effect.fork(Effect.scoped(first.tryLead("name", Duration.minutes(1))))
      yield* Effect.sleep("50 millis")
      yield* Effect.fork(Fiber.interrupt(asking))
      yield* Effect.sleep("400 millis")
      strictEqual(yield* Effect.scoped(second.tryLead("name", ttl)), true)
    }))
})
