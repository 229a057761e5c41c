import { AmlCheck, AmlClient, AmlError, DateOfBirth, Person, TokenError } from "@effect-idv/core"
import { SqlClient } from "@effect/sql"
import { describe, layer } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Chunk, ConfigError, Deferred, Duration, Effect, Fiber, Layer, Logger, Redacted, Schema, Stream } from "effect"
import { createHmac } from "node:crypto"
import { sample } from "../../core/test/support/cases.ts"
import { eventually } from "../../core/test/support/eventually.ts"
import { EncryptionKeys, Ledger, People, Rescreening, RescreeningError, Run } from "../src/index.ts"
import * as Databases from "./support/databases.ts"
import { entry, key, layerPeople, many, service } from "./support/people.ts"
import { at, fast, rows, run, where, withLedger } from "./support/runs.ts"

const unavailable = (sent: AmlError.Sent) =>
  new AmlError.AmlUnavailable({ reason: sent === "answered" ? "status" : "broken", host: "api.example.com", sent })

/** The operation, which fails once, before or after it changes the ledger. */
const once = <Args extends ReadonlyArray<unknown>, A>(
  operation: (...args: Args) => Effect.Effect<A, Ledger.Failure>,
  when: "before" | "after"
) => {
  const failure = new RescreeningError.LedgerUnavailable({ operation: "test", code: "ECONNRESET" })
  let times = 0
  return (...args: Args) =>
    Effect.suspend(() =>
      times++ > 0 ? operation(...args) : when === "before" ? failure : Effect.zipRight(operation(...args), failure)
    )
}

