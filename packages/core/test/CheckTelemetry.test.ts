import type { Idv } from "@effect-idv/core"
import { AmlClient, Metrics } from "@effect-idv/core"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import {
  Array as Arr,
  Cause,
  Duration,
  Effect,
  Fiber,
  Layer,
  Logger,
  LogLevel,
  Metric,
  Option,
  TestClock
} from "effect"
import { check, person as ada, provide } from "./support/ada.ts"
import * as Service from "./support/service.ts"
import { counted, measured, respondAfter, status } from "./support/tokens.ts"
import * as RecordingTracer from "./support/tracer.ts"

const uuid7 = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

const good = (attributes: Record<string, unknown> = {}) => () =>
  Effect.sync(() => Service.json(Service.credential({}, { ...attributes })))
const respondsWith = (code: number, headers: Record<string, string> = {}) => () =>
  Effect.sync(() => status(code, headers))
const lost = Service.failing({ code: "ECONNRESET", syscall: "read" })
const refused = Service.failing({ code: "ECONNREFUSED", syscall: "connect" })
const firstThen = (first: Service.Handler, then: Service.Handler): Service.Handler => (received, count, request) =>
  count === 1 ? first(received, count, request) : then(received, count, request)

interface Reported {
  readonly outcome: string
  readonly status: string
  readonly sent: string
  readonly attempts: number
  /** How many of the attempts may have reached the service. By default all. */
  readonly sentRequests?: number
}

type Handlers = NonNullable<Parameters<typeof Service.make>[0]>
type Case = readonly [string, Handlers, Reported, options?: Partial<Idv.Options>]

const hanging = () => Effect.sync(() => new Response(new ReadableStream({ pull: () => new Promise(() => {}) })))

const cases: ReadonlyArray<Case> = [
  ["No", { aml: good() }, { outcome: "NoMatch", status: "2xx", sent: "answered", attempts: 1 }],
  [
    "a potential match",
    { aml: good({ match_found: "Potential match" }) },
    { outcome: "PotentialMatch", status: "2xx", sent: "answered", attempts: 1 }
  ],
  ["No after a renewal of the token", { aml: firstThen(respondsWith(401), good()) }, {
    outcome: "NoMatch",
    status: "2xx",
    sent: "answered",
    attempts: 2
  }],
  ["No after two waits", { aml: firstThen(respondsWith(429, { "retry-after": "1" }), good()) }, {
    outcome: "NoMatch",
    status: "2xx",
    sent: "answered",
    attempts: 2
  }],
  ["a refused token", { aml: respondsWith(401) }, {
    outcome: "AmlUnauthorized",
    status: "4xx",
    sent: "answered",
    attempts: 2
  }],
  ["403", { aml: respondsWith(403) }, { outcome: "AmlForbidden", status: "4xx", sent: "answered", attempts: 1 }],
  ["422", { aml: respondsWith(422) }, { outcome: "AmlRequestRejected", status: "4xx", sent: "answered", attempts: 1 }],
  ["429", { aml: respondsWith(429) }, { outcome: "AmlRateLimited", status: "4xx", sent: "answered", attempts: 1 }],
  // The attempts are over, and it is certain that none was performed. The last one has a response.
  ["429 with a wait, each time", { aml: respondsWith(429, { "retry-after": "1" }) }, {
    outcome: "AmlRateLimited",
    status: "4xx",
    sent: "answered",
    attempts: 3
  }],
  ["500", { aml: respondsWith(500) }, { outcome: "AmlUnavailable", status: "5xx", sent: "answered", attempts: 1 }],
  ["500 with retry: always", { aml: respondsWith(500) }, {
    outcome: "AmlUnavailable",
    status: "5xx",
    sent: "answered",
    attempts: 3
  }, { retry: "always" }],
  ["a lost connection", { aml: lost }, { outcome: "AmlUnavailable", status: "none", sent: "unknown", attempts: 1 }],
  ["a refused connection", { aml: refused }, {
    outcome: "AmlUnavailable",
    status: "none",
    sent: "no",
    attempts: 3,
    sentRequests: 0
  }],
  ["lost, then refused", { aml: firstThen(lost, refused) }, {
    outcome: "AmlUnavailable",
    status: "none",
    sent: "unknown",
    attempts: 3,
    sentRequests: 1
  }, { retry: "always" }],
  ["a refused connection, then No", { aml: firstThen(refused, good()) }, {
    outcome: "NoMatch",
    status: "2xx",
    sent: "answered",
    attempts: 2,
    sentRequests: 1
  }],
  ["a redirect", { aml: respondsWith(302) }, {
    outcome: "AmlResponseInvalid",
    status: "3xx",
    sent: "answered",
    attempts: 1
  }],
  ["a redirect in a browser", { aml: () => Effect.sync(() => Response.error()) }, {
    outcome: "AmlResponseInvalid",
    status: "none",
    sent: "answered",
    attempts: 1
  }],
  ["an invalid response", { aml: () => Effect.sync(() => Service.json({})) }, {
    outcome: "AmlResponseInvalid",
    status: "2xx",
    sent: "answered",
    attempts: 1
  }],
  ["a response about another person", { aml: good({ name: "Ada Other" }) }, {
    outcome: "AmlResponseMismatch",
    status: "2xx",
    sent: "answered",
    attempts: 1
  }],
  ["no response", { aml: () => Effect.never }, { outcome: "AmlTimeout", status: "none", sent: "unknown", attempts: 1 }],
  ["half a response", { aml: hanging }, {
    outcome: "AmlTimeout",
    status: "none",
    sent: "answered",
    attempts: 1
  }],
  ["no token", { token: () => Effect.never }, { outcome: "AmlTimeout", status: "none", sent: "no", attempts: 0 }, {
    deadline: "2 seconds"
  }],
  ["a token endpoint that is down", { token: refused }, {
    outcome: "TokenEndpointUnavailable",
    status: "none",
    sent: "no",
    attempts: 0
  }],
  ["a client that dies", { aml: () => Effect.die("canary") }, {
    outcome: "Defect",
    status: "none",
    sent: "unknown",
    attempts: 1
  }]
]

