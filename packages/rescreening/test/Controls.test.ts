/** Positive controls: a run stops when the service no longer finds a person whom it must find. */
import { AmlClient, AmlError, Person } from "@effect-idv/core"
import { SqlClient } from "@effect/sql"
import { describe, layer } from "@effect/vitest"
import { assertFalse, assertInclude, assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Chunk, Context, Duration, Effect, Layer, Redacted, Stream } from "effect"
import type { Population } from "../src/index.ts"
import { Comparison, Coverage, Ledger, PersonalData, Report, Rescreening } from "../src/index.ts"
import * as Databases from "./support/databases.ts"
import { entry, layerPeople, many, service } from "./support/people.ts"
import { at, fast, rows as ledgerRows, run, where, withLedger } from "./support/runs.ts"

const control = (key: string, name = `Listed${key} Testpep`): Population.Control => ({
  key,
  person: Person.make({ name, dateOfBirth: "1970-01-01" }),
  expected: "Potential match"
})

const controls = [control("L1"), control("L2")]
const options = { ...fast, controls, controlEvery: 21 }

const isControl = (name: string) => name.startsWith("Listed")

const every = options.controlEvery

/**
 * A service, and whether it ever checked more people after a control was found than those whom the ledger allows: `every`,
 * and those whom a worker took before that control.
 */
const observed = (answer: (name: string) => AmlClient.Canned) => {
  let taken = 0
  let people = 0
  let taking = 0
  let since = 0
  let isExceeded = false
  const aml = service((name) => {
    const result = answer(name)
    if (isControl(name)) {
      if (result === "Potential match") {
        taking = taken - people
        since = 0
      }
    } else {
      people++
      since++
      isExceeded ||= since > taking + every
    }
    return result
  })
  const counting = Effect.map(Ledger.Ledger, (ledger): Ledger.Service => ({
    ...ledger,
    allow: (...args) => Effect.tap(ledger.allow(...args), ({ allowed }) => Effect.sync(() => taken += allowed))
  }))
  // People are checked meanwhile.
  const slowControls = Layer.map(aml.layer, (context) => {
    const { check } = Context.get(context, AmlClient.AmlClient)
    return Context.make(AmlClient.AmlClient, {
      check: (person) =>
        isControl(Redacted.value(person.name)) ? Effect.delay(check(person), "50 millis") : check(person)
    })
  })
  const layer = Layer.merge(slowControls, Layer.effect(Ledger.Ledger, counting))
  return { ...aml, layer, isExceeded: () => isExceeded }
}

const findsAll = () => observed((name) => isControl(name) ? "Potential match" : "No")

/** Finds nobody from the check of this person of the population on. `missed` are the ids of those who are checked then. */
const losesList = (at: number, answer: (name: string) => AmlClient.Canned = () => "No") => {
  let people = 0
  const missed: Array<string> = []
  const aml = observed((name) => {
    if (!isControl(name)) people++
    if (people < at) return isControl(name) ? "Potential match" : "No"
    if (!isControl(name)) missed.push(name.replace(/^Canary(K\d+) .*/, "$1"))
    return answer(name)
  })
  return { ...aml, missed }
}

const workFails = Effect.flip(Rescreening.work({ ...where, concurrency: 4 }))

