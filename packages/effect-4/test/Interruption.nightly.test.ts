/** Interrupts many checks, each after a random number of turns of the event loop, and compares what they report with the service. */
import { AmlClient } from "@effect-idv/effect-4"
import { Console, Effect, Exit, Fiber, Random } from "effect"
import { deepStrictEqual, ok, strictEqual } from "node:assert"
import { describe, it } from "vitest"
import * as Client from "./support/client.ts"
import * as Service from "./support/service.ts"

const checks = 5200
const concurrency = 20

/** A name that identifies the check: the digits of its number as letters. */
const nameOf = (index: number) => `Ada Test${[...String(index)].map((digit) => "abcdefghij"[Number(digit)]).join("")}`

const turn = Effect.callback<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

const resources = () =>
  process.getActiveResourcesInfo().filter((name) => name === "Timeout" || name === "Immediate").length

describe("5,000 interruptions at random instants", () => {
  it("report no request as not sent that the service received, and leave nothing running", () =>
    Effect.runPromise(Effect.scoped(Effect.gen(function*() {
      const arrived = new Set<string>()
      let open = 0
      const service = yield* Service.make({
        respond: (response, body) => {
          const name: string = JSON.parse(body).name
          arrived.add(name)
          open++
          response.on("close", () => open--)
          setTimeout(() => response.end(Service.credential({ name })), 20 + Math.random() * 60)
        }
      })
      const before = resources()
      const outcomes = new Map<string, number>()
      const run = (index: number) =>
        Effect.gen(function*() {
          const name = nameOf(index)
          const reports: Array<string> = []
          const fiber = yield* Client.check({ ...Client.ada, name }).pipe(
            AmlClient.onInterruptedCheck((sent) => Effect.sync(() => void reports.push(sent))),
            Effect.forkChild
          )
          const turns = yield* Random.nextIntBetween(0, 12)
          for (let left = turns; left > 0; left--) yield* turn
          yield* Fiber.interrupt(fiber)
          const exit = yield* Fiber.await(fiber)
          // A fiber that is interrupted before it calls `check` has nothing to report.
          ok(reports.length <= 1)
          const outcome = Exit.isSuccess(exit) ? "completed" : reports[0] ?? "not started"
          if (!Exit.isSuccess(exit)) strictEqual(Exit.hasInterrupts(exit), true)
          if (Exit.isSuccess(exit)) strictEqual(reports.length, 0)
          outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
          return { name, outcome }
        })
      const all = yield* Effect.gen(function*() {
        const all = yield* Effect.forEach(Array.from({ length: checks }, (_, index) => index), run, { concurrency })
        // Every request that an interruption left on its way has arrived by then.
        for (let left = 200; left > 0; left--) yield* turn
        return all
      }).pipe(Effect.provide(Client.layerOf(service.url)))
      const lies = all.filter(({ name, outcome }) => /^no/.test(outcome) && arrived.has(name))
      while ((yield* service.connections) > 0) yield* turn
      yield* Effect.sleep(10)
      const interrupted = checks - (outcomes.get("completed") ?? 0)
      yield* Console.log(
        `${interrupted} interruptions of ${checks} checks: ${
          [...outcomes].map(([outcome, count]) => `${count} ${outcome}`).toSorted().join(", ")
        }.`,
        `The service received ${arrived.size} requests. Lies: ${lies.length}. Open requests: ${open}. Timers left: ${
          resources() - before
        }.`
      )
      deepStrictEqual([lies, open], [[], 0])
      ok(resources() <= before)
      ok(interrupted >= 5000)
      for (const outcome of ["no", "unknown"]) ok((outcomes.get(outcome) ?? 0) > 100, outcome)
    }))))
})
