/** Helpers for the tests of the token provider. */
import { type AccessToken, TokenProvider } from "@effect-idv/core"
import {
  type Duration,
  Effect,
  Either,
  Fiber,
  FiberRef,
  Layer,
  Metric,
  MetricLabel,
  MetricState,
  Redacted
} from "effect"
import * as TokenOptions from "../../src/internal/token/tokenOptions.ts"
import * as Service from "./service.ts"

type Stub = ReturnType<typeof Service.make>

/** The policy of a provider with these options of `tokenPolicy`. */
export const makePolicy = (tokenPolicy?: TokenProvider.PolicyOptions) => {
  const options = { ...Service.options, tokenPolicy }
  return Either.map(TokenOptions.prepare(options), ({ policy }) => policy)
}

export const layer = (service: Stub, options: Partial<TokenProvider.Options> = {}) =>
  Layer.provide(TokenProvider.layer({ ...Service.options, ...options }), service.layer)

export const provide = (service: Stub, options: Partial<TokenProvider.Options> = {}) =>
  Effect.provide(layer(service, options))

export const make = <R = never>(service: Stub, options: Partial<TokenProvider.Options<R>> = {}) =>
  Effect.provide(TokenProvider.make({ ...Service.options, ...options }), service.layer)

export const get = Effect.flatMap(TokenProvider.TokenProvider, ({ get }) => get)

export const refresh = Effect.flatMap(TokenProvider.TokenProvider, ({ refresh }) => refresh)

export const textOf = ({ value }: AccessToken.AccessToken) => Redacted.value(value)

export const getText = Effect.map(get, textOf)

/** Responds with the next token after this time. */
export const slow = (duration: Duration.DurationInput): Service.Handler => (_, count) => respondAfter(duration, count)

export const respondAfter = (duration: Duration.DurationInput, count: number) =>
  Effect.delay(Effect.sync(() => Service.tokenResponse(count)), duration)

export const status = (status: number, headers: Record<string, string> = {}): Response =>
  new Response(null, { status, headers })

/** Labels the metrics of a test, to separate them from those of other tests. */
export const measured = (name: string) => Effect.tagMetrics("test", name)

/** The value of a counter, or the count of a histogram, with these labels and those of the test. */
export const counted = (name: string, labels: Record<string, string> = {}) =>
  Effect.gen(function*() {
    const ours = [
      ...yield* FiberRef.get(FiberRef.currentMetricLabels),
      ...Object.entries(labels).map(([key, value]) => MetricLabel.make(key, value))
    ]
    const pairs = (yield* Metric.snapshot).filter(({ metricKey }) =>
      metricKey.name === name &&
      ours.every(({ key, value }) => metricKey.tags.some((tag) => tag.key === key && tag.value === value))
    )
    return pairs.reduce((total, { metricState }) =>
      total + (MetricState.isCounterState(metricState) || MetricState.isHistogramState(metricState)
        ? Number(metricState.count)
        : 0), 0)
  })

/**
 * Returns the result, and how long the effect took in the time in which this process ran: a timer that is late, because
 * other processes have the CPU, counts as if it were on time.
 */
export const timed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    let took = 0
    const tick = Effect.delay(Effect.sync(() => took += 10), "10 millis")
    const ticking = yield* Effect.fork(Effect.forever(tick))
    const result = yield* Effect.ensuring(effect, Fiber.interrupt(ticking))
    return { result, took }
  })
