/** A service that returns a token, and never responds to a check. */
import { Deferred, Effect } from "effect"
import { createServer } from "node:http"

/** `arrived` ends when a check has arrived, and `closed` when its connection is closed. */
export const make = Effect.gen(function*() {
  const arrived = yield* Deferred.make<void>()
  const closed = yield* Deferred.make<void>()
  const server = createServer((request, response) => {
    if (request.url === "/oauth/service") {
      response.setHeader("content-type", "application/json").end(
        "{\"access_token\":\"token\",\"token_type\":\"Bearer\"}"
      )
    } else {
      Deferred.doneUnsafe(arrived, Effect.void)
      response.on("close", () => Deferred.doneUnsafe(closed, Effect.void))
    }
  })
  const url = yield* Effect.acquireRelease(
    Effect.callback<string>((resume) => {
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(Effect.succeed(`http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`))
      })
    }),
    () =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  )
  return { url, arrived: Deferred.await(arrived), closed: Deferred.await(closed) }
})