/** Without the attribute that Effect adds to the span of a failure. */
const own = (attributes: ReadonlyMap<string, unknown>) =>
  Object.fromEntries([...attributes].filter(([key]) => key !== "code.stacktrace"))

const spansOf = (spans: ReadonlyArray<RecordingTracer.RecordedSpan>) =>
  spans.filter(({ name }) => name === "AmlClient.check")

const expectReported = (spans: ReadonlyArray<RecordingTracer.RecordedSpan>, reported: Reported) =>
  Effect.gen(function*() {
    const [span, ...others] = spansOf(spans)
    assert(span !== undefined)
    deepStrictEqual(others, [])
    const { check_id, ...attributes } = own(span.attributes)
    assert.match(String(check_id), uuid7)
    const { attempts, sentRequests = attempts, ...labels } = reported
    deepStrictEqual(attributes, { ...labels, attempts })
    strictEqual(yield* counted("idv_aml_requests"), sentRequests)
    strictEqual(yield* counted("idv_aml_checks"), 1)
    strictEqual(yield* counted("idv_aml_checks", labels), 1)
    strictEqual(yield* counted("idv_aml_check_duration_seconds"), 1)
    strictEqual(yield* counted("idv_aml_check_duration_seconds", labels), 1)
  })

const labelsOf = (name: string) =>
  Effect.map(Metric.snapshot, (pairs) =>
    new Set(
      pairs.filter(({ metricKey }) => metricKey.name === name).flatMap(({ metricKey }) =>
        metricKey.tags.map(({ key }) => key).filter((key) => key !== "test" && key !== "time_unit")
      )
    ))

describe("A check that ends with", () => {
  it.effect.each(cases)("%s: one span and one count, with the same labels", ([name, handlers, reported, options]) => {
    const service = Service.make(handlers)
    const { spans, tracer } = RecordingTracer.make()
    return Effect.gen(function*() {
      const fiber = yield* Effect.fork(Effect.exit(check))
      yield* TestClock.adjust("30 seconds")
      yield* Fiber.join(fiber)
      yield* expectReported(spans, reported)
    }).pipe(provide(service, options), Effect.withTracer(tracer), measured(`telemetry ${name}`))
  })

  it.effect.each<[string, Handlers, Reported]>([
    ["in a request", { aml: () => Effect.never }, {
      outcome: "Interrupted",
      status: "none",
      sent: "unknown",
      attempts: 1
    }],
    ["before the token", { token: () => Effect.never }, {
      outcome: "Interrupted",
      status: "none",
      sent: "no",
      attempts: 0
    }],
    ["while it waits to send again", { aml: respondsWith(429, { "retry-after": "20" }) }, {
      outcome: "Interrupted",
      status: "none",
      sent: "no",
      attempts: 1
    }],
    ["in the middle of the response", { aml: hanging }, {
      outcome: "Interrupted",
      status: "none",
      sent: "answered",
      attempts: 1
    }]
  ])("an interruption %s: one span and one count, with the same labels", ([name, handlers, reported]) => {
    const service = Service.make(handlers)
    const { spans, tracer } = RecordingTracer.make()
    return Effect.gen(function*() {
      const fiber = yield* Effect.fork(check)
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(fiber)
      yield* expectReported(spans, reported)
    }).pipe(provide(service), Effect.withTracer(tracer), measured(`interrupted ${name}`))
  })
})

