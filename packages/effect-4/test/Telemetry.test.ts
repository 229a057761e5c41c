/** The tracer, the loggers, the metric registry and the clock of Effect 4. */
import { AmlClient } from "@effect-idv/effect-4"
import { Cause, Duration, Effect, Exit, Fiber, Logger, Metric, Option, References, Tracer } from "effect"
import { TestClock } from "effect/testing"
import { deepStrictEqual, ok, strictEqual } from "node:assert"
import { describe, it } from "vitest"
import * as Client from "./support/client.ts"
import * as Service from "./support/service.ts"

const server = Client.useServer()

describe("The spans of a check", () => {
  it("have the span of the caller as parent, and its trace id", () =>
    Effect.runPromise(Effect.gen(function*() {
      const session = yield* server.session
      const { spans } = yield* Client.recorded(Client.check().pipe(Effect.provide(server.layer(session))))
      const [caller, check] = ["caller", "AmlClient.check"].map((name) => spans.find((span) => span.name === name))
      ok(caller !== undefined && check !== undefined)
      strictEqual(Option.getOrUndefined(check.parent), caller)
      strictEqual(check.traceId, caller.traceId)
      strictEqual(check.attributes.get("outcome"), "NoMatch")
      ok(spans.every(({ status }) => status._tag === "Ended"))
    })))

  it("have an external span as parent, and its decision not to sample", () =>
    Effect.runPromise(Effect.gen(function*() {
      const session = yield* server.session
      const traceId = "4bf92f3577b34da6a3ce929d0e0e4736"
      const parent = Tracer.externalSpan({ spanId: "00f067aa0ba902b7", traceId, sampled: false })
      const { spans } = yield* Client.recorded(
        Client.check().pipe(Effect.withParentSpan(parent), Effect.provide(server.layer(session)))
      )
      const check = spans.find(({ name }) => name === "AmlClient.check")
      ok(check !== undefined)
      deepStrictEqual([Option.getOrUndefined(check.parent), check.traceId, check.sampled], [parent, traceId, false])
    })))

  it("end with the error of this package", () =>
    Effect.runPromise(Effect.gen(function*() {
      const session = yield* server.session
      yield* Effect.promise(() => session.fault({ on: "aml", what: { kind: "status", status: 403 } }))
      const { exit, spans } = yield* Client.recorded(Client.check().pipe(Effect.provide(server.layer(session))))
      const check = spans.find(({ name }) => name === "AmlClient.check")
      ok(check?.status._tag === "Ended" && Exit.isFailure(check.status.exit) && Exit.isFailure(exit))
      deepStrictEqual(Cause.squash(check.status.exit.cause), Cause.squash(exit.cause))
      strictEqual(check.attributes.get("sent"), "answered")
    })))
})

describe("The logs of a check", () => {
  it("reach the loggers of the caller, with annotations and the span of the check", () =>
    Effect.runPromise(Effect.gen(function*() {
      const session = yield* server.session
      const { logs, spans } = yield* Client.recorded(
        Effect.annotateLogs(Client.check(), "tenant", "a").pipe(Effect.provide(server.layer(session)))
      )
      const line = logs.find(({ message }) => String(message) === "AML check")
      const check = spans.find(({ name }) => name === "AmlClient.check")
      ok(line !== undefined && check !== undefined)
      strictEqual(line.logLevel, "Debug")
      deepStrictEqual([line.annotations["tenant"], line.annotations["outcome"], line.span], ["a", "NoMatch", check])
      strictEqual(line.annotations["check_id"], check.attributes.get("check_id"))
    })))

  it("obey the minimum log level of the caller", () =>
    Effect.runPromise(Effect.gen(function*() {
      const lines: Array<unknown> = []
      yield* Client.check().pipe(
        Effect.provide(AmlClient.layerTest("No")),
        Effect.provideService(References.MinimumLogLevel, "Info"),
        Effect.provide(Logger.layer([Logger.make(({ message }) => void lines.push(message))]))
      )
      deepStrictEqual(lines, [])
    })))
})

describe("The metrics of a check", () => {
  const registryOf = () => {
    const registry: Metric.MetricRegistry = new Map()
    const count = (id: string, outcome?: string) =>
      Effect.map(
        Metric.snapshot,
        (series) =>
          series.flatMap((each) =>
            each.id === id && (outcome === undefined || each.attributes?.["outcome"] === outcome) &&
              "count" in each.state
              ? [Number(each.state.count)]
              : []
          ).reduce((total, count) => total + count, 0)
      )
    return { count, registry }
  }

  it("are in the registry of the caller once its effect ends, without the attributes of a caller", () =>
    Effect.runPromise(Effect.gen(function*() {
      const { count, registry } = registryOf()
      const session = yield* server.session
      yield* Effect.gen(function*() {
        yield* Client.check().pipe(Effect.provideService(Metric.CurrentMetricAttributes, { tenant: "a" }))
        const before = yield* count("idv_aml_checks", "NoMatch")
        const durations = yield* count("idv_aml_check_duration_seconds", "NoMatch")
        const matches = yield* count("idv_aml_checks", "PotentialMatch")
        for (const input of [Client.ada, Client.ada, Client.pep]) yield* Client.check(input)
        strictEqual(yield* count("idv_aml_checks", "NoMatch"), before + 2)
        strictEqual(yield* count("idv_aml_check_duration_seconds", "NoMatch"), durations + 2)
        ok((yield* count("idv_aml_checks", "PotentialMatch")) >= matches + 1)
        yield* Effect.promise(() => session.fault({ on: "aml", what: { kind: "status", status: 403 } }))
        yield* Effect.exit(Client.check())
        ok((yield* count("idv_aml_checks", "AmlForbidden")) >= 1)
        // Series that no new outcome announces are there in the second export at the latest.
        ok((yield* count("idv_token_gets", "hit")) >= 1)
      }).pipe(Effect.provide(server.layer(session)), Effect.provideService(Metric.MetricRegistry, registry))
      ok(![...registry.values()].some(({ attributes }) => attributes !== undefined && "tenant" in attributes))
    })))
})

describe("A TestClock", () => {
  it("ends the deadline of a check that has been sent", () =>
    Effect.runPromise(Effect.scoped(Effect.gen(function*() {
      const service = yield* Service.make()
      const error = yield* Effect.gen(function*() {
        yield* TestClock.setTime(Date.UTC(2030, 0, 2))
        const fiber = yield* Effect.forkChild(Client.check())
        yield* service.arrived
        yield* TestClock.adjust("30 seconds")
        return yield* Effect.flip(Fiber.join(fiber))
      }).pipe(Effect.provide([Client.layerOf(service.url), TestClock.layer()]))
      ok(error._tag === "AmlTimeout")
      deepStrictEqual([error.sent, Duration.toSeconds(error.deadline)], ["unknown", 30])
    }))))

  it("gives a check its times", () =>
    Effect.runPromise(Effect.gen(function*() {
      const check = yield* Effect.gen(function*() {
        yield* TestClock.setTime(Date.UTC(2030, 0, 2))
        return yield* Client.check()
      }).pipe(Effect.provide([AmlClient.layerTest("No"), TestClock.layer()]))
      strictEqual(check.sentAt.epochMilliseconds, Date.UTC(2030, 0, 2))
    })))
})
