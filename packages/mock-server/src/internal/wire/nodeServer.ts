/** A server of `node:http`, or with TLS of `node:https`. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { createServer, type Server } from "node:http"
import type { KeyPair, Problem } from "./secureServer.ts"

/** Node itself responds with 408 to a request that does not arrive in time. TLS is loaded only if it is used. */
export const make = (
  requestTimeout: Duration.DurationInput,
  tls: KeyPair | undefined
): Effect.Effect<Server, Problem> => {
  const options = {
    requestTimeout: Duration.toMillis(requestTimeout),
    headersTimeout: Duration.toMillis(requestTimeout),
    connectionsCheckingInterval: 500
  }
  return tls === undefined
    ? Effect.sync(() => createServer(options))
    : Effect.flatMap(Effect.promise(() => import("./secureServer.ts")), ({ make }) => make(tls, options))
}

/** Listens, and returns the port. Fails with the code of Node's error, such as `EADDRINUSE`. */
export const listen = (
  server: Server,
  options: { readonly host: string; readonly port: number }
): Effect.Effect<number, string> =>
  Effect.async((resume) => {
    const onError = (error: Error) =>
      resume(Effect.fail(Predicate.hasProperty(error, "code") ? String(error.code) : "unknown"))
    server.once("error", onError)
    server.listen(options, () => {
      server.off("error", onError)
      const address = server.address()
      resume(Effect.succeed(Predicate.isObject(address) ? address.port : 0))
    })
  })