/** Ledger.test.ts proves the statements of both databases. */
describe.each(sample(Databases.kinds, 2))("Rescreening with %s", (_, databases) => {
  layer(databases, { excludeTestServices: true })((it) => {
    const test = <A, E>(
      name: string,
      effect: Effect.Effect<A, E, Ledger.Ledger | SqlClient.SqlClient>
    ) => it.scoped(name, () => withLedger(effect))

    test(
      "screens everybody once with any number of workers, and deletes the people",
      Effect.gen(function*() {
        const aml = service((name) => name.endsWith("Testpep") ? "Potential match" : "No", 2)
        yield* Rescreening.plan(
          many(100, (index) => `Person${index} ${index % 10 === 0 ? "Testpep" : "Testclear"}`),
          fast
        )
        const counts = yield* Effect.replicateEffect(Rescreening.work(where), 3, { concurrency: "unbounded" }).pipe(
          Effect.provide([aml.layer, layerPeople()])
        )
        const expected = at({ no_match: 90, potential_match: 10 })
        deepStrictEqual(counts, [expected, expected, expected])
        strictEqual(new Set(aml.names).size, 100)
        strictEqual(aml.names.length, 100)
        const sql = yield* SqlClient.SqlClient
        deepStrictEqual(yield* sql`SELECT 1 FROM idv_rescreen_people WHERE person IS NOT NULL`, [])
        strictEqual((yield* Effect.flatMap(Ledger.Ledger, (ledger) => ledger.run(run))).state, "complete")
        strictEqual((yield* rows).every(({ timesSent, timesUnknown }) => timesSent === 1 && timesUnknown === 0), true)
      }).pipe(Effect.provide(layerPeople()))
    )

    test(
      "leaves no row claimed if a worker is interrupted while the statement of its claim is in flight",
      Effect.gen(function*() {
        const direct = yield* Ledger.Ledger
        const isClaimed = yield* Deferred.make<void>()
        const reply = yield* Deferred.make<void>()
        const claim: Ledger.Service["claim"] = (from) =>
          direct.claim(from).pipe(
            Effect.zipLeft(Deferred.succeed(isClaimed, undefined)),
            Effect.zipLeft(Deferred.await(reply))
          )
        yield* Rescreening.plan(many(5), fast)
        const aml = service()
        const worker = yield* Rescreening.work(where).pipe(
          Effect.provideService(Ledger.Ledger, { ...direct, claim }),
          Effect.provide(aml.layer),
          Effect.fork
        )
        yield* Deferred.await(isClaimed)
        const interrupted = yield* Effect.fork(Fiber.interrupt(worker))
        yield* Effect.repeatN(Effect.yieldNow(), 1000)
        yield* Deferred.succeed(reply, undefined)
        yield* Fiber.join(interrupted)
        deepStrictEqual(yield* direct.counts(run), at({ pending: 5 }))
        strictEqual(aml.names.length, 0)
      }).pipe(Effect.provide(layerPeople()))
    )

    test(
      "stores every row as sent before its request leaves",
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const canned = service()
        const states: Array<unknown> = []
        const aml = Layer.effect(
          AmlClient.AmlClient,
          Effect.map(AmlClient.AmlClient, (inner) =>
            AmlClient.AmlClient.of({
              ...inner,
              check: (person) =>
                sql`SELECT state FROM idv_rescreen_people WHERE id = ${
                  Redacted.value(person.name).split(" ").at(0) ?? ""
                }`
                  .pipe(
                    Effect.orDie,
                    Effect.tap(([row]) => states.push(row?.["state"])),
                    Effect.zipRight(inner.check(person))
                  )
            }))
        ).pipe(Layer.provide(canned.layer))
        yield* Rescreening.plan(many(40, (index) => `K${index} Testclear`), fast)
        yield* Effect.provide(Rescreening.work({ ...where, concurrency: 20 }), aml)
        deepStrictEqual(states, Array.from({ length: 40 }, () => "sent"))
      }).pipe(Effect.provide(layerPeople()))
    )

    test(
      "changes nothing when the same run is planned again, and refuses another population or other options",
      Effect.gen(function*() {
        const first = yield* Rescreening.plan(many(3), fast)
        deepStrictEqual(yield* Rescreening.plan(many(3), fast), first)
        const refused = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.map(Effect.flip(effect), String)
        strictEqual(
          yield* refused(Rescreening.plan(many(4), fast)),
          `RunConflict: Run ${run} was planned with another population. ` +
            "Use the original values, or plan a run with another name."
        )
        strictEqual(
          (yield* refused(
            Rescreening.plan(many(3, (index) => `Other${index} Testclear`), { ...fast, evidence: "all" })
          ))
            .includes("another population, evidence."),
          true
        )
        // The policy is not part of the identity of a run.
        deepStrictEqual(yield* Rescreening.plan(many(3), { ...fast, rate: 1, unknown: "rescreen" }), first)
        for (const [name, value] of [["environment", "sandbox"], ["class", "high"], ["fourEyes", true]] as const) {
          assertTrue(
            (yield* refused(Rescreening.plan(many(3), { ...fast, [name]: value }))).includes(`another ${name}.`)
          )
        }
        strictEqual(
          (yield* Effect.flip(Rescreening.plan(Stream.empty, { ...fast, run: "empty" })))._tag,
          "PopulationRejected"
        )
        const invalid = yield* Effect.flip(Rescreening.plan(many(1), { ...fast, run: "Ada Testclear" }))
        strictEqual(String(invalid).includes("Ada"), false)
        deepStrictEqual((yield* Effect.flatMap(Ledger.Ledger, ({ runs }) => runs)).map(({ id }) => id), [run])
        yield* Rescreening.erase({ olderThan: 0 })
        strictEqual((yield* Effect.flip(Rescreening.plan(many(3), fast)))._tag, "RunErased")
      }).pipe(Effect.provide(layerPeople()))
    )

    test(
      "refuses a worker of another service or with another key before anything is sent, and loses nobody",
      Effect.gen(function*() {
        const aml = service()
        yield* Effect.provide(Rescreening.plan(many(20), fast), layerPeople())
        const failureOf = (options: Rescreening.WorkOptions, people = layerPeople()) =>
          Effect.flip(Rescreening.work(options)).pipe(Effect.provide([aml.layer, people]))
        strictEqual((yield* failureOf({ ...where, service: "sandbox.example.com" }))._tag, "RunConflict")
        strictEqual((yield* failureOf(where, People.layerLookup(() => Effect.succeed(undefined))))._tag, "RunConflict")
        const wrong = yield* failureOf(where, layerPeople(key("k1", 2)))
        strictEqual(wrong._tag === "EncryptionKeyError" && wrong.reason, "wrong_key")
        const unknown = yield* failureOf(where, layerPeople(key("k2", 2)))
        strictEqual(unknown._tag === "EncryptionKeyError" && unknown.reason, "unknown_id")
        strictEqual((yield* failureOf({ ...where, run: "2026-10" }))._tag, "RunNotFound")
        deepStrictEqual(aml.names, [])
        const counts = yield* Rescreening.work(where).pipe(
          Effect.provide([aml.layer, layerPeople(`${key("k2", 2)},${key("k1", 1)}`)])
        )
        deepStrictEqual(counts, at({ no_match: 20 }))
      })
    )

    test(
      "stops all workers after a failure that concerns everyone, and resumes from there",
      Effect.gen(function*() {
        let isForbidden = true
        const aml = service(
          (_, count) => isForbidden && count > 0 ? new AmlError.AmlForbidden({ status: 403 }) : "No",
          5
        )
        yield* Rescreening.plan(many(60), fast)
        const work = Effect.either(Rescreening.work({ ...where, concurrency: 2 })).pipe(
          Effect.provide([aml.layer, layerPeople()])
        )
        const ended = yield* Effect.all([work, work], { concurrency: "unbounded" })
        for (const end of ended) {
          strictEqual(end._tag === "Left" && end.left._tag, "RunPaused")
          strictEqual(end._tag === "Left" && end.left.message.includes("AmlForbidden: "), true)
        }
        assertTrue(aml.names.length <= 4)
        const { counts, run: paused } = yield* Effect.flatMap(
          Stream.runHead(Rescreening.status(run)),
          (status) => status
        )
        deepStrictEqual([paused.state, counts.pending, counts.not_screened], ["paused", 60, 0])
        strictEqual((yield* work)._tag, "Left")
        isForbidden = false
        deepStrictEqual(yield* Rescreening.resume(run), { again: 0 })
        const again = yield* work
        deepStrictEqual(again._tag === "Right" && again.right, at({ no_match: 60 }))
      }).pipe(Effect.provide(layerPeople()))
    )

    test(
      "stops after too many service failures in a row, and screens those rows again on request",
      Effect.gen(function*() {
        let isDown = true
        const aml = service(() => isDown ? unavailable("answered") : "No")
        yield* Rescreening.plan(many(100), { ...fast, stopAfter: 20 })
        const work = Effect.either(Rescreening.work({ ...where, concurrency: 4 })).pipe(
          Effect.provide([aml.layer, layerPeople()])
        )
        const end = yield* work
        strictEqual(end._tag === "Left" && end.left.message.includes("20 failures in a row"), true)
        const { counts } = yield* Effect.flatMap(Stream.runHead(Rescreening.status(run)), (status) => status)
        assertTrue(counts.not_screened >= 20 && counts.not_screened <= 23, JSON.stringify(counts))
        isDown = false
        deepStrictEqual(yield* Rescreening.resume(run, { again: ["not_screened"] }), { again: counts.not_screened })
        const again = yield* work
        deepStrictEqual(again._tag === "Right" && again.right, at({ no_match: 100 }))
      }).pipe(Effect.provide(layerPeople()))
    )

    /** The warnings that were logged. */
    const recorded = Effect.sync(() => {
      const lines: Array<string> = []
      return [
        lines,
        Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => void lines.push(String(message))))
      ] as const
    })

    test(
      "stops after too many pauses in a row, says why it waits, and keeps all rows",
      Effect.gen(function*() {
        const [lines, logger] = yield* recorded
        const aml = service(() => new AmlError.AmlRateLimited({ retryAfter: Duration.zero }))
        yield* Rescreening.plan(many(10), { ...fast, stopAfter: 12 })
        const end = yield* Effect.flip(Rescreening.work({ ...where, concurrency: 2 })).pipe(
          Effect.provide([aml.layer, logger])
        )
        assertTrue(
          end._tag === "RunPaused" && /^1[23] pauses in a row, .*AmlRateLimited: /.test(end.reason),
          String(end)
        )
        deepStrictEqual([...new Set((yield* rows).map(({ state }) => state))], ["pending"])
        deepStrictEqual(lines.filter((line) => line.startsWith("The service asks all workers to wait")).length, 1)
        const status = yield* Effect.flatten(Stream.runHead(Rescreening.status(run)))
        assertTrue(status.pauses >= 12)
        const sent = (yield* rows).reduce((sum, { timesSent }) => sum + timesSent, 0)
        strictEqual(sent, aml.names.length)
      }).pipe(Effect.provide(layerPeople()))
    )

    test(
      "uses a rate that was set while it works, refuses a wrong one, and stores the rest of the policy as it was",
      Effect.gen(function*() {
        const aml = service()
        yield* Rescreening.plan(many(60), { ...fast, rate: 1, stopAfter: 7 })
        const work = yield* Effect.fork(Effect.provide(Rescreening.work(where), aml.layer))
        yield* Effect.repeat(Effect.sleep("10 millis"), { until: () => aml.names.length > 0 })
        const error = yield* Effect.flip(Rescreening.set(run, { rate: 1e9 }))
        assertTrue(ConfigError.isConfigError(error) && String(error).includes("rate"), String(error))
        const { policy } = yield* Rescreening.set(run, { rate: 2000, unknown: "rescreen" })
        deepStrictEqual([policy.rate, policy.unknown, policy.stopAfter], [2000, "rescreen", 7])
        // One turn was taken at the old rate.
        const sql = yield* SqlClient.SqlClient
        yield* sql`UPDATE idv_rescreen_services SET next_at = 0`
        deepStrictEqual(yield* Fiber.join(work), at({ no_match: 60 }))
      }).pipe(Effect.provide(layerPeople()))
    )

    test(
      "continues at once if the clock of the database was set back, and says so",
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const [lines, logger] = yield* recorded
        const aml = service()
        yield* Rescreening.plan(many(5), fast)
        const ledger = yield* Ledger.Ledger
        yield* ledger.claim({ run, limit: 2, lease: 3_600_000 })
        yield* ledger.pauseService(where.service, 1)
        const hour = 3_600_000
        yield* sql`UPDATE idv_rescreen_leases SET stored_at = stored_at + ${hour}, lease_until = lease_until + ${hour}`
        yield* sql`UPDATE idv_rescreen_services SET next_at = resumes_at + ${hour}, next_stored_at = resumes_at + ${hour}`
        deepStrictEqual(
          yield* Effect.provide(Rescreening.work(where), [aml.layer, logger]),
          at({ no_match: 5 })
        )
        assertTrue(lines.some((line) => line.startsWith("The clock of the database was set back")), lines.join())
      }).pipe(Effect.provide(layerPeople()))
    )

    test(
      "is planned once by several processes at the same moment, which compare what they read",
      Effect.gen(function*() {
        const plans = yield* Effect.replicateEffect(Rescreening.plan(many(30), fast), 4, { concurrency: "unbounded" })
        strictEqual(new Set(plans.map((planned) => JSON.stringify(planned))).size, 1)
        const sql = yield* SqlClient.SqlClient
        strictEqual((yield* sql`SELECT 1 FROM idv_rescreen_people`).length, 30)
        const ends = yield* Effect.all(
          [30, 31].map((count) => Effect.either(Rescreening.plan(many(count), { ...fast, run: "other" }))),
          { concurrency: "unbounded" }
        )
        deepStrictEqual(ends.map((end) => end._tag === "Left" ? end.left._tag : "planned").toSorted(), [
          "RunConflict",
          "planned"
        ])
      }).pipe(Effect.provide(layerPeople()))
    )

    test(
      "counts the rows of a population before it stores a run",
      Effect.gen(function*() {
        const error = yield* Effect.flip(Rescreening.plan(many(5), { ...fast, expectAtLeast: 6 }))
        assertTrue(error._tag === "PopulationRejected" && error.found === 5, String(error))
        const sql = yield* SqlClient.SqlClient
        for (const table of ["runs", "plans", "people"]) {
          deepStrictEqual(yield* sql`SELECT 1 FROM ${sql(`idv_rescreen_${table}`)}`, [])
        }
        strictEqual((yield* Rescreening.plan(many(5), { ...fast, expectAtLeast: 5 })).total, 5)
      }).pipe(Effect.provide(layerPeople()))
    )

    const interruptions = {
      "before the rows are pending": (ledger: Ledger.Service) => ({ rescreen: once(ledger.rescreen, "before") }),
      "after the rows are pending": (ledger: Ledger.Service) => ({ rescreen: once(ledger.rescreen, "after") })
    }
    for (const [name, interruption] of Object.entries(interruptions)) {
      test(
        `screens rows of a complete run again if a repeated resume was interrupted ${name}`,
        Effect.gen(function*() {
          const ledger = yield* Ledger.Ledger
          let isDown = true
          const aml = service(() => isDown ? unavailable("answered") : "No")
          yield* Rescreening.plan(many(4), fast)
          const work = Effect.provide(Rescreening.work(where), aml.layer)
          deepStrictEqual(yield* work, at({ not_screened: 4 }))
          isDown = false
          const changed = Ledger.Ledger.of({ ...ledger, ...interruption(ledger) })
          const resume = Effect.provideService(
            Rescreening.resume(run, { again: ["not_screened"] }),
            Ledger.Ledger,
            changed
          )
          strictEqual((yield* Effect.flip(resume))._tag, "LedgerUnavailable")
          const { state } = yield* ledger.run(run)
          strictEqual(state === "complete" && Run.left(yield* ledger.counts(run)) > 0, false)
          yield* resume
          deepStrictEqual(yield* work, at({ no_match: 4 }))
          // Nothing is left to screen again, so the run stays complete.
          deepStrictEqual(yield* resume, { again: 0 })
          strictEqual((yield* ledger.run(run)).state, "complete")
        }).pipe(Effect.provide(layerPeople()))
      )
    }

    test(
      "leaves a check without a response for review, and sends it again under the policy rescreen",
      Effect.gen(function*() {
        const aml = service((name, count) => name.startsWith("Lost") && count < 2 ? unavailable("unknown") : "No")
        const people = Stream.make(entry("1", "Lost Testclear"), entry("2", "Bob Testclear"))
        const screened = (id: string, unknown: "review" | "rescreen") =>
          Rescreening.plan(people, { ...fast, run: id, unknown }).pipe(
            Effect.zipRight(Rescreening.work({ ...where, run: id })),
            Effect.provide([aml.layer, layerPeople()])
          )
        deepStrictEqual(yield* screened("review", "review"), at({ no_match: 1, unknown: 1 }))
        strictEqual(aml.names.length, 2)
        aml.names.length = 0
        deepStrictEqual(yield* screened("again", "rescreen"), at({ no_match: 2 }))
        const again = Chunk.toReadonlyArray(
          yield* Effect.flatMap(Ledger.Ledger, ({ byLine }) => Stream.runCollect(byLine("again")))
        )
        deepStrictEqual(again.map(({ timesSent, timesUnknown }) => [timesSent, timesUnknown]), [[2, 1], [1, 0]])
        deepStrictEqual(yield* Rescreening.resume("review", { again: ["unknown"] }), { again: 1 })
        const work = Rescreening.work({ ...where, run: "review" })
        deepStrictEqual(yield* Effect.provide(work, [aml.layer, layerPeople()]), at({ no_match: 2 }))
      })
    )

    test(
      "takes over the rows of a worker whose lease ended, and never resends a sent row",
      Effect.gen(function*() {
        const ledger = yield* Ledger.Ledger
        const sql = yield* SqlClient.SqlClient
        yield* Rescreening.plan(many(30), { ...fast })
        const claims = yield* ledger.claim({ run, limit: 10, lease: 60_000 })
        yield* ledger.send(run, claims.slice(0, 3), where.service)
        yield* sql`UPDATE idv_rescreen_leases SET lease_until = 0`
        const aml = service()
        const counts = yield* Rescreening.work(where).pipe(Effect.provide(aml.layer))
        deepStrictEqual(counts, at({ no_match: 27, unknown: 3 }))
        strictEqual(aml.names.length, 27)
        strictEqual(new Set(aml.names).size, 27)
      }).pipe(Effect.provide(layerPeople()))
    )

    test(
      "stores no people with a lookup, and does not screen people whom it does not find",
      Effect.gen(function*() {
        const aml = service()
        const lookup = People.layerLookup((key) =>
          Effect.succeed(
            key === "K2" ? undefined : Redacted.make({ name: `Looked${key} Up`, dateOfBirth: "1990-02-01" })
          )
        )
        yield* Effect.provide(Rescreening.plan(many(3), { ...fast, evidence: "none" }), lookup)
        const sql = yield* SqlClient.SqlClient
        deepStrictEqual(yield* sql`SELECT 1 FROM idv_rescreen_people WHERE person IS NOT NULL`, [])
        const counts = yield* Effect.provide(Rescreening.work(where), [aml.layer, lookup])
        deepStrictEqual(counts, at({ no_match: 2, not_screened: 1 }))
        deepStrictEqual(aml.names.toSorted(), ["LookedK1 Up", "LookedK3 Up"])
      })
    )

    test(
      "ends although nobody of several claims in a row is found",
      Effect.gen(function*() {
        const aml = service()
        const lookup = People.layerLookup((key) =>
          Effect.succeed(
            key === "K40" ? Redacted.make({ name: "Ada Testclear", dateOfBirth: "1990-02-01" }) : undefined
          )
        )
        yield* Effect.provide(Rescreening.plan(many(40), { ...fast, rate: 20, evidence: "none" }), lookup)
        const counts = yield* Effect.provide(Rescreening.work(where), [aml.layer, lookup])
        deepStrictEqual(counts, at({ no_match: 1, not_screened: 39 }))
      })
    )

    test(
      "screens a person whose year of birth only is known, and a \"No\" is then doubtful",
      Effect.gen(function*() {
        const aml = service()
        const person = Person.make({ name: "Ada Testclear", dateOfBirth: yield* DateOfBirth.assumed(1957) })
        yield* Rescreening.plan(Stream.make({ key: "K1", person }), fast)
        deepStrictEqual(yield* Effect.provide(Rescreening.work(where), aml.layer), at({ no_match_doubtful: 1 }))
        deepStrictEqual((yield* rows).map(({ codes }) => codes), [["date_of_birth.assumed"]])
      }).pipe(Effect.provide(layerPeople()))
    )

    test(
      "stores the whole evidence encrypted under the policy all",
      Effect.gen(function*() {
        const aml = service()
        yield* Rescreening.plan(many(1), { ...fast, evidence: "all" })
        yield* Effect.provide(Rescreening.work(where), aml.layer)
        const [row] = yield* rows
        const people = yield* People.People
        const text = yield* people.decrypt(run, "K1", row?.evidence ?? "")
        const evidence = yield* Schema.decode(Schema.parseJson(AmlCheck.AmlCheck))(text)
        yield* AmlCheck.verify(evidence)
        const { salt } = yield* Ledger.Ledger
        const keyed = createHmac("sha256", Redacted.value(salt)).update(evidence.sha256).digest("hex")
        strictEqual(row?.responseDigest, keyed)
        strictEqual(
          (yield* Effect.flip(people.decrypt(run, "K2", row?.evidence ?? ""))).reason,
          "wrong_key"
        )
      }).pipe(Effect.provide(layerPeople()))
    )

    test(
      "refuses to store responses without a key before it stores or sends anything",
      Effect.gen(function*() {
        const aml = service()
        const lookup = (keys?: EncryptionKeys.EncryptionKeys) =>
          People.layerLookup(
            () => Effect.succeed(Redacted.make({ name: "Ada Testclear", dateOfBirth: "1990-02-01" })),
            { keys }
          )
        const plan = Rescreening.plan(many(3), { ...fast, evidence: "all" })
        const reasonOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
          Effect.map(
            Effect.flip(effect),
            (error) => error instanceof RescreeningError.EncryptionKeyError ? error.reason : error
          )
        strictEqual(yield* reasonOf(Effect.provide(plan, lookup())), "missing")
        deepStrictEqual(yield* Effect.flatMap(Ledger.Ledger, ({ runs }) => runs), [])
        const keys = lookup(yield* EncryptionKeys.make(Redacted.make(key("k1", 1))))
        yield* Effect.provide(plan, keys)
        strictEqual(yield* reasonOf(Effect.provide(Rescreening.work(where), [aml.layer, lookup()])), "missing")
        deepStrictEqual([aml.names, (yield* rows).map(({ state }) => state)], [[], ["pending", "pending", "pending"]])
        deepStrictEqual(yield* Effect.provide(Rescreening.work(where), [aml.layer, keys]), at({ no_match: 3 }))
      })
    )

    test(
      "stops all workers after an HTML page instead of a result, and sends no check again that may be billed",
      Effect.gen(function*() {
        let isPage = true
        const page = new AmlError.AmlResponseInvalid({
          host: "api.example.com",
          status: 200,
          contentType: "text/html",
          length: 1000,
          violations: []
        })
        const aml = service(() => isPage ? page : "No", 5)
        yield* Rescreening.plan(many(60), fast)
        const work = Effect.either(Rescreening.work({ ...where, concurrency: 2 })).pipe(
          Effect.provide([aml.layer, layerPeople()])
        )
        const end = yield* work
        assertTrue(end._tag === "Left" && end.left._tag === "RunPaused")
        assertTrue(end.left.message.includes("AmlResponseInvalid: "), end.left.message)
        const sent = aml.names.length
        assertTrue(sent <= 2, String(sent))
        const { counts } = yield* Effect.flatMap(Stream.runHead(Rescreening.status(run)), (status) => status)
        // A claim that the pause interrupted holds its rows until its lease ends.
        const held = { ...counts, claimed: 0, pending: counts.pending + counts.claimed }
        deepStrictEqual(held, at({ unknown: sent, pending: 60 - sent }))
        isPage = false
        yield* Rescreening.resume(run)
        const again = yield* work
        deepStrictEqual(again._tag === "Right" && again.right, at({ unknown: sent, no_match: 60 - sent }))
        strictEqual(aml.names.length, 60)
      }).pipe(Effect.provide(layerPeople()))
    )

    test(
      "stops all workers after an HTML page instead of a token, or a redirect, and loses no row",
      Effect.gen(function*() {
        const page = { host: "example.com", contentType: "text/html", length: 1000, violations: [] }
        const failures = [
          new TokenError.TokenResponseInvalid({ ...page, status: 200 }),
          new AmlError.AmlResponseInvalid({ ...page, status: 302 })
        ]
        yield* Rescreening.plan(many(20), fast)
        for (const failure of failures) {
          const aml = service(() => failure)
          const end = yield* Effect.flip(Rescreening.work({ ...where, concurrency: 2 })).pipe(Effect.provide(aml.layer))
          assertTrue(end.message.includes(`${failure._tag}: `), end.message)
          deepStrictEqual([...new Set((yield* rows).map(({ state }) => state))], ["pending"])
          yield* Rescreening.resume(run)
        }
      }).pipe(Effect.provide(layerPeople()))
    )

    test(
      "fails if the run is erased while it is screened",
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const isErased = yield* Deferred.make<void>()
        const aml = service(() => "No", Deferred.await(isErased))
        yield* Rescreening.plan(many(4), fast)
        const erased = Effect.gen(function*() {
          yield* eventually("a check", () => aml.names.length, (count) => count > 0)
          yield* sql`UPDATE idv_rescreen_runs
            SET erased_at = 1, erased_counts = ${JSON.stringify(Run.noCounts)}, state = 'complete'`
          yield* sql`DELETE FROM idv_rescreen_leases`
          yield* sql`DELETE FROM idv_rescreen_people`
          yield* Deferred.succeed(isErased, undefined)
        })
        const [end] = yield* Effect.all([Effect.flip(Rescreening.work(where)), erased], { concurrency: 2 }).pipe(
          Effect.provide(aml.layer)
        )
        strictEqual(end._tag, "RunErased")
      }).pipe(Effect.provide(layerPeople()))
    )
  })
})

describe("EncryptionKeys", () => {
  layer(Databases.kinds[0][1])((it) => {
    it.effect.each(["", "abc", `k1:${Buffer.alloc(16).toString("base64")}`, `${key("k1", 1)},${key("k1", 2)}`])(
      "refuses a list that is malformed without repeating it",
      (text) =>
        Effect.gen(function*() {
          const error = yield* Effect.flip(EncryptionKeys.make(Redacted.make(text)))
          strictEqual(error.reason, "malformed")
          assertTrue(text === "" || !error.message.includes(text))
        })
    )
    it.effect("names the variable that is missing", () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(EncryptionKeys.fromEnv)
        assertTrue(error instanceof RescreeningError.EncryptionKeyError && error.message.includes("IDV_RESCREEN_KEY"))
      }))
  })
})
