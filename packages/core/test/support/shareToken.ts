/**
 * A process that gets one shared token: `shareToken.ts <authUrl> <storeUrl> <encryptionKey>`. It
 * prints `ready` once it is connected, waits for a line of input, and prints the token and how long `get` took.
 */
import { TokenProvider } from "@effect-idv/core"
import * as TokenStoreRedis from "@effect-idv/core/TokenStoreRedis"
import * as TokenStoreSql from "@effect-idv/core/TokenStoreSql"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { Duration, Effect, Layer, Redacted } from "effect"

const [authUrl = "", storeUrl = "", key = ""] = process.argv.slice(2)
// On a busy machine, the database may take longer than the default deadline of 200 ms.
const options = { encryptionKey: { id: "test", key: Redacted.make(key) }, deadline: Duration.minutes(1) }
const url = Redacted.make(storeUrl)

const print = (text: string) => Effect.sync(() => process.stdout.write(`${text}\n`))
const line = Effect.async<void>((resume) => void process.stdin.once("data", () => resume(Effect.void)))

const program = Effect.gen(function*() {
  const { get } = yield* TokenProvider.TokenProvider
  yield* print("ready")
  yield* line
  const started = Date.now()
  const { value } = yield* get
  yield* print(`${Redacted.value(value)} ${Date.now() - started}`)
  process.stdin.unref()
})

const provider = { authUrl, customerId: "acme-bank", customerKey: Redacted.make("s3cret-key") }

const layer = storeUrl.startsWith("redis:")
  ? TokenProvider.layer({ ...provider, sharing: TokenStoreRedis.make({ ...options, url }) })
  : Layer.provide(TokenProvider.layer({ ...provider, sharing: TokenStoreSql.make(options) }), PgClient.layer({ url }))

program.pipe(Effect.provide(layer), Effect.provide(NodeHttpClient.layer), NodeRuntime.runMain)
