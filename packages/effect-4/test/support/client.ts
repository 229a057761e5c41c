/** The client of this package against a mock server, and what a test records. */
import { AmlClient, Idv, IdvHttp, Person } from "@effect-idv/effect-4"
import * as TestServer from "@effect-idv/mock-server/TestServer"
import { Context, Effect, Layer, Logger, Metric, Redacted, References, Tracer } from "effect"
import { afterAll, beforeAll } from "vitest"

/** The client of a service with both endpoints at this address. */
export const layerOf = (url: string, options: Partial<Idv.Options> = {}) =>
  Idv.layer({
    authUrl: url,
    baseUrl: url,
    customerId: "acme-bank",
    customerKey: Redacted.make("s3cret-key"),
    ...options
  }).pipe(Layer.provide(IdvHttp.layerUndici()))

/** Starts a mock server for the tests of a file. */
export const useServer = () => {
  let server: TestServer.TestServer | undefined
  const running = (): TestServer.TestServer => {
    if (server === undefined) throw new Error("the server runs only in tests")
    return server
  }
  beforeAll(() =>
    TestServer.start().then((started) => {
      server = started
    })
  )
  afterAll(() => running().close())
  return {
    session: Effect.map(Effect.promise(() => running().session()), (session) => ({ ...session, url: running().url })),
    layer: (session: TestServer.TestSession, options: Partial<Idv.Options> = {}) =>
      layerOf(running().url, {
        customerId: session.customerId,
        customerKey: Redacted.make(session.customerKey),
        ...options
      })
  }
}

export const ada = { name: "Ada Testclear", dateOfBirth: "1990-02-01" }
export const pep = { name: "Zoë Testpep", dateOfBirth: "1957-03-14" }

export const check = (input: Person.Input = ada) =>
  Effect.gen(function*() {
    const aml = yield* AmlClient.AmlClient
    return yield* aml.check(yield* Person.make(input))
  })

/** Runs an effect, and returns its exit and all that it logs, traces and counts. */
export const recorded = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    const spans: Array<Tracer.NativeSpan> = []
    const logs: Array<
      Logger.Options<unknown> & {
        readonly annotations: Readonly<Record<string, unknown>>
        readonly span: Tracer.AnySpan | undefined
      }
    > = []
    const registry: Metric.MetricRegistry = new Map()
    const tracer = Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        spans.push(span)
        return span
      }
    })
    const logger = Logger.make<unknown, void>((options) => {
      logs.push({
        ...options,
        annotations: options.fiber.getRef(References.CurrentLogAnnotations),
        span: Context.getOrUndefined(options.fiber.context, Tracer.ParentSpan)
      })
    })
    const context = Context.make(Tracer.Tracer, tracer).pipe(
      Context.add(Logger.CurrentLoggers, new Set([logger])),
      Context.add(References.MinimumLogLevel, "All"),
      Context.add(Metric.MetricRegistry, registry)
    )
    const exit = yield* Effect.provideContext(Effect.exit(Effect.withSpan(effect, "caller")), context)
    // Tests of core run in the same process, and label their metrics with a title.
    const metrics = Metric.snapshotUnsafe(context).filter(({ attributes }) => attributes?.["test"] === undefined)
    return { exit, spans, logs, metrics }
  })
