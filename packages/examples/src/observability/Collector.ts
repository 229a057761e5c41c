/**
 * A collector in memory, for a run without `OTEL_EXPORTER_OTLP_ENDPOINT`. In production an OpenTelemetry
 * Collector or a vendor's agent takes its place.
 */
import { HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { Array as Arr, Context, Effect, Layer, Ref, type Schema } from "effect"
import { createServer } from "node:http"
import * as OtlpJson from "./OtlpJson.ts"

export interface Received {
  readonly spans: ReadonlyArray<OtlpJson.Span>
  /** The last export, because each contains the totals since the start. */
  readonly metrics: ReadonlyArray<OtlpJson.Metric>
  readonly logs: ReadonlyArray<OtlpJson.LogRecord>
}

export class Collector extends Context.Tag("observability/Collector")<Collector, {
  /** The endpoint for the exporter. */
  readonly url: string
  /** The data received so far. */
  readonly received: Effect.Effect<Received>
}>() {}

class ReceivedRef extends Context.Tag("observability/ReceivedRef")<ReceivedRef, Ref.Ref<Received>>() {}

const receive = <A, I>(schema: Schema.Schema<A, I>, add: (received: Received, body: A) => Received) =>
  Effect.gen(function*() {
    const ref = yield* ReceivedRef
    const body = yield* HttpServerRequest.schemaBodyJson(schema)
    yield* Ref.update(ref, (received) => add(received, body))
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

/** Listens on a free port of 127.0.0.1. */
export const layer = Layer.effect(
  Collector,
  Effect.gen(function*() {
    const ref = yield* ReceivedRef
    const url = yield* HttpServer.addressFormattedWith(Effect.succeed)
    return { url, received: Ref.get(ref) }
  })
).pipe(
  Layer.merge(HttpServer.serve(router)),
  Layer.provide(NodeHttpServer.layer(() => createServer(), { host: "127.0.0.1", port: 0 })),
  Layer.provide(Layer.effect(ReceivedRef, Ref.make<Received>({ spans: [], metrics: [], logs: [] })))
)
