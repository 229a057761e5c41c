/** One of two test files that use one server at the same time. This one moves its clock and sets every fault. */
import { Fault, Profile } from "@effect-idv/mock-server"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { DateTime, Effect, Schedule } from "effect"
import * as RawClient from "./support/rawClient.ts"
import * as SharedServer from "./support/sharedServer.ts"

const mine = "test-isolation-a"
const other = "test-isolation-b"

const faults = Fault.kinds.flatMap(({ kind, on }) => on.map((on) => ({ id: `${kind}-${on}`, on, what: { kind } })))

describe("A session with every fault", () => {
  it.scopedLive("keeps its faults and its clock to itself", (context) =>
    Effect.gen(function*() {
      const { control, isSignalled, signal, url } = yield* SharedServer.server([mine, other])
      yield* signal(mine)
      const isMet = yield* isSignalled(other, 8_000)

      const session = control.session(mine)
      const token = yield* RawClient.token(url, mine)
      const { now } = yield* session.advance("2 hours")
      strictEqual(Math.abs(DateTime.toEpochMillis(now) - Date.now() - 7_200_000) < 5_000, true)
      yield* session.changeProfile({ preset: "hostile" })
      yield* Effect.forEach(faults, session.fault)
      yield* session.revokeTokens()
      yield* signal(`${mine}-faulty`)

      // Each fault is the first of its endpoint once. The latencies apply to all of them.
      yield* session.removeFault("latency-token")
      yield* session.removeFault("latency-aml")
      const others = faults.filter(({ id }) => !id.startsWith("latency"))
      for (const [index, { id, on }] of others.entries()) {
        const request = on === "token" ? RawClient.tokenRequest(mine) : RawClient.amlRequest(token)
        yield* RawClient.send(url, request, 100)
        // The journal has the first token request and one exchange for each fault so far.
        yield* Effect.repeat(session.info, {
          until: ({ exchanges }) => exchanges === index + 2,
          schedule: Schedule.spaced("10 millis")
        })
        yield* session.removeFault(id)
      }
      const { entries } = yield* session.journal()
      strictEqual(entries.every(({ customerId }) => customerId === mine), true)
      deepStrictEqual(
        entries.slice(1).map(({ faults: [fault] }) => fault?.id),
        others.map(({ id }) => id)
      )
      strictEqual(entries.some(({ rule }) => rule === "aml.token-expired"), true)

      const isSeen = isMet && (yield* isSignalled(`${other}-looked`, 20_000))
      const info = yield* session.reset
      deepStrictEqual([info.exchanges, info.faults, info.profile], [0, 0, Profile.defaultProfile])
      strictEqual(yield* RawClient.works(url, mine), true)
      yield* signal(`${mine}-done`)
      context.skip(!isSeen, "alone: the other file was not run at the same time")
    }), 60_000)
})
