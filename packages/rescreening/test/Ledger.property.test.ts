/** The ledger against a model of itself, with random histories over several workers. */
import { SqlClient } from "@effect/sql"
import { describe, layer } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, FastCheck as fc, Runtime, Schema, Stream } from "effect"
import { runs } from "../../core/test/support/cases.ts"
import { Ledger, Run } from "../src/index.ts"
import * as Databases from "./support/databases.ts"

const lease = 3_600_000
const service = "api.example.com"
const policy = Schema.decodeSync(Run.Policy)({})

interface ModelRow {
  state: Run.State
  token: string | null
  timesSent: number
  timesUnknown: number
  late: number
}

type Step = { readonly action: string; readonly a: number; readonly b: number; readonly c: number }

/** What brings a row on is frequent, and what stops everybody is rare, so that most rows get somewhere. */
const weights = {
  claim: 4,
  send: 6,
  settle: 6,
  release: 1,
  releaseAll: 1,
  "lose lease": 1,
  renew: 1,
  expire: 2,
  rescreen: 2,
  pause: 1,
  resume: 3,
  "pause service": 1,
  "end pause": 3,
  "finish rows": 2,
  complete: 2
}

const actions = Object.entries(weights).flatMap(([action, weight]) => Array.from({ length: weight }, () => action))

const step: fc.Arbitrary<Step> = fc.record({
  action: fc.constantFrom(...actions),
  a: fc.nat(1000),
  b: fc.nat(1000),
  c: fc.nat(1000)
})

const at = <A>(items: ReadonlyArray<A>, index: number): A | undefined => items[index % Math.max(1, items.length)]

const outcomes = ["no_match", "no_match_doubtful", "potential_match", "not_screened", "unknown"] as const

const results: ReadonlyArray<Run.State> = ["no_match", "no_match_doubtful", "potential_match"]

