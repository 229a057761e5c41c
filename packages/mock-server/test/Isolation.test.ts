/** Two sessions of one server at the same time: one sets every fault and moves its clock, the other must not notice. */
import { Control, Fault, MockServer, Profile } from "@effect-idv/mock-server"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Array as Arr, Context, DateTime, Deferred, Duration, Effect, Layer } from "effect"
import { eventually } from "../../core/test/support/eventually.ts"
import * as RawClient from "./support/rawClient.ts"

/** The window of the quota is longer than the test may take on a busy machine. By default a drip takes half a minute. */
const whatOf = (kind: (typeof Fault.kinds)[number]["kind"]) =>
  kind === "quota" ? { kind, per: "1 day" } : kind === "drip" ? { kind, every: "1 millis" } : { kind }

const faults = Fault.kinds.flatMap(({ kind, on }) => on.map((on) => ({ id: `${kind}-${on}`, on, what: whatOf(kind) })))

const server = Effect.map(
  Layer.build(MockServer.layerTest),
  (services) => ({
    url: Context.get(services, MockServer.MockServer).url,
    session: Context.get(services, Control.Control).session
  })
)

/** The time of the session minus that of this process, in hours. */
const hoursAhead = (now: DateTime.Utc) =>
  Math.round(Duration.toHours(Duration.millis(DateTime.toEpochMillis(now) - Date.now())))

describe("Two sessions of one server", () => {
  it.scopedLive("one with every fault keeps its faults and its clock to itself, and the other has correct responses", () =>
    Effect.gen(function*() {
      const { session, url } = yield* server
      const isFaulty = yield* Deferred.make<void>()
      const isChecked = yield* Deferred.make<void>()

      const faulty = Effect.gen(function*() {
        const customerId = "test-isolation-a"
        const control = session(customerId)
        const token = yield* RawClient.token(url, customerId)
        strictEqual(hoursAhead((yield* control.advance("2 hours")).now), 2)
        yield* control.changeProfile({ preset: "hostile" })
        yield* Effect.forEach(faults, control.fault)
        yield* control.revokeTokens()
        yield* Deferred.succeed(isFaulty, undefined)

        // Each fault is the first of its endpoint once. The latencies apply to all of them.
        yield* control.removeFault("latency-token")
        yield* control.removeFault("latency-aml")
        const others = faults.filter(({ id }) => !id.startsWith("latency"))
        for (const [index, { id, on }] of others.entries()) {
          const request = on === "token" ? RawClient.tokenRequest(customerId) : RawClient.amlRequest(token)
          // The journal has the first token request and one exchange for each fault so far.
          yield* Effect.scoped(Effect.gen(function*() {
            const connection = yield* RawClient.connect(url)
            yield* connection.write(request)
            yield* eventually("the next exchange", control.info, ({ exchanges }) => exchanges === index + 2)
          }))
          yield* control.removeFault(id)
        }
        const { entries } = yield* control.journal()
        deepStrictEqual(Arr.dedupe(entries.map(({ customerId }) => customerId)), [customerId])
        deepStrictEqual(entries.slice(1).map(({ faults: [fault] }) => fault?.id), others.map(({ id }) => id))
        strictEqual(entries.some(({ rule }) => rule === "aml.token-expired"), true)

        yield* Deferred.await(isChecked)
        const info = yield* control.reset
        deepStrictEqual([info.exchanges, info.faults, info.profile], [0, 0, Profile.defaultProfile])
        strictEqual(yield* RawClient.works(url, customerId), true)
      })

      const correct = Effect.gen(function*() {
        const customerId = "test-isolation-b"
        const control = session(customerId)
        yield* Deferred.await(isFaulty)
        const token = yield* RawClient.token(url, customerId)
        const check = Effect.gen(function*() {
          const { body, statusLine } = RawClient.parse(yield* RawClient.send(url, RawClient.amlRequest(token)))
          strictEqual(statusLine, "HTTP/1.1 200 OK")
          const { cred_version, credentials: { attributes } } = JSON.parse(body.toString())
          deepStrictEqual([cred_version, attributes.name, attributes.match_found], ["1.0", "Ada Testclear", "No"])
          strictEqual(hoursAhead(DateTime.unsafeMake(`${attributes.searched_on.replace(" ", "T")}Z`)), 0)
        })
        const checks = 40
        yield* Effect.replicateEffect(check, checks, { discard: true })
        const { clock, faults, profile } = yield* control.info
        strictEqual(hoursAhead(clock.now), 0)
        deepStrictEqual([faults, profile], [0, Profile.defaultProfile])
        yield* control.verify({ kind: "nothingUnexpected" })
        yield* control.verify({ kind: "exactly", n: checks, pattern: { rule: "aml.answered", status: 200 } })
        const { entries } = yield* control.journal()
        deepStrictEqual(
          entries.map(({ customerId, faults }) => [customerId, ...faults]),
          Arr.makeBy(checks + 1, () => [customerId])
        )
        yield* Deferred.succeed(isChecked, undefined)
        return { control, check, checks }
      })

      const [, { check, checks, control }] = yield* Effect.all([faulty, correct], { concurrency: 2 })
      // The reset of the other session changed nothing here.
      yield* check
      strictEqual((yield* control.info).exchanges, checks + 2)
    }))
})
