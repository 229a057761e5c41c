/** When the requests of workers leave, by the clock of the test: the rate, at any distance to the database. */
import type { Person } from "@effect-idv/core"
import { AmlClient, AmlError, Idv } from "@effect-idv/core"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { describe, it } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Context, Duration, Effect, Fiber, Layer, Record, Redacted } from "effect"
import { sample } from "../../core/test/support/cases.ts"
import type { Ledger } from "../src/index.ts"
import { People, RescreeningError } from "../src/index.ts"
import * as RetryBudget from "../src/internal/worker/retryBudget.ts"
import * as Worker from "../src/internal/worker/worker.ts"
import * as VirtualClock from "./support/virtualClock.ts"
import * as VirtualLedger from "./support/virtualLedger.ts"

const rate = 50
const serviceTime = 20

interface Sent {
  readonly at: number
  readonly worker: number
}

const clientOf = (http: HttpClient.HttpClient) =>
  Idv.layer({
    authUrl: "https://auth.example.com",
    baseUrl: "https://api.example.com",
    customerId: "customer",
    customerKey: Redacted.make("key")
  }).pipe(
    Layer.provide(Layer.succeed(HttpClient.HttpClient, http)),
    Layer.build,
    Effect.map(Context.get(AmlClient.AmlClient))
  )

/**
 * Screens people with workers that have these round trips to the database. `answer` receives the number of the request.
 * `stallAt` holds back the clock of all workers at once, like a machine that is suspended. From `downAt` on, each
 * statement fails.
 */
const screened = (
  count: number,
  roundTrips: ReadonlyArray<number>,
  options: {
    readonly answer?: (number: number) => AmlClient.Canned
    readonly stallAt?: number
    readonly downAt?: number
    readonly rate?: number
    /** How long the processor is busy with each check, in milliseconds. */
    readonly cost?: number
    /** A client of each worker, with this HTTP client. */
    readonly http?: HttpClient.HttpClient
    readonly onStep?: (ledger: ReturnType<typeof VirtualLedger.make>, now: number) => void
  } = {}
) =>
  Effect.gen(function*() {
    const time = VirtualClock.make()
    const ledger = VirtualLedger.make(time.now, count, { rate: options.rate ?? rate, evidence: "none" })
    const sent: Array<Sent> = []
    const canned = Context.get(
      yield* Layer.build(AmlClient.layerTest(() => options.answer?.(sent.length) ?? "No")),
      AmlClient.AmlClient
    )
    const people = People.layerLookup(() =>
      Effect.succeed(Redacted.make({ name: "Ada Testclear", dateOfBirth: "1990-02-01" }))
    )
    const work = (roundTrip: number, worker: number) =>
      Effect.gen(function*() {
        const aml = options.http !== undefined ? yield* clientOf(options.http) : AmlClient.AmlClient.of({
          check: (person: Person.Person) =>
            Effect.flatMap(Effect.sync(time.now), (at) => {
              sent.push({ at, worker })
              time.stall(options.cost ?? 0)
              return Effect.delay(canned.check(person), serviceTime)
            })
        })
        const run = {
          controls: 0,
          id: "1",
          service: "service",
          environment: "",
          people: "lookup",
          digest: "",
          total: count,
          amended: 0,
          reason: null,
          ...ledger.run
        } as const
        const statements = Record.map(
          ledger.at(roundTrip),
          (statement: (...args: Array<never>) => Effect.Effect<unknown>, operation) => (...args: Array<never>) =>
            Effect.suspend((): Effect.Effect<unknown, RescreeningError.LedgerUnavailable> =>
              time.now() < (options.downAt ?? Infinity)
                ? statement(...args)
                : Effect.fail(new RescreeningError.LedgerUnavailable({ operation, code: "ECONNREFUSED" }))
            )
        )
        yield* Worker.work(
          {
            ledger: yield* RetryBudget.make(
              { ...statements, salt: Redacted.make("salt") } as unknown as Ledger.Service
            ),
            people: yield* People.People,
            aml
          },
          { run: run as never, concurrency: 10, lease: Duration.seconds(30) }
        )
      }).pipe(Effect.provide(people))
    const fiber = yield* Effect.fork(
      Effect.all(roundTrips.map((roundTrip, worker) => work(roundTrip, worker)), { concurrency: "unbounded" }).pipe(
        Effect.withClock(time.clock)
      )
    )
    let hasStalled = false
    yield* time.run(() => {
      options.onStep?.(ledger, time.now())
      if (!hasStalled && options.stallAt !== undefined && time.now() > options.stallAt) {
        hasStalled = true
        time.stall(400)
      }
      return fiber.unsafePoll() !== null
    })
    const exit = yield* Effect.either(Fiber.join(fiber))
    return { sent, exit, endedAt: time.now(), states: ledger.statesOf() }
  })

const fullestSecond = (times: ReadonlyArray<number>) =>
  Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 1000).length))

/** Without the first and the last second. */
const average = (times: ReadonlyArray<number>) => {
  const [from = 0, to = 0] = [Math.min(...times) + 1000, Math.max(...times) - 1000]
  return times.filter((at) => at >= from && at < to).length / (to - from) * 1000
}

