/** The operations on the server as a whole. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Session from "../../Session.ts"
import { Recorder } from "../journal/recorder.ts"
import * as Lifecycle from "../wire/lifecycle.ts"
import { NotReady } from "./controlErrors.ts"
import * as Operation from "./operation.ts"

export const server = {
  live: Operation.make({
    endpoint: HttpApiEndpoint.get("live", "/live").addSuccess(Schema.Struct({ live: Schema.Literal(true) })),
    description: "Responds while the process runs",
    on: Operation.server,
    accepts: Operation.nothing,
    run: () => Effect.succeed({ live: true } as const)
  }),
  ready: Operation.make({
    endpoint: HttpApiEndpoint.get("ready", "/ready").addSuccess(Schema.Struct({ ready: Schema.Literal(true) }))
      .addError(NotReady),
    description: "Says whether the server accepts requests",
    on: Operation.server,
    accepts: Operation.nothing,
    run: () =>
      Effect.gen(function*() {
        const { isReady } = yield* Lifecycle.Lifecycle
        return (yield* isReady) ? { ready: true } as const : yield* new NotReady()
      })
  }),
  metrics: Operation.make({
    endpoint: HttpApiEndpoint.get("metrics", "/metrics")
      .addSuccess(HttpApiSchema.Text({ contentType: "text/plain; version=0.0.4" })),
    description: "Metrics in the Prometheus text format",
    on: Operation.server,
    accepts: Operation.nothing,
    run: () =>
      Effect.gen(function*() {
        const { list } = yield* Session.Sessions
        const { metrics } = yield* Recorder
        return yield* metrics((yield* list).length)
      })
  })
}
