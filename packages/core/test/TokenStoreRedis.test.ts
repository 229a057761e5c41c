import * as TokenStoreRedis from "@effect-idv/core/TokenStoreRedis"
import { Effect, Layer, Redacted } from "effect"
import { Redis } from "ioredis"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as RedisServer from "../../../tools/test-services/Redis.ts"
import { Server, suite } from "./support/tokenStoreSuite.ts"

const layerServer = Layer.orDie(Layer.scoped(Server, RedisServer.make))

const connect = (url: string) =>
  Effect.acquireRelease(
    Effect.sync(() => new Redis(url, { enableOfflineQueue: true }).on("error", () => {})),
    (client) => Effect.sync(() => client.disconnect())
  )

const filesOf = (directory: string) =>
  readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) =>
    readFileSync(join(entry.parentPath, entry.name), "latin1")
  )

suite("TokenStoreRedis on Redis", layerServer, {
  layer: (url, options) => TokenStoreRedis.layer({ ...options, url: Redacted.make(url) }),
  layerStore: (url) => Layer.unwrapScoped(Effect.map(connect(url), TokenStoreRedis.layerStore)),
  contents: (url) =>
    Effect.gen(function*() {
      const client = yield* connect(url)
      const { directory = "" } = yield* Server
      const names = yield* Effect.promise(() => client.keys("*"))
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
