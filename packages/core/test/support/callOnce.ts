/**
 * A program with one call, which runs in its own process: `callOnce.ts <how> <authUrl>`. After the call it prints
 * how many timers keep the process running. It uses Node's HTTP, because with Undici and `fetch` Node waits 200 ms for a parser
 * that is compiled in the background.
 */
import { TokenProvider } from "@effect-idv/core"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"

const [how, authUrl = ""] = process.argv.slice(2)
const options = { authUrl, customerId: "acme-bank", customerKey: Redacted.make("s3cret-key") }
const call = Effect.gen(function*() {
  yield* (yield* TokenProvider.TokenProvider).get
  process.once("exit", () => process.stdout.write(`after the call: ${timers} timers`))
  countTimers(20)
})
/** The timer of `runMain` itself ends some turns of the event loop after the program. */
let timers = Infinity
const countTimers = (turns: number) => {
  timers = process.getActiveResourcesInfo().filter((type) => type === "Timeout").length
  if (turns > 0) setImmediate(() => countTimers(turns - 1))
}
const provide = (layer: typeof TokenProvider.layer) => Layer.provide(layer(options), NodeHttpClient.layer)

if (how === "runMain") NodeRuntime.runMain(Effect.provide(call, provide(TokenProvider.layer)))
if (how === "background") NodeRuntime.runMain(Effect.provide(call, provide(TokenProvider.layerBackground)))
if (how === "undisposed") void ManagedRuntime.make(provide(TokenProvider.layer)).runPromise(call)
if (how === "disposed twice") {
  const runtime = ManagedRuntime.make(provide(TokenProvider.layerBackground))
  void runtime.runPromise(call).then(() => runtime.dispose()).then(() => runtime.dispose())
}
