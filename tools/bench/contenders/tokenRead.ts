/** One read in a fiber, many times over: `tokenRead.ts <way> <url>`. */
import { Idv, TokenProvider } from "@effect-idv/core"
import { NodeHttpClient } from "@effect/platform-node"
import { Effect, Layer, Redacted, Ref, type Scope } from "effect"
import * as Subject from "../support/Subject.ts"

const [, , way = "", url = ""] = process.argv

const customer = { customerId: "demo-customer", customerKey: Redacted.make("demo-key") }

const ways = {
  nothing: Effect.succeed(Effect.void),
  ref: Effect.map(Ref.make("token"), Ref.get),
  token: Layer.build(
    Layer.provide(Idv.layer({ authUrl: url, baseUrl: url, ...customer }), NodeHttpClient.layerUndici)
  ).pipe(
    Effect.flatMap((context) => Effect.provide(TokenProvider.TokenProvider, context)),
    Effect.tap(({ get }) => get),
    Effect.map(({ get }) => get)
  )
}

/** Far too short to be timed one by one, so only the whole is. `concurrency` makes no difference to a cached one. */
const reads = <A, E>(read: Effect.Effect<A, E>) => ({ calls }: Subject.Run) => {
  let left = calls
  return Subject.measure(
    calls,
    () => Effect.whileLoop({ while: () => left-- > 0, body: () => read, step: () => undefined })
  )
}

const read = (way: string): Effect.Effect<Effect.Effect<unknown, unknown>, unknown, Scope.Scope> =>
  way in ways ? ways[way as keyof typeof ways] : Effect.die(`no such way: ${way}`)

Subject.mainOf(Effect.map(read(way), reads))