describe("The turns of workers", () => {
  const distances: ReadonlyArray<ReadonlyArray<number>> = [[0, 30, 100, 100, 100], [0], [30], [100], [0, 100], [
    100,
    100
  ]]

  for (const roundTrips of sample(distances, 3)) {
    it.scopedLive(`keep the rate with workers that are ${roundTrips.join(", ")} ms from the database`, () =>
      Effect.gen(function*() {
        const { sent, states } = yield* screened(500, roundTrips)
        deepStrictEqual([sent.length, new Set(states)], [500, new Set(["no_match"])])
        const times = sent.map(({ at }) => at)
        assertTrue(fullestSecond(times) <= rate, `${fullestSecond(times)} in one second`)
        assertTrue(average(times) >= 47, `${average(times)} per second`)
      }))
  }

  it.scopedLive("are forfeited when they are late, so that no second has more than the rate", () =>
    Effect.gen(function*() {
      const { sent } = yield* screened(300, [100, 30], { stallAt: 2000 })
      const times = sent.map(({ at }) => at)
      strictEqual(times.length, 300)
      assertTrue(fullestSecond(times) <= rate, `${fullestSecond(times)} in one second`)
    }))

  for (const roundTrips of sample(distances, 6)) {
    it.scopedLive(`stop after a 429, with workers that are ${roundTrips.join(", ")} ms from the database`, () =>
      Effect.gen(function*() {
        const retryAfter = Duration.seconds(3)
        const { sent, states } = yield* screened(300, roundTrips, {
          answer: (number) => number === 100 ? new AmlError.AmlRateLimited({ retryAfter }) : "No"
        })
        deepStrictEqual([sent.length, new Set(states)], [301, new Set(["no_match"])])
        const limitedAt = (sent[99]?.at ?? 0) + serviceTime
        const during = sent.filter(({ at }) => at > limitedAt && at < limitedAt + 2500).map(({ at }) => at - limitedAt)
        assertTrue(Math.max(0, ...during) <= 200 + Math.max(...roundTrips), `${during}`)
        assertTrue(sent.some(({ at }) => at >= limitedAt + 2500))
        assertTrue(fullestSecond(sent.map(({ at }) => at)) <= rate)
      }))
  }

  it.scopedLive("hold for each request, although a token comes late, and requests are repeated after a 401", () =>
    Effect.gen(function*() {
      const sent: Array<number> = []
      let tokens = 0
      let oldest = 1
      const http = HttpClient.make((request) =>
        Effect.gen(function*() {
          const now = yield* Effect.clockWith(({ currentTimeMillis }) => currentTimeMillis)
          const respond = (status: number, body: unknown) => {
            const headers = { "content-type": "application/json" }
            return HttpClientResponse.fromWeb(request, new Response(JSON.stringify(body), { status, headers }))
          }
          if (request.url.includes("/oauth/")) {
            yield* Effect.sleep(150)
            return respond(200, { access_token: `token-${++tokens}`, token_type: "Bearer", expires_in: 3600 })
          }
          sent.push(now)
          // All tokens are revoked at once.
          if (sent.length === 100) oldest = tokens + 1
          yield* Effect.sleep(serviceTime)
          const token = Number(request.headers["authorization"]?.split("-")[1])
          return token < oldest ? respond(401, {}) : respond(200, {
            credential_type: "aml",
            credential_name: "AML",
            issued_by: "test",
            issuer_id: "3f0f4b2e-8c1d-4e6a-9b7f-1a2b3c4d5e6f",
            cred_version: "1.0",
            credentials: {
              attributes: {
                name: "Ada Testclear",
                birth_year: "1990",
                searched_on: new Date(now).toISOString().slice(0, 19).replace("T", " "),
                match_found: "No",
                aml_profile: "https://example.com/profiles/1"
              }
            }
          })
        })
      )
      const { states } = yield* screened(250, [100, 0, 30, 0, 0], { http })
      deepStrictEqual(new Set(states), new Set(["no_match"]))
      assertTrue(sent.length > 250, `${sent.length}`)
      assertTrue(fullestSecond(sent) <= rate, `${fullestSecond(sent)} in one second`)
    }))

  for (const rate of sample([1000, 100_000], 2)) {
    it.scopedLive(`are as few as the processor uses, if it does not reach the rate of ${rate}`, () =>
      Effect.gen(function*() {
        const { endedAt, states } = yield* screened(500, [0], { rate, cost: 2 })
        deepStrictEqual(new Set(states), new Set(["no_match"]))
        // 1,000 ms of work, and about as long for the waits for turns.
        assertTrue(endedAt < 2500, `${endedAt} ms`)
      }))
  }

  it.scopedLive("follow a rate that changes while they are used", () =>
    Effect.gen(function*() {
      const { sent } = yield* screened(200, [100, 0], {
        rate: 5,
        onStep: ({ run }, now) => {
          if (now > 3000) run.policy = { ...run.policy, rate: 50 }
        }
      })
      const times = sent.map(({ at }) => at)
      assertTrue(times.filter((at) => at < 3000).length <= 15)
      assertTrue(fullestSecond(times.filter((at) => at > 6000)) >= 47)
      assertTrue(fullestSecond(times) <= 50)
    }))

  it.scopedLive("end two minutes after the database does, also with outcomes that are not stored", () =>
    Effect.gen(function*() {
      const { endedAt, exit, sent } = yield* screened(500, [0, 30], { downAt: 2010 })
      strictEqual(exit._tag === "Left" ? exit.left._tag : exit._tag, "LedgerUnavailable")
      assertTrue(endedAt >= 120_000 && endedAt < 130_000, `${endedAt}`)
      // Nothing is sent that the ledger did not store as sent.
      assertTrue(sent.length < 130, `${sent.length}`)
    }))
})