describe.each(Databases.kinds)("Controls in %s", (_, databases) => {
  layer(databases, { excludeTestServices: true })((it) => {
    const test = <A, E>(name: string, effect: Effect.Effect<A, E, Ledger.Ledger | SqlClient.SqlClient>) =>
      it.scoped(name, () => withLedger(effect))

    const forbidden = new AmlError.AmlForbidden({ status: 403 })

    test(
      "that are not found count, although the check of another control ends the round",
      Effect.gen(function*() {
        let isMissed = false
        const aml = losesList(20, (name) => {
          if (name.startsWith("ListedL2")) return isMissed ? forbidden : "Potential match"
          if (isControl(name)) isMissed = true
          return "No"
        })
        yield* Rescreening.plan(many(60), options)
        strictEqual((yield* workFails.pipe(Effect.provide(aml.layer)))._tag, "RunPaused")
        yield* Rescreening.resume(run)
        const counts = yield* Rescreening.work(where).pipe(Effect.provide(findsAll().layer))
        assertTrue(counts.control_failed > 0, `${counts.control_failed} results are doubtful`)
      }).pipe(Effect.provide(layerPeople()))
    )

    test(
      "that are not found count, although another worker has found all in the meantime",
      Effect.gen(function*() {
        const ledger = yield* Ledger.Ledger
        yield* Rescreening.plan(many(30), options)
        const begin = (token: string, lease: number) => ledger.beginRound(run, { token, every, lease, isLast: false })
        deepStrictEqual(yield* begin("first", 0), { goodAt: null })
        yield* ledger.endRound(run, "first", "found")
        yield* Rescreening.work(where).pipe(Effect.provide(findsAll().layer))
        yield* ledger.endRound(run, "first", { missed: "a control", since: 0 })
        strictEqual((yield* ledger.counts(run)).control_failed, 30)
      }).pipe(Effect.provide(layerPeople()))
    )

    test(
      "that were erased are never taken for found",
      Effect.gen(function*() {
        const aml = findsAll()
        yield* Rescreening.plan(many(30), options)
        strictEqual(yield* PersonalData.erase("L1", { actor: "dpo" }), 1)
        const failure = yield* workFails.pipe(Effect.provide(aml.layer))
        assertInclude(failure.message, "people of its controls were erased: plan another run")
        deepStrictEqual(aml.names.filter((name) => !isControl(name)), [])
      }).pipe(Effect.provide(layerPeople()))
    )

    test(
      "that are also screened are exported as both, held, and erased from one run",
      Effect.gen(function*() {
        const actor = { actor: "dpo" }
        yield* Rescreening.plan(Stream.make(entry("L1"), entry("K1")), options)
        const { controls, runs } = yield* PersonalData.read("L1", actor)
        deepStrictEqual(
          [runs, controls].map((found) =>
            found.map(({ person, run }) => [run, person === null ? "" : Redacted.value(person.name)])
          ),
          [[[run, "CanaryL1 Testclear"]], [[run, "ListedL1 Testpep"]]]
        )
        strictEqual(yield* PersonalData.hold("L2", actor), true)
        strictEqual((yield* Effect.flip(PersonalData.erase("L2", actor)))._tag, "PersonOnHold")
        strictEqual(yield* PersonalData.erase("L1", actor), 1)
        const ledger = yield* Ledger.Ledger
        deepStrictEqual((yield* ledger.controls(run)).map(({ id }) => id), ["L2"])
        deepStrictEqual((yield* PersonalData.read("K1", actor)).controls, [])
      }).pipe(Effect.provide(layerPeople()))
    )

    test(
      "are checked before the first person, during the run and after the last, are in no counts, and are deleted",
      Effect.gen(function*() {
        const aml = findsAll()
        const planned = yield* Rescreening.plan(many(60), options)
        deepStrictEqual([planned.controls, planned.total], [2, 60])
        const counts = yield* Rescreening.work({ ...where, concurrency: 4 }).pipe(Effect.provide(aml.layer))
        deepStrictEqual(counts, at({ no_match: 60 }))
        const kinds = aml.names.map(isControl)
        deepStrictEqual([kinds.slice(0, 2), kinds.slice(-2)], [[true, true], [true, true]])
        const ledger = yield* Ledger.Ledger
        const { controlRequests, controlRounds } = yield* ledger.run(run)
        strictEqual(controlRequests, kinds.filter(Boolean).length)
        assertTrue(controlRounds >= 4 && controlRequests === 2 * controlRounds, `${controlRounds} rounds`)
        assertFalse(aml.isExceeded())
        deepStrictEqual(yield* ledger.controls(run), [])
        strictEqual(Chunk.size(yield* Stream.runCollect(Report.rows(run))), 60)
      }).pipe(Effect.provide(layerPeople()))
    )

    test(
      "pause the run within the interval if the service returns No for one, and make each No since then doubtful",
      Effect.gen(function*() {
        const aml = losesList(30)
        yield* Rescreening.plan(many(200), { ...options, class: "high" })
        const failure = yield* workFails.pipe(Effect.provide(aml.layer))
        strictEqual(failure._tag, "RunPaused")
        const ledger = yield* Ledger.Ledger
        const counts = yield* ledger.counts(run)
        const people = aml.names.filter((name) => !isControl(name)).length
        assertFalse(aml.isExceeded())
        // Everybody who was checked while the list was missing, and some before.
        const doubtfulIds = (yield* ledgerRows).flatMap(({ id, state }) => state === "control_failed" ? [id] : [])
        assertTrue(aml.missed.length > 0)
        deepStrictEqual(aml.missed.filter((id) => !doubtfulIds.includes(id)), [])
        strictEqual(counts.control_failed + counts.no_match, people)
        // Both controls are missed, at the same moment.
        assertInclude(
          failure.message.replace("line 2", "line 1"),
          `the service returned "No" for a listed control person (line 1 of the controls): ` +
            `${counts.control_failed} results since the last good control are doubtful`
        )
        // Nobody else is sent after a resume, as long as the list is missing.
        yield* Rescreening.resume(run)
        strictEqual((yield* workFails.pipe(Effect.provide(aml.layer)))._tag, "RunPaused")
        strictEqual(aml.names.filter((name) => !isControl(name)).length, people)
        const fixed = findsAll()
        yield* Rescreening.resume(run)
        const after = yield* Rescreening.work(where).pipe(Effect.provide(fixed.layer))
        deepStrictEqual(after, at({ no_match: 200 - counts.control_failed, control_failed: counts.control_failed }))
        const rows = Chunk.toReadonlyArray(yield* Stream.runCollect(Report.rows(run)))
        strictEqual(rows.filter(({ outcome }) => outcome === "control_failed").length, counts.control_failed)
        assertInclude(yield* Report.page(run), "No, but the service did not find a control")
        // Only they are due, and a run of those who were sent in this span screens them.
        const day = { class: "high", within: "1 day" as const }
        strictEqual((yield* Coverage.coverage(day)).due, counts.control_failed)
        const [span] = yield* ledger.doubtful(run)
        strictEqual(span?.count, counts.control_failed)
        const ids = yield* ledger.sentBetween({ service: where.service, environment: "" }, {
          from: Number(span?.from.epochMillis),
          to: Number(span?.to.epochMillis)
        })
        const doubtful = rows.flatMap(({ id, outcome }) => outcome === "control_failed" ? [id] : [])
        deepStrictEqual(doubtful.filter((id) => !ids.includes(id)), [])
        const again = { ...options, run: "again", class: "high", isPart: true }
        yield* Rescreening.plan(
          Stream.filter(many(200), ({ key }) => ids.includes(key)),
          again
        )
        yield* Rescreening.work({ ...where, run: "again" }).pipe(Effect.provide(fixed.layer))
        strictEqual((yield* Coverage.coverage(day)).due, 0)
        const changes = Chunk.toReadonlyArray(yield* Stream.runCollect(Comparison.compare(run, run)))
        strictEqual(changes.filter(({ after }) => after?.outcome === "control_failed").length, counts.control_failed)
      }).pipe(Effect.provide(layerPeople()))
    )

    test(
      "pause the run without doubt if one has no result, and confirm the rows once all are found again",
      Effect.gen(function*() {
        const down = new AmlError.AmlUnavailable({ reason: "status", host: "api.example.com", sent: "answered" })
        let checks = 0
        const aml = service((name) =>
          ++checks > 30 && name.startsWith("Listed") ? down : name.endsWith("Testpep") ? "Potential match" : "No"
        )
        yield* Rescreening.plan(many(40), options)
        const failure = yield* workFails.pipe(Effect.provide(aml.layer))
        assertInclude(failure.message, "of the controls has no result (AmlUnavailable: ")
        const ledger = yield* Ledger.Ledger
        strictEqual((yield* ledger.counts(run)).control_failed, 0)
        yield* Rescreening.resume(run)
        const counts = yield* Rescreening.work(where).pipe(Effect.provide(findsAll().layer))
        deepStrictEqual(counts, at({ no_match: 40 }))
      }).pipe(Effect.provide(layerPeople()))
    )

    test(
      "wait as long as the service asks after a 429",
      Effect.gen(function*() {
        const times: Array<number> = []
        const limited = new AmlError.AmlRateLimited({ retryAfter: Duration.millis(700) })
        const aml = service((name) => {
          times.push(performance.now())
          return times.length === 1 ? limited : isControl(name) ? "Potential match" : "No"
        })
        yield* Rescreening.plan(many(3), { ...options, controls: [control("L1")] })
        deepStrictEqual(
          yield* Rescreening.work({ ...where, concurrency: 4 }).pipe(Effect.provide(aml.layer)),
          at({ no_match: 3 })
        )
        const [limitedAt = 0, next = 0] = times
        const pause = next - limitedAt
        assertTrue(pause >= 650, `the next request ${pause.toFixed(0)} ms after the 429`)
      }).pipe(Effect.provide(layerPeople()))
    )

    test(
      "count for the limit of checks, and keep their people while rows could be screened again",
      Effect.gen(function*() {
        const unknown = new AmlError.AmlUnavailable({ reason: "broken", host: "api.example.com", sent: "unknown" })
        const aml = service((name) =>
          name.endsWith("Testpep") ? "Potential match" : name.startsWith("CanaryK3 ") ? unknown : "No"
        )
        const ledger = yield* Ledger.Ledger
        yield* Rescreening.plan(many(10), { ...options, maxChecks: 13 })
        const failure = yield* workFails.pipe(Effect.provide(aml.layer))
        assertInclude(failure.message, "the limit of 13 checks is reached")
        strictEqual(aml.names.length, 13)
        yield* Rescreening.set(run, { maxChecks: 20 })
        yield* Rescreening.resume(run)
        deepStrictEqual(
          yield* Rescreening.work(where).pipe(Effect.provide(aml.layer)),
          at({ no_match: 9, unknown: 1 })
        )
        strictEqual((yield* ledger.controls(run)).length, 2)
        const before = aml.names.length
        yield* Rescreening.set(run, { maxChecks: 30 })
        yield* Rescreening.resume(run, { again: ["unknown"] })
        yield* Rescreening.work(where).pipe(Effect.provide(aml.layer))
        assertInclude(aml.names[before] ?? "", "Listed")
        yield* Rescreening.erase({ olderThan: 0 })
        const sql = yield* SqlClient.SqlClient
        deepStrictEqual(yield* sql`SELECT 1 FROM idv_rescreen_controls`, [])
      }).pipe(Effect.provide(layerPeople()))
    )

    test(
      "are part of the run, and are rejected with their lines if they cannot be used",
      Effect.gen(function*() {
        yield* Rescreening.plan(many(3), options)
        yield* Rescreening.plan(many(3), options)
        const conflict = yield* Effect.flip(Rescreening.plan(many(3), { ...options, controls: [control("L1")] }))
        assertInclude(conflict.message, "was planned with another population or controls.")
        const rejected = yield* Effect.flip(
          Rescreening.plan(many(3), {
            ...options,
            run: "other",
            controls: [control("L1"), control("L1"), control("", "")]
          })
        )
        deepStrictEqual(rejected._tag === "ControlsRejected" ? rejected.controls : rejected, [
          { line: 2, codes: ["id.repeated"] },
          { line: 3, codes: ["id.empty", "name.empty"] }
        ])
        strictEqual((yield* Effect.flatMap(Ledger.Ledger, (ledger) => ledger.runs)).length, 1)
      }).pipe(Effect.provide(layerPeople()))
    )
  })
})
