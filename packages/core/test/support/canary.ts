/** Secrets and people that stand out, and everything a program could print while it handles them. */
import { type Cause, Effect, Exit, Inspectable, Layer, Logger, LogLevel, Metric, Tracer } from "effect"
import { inspect } from "node:util"

/** Every rendering of a value that a log, a reporter or a debugger could make. */
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

/** Runs the effect and returns all it printed: its exit, its logs at Trace, its spans, its metrics. */
export const everythingPrinted = <A, E, R>(effect: Effect.Effect<A, E, R>, render: (cause: Cause.Cause<E>) => string) =>
  Effect.gen(function*() {
    const printed: Array<string> = []
    const logger = Logger.make((options) => {
      printed.push(Logger.jsonLogger.log(options), Logger.logfmtLogger.log(options), Logger.stringLogger.log(options))
    })
    const tracer = Tracer.make({
      context: (f) => f(),
      span: (name, parent, context, links, startTime, kind, options) => {
        const attributes = new Map<string, unknown>(Object.entries(options?.attributes ?? {}))
        const record = (value: unknown) => printed.push(renderings(value).join("\n"))
        return {
          _tag: "Span",
          name,
          spanId: "1",
          traceId: "1",
          parent,
          context,
          links,
          kind,
          status: { _tag: "Started", startTime },
          sampled: true,
          attributes,
          attribute: (key, value) => {
            record([key, value])
          },
          event: (name, _, attributes) => {
            record([name, attributes])
          },
          addLinks: () => {},
          end: (_, exit) => {
            record([name, attributes, exit])
          }
        }
      }
    })
    const exit = yield* effect.pipe(
      Effect.tapErrorCause((cause) => Effect.logTrace("failed", cause)),
      Effect.withSpan("caller"),
      Effect.exit,
      Effect.withTracer(tracer),
      Effect.provide(Layer.merge(Logger.replace(Logger.defaultLogger, logger), Logger.minimumLogLevel(LogLevel.All)))
    )
    const failure = Exit.isFailure(exit) ? [render(exit.cause), ...renderings(exit.cause)] : []
    const metrics = JSON.stringify(yield* Metric.snapshot)
    return { exit, printed: [...printed, ...renderings(exit), ...failure, metrics].join("\n") }
  })
