/** Repeats a read in one fiber: `tokenRead.ts <alternative> <url>`. */
import { Idv, TokenProvider } from "@effect-idv/core"
import { NodeHttpClient } from "@effect/platform-node"
import { Clock, Context, Effect, Layer, Redacted, Ref, type Scope } from "effect"
import * as Workload from "../support/Workload.ts"

const [, , alternative = "", url = ""] = process.argv

const customer = { customerId: "demo-customer", customerKey: Redacted.make("demo-key") }

const alternatives = {
  nothing: Effect.succeed(Effect.void),
  ref: Effect.map(Ref.make("token"), Ref.get),
  clocks: Effect.succeed(Effect.withFiberRuntime<void>((fiber) => {
    const clock = Context.get(fiber.currentDefaultServices, Clock.Clock)
    return clock.unsafeCurrentTimeMillis() + performance.now() > 0 ? Effect.void : Effect.never
  })),
  token: Layer.build(
    Layer.provide(Idv.layer({ authUrl: url, baseUrl: url, ...customer }), NodeHttpClient.layerUndici)
  ).pipe(
    Effect.flatMap((context) => Effect.provide(TokenProvider.TokenProvider, context)),
    Effect.tap(({ get }) => get),
    Effect.map(({ get }) => get)
  )
}

/** Measures all reads together, because one read is too short. Ignores `concurrency`: a cached read never waits. */
const repeat = <A, E>(read: Effect.Effect<A, E>) => ({ calls, seconds = Infinity }: Workload.Run) => {
  let made = 0
  const end = performance.now() + seconds * 1000
  // A clock takes as long as a read, so the time is compared once in 1000 reads.
  const next = () => made++ < calls && (made % 1000 !== 0 || performance.now() < end)
  return Workload.measure(
    () => made - 1,
    () => Effect.whileLoop({ while: next, body: () => read, step: () => undefined })
  )
}

const read: Effect.Effect<Effect.Effect<unknown, unknown>, unknown, Scope.Scope> = alternative in alternatives
  ? alternatives[alternative as keyof typeof alternatives]
  : Effect.die(`unknown alternative: ${alternative}`)

Workload.mainWith(Effect.map(read, repeat))
