/** One of two test files that use one server at the same time. This one must not be affected by the other. */
import { Profile } from "@effect-idv/mock-server"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { DateTime, Effect } from "effect"
import * as RawClient from "./support/rawClient.ts"
import * as SharedServer from "./support/sharedServer.ts"

const mine = "test-isolation-b"
const other = "test-isolation-a"

describe("A session beside one with every fault", () => {
  it.scopedLive(
    "has correct responses, the right time and only its own journal entries",
    (context) =>
      Effect.gen(function*() {
        const { control, isSignalled, signal, url } = yield* SharedServer.server([mine, other])
        yield* signal(mine)
        const isMet = (yield* isSignalled(other, 8_000)) && (yield* isSignalled(`${other}-faulty`, 20_000))

        const session = control.session(mine)
        const token = yield* RawClient.token(url, mine)
        const check = Effect.gen(function*() {
          const answer = yield* RawClient.send(url, RawClient.amlRequest(token))
          const { body, statusLine } = RawClient.parse(answer)
          strictEqual(statusLine, "HTTP/1.1 200 OK")
          const { cred_version, credentials: { attributes } } = JSON.parse(body.toString())
          deepStrictEqual([cred_version, attributes.name, attributes.match_found], ["1.0", "Ada Testclear", "No"])
          const searchedOn = Date.parse(`${attributes.searched_on.replace(" ", "T")}Z`)
          strictEqual(Math.abs(searchedOn - Date.now()) < 5_000, true)
        })

        const checks = 40
        yield* Effect.replicateEffect(Effect.delay(check, "25 millis"), checks, { discard: true })
        const { clock, faults, profile } = yield* session.info
        strictEqual(Math.abs(DateTime.toEpochMillis(clock.now) - Date.now()) < 5_000, true)
        deepStrictEqual([faults, profile], [0, Profile.defaultProfile])
        yield* session.verify({ kind: "nothingUnexpected" })
        yield* session.verify({ kind: "exactly", n: checks, pattern: { rule: "aml.answered", status: 200 } })
        const { entries } = yield* session.journal()
        deepStrictEqual(
          entries.map(({ customerId, faults }) => [customerId, ...faults]),
          Array.from({ length: checks + 1 }, () => [mine])
        )

        // The server numbers all exchanges, so gaps are the exchanges of the other customer.
        const [first = 0, last = 0] = [entries[1]?.id, entries.at(-1)?.id]
        const isBetween = last - first > checks
        strictEqual(isBetween, isMet)

        yield* signal(`${mine}-looked`)
        if (isMet) yield* isSignalled(`${other}-done`, 20_000)
        yield* check
        strictEqual((yield* session.info).exchanges, checks + 2)
        yield* signal(`${mine}-done`)
        context.skip(!isMet, "alone: the other file was not run at the same time")
      }),
    60_000
  )
})
