/** Traces, metrics and logs, sent by OTLP/HTTP in JSON. This is the part to copy. */
// Not from the barrel, which loads the SDKs of OpenTelemetry: this needs none.
import * as Otlp from "@effect/opentelemetry/Otlp"
import { Config, Effect, Layer, Logger, LogLevel } from "effect"
import { randomUUID } from "node:crypto"

/** Of which service all this is told; `job` in Prometheus. */
const serviceName = Config.withDefault(Config.string("OTEL_SERVICE_NAME"), "idv-observability")

/**
 * Until its scope closes, and then it sends what is left. A collector that is not there holds up nobody:
 * what cannot be sent is lost.
 *
 * `service.instance.id` keeps the counters of two processes apart: without it each would overwrite those
 * of the other.
 */
export const layer = (endpoint: string) =>
  Effect.all({ serviceName, instance: Effect.sync(randomUUID) }).pipe(
    Effect.map(({ instance, serviceName }) =>
      Otlp.layerJson({
        baseUrl: endpoint,
        resource: { serviceName, attributes: { "service.instance.id": instance } },
        // In place of the console. Leave it out to have both.
        replaceLogger: Logger.defaultLogger
      })
    ),
    Layer.unwrapEffect,
    // `AmlClient` logs a line for each check at Debug.
    Layer.merge(Logger.minimumLogLevel(LogLevel.Debug))
  )