const history = (id: string, steps: ReadonlyArray<Step>) =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const sql = yield* SqlClient.SqlClient
    const size = 7
    const model = new Map<number, ModelRow>(
      Array.from({ length: size }, (_, index) => [index + 1, {
        state: "pending",
        token: null,
        timesSent: 0,
        timesUnknown: 0,
        late: 0
      }])
    )
    const leases = new Map<string, boolean>()
    const claims: Array<Ledger.Claim> = []
    /** The rows and tokens whose late result is kept beside the outcome. */
    const beside = new Set<string>()
    let runState: "open" | "paused" | "complete" = "open"
    let isServicePaused = false
    let amended = 0
    const serviceOf = `${service}/${id}`

    yield* ledger.plan(
      { id, policy, service: serviceOf, people: "lookup" },
      Stream.map(Stream.range(1, size), (line) => ({ line, id: `K${line}`, person: null, codes: [] })),
      () => "digest"
    )

    const rowOf = ({ line, token }: Ledger.Claim): ModelRow | undefined => {
      const row = model.get(line)
      return row?.token === token ? row : undefined
    }
    /** The latest claims of each line, in any state: a group of one to three rows. */
    const groupOf = (claim: Ledger.Claim): ReadonlyArray<Ledger.Claim> =>
      Array.from(new Map([...claims.toReversed(), claim].map((claim) => [claim.line, claim])).values())
        .slice(0, claim.line % 3 + 1)
    const linesOf = (claims: ReadonlyArray<Ledger.Claim>): ReadonlySet<number> =>
      new Set(claims.map(({ line }) => line))
    const isLeased = (token: string | null) => token !== null && leases.get(token) === true
    const rows = () => Array.from(model.values())
    const isHeld = ({ state }: ModelRow) => state === "claimed" || state === "sent"
    /** The requests of a claim replace the one that `sent` counted. */
    const count = (row: ModelRow, requests: number) => {
      row.timesSent += requests - (row.state === "claimed" ? 0 : 1)
    }

    const perform = (name: string, { a, b, c }: Step): Effect.Effect<void, Ledger.Failure> =>
      Effect.gen(function*() {
        // Half of the time one of the latest, which is likely to be in an interesting state.
        const claim = b % 2 === 0 ? at(claims.slice(-2), c) : at(claims, b)
        switch (name) {
          case "claim": {
            const limit = c % 3 + 1
            const expected = Array.from(model).filter(([, { state }]) => state === "pending").map(([line]) => line)
              .slice(0, limit)
            const claimed = yield* ledger.claim({ run: id, limit, lease })
            deepStrictEqual(claimed.map(({ line }) => line).toSorted((a, b) => a - b), expected)
            for (const claim of claimed) {
              claims.push(claim)
              leases.set(claim.token, true)
              Object.assign(model.get(claim.line) ?? {}, { state: "claimed", token: claim.token })
            }
            return
          }
          case "send": {
            if (claim === undefined) return
            const group = groupOf(claim)
            const expected = group.filter((claim) => {
              const row = rowOf(claim)
              return row !== undefined && isHeld(row) && isLeased(claim.token) && runState === "open" &&
                !isServicePaused
            })
            deepStrictEqual(yield* ledger.send(id, group, serviceOf), linesOf(expected))
            for (const row of expected.map(rowOf)) {
              if (row === undefined) continue
              if (row.state === "claimed") row.timesSent++
              row.state = "sent"
            }
            return
          }
          case "settle": {
            if (claim === undefined) return
            const requests = a % 3
            const group = groupOf(claim).map((claim, index) => ({
              claim,
              state: at(outcomes, c + index) ?? "no_match"
            }))
            const onTime = group.filter(({ claim, state }) => {
              const row = rowOf(claim)
              return row?.state === "sent" || (row?.state === "claimed" && state === "not_screened")
            })
            const isLate = (state: Run.State) => results.includes(state)
            const late = group.filter(({ claim, state }) => {
              const row = rowOf(claim)
              return isLate(state) && (row?.state === "unknown" || row?.state === "pending")
            })
            const kept = group.filter(({ claim: { line, token }, state }) =>
              isLate(state) && model.get(line)?.token !== token && !beside.has(`${line} ${token}`)
            )
            const found = yield* ledger.settle(
              id,
              group.map(({ claim: { line, token }, state }) => ({
                line,
                token,
                requests,
                outcome: { state, checkId: "check" }
              }))
            )
            deepStrictEqual(found.settled, linesOf([...onTime, ...late].map(({ claim }) => claim)))
            strictEqual(found.amended, kept.length + (runState === "complete" ? late.length : 0))
            amended += found.amended
            for (const { claim, state } of [...onTime, ...late]) {
              const row = rowOf(claim)
              if (row === undefined) continue
              count(row, requests)
              row.state = state
              if (state === "unknown") row.timesUnknown++
            }
            for (const { claim: { line, token } } of kept) {
              beside.add(`${line} ${token}`)
              const row = model.get(line)
              if (row !== undefined) row.late++
            }
            return
          }
          case "release": {
            if (claim === undefined) return
            const row = rowOf(claim)
            const expected = row !== undefined && isHeld(row)
            const requests = a % 3
            deepStrictEqual(
              yield* ledger.release(id, [{ line: claim.line, token: claim.token, requests }]),
              expected ? 1 : 0
            )
            if (row !== undefined && expected) {
              count(row, requests)
              row.state = "pending"
            }
            return
          }
          case "releaseAll": {
            if (claim === undefined) return
            const held = rows().filter((row) => isHeld(row) && row.token === claim.token)
            deepStrictEqual(yield* ledger.releaseAll(id, [claim.token]), held.length)
            for (const row of held) {
              count(row, 0)
              row.state = "pending"
            }
            return
          }
          case "lose lease": {
            if (claim === undefined) return
            // Ended, or stored in the future: the clock of the database was set back. Or gone.
            if (a % 3 === 0) yield* ledger.endLeases([claim.token])
            else {
              const change = a % 3 === 1
                ? sql`lease_until = 0`
                : sql`stored_at = stored_at + 7200000, lease_until = lease_until + 7200000`
              yield* Effect.orDie(sql`UPDATE idv_rescreen_leases SET ${change} WHERE token = ${claim.token}`)
            }
            leases.set(claim.token, false)
            return
          }
          case "renew": {
            if (claim === undefined) return
            const expected = isLeased(claim.token) ? [claim.token] : []
            deepStrictEqual(yield* ledger.renew([claim.token, "nobody"], lease), new Set(expected))
            return
          }
          case "expire": {
            const lost = rows().filter((row) => isHeld(row) && !isLeased(row.token))
            const claimed = lost.filter(({ state }) => state === "claimed")
            const sent = lost.filter(({ state }) => state === "sent")
            const found = yield* ledger.expire(id)
            deepStrictEqual([found.pending, found.unknown], [claimed.length, sent.length])
            claimed.forEach((row) => Object.assign(row, { state: "pending" }))
            sent.forEach((row) => Object.assign(row, { state: "unknown", timesUnknown: row.timesUnknown + 1 }))
            return
          }
          case "rescreen": {
            const state = c % 2 === 0 ? "unknown" : "not_screened"
            const reopens = a % 2 === 0
            const again = runState === "complete" && !reopens
              ? []
              : rows().filter((row) => row.state === state && row.timesUnknown < 2)
            deepStrictEqual(yield* ledger.rescreen(id, state, { maxUnknown: 2, reopens }), again.length)
            again.forEach((row) => Object.assign(row, { state: "pending" }))
            if (again.length > 0 && runState === "complete") runState = "open"
            return
          }
          case "pause": {
            deepStrictEqual(yield* ledger.pause(id, "operator"), runState === "open")
            if (runState === "open") runState = "paused"
            return
          }
          case "resume": {
            deepStrictEqual(yield* ledger.resume(id), runState === "paused")
            if (runState === "paused") runState = "open"
            return
          }
          case "pause service": {
            yield* ledger.pauseService(serviceOf, lease)
            isServicePaused = true
            return
          }
          case "end pause": {
            const change = c % 2 === 0
              ? sql`resumes_at = 0`
              : sql`pause_stored_at = pause_stored_at + 7200000, resumes_at = resumes_at + 7200000`
            yield* Effect.orDie(sql`UPDATE idv_rescreen_services SET ${change} WHERE service = ${serviceOf}`)
            isServicePaused = false
            return
          }
          // Otherwise a run is hardly ever complete.
          case "finish rows": {
            yield* Effect.orDie(
              sql`UPDATE idv_rescreen_people SET state = 'not_screened'
                WHERE plan = (SELECT plan FROM idv_rescreen_runs WHERE id = ${id})
                  AND state IN ('pending', 'claimed', 'sent')`
            )
            for (const row of rows()) {
              if (row.state === "pending" || isHeld(row)) row.state = "not_screened"
            }
            return
          }
          case "complete": {
            const unknown = c % 2 === 0 ? 0 : 2
            const expected = runState === "open" &&
              rows().every((row) =>
                row.state !== "pending" && !isHeld(row) && (row.state !== "unknown" || row.timesUnknown >= unknown)
              )
            deepStrictEqual(yield* ledger.complete(id, { unknown }), expected)
            if (expected) runState = "complete"
          }
        }
      })

    for (const step of steps) {
      yield* perform(step.action, step)
      const stored = Array.from(yield* Stream.runCollect(ledger.byLine(id)))
      const tokens = yield* Effect.orDie(
        sql<{ token: string | null }>`SELECT token FROM idv_rescreen_people
          WHERE plan = (SELECT plan FROM idv_rescreen_runs WHERE id = ${id}) ORDER BY line`
      )
      deepStrictEqual(
        stored.map(({ late, state, timesSent, timesUnknown }, index) => ({
          state,
          token: tokens[index]?.token ?? null,
          timesSent,
          timesUnknown,
          late: late.length
        })),
        rows()
      )
      const run = yield* Effect.orDie(ledger.run(id))
      deepStrictEqual([run.state, run.amended], [runState, amended])
      const counts = yield* ledger.counts(id)
      deepStrictEqual(Run.total(counts), size)
      if (run.state === "complete") deepStrictEqual(Run.left(counts), 0)
    }
  })

describe.each(Databases.kinds)("Ledger in %s", (_, databases) => {
  layer(databases, { excludeTestServices: true })((it) => {
    it.scoped("behaves like its model under any interleaving of several workers", () =>
      Effect.gen(function*() {
        const context = yield* Databases.ledger
        const runtime = yield* Effect.provide(Effect.runtime<Ledger.Ledger | SqlClient.SqlClient>(), context)
        let number = 0
        yield* Effect.promise(() =>
          fc.assert(
            fc.asyncProperty(
              fc.array(step, { minLength: 30, maxLength: 60, size: "max" }),
              (steps) => Runtime.runPromise(runtime)(history(`run-${number++}`, steps))
            ),
            { numRuns: runs(10) }
          )
        )
      }))
  })
})
