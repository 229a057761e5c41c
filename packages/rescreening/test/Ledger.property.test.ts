/** The ledger against a model of itself, with random histories over several workers. */
import { SqlClient } from "@effect/sql"
import { describe, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Config, Effect, FastCheck as fc, Runtime, Schema, Stream } from "effect"
import { Ledger, Run } from "../src/index.ts"
import * as Databases from "./support/databases.ts"

const lease = 3_600_000
const service = "api.example.com"
const policy = Schema.decodeSync(Run.Policy)({ shards: 2 })

interface ModelRow {
  state: Run.State
  worker: string | null
  timesSent: number
  timesUnknown: number
}

type Step = { readonly action: string; readonly a: number; readonly b: number; readonly c: number }

/** What brings a row on is frequent, and what stops everybody is rare, so that most rows get somewhere. */
const weights = {
  register: 2,
  claim: 4,
  send: 6,
  settle: 6,
  release: 1,
  releaseClaimed: 1,
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

/** A hundred lines in a row are of one shard. */
const lineOf = (index: number) => 1 + 100 * index
const shardOf = (line: number) => (line - 1) / 100 % policy.shards

const at = <A>(items: ReadonlyArray<A>, index: number): A | undefined => items[index % Math.max(1, items.length)]

const outcomes = ["no_match", "no_match_doubtful", "potential_match", "not_screened", "unknown"] as const

const history = (id: string, steps: ReadonlyArray<Step>) =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const sql = yield* SqlClient.SqlClient
    const size = 7
    const model = new Map<number, ModelRow>(
      Array.from({ length: size }, (_, index) => [lineOf(index), {
        state: "pending",
        worker: null,
        timesSent: 0,
        timesUnknown: 0
      }])
    )
    const workers: Array<{ readonly token: string; isLeased: boolean }> = []
    const claims: Array<Ledger.Claim> = []
    let runState: "open" | "paused" | "complete" = "open"
    let isServicePaused = false
    const serviceOf = `${service}/${id}`

    yield* ledger.plan(
      { id, policy, service: serviceOf, people: "lookup" },
      Stream.map(
        Stream.range(0, size - 1),
        (index) => ({ line: lineOf(index), id: `K${index}`, person: null, codes: [] })
      ),
      () => "digest"
    )

    const rowOf = (claim: Ledger.Claim): ModelRow | undefined => {
      const row = model.get(claim.line)
      return row?.worker === claim.worker ? row : undefined
    }
    /** The latest claims of the worker of this claim, each line once, in any state: a group of one to three rows. */
    const groupOf = (claim: Ledger.Claim): ReadonlyArray<Ledger.Claim> => {
      const sameWorker = [claim, ...claims.toReversed()].filter(({ worker }) => worker === claim.worker)
      return Array.from(new Map(sameWorker.map((claim) => [claim.line, claim])).values()).slice(0, claim.line % 3 + 1)
    }
    const linesOf = (claims: ReadonlyArray<Ledger.Claim>): ReadonlySet<number> =>
      new Set(claims.map(({ line }) => line))
    const isLeased = (token: string) => workers.find((worker) => worker.token === token)?.isLeased === true
    const rows = () => Array.from(model.values())
    const pending = (row: ModelRow) => Object.assign(row, { state: "pending", worker: null })

    const perform = (name: string, { a, b, c }: Step): Effect.Effect<void, Ledger.Failure> =>
      Effect.gen(function*() {
        const worker = at(workers, a)
        // Half of the time one of the latest, which is likely to be in an interesting state.
        const claim = b % 2 === 0 ? at(claims.slice(-2), c) : at(claims, b)
        switch (name) {
          case "register": {
            workers.push({ token: yield* ledger.register(id, lease), isLeased: true })
            return
          }
          case "claim": {
            if (worker === undefined) return
            const limit = c % 3 + 1
            const shard = b % policy.shards
            const expected = worker.isLeased
              ? Array.from(model).filter(([line, { state }]) => shardOf(line) === shard && state === "pending")
                .map(([line]) => line).slice(0, limit)
              : []
            const claimed = yield* ledger.claim({ run: id, shard, worker: worker.token, limit })
            deepStrictEqual(claimed.map(({ line }) => line).toSorted((a, b) => a - b), expected)
            for (const claim of claimed) {
              claims.push(claim)
              Object.assign(model.get(claim.line) ?? {}, { state: "claimed", worker: worker.token })
            }
            return
          }
          case "send": {
            if (claim === undefined) return
            const group = groupOf(claim)
            const expected = group.filter((claim) =>
              rowOf(claim)?.state === "claimed" && isLeased(claim.worker) && runState === "open" && !isServicePaused
            )
            deepStrictEqual(yield* ledger.send(claim, group.map(({ line }) => line), serviceOf), linesOf(expected))
            for (const row of expected.map(rowOf)) {
              if (row !== undefined) Object.assign(row, { state: "sent", timesSent: row.timesSent + 1 })
            }
            return
          }
          case "settle": {
            if (claim === undefined) return
            const group = groupOf(claim).map((claim, index) => ({
              claim,
              state: at(outcomes, c + index) ?? "no_match"
            }))
            const expected = group.filter(({ claim, state }) => {
              const row = rowOf(claim)
              return row?.state === "sent" || (row?.state === "unknown" && state !== "unknown") ||
                (row?.state === "claimed" && state === "not_screened")
            })
            deepStrictEqual(
              yield* ledger.settle(claim, group.map(({ claim: { line }, state }) => ({ line, outcome: { state } }))),
              linesOf(expected.map(({ claim }) => claim))
            )
            for (const { claim, state } of expected) {
              const row = rowOf(claim)
              if (row === undefined) continue
              row.state = state
              if (state === "unknown") row.timesUnknown++
            }
            return
          }
          case "release": {
            if (claim === undefined) return
            const row = rowOf(claim)
            const expected = (row?.state === "claimed" || row?.state === "sent") &&
              row.timesSent <= claim.timesSent + 1
            deepStrictEqual(yield* ledger.release(claim), expected)
            if (row !== undefined && expected) pending(row)
            return
          }
          case "releaseClaimed": {
            if (worker === undefined) return
            const held = rows().filter((row) => row.state === "claimed" && row.worker === worker.token)
            deepStrictEqual(yield* ledger.releaseClaimed(id, worker.token), held.length)
            held.forEach(pending)
            return
          }
          case "lose lease": {
            if (worker === undefined) return
            yield* Effect.orDie(
              sql`UPDATE idv_rescreen_workers SET lease_until = 0 WHERE token = ${worker.token}`
            )
            worker.isLeased = false
            return
          }
          case "renew": {
            if (worker === undefined) return
            deepStrictEqual(yield* ledger.renew(worker.token, lease), worker.isLeased)
            return
          }
          case "expire": {
            const lost = rows().filter((row) => row.worker !== null && !isLeased(row.worker))
            const claimed = lost.filter(({ state }) => state === "claimed")
            const sent = lost.filter(({ state }) => state === "sent")
            deepStrictEqual(yield* ledger.expire(id), { pending: claimed.length, unknown: sent.length })
            claimed.forEach(pending)
            sent.forEach((row) => Object.assign(row, { state: "unknown", timesUnknown: row.timesUnknown + 1 }))
            return
          }
          case "rescreen": {
            const state = c % 2 === 0 ? "unknown" : "not_screened"
            const again = runState === "complete"
              ? []
              : rows().filter((row) => row.state === state && row.timesUnknown < 2)
            deepStrictEqual(yield* ledger.rescreen(id, state, { maxUnknown: 2 }), again.length)
            again.forEach(pending)
            return
          }
          case "pause": {
            deepStrictEqual(yield* ledger.pause(id, "operator"), runState === "open")
            if (runState === "open") runState = "paused"
            return
          }
          case "resume": {
            deepStrictEqual(yield* ledger.resume(id), runState !== "open")
            runState = "open"
            return
          }
          case "pause service": {
            yield* ledger.pauseService(serviceOf, lease)
            isServicePaused = true
            return
          }
          case "end pause": {
            yield* Effect.orDie(
              sql`UPDATE idv_rescreen_services SET resumes_at = 0 WHERE service = ${serviceOf}`
            )
            isServicePaused = false
            return
          }
          // Otherwise a run is hardly ever complete.
          case "finish rows": {
            yield* Effect.orDie(
              sql`UPDATE idv_rescreen_people SET state = 'not_screened'
                WHERE run = ${id} AND state IN ('pending', 'claimed', 'sent')`
            )
            for (const row of rows()) {
              if (row.state === "pending" || row.state === "claimed" || row.state === "sent") row.state = "not_screened"
            }
            return
          }
          case "complete": {
            const unknown = c % 2 === 0 ? 0 : 2
            const expected = runState === "open" &&
              rows().every(({ state, timesUnknown }) =>
                state !== "pending" && state !== "claimed" && state !== "sent" &&
                (state !== "unknown" || timesUnknown >= unknown)
              )
            deepStrictEqual(yield* ledger.complete(id, { unknown }), expected)
            if (expected) runState = "complete"
          }
        }
      })

    for (const step of steps) {
      yield* perform(step.action, step)
      const stored = yield* Effect.orDie(
        sql<ModelRow>`SELECT state, worker, times_sent AS "timesSent", times_unknown AS "timesUnknown"
          FROM idv_rescreen_people WHERE run = ${id} ORDER BY line`
      )
      deepStrictEqual(stored.map((row) => ({ ...row })), rows())
      const { state } = yield* Effect.orDie(ledger.run(id))
      deepStrictEqual(state, runState)
      // Nobody sends a row again that did not become unknown, or was released because it was not performed.
      const counts = yield* ledger.counts(id)
      deepStrictEqual(Run.total(counts), size)
      if (state === "complete") deepStrictEqual(Run.left(counts), 0)
    }
  })

describe.each(Databases.kinds)("Ledger in %s", (_, databases) => {
  layer(databases, { excludeTestServices: true })((it) => {
    it.scoped("behaves like its model under any interleaving of several workers", () =>
      Effect.gen(function*() {
        const context = yield* Databases.ledger
        const runtime = yield* Effect.provide(Effect.runtime<Ledger.Ledger | SqlClient.SqlClient>(), context)
        const numRuns = yield* Config.withDefault(Config.integer("HISTORIES"), 25)
        let number = 0
        yield* Effect.promise(() =>
          fc.assert(
            fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 60, size: "max" }), (steps) =>
              Runtime.runPromise(runtime)(history(`run-${number++}`, [
                { action: "register", a: 0, b: 0, c: 0 },
                { action: "register", a: 0, b: 0, c: 0 },
                ...steps
              ]))),
            { numRuns }
          )
        )
      }))
  })
})
