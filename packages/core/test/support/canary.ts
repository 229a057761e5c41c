/** Finds secrets and personal data in everything that a program prints. */
import { HttpClientError, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { type Cause, Effect, Exit, Inspectable, Layer, Logger, LogLevel, Metric } from "effect"
import { inspect } from "node:util"
import * as RecordingTracer from "./tracer.ts"

/** Every rendering of a value in a log, a reporter or a debugger. */
export const renderings = (value: unknown): ReadonlyArray<string> => [
  String(value),
  value instanceof Error ? `${value.message}\n${value.stack}` : "",
  JSON.stringify(value) ?? "",
  Inspectable.toStringUnknown(value),
  inspect(value, { depth: Infinity }),
  inspect(value, { depth: Infinity, showHidden: true }),
  inspect(value, { depth: Infinity, customInspect: false }),
  inspect(value, { depth: Infinity, showHidden: true, customInspect: false })
]

/** Runs the effect and returns everything that it printed: its exit, its logs at Trace, its spans and its metrics. */
export const everythingPrinted = <A, E, R>(effect: Effect.Effect<A, E, R>, render: (cause: Cause.Cause<E>) => string) =>
  Effect.gen(function*() {
    const printed: Array<string> = []
    const logger = Logger.make((options) => {
      printed.push(Logger.jsonLogger.log(options), Logger.logfmtLogger.log(options), Logger.stringLogger.log(options))
    })
    const { spans, tracer } = RecordingTracer.make()
    const exit = yield* effect.pipe(
      Effect.tapErrorCause((cause) => Effect.logTrace("failed", cause)),
      Effect.withSpan("caller"),
      Effect.exit,
      Effect.withTracer(tracer),
      Effect.provide(Layer.merge(Logger.replace(Logger.defaultLogger, logger), Logger.minimumLogLevel(LogLevel.All)))
    )
    const failure = Exit.isFailure(exit) ? [render(exit.cause), ...renderings(exit.cause)] : []
    const metrics = JSON.stringify(yield* Metric.snapshot)
    const traced = spans.flatMap(({ attributes, events, exit, links, name }) => [
      ...renderings([name, [...attributes], events, exit]),
      // A link holds the whole other span, which is listed itself.
      ...renderings(links.map(({ attributes }) => attributes))
    ])
    return { exit, printed: [...printed, ...traced, ...renderings(exit), ...failure, metrics].join("\n") }
  })

/** Every request or response of the HTTP client that is reachable from a value, hidden or not. */
export const transportIn = (root: unknown): ReadonlyArray<object> => {
  const seen = new Set<object>()
  const found: Array<object> = []
  const visit = (value: unknown): void => {
    if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value)) return
    seen.add(value)
    if (
      HttpClientRequest.TypeId in value || HttpClientResponse.TypeId in value ||
      HttpClientError.isHttpClientError(value)
    ) found.push(value)
    for (const key of Reflect.ownKeys(value)) visit(Reflect.getOwnPropertyDescriptor(value, key)?.value)
  }
  visit(root)
  return found
}
