/**
 * Makes the first checks of a process concurrently: `coldStart.ts <client|waiting> <url> <checks>` prints the
 * milliseconds until the first and the last credential.
 */
import { AmlClient, Idv, Person } from "@effect-idv/core"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Console, Deferred, Effect, Redacted } from "effect"
import type { ColdStart } from "../coldStart.ts"

const [, , alternative = "", url = "", checks = "1"] = process.argv

const startedAt = performance.now()
let first = Infinity
let count = 0

const record = (matchFound: unknown) => {
  if (matchFound !== "No") throw new Error(`returned ${matchFound} instead of No`)
  if (++count === 1) first = performance.now() - startedAt
}

const check = Effect.gen(function*() {
  const aml = yield* AmlClient.AmlClient
  const person = yield* Person.make({ name: "Ada Testclear", dateOfBirth: "1990-02-01" })
  const { result } = yield* aml.check(person)
  record(result)
})

const client = Effect.suspend(() =>
  Effect.replicateEffect(check, Number(checks), { concurrency: "unbounded", discard: true }).pipe(
    Effect.provide(Idv.layer({
      authUrl: url,
      baseUrl: url,
      customerId: "demo-customer",
      customerKey: Redacted.make("demo-key"),
      // On a slow machine 10,000 checks take longer than the default of 30 seconds.
      deadline: "5 minutes"
    })),
    Effect.provide(NodeHttpClient.layerUndici)
  )
)

/** The least that so many fibers take: each waits, until the first timer of the process can run. */
const waiting = Effect.gen(function*() {
  const timer = yield* Deferred.make<void>()
  setTimeout(() => Deferred.unsafeDone(timer, Effect.void))
  const wait = Effect.tap(Deferred.await(timer), () => Effect.sync(() => record("No")))
  yield* Effect.replicateEffect(wait, Number(checks), { concurrency: "unbounded", discard: true })
})

Effect.suspend((): Effect.Effect<unknown, unknown> => alternative === "waiting" ? waiting : client).pipe(
  Effect.map((): ColdStart => ({ first, last: performance.now() - startedAt })),
  Effect.flatMap((result) => Console.log(JSON.stringify(result))),
  // Open connections would keep the process alive.
  Effect.zipRight(Effect.sync(() => process.exit())),
  NodeRuntime.runMain
)