describe("An interruption at any step", () => {
  it.live("leaves no started span without an end and an outcome", () => {
    const { spans, tracer } = RecordingTracer.make()
    const service = Service.make({ aml: () => Effect.never })
    return Effect.gen(function*() {
      for (const maxOps of Arr.range(11, 40)) {
        for (const ticks of Arr.range(0, 6)) {
          const fiber = yield* Effect.fork(Effect.withMaxOpsBeforeYield(check, maxOps))
          yield* Effect.repeatN(Effect.yieldNow(), ticks)
          yield* Fiber.interrupt(fiber)
        }
      }
      const started = spans.filter(({ name }) => name === "AmlClient.check")
      assert(started.length > 0)
      deepStrictEqual(started.filter(({ attributes, exit }) => exit === undefined || !attributes.has("outcome")), [])
    }).pipe(provide(service), Effect.withTracer(tracer))
  })
})

describe("An interruption while a check waits for a place", () => {
  it.effect("one span and one count for each check, with the same labels and the time of the wait", () => {
    const service = Service.make({ aml: () => Effect.never })
    const { spans, tracer } = RecordingTracer.make()
    const labels = { outcome: "Interrupted", status: "none" }
    return Effect.gen(function*() {
      const checks = Effect.replicateEffect(check, 3, { concurrency: "unbounded" })
      const fiber = yield* Effect.fork(Effect.timeoutOption(checks, "2 seconds"))
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(fiber)
      deepStrictEqual(spansOf(spans).map(({ attributes }) => attributes.get("sent")).sort(), ["no", "no", "unknown"])
      strictEqual(yield* counted("idv_aml_checks", { ...labels, sent: "no" }), 2)
      strictEqual(yield* counted("idv_aml_checks", { ...labels, sent: "unknown" }), 1)
    }).pipe(provide(service, { concurrency: 1 }), Effect.withTracer(tracer), measured("interrupted wait"))
  })
})

describe("The span of a check", () => {
  it.effect("is the parent only of the wait for the token", () => {
    const { spans, tracer } = RecordingTracer.make()
    return Effect.gen(function*() {
      yield* Effect.withSpan(check, "caller")
      deepStrictEqual(
        spans.map(({ name, parent }) => [name, Option.getOrUndefined(Option.map(parent, ({ spanId }) => spanId))]),
        [["caller", undefined], ["AmlClient.check", "0"], ["TokenProvider.get", "1"], [
          "TokenProvider.acquire",
          undefined
        ]]
      )
    }).pipe(provide(Service.make({ aml: good() })), Effect.withTracer(tracer))
  })

  it.effect("is named when a failure is printed, also that of the deadline", () =>
    Effect.gen(function*() {
      const fiber = yield* Effect.fork(Effect.sandbox(Effect.withSpan(check, "caller")).pipe(Effect.flip))
      yield* TestClock.adjust("30 seconds")
      assert.match(Cause.pretty(yield* Fiber.join(fiber)), /AmlTimeout[^]*at AmlClient\.check[^]*at caller/)
    }).pipe(provide(Service.make({ aml: () => Effect.never }))))

  it.effect("contains the log line at level Debug", () => {
    const { spans, tracer } = RecordingTracer.make()
    return Effect.gen(function*() {
      yield* Effect.withSpan(check, "caller")
      deepStrictEqual(
        spans.map(({ events, name }) => [name, events.map(([event]) => event)]).filter(([, events]) => events?.length),
        [["AmlClient.check", ["AML check"]]]
      )
    }).pipe(
      provide(Service.make({ aml: good() })),
      Effect.withTracer(tracer),
      Effect.provide(Layer.merge(Logger.minimumLogLevel(LogLevel.Debug), Logger.add(Logger.none)))
    )
  })
})

