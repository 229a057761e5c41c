/** Sends traces, metrics and logs by OTLP/HTTP in JSON. This is the part to copy. */
// The index module would also load the OpenTelemetry SDKs, which this module does not need.
import * as Otlp from "@effect/opentelemetry/Otlp"
import { Config, Effect, Layer, Logger, LogLevel } from "effect"
import { randomUUID } from "node:crypto"

/** The service that sends the data; `job` in Prometheus. */
const serviceName = Config.withDefault(Config.string("OTEL_SERVICE_NAME"), "idv-observability")

/**
 * Sends data until its scope closes, and then the remaining data. It drops what it cannot send, so a
 * collector that is down delays no check.
 *
 * Without `service.instance.id`, two processes would overwrite each other's counters.
 */
export const layer = (endpoint: string) =>
  Effect.all({ serviceName, instance: Effect.sync(randomUUID) }).pipe(
    Effect.map(({ instance, serviceName }) =>
      Otlp.layerJson({
        baseUrl: endpoint,
        resource: { serviceName, attributes: { "service.instance.id": instance } },
        // Replaces the console logger. Omit it to keep both.
        replaceLogger: Logger.defaultLogger
      })
    ),
    Layer.unwrapEffect,
    // `AmlClient` logs each check at Debug.
    Layer.merge(Logger.minimumLogLevel(LogLevel.Debug))
  )
