/** Forwards each request to the upstream and each response to the client, unchanged, and records the exchange. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Effect from "effect/Effect"
import * as Request from "../wire/request.ts"
import * as ServerResponse from "../wire/serverResponse.ts"
import type { Exchange } from "./exchange.ts"
import * as Upstream from "./upstream.ts"

export const handle = (
  upstream: Upstream.Upstream,
  onExchange: (exchange: Exchange) => void,
  onFailure: (failure: Upstream.UpstreamFailed, request: Request.Request) => Effect.Effect<void>
) =>
  Effect.gen(function*() {
    const request = yield* Request.read(yield* HttpServerRequest.HttpServerRequest)
    if (Request.isTooLong(request)) {
      return ServerResponse.problem(413, `idv-mock record forwards at most ${Request.maxBodyBytes} bytes of a body`)
    }
    return yield* Effect.matchEffect(Upstream.send(upstream, request), {
      onFailure: (failure) =>
        Effect.as(
          onFailure(failure, request),
          ServerResponse.problem(failure.problem === "slow" ? 504 : 502, failure.message)
        ),
      onSuccess: (exchange) =>
        Effect.sync(() => {
          onExchange(exchange)
          return ServerResponse.make(exchange.response)
        })
    })
  })