describe("Metrics", () => {
  it.effect("have only the labels outcome, status and sent", () =>
    Effect.gen(function*() {
      yield* Effect.ignore(check)
      deepStrictEqual(yield* labelsOf("idv_aml_checks"), new Set(["outcome", "status", "sent"]))
      deepStrictEqual(yield* labelsOf("idv_aml_check_duration_seconds"), new Set(["outcome", "status", "sent"]))
      deepStrictEqual(yield* labelsOf("idv_aml_requests"), new Set())
    }).pipe(provide(Service.make({ aml: good() }))))

  it.effect("measure the whole check in seconds: token, waits and all requests", () => {
    const service = Service.make({
      token: (_, count) => respondAfter("3 seconds", count),
      aml: firstThen(respondsWith(503, { "retry-after": "4" }), () => Effect.delay(good()(), "2 seconds"))
    })
    return Effect.gen(function*() {
      const fiber = yield* Effect.fork(check)
      yield* TestClock.adjust("9 seconds")
      yield* Fiber.join(fiber)
      const duration = Arr.reduce(
        [["outcome", "NoMatch"], ["status", "2xx"], ["sent", "answered"]] as const,
        Metrics.checkDuration,
        (metric, [key, value]) => Metric.tagged(metric, key, value)
      )
      const { count, sum } = yield* Metric.value(duration)
      deepStrictEqual([count, sum], [1, 9])
    }).pipe(provide(service), measured("duration"))
  })
})

describe("The id of a check", () => {
  it.effect("is a unique UUID of version 7 with the time of the check, also in the evidence", () => {
    const { spans, tracer } = RecordingTracer.make()
    const today = Date.parse("2026-11-20T12:00:00Z")
    return Effect.gen(function*() {
      yield* TestClock.setTime(today)
      const aml = yield* AmlClient.AmlClient
      const person = yield* ada
      const evidence = yield* Effect.replicateEffect(aml.check(person), 100, { concurrency: 10 })
      const ids = evidence.map(({ checkId }) => checkId)
      strictEqual(new Set(ids).size, 100)
      deepStrictEqual(ids.filter((id) => !uuid7.test(id)), [])
      deepStrictEqual(new Set(ids.map((id) => parseInt(id.replaceAll("-", "").slice(0, 12), 16))), new Set([today]))
      deepStrictEqual(new Set(spansOf(spans).map(({ attributes }) => attributes.get("check_id"))), new Set(ids))
    }).pipe(provide(Service.make({ aml: good() })), Effect.withTracer(tracer))
  })

  it.effect("sorts by time", () =>
    Effect.gen(function*() {
      const aml = yield* AmlClient.AmlClient
      const person = yield* ada
      const first = yield* aml.check(person)
      yield* TestClock.adjust(Duration.days(20_000))
      const second = yield* aml.check(person)
      assert(first.checkId < second.checkId)
    }).pipe(provide(Service.make({ aml: good() }))))
})

describe("Trace headers", () => {
  const names = ["traceparent", "tracestate", "b3", "x-b3-traceid", "x-b3-spanid", "x-b3-sampled"]
  const sent = (received: ReadonlyArray<Service.Received>) =>
    received.map(({ headers }) => names.filter((name) => name in headers))

  it.effect("are not sent to the service by default", () => {
    const service = Service.make({ aml: good() })
    const { tracer } = RecordingTracer.make()
    return Effect.gen(function*() {
      yield* Effect.withSpan(check, "caller")
      deepStrictEqual([...sent(service.tokenRequests), ...sent(service.amlRequests)], [[], []])
    }).pipe(provide(service), Effect.withTracer(tracer))
  })

  it.effect("are sent with propagateTrace: those of the check's span, and not with the token request", () => {
    const service = Service.make({ aml: firstThen(respondsWith(429, { "retry-after": "0" }), good()) })
    const { spans, tracer } = RecordingTracer.make()
    return Effect.gen(function*() {
      const fiber = yield* Effect.fork(Effect.withSpan(check, "caller"))
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(fiber)
      const [span] = spansOf(spans)
      assert(span !== undefined)
      deepStrictEqual(
        service.amlRequests.map(({ headers }) => headers["traceparent"]),
        Arr.replicate(`00-${span.traceId}-${span.spanId}-01`, 2)
      )
      deepStrictEqual(sent(service.tokenRequests), [[]])
    }).pipe(provide(service, { propagateTrace: true }), Effect.withTracer(tracer))
  })

  it.effect("belong to each check when many run at once", () => {
    const service = Service.make({ aml: good() })
    const { spans, tracer } = RecordingTracer.make()
    return Effect.gen(function*() {
      yield* Effect.replicateEffect(check, 5, { concurrency: 5 })
      deepStrictEqual(
        new Set(service.amlRequests.map(({ headers }) => headers["traceparent"])),
        new Set(spansOf(spans).map(({ spanId, traceId }) => `00-${traceId}-${spanId}-01`))
      )
    }).pipe(provide(service, { propagateTrace: true }), Effect.withTracer(tracer))
  })
})
