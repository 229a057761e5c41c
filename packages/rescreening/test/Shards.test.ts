/** A worker that screens several shards. */
import { AmlClient } from "@effect-idv/core"
import { describe, layer } from "@effect/vitest"
import { assertTrue, deepStrictEqual } from "@effect/vitest/utils"
import { Deferred, Effect, Fiber, Layer, Option, Redacted, Scheduler, Tracer } from "effect"
import * as RecordingTracer from "../../core/test/support/tracer.ts"
import { Rescreening } from "../src/index.ts"
import * as Databases from "./support/databases.ts"
import { layerPeople, many, service } from "./support/people.ts"
import { at, fast, where, withLedger } from "./support/runs.ts"

/** A hundred lines in a row are in one shard. */
const firstLines = [1, 101]

describe("A worker of several shards", () => {
  layer(Databases.kinds[0][1], { excludeTestServices: true })((it) => {
    it.scoped("begins a shard while a check of the previous one is in flight, and has a span for each", () =>
      withLedger(
        Effect.gen(function*() {
          yield* Rescreening.plan(many(101, (index) => `Person${index} Testclear`), { ...fast, shards: 2 })
          const started = new Map<string, Deferred.Deferred<void>>()
          for (const line of firstLines) started.set(`Person${line} Testclear`, yield* Deferred.make<void>())
          // The first check of each shard ends after the first check of the other one has started.
          const overlapping = Layer.effect(
            AmlClient.AmlClient,
            Effect.map(AmlClient.AmlClient, (inner) =>
              AmlClient.AmlClient.of({
                ...inner,
                check: (person) =>
                  Effect.gen(function*() {
                    const ownStart = started.get(Redacted.value(person.name))
                    if (ownStart !== undefined) {
                      yield* Deferred.succeed(ownStart, undefined)
                      yield* Effect.forEach(started.values(), Deferred.await)
                    }
                    return yield* inner.check(person)
                  }).pipe(Effect.withSpan("check"))
              }))
          ).pipe(Layer.provide(service().layer))
          const { spans, tracer } = RecordingTracer.make()
          const counts = yield* Rescreening.work({ ...where, concurrency: 2 }).pipe(
            Effect.provide(overlapping),
            Effect.withTracer(tracer),
            Effect.timeout("10 seconds")
          )
          deepStrictEqual(counts, at({ no_match: 101 }))

          const named = (name: string) => spans.filter((span) => span.name === name)
          const parentOf = (span: RecordingTracer.RecordedSpan) =>
            spans.find(({ spanId }) => span.parent._tag === "Some" && span.parent.value.spanId === spanId)
          const shards = named("Rescreening.shard")
          deepStrictEqual(
            shards.map(({ attributes }) => Object.fromEntries(attributes)).toSorted((a, b) =>
              Number(a["shard"]) - Number(b["shard"])
            ),
            [{ run: where.run, shard: 0 }, { run: where.run, shard: 1 }]
          )
          deepStrictEqual(shards.map((span) => parentOf(span)?.name), ["Rescreening.work", "Rescreening.work"])
          assertTrue(shards.every(({ exit }) => exit !== undefined))
          const checks = named("check").map((span) => Number(parentOf(span)?.attributes.get("shard")))
          deepStrictEqual(
            [checks.filter((shard) => shard === 0).length, checks.filter((shard) => shard === 1).length],
            [
              100,
              1
            ]
          )
        }).pipe(Effect.provide(layerPeople()))
      ))

    it.scoped("takes no row of a shard before its span exists, however the fibers alternate", () =>
      withLedger(
        Effect.gen(function*() {
          yield* Rescreening.plan(many(104), { ...fast, shards: 2 })
          const secondShard = yield* Deferred.make<void>()
          const { tracer } = RecordingTracer.make()
          let spans = 0
          let yielding: unknown
          // The fiber that makes the second span lets the other one run, whose check ends at this moment.
          const observing = Tracer.make({
            context: tracer.context,
            span: (name, ...rest) => {
              if (name === "Rescreening.shard" && ++spans === 2) {
                yielding = Option.getOrUndefined(Fiber.getCurrentFiber())
                Deferred.unsafeDone(secondShard, Effect.void)
                setTimeout(() => yielding = undefined, 100)
              }
              return tracer.span(name, ...rest)
            }
          })
          const scheduler: Scheduler.Scheduler = {
            scheduleTask: (task, priority) => Scheduler.defaultScheduler.scheduleTask(task, priority),
            shouldYield: (fiber) => fiber === yielding ? 0 : Scheduler.defaultScheduler.shouldYield(fiber)
          }
          let checks = 0
          const waiting = Layer.effect(
            AmlClient.AmlClient,
            Effect.map(AmlClient.AmlClient, (inner) =>
              AmlClient.AmlClient.of({
                ...inner,
                check: (person) =>
                  Effect.zipRight(
                    Effect.suspend(() => ++checks === 1 ? Deferred.await(secondShard) : Effect.void),
                    inner.check(person)
                  )
              }))
          ).pipe(Layer.provide(service().layer))
          const counts = yield* Rescreening.work({ ...where, concurrency: 2 }).pipe(
            Effect.provide(waiting),
            Effect.withTracer(observing),
            Effect.withScheduler(scheduler),
            Effect.timeout("10 seconds")
          )
          deepStrictEqual([spans, counts], [2, at({ no_match: 104 })])
        }).pipe(Effect.provide(layerPeople()))
      ))
  })
})
