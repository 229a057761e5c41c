/**
 * A collector that keeps what arrives, for a run without one. It stands where an OpenTelemetry Collector
 * or the agent of a vendor stands in production.
 */
import { HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { Array as Arr, Context, Effect, Layer, Ref, type Schema } from "effect"
import { createServer } from "node:http"
import * as OtlpJson from "./OtlpJson.ts"

export interface Received {
  readonly spans: ReadonlyArray<OtlpJson.Span>
  /** The last export counts: each has the totals since the start. */
  readonly metrics: ReadonlyArray<OtlpJson.Metric>
  readonly logs: ReadonlyArray<OtlpJson.LogRecord>
}

/** `url` is what `OTEL_EXPORTER_OTLP_ENDPOINT` would be. */
export class Collector extends Context.Tag("observability/Collector")<Collector, {
  readonly url: string
  readonly received: Effect.Effect<Received>
}>() {}

class Kept extends Context.Tag("observability/Kept")<Kept, Ref.Ref<Received>>() {}

const receive = <A, I>(schema: Schema.Schema<A, I>, keep: (received: Received, body: A) => Received) =>
  Effect.gen(function*() {
    const kept = yield* Kept
    const body = yield* HttpServerRequest.schemaBodyJson(schema)
    yield* Ref.update(kept, (received) => keep(received, body))
    return HttpServerResponse.unsafeJson({})
  })

const router = HttpRouter.empty.pipe(
  HttpRouter.post(
    "/v1/traces",
    receive(OtlpJson.Traces, (received, traces) => ({
      ...received,
      spans: Arr.appendAll(received.spans, OtlpJson.spans(traces))
    }))
  ),
  HttpRouter.post(
    "/v1/metrics",
    receive(OtlpJson.Metrics, (received, metrics) => ({ ...received, metrics: OtlpJson.metrics(metrics) }))
  ),
  HttpRouter.post(
    "/v1/logs",
    receive(OtlpJson.Logs, (received, logs) => ({
      ...received,
      logs: Arr.appendAll(received.logs, OtlpJson.logRecords(logs))
    }))
  )
)

/** On a free port of loopback. */
export const layer = Layer.effect(
  Collector,
  Effect.gen(function*() {
    const kept = yield* Kept
    const url = yield* HttpServer.addressFormattedWith(Effect.succeed)
    return { url, received: Ref.get(kept) }
  })
).pipe(
  Layer.merge(HttpServer.serve(router)),
  Layer.provide(NodeHttpServer.layer(() => createServer(), { host: "127.0.0.1", port: 0 })),
  Layer.provide(Layer.effect(Kept, Ref.make<Received>({ spans: [], metrics: [], logs: [] })))
)
