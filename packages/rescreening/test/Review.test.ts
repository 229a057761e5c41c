/** What a reviewer and an auditor do with the results of a run. */
import { AmlCheck, AmlClient, Person } from "@effect-idv/core"
import { SqlClient } from "@effect/sql"
import { describe, layer } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Chunk, ConfigError, Context, DateTime, Deferred, Effect, Fiber, Layer, Redacted, Stream } from "effect"
import * as fc from "effect/FastCheck"
import * as Bearer from "../../core/src/internal/check/bearer.ts"
import { runs } from "../../core/test/support/cases.ts"
import {
  Comparison,
  Coverage,
  Decisions,
  type History,
  Ledger,
  Matches,
  People,
  PersonalData,
  Report,
  Rescreening
} from "../src/index.ts"
import * as Databases from "./support/databases.ts"
import { entry, layerPeople, many, service } from "./support/people.ts"
import { fast, rows as ledgerRows, run, where, withLedger } from "./support/runs.ts"

const [, databases] = Databases.kinds[0]

const collected = <A, E, R>(stream: Stream.Stream<A, E, R>) =>
  Effect.map(Stream.runCollect(stream), Chunk.toReadonlyArray)

/** K1 and K3 are potential matches with this profile address, K4 is a doubtful "No". */
const screened = (
  options: Partial<Rescreening.PlanOptions> & { readonly profile?: string; readonly environment?: string } = {}
) => {
  const { profile = "https://example.com/p/1", ...plan } = options
  const aml = Layer.map(
    service((name) => name.endsWith("Testpep") ? "Potential match" : "No").layer,
    (context) => {
      const { check } = Context.get(context, AmlClient.AmlClient)
      return Context.make(AmlClient.AmlClient, {
        check: (person) =>
          Effect.map(check(person), (found) => {
            const { attributes } = found.credential.credentials
            const amlProfile = attributes.matchFound === "No" ? attributes.amlProfile : Redacted.make(profile)
            const credentials = { attributes: { ...attributes, amlProfile } }
            return AmlCheck.make({
              ...found,
              origin: {
                ...found.origin,
                ...plan.environment === undefined ? {} : { environment: plan.environment }
              },
              credential: { ...found.credential, credentials },
              body: Redacted.make(new TextEncoder().encode(`${profile} ${Math.random()}`))
            })
          })
      })
    }
  )
  const people = Stream.make(
    entry("K1", "Ada Testpep"),
    entry("K2", "Bob Testclear"),
    entry("K3", "Zoë Testpep"),
    entry("K4", "Jos? Testclear")
  )
  const planned = { ...fast, ...plan }
  return Rescreening.plan(people, planned).pipe(
    Effect.zipRight(Rescreening.work({ ...where, run: planned.run, environment: plan.environment })),
    Effect.provide(aml)
  )
}

const decisionsOf = (run: string) =>
  Effect.map(collected(Report.rows(run)), (rows) => new Map(rows.map(({ decision, id }) => [id, decision])))

const decision = (id: string, run: string, text = "false_positive") =>
  Effect.map(collected(Report.rows(run)), (rows) => ({
    id,
    digest: rows.find((row) => row.id === id)?.digest ?? "",
    decision: text,
    reason: "other_birth_year"
  }))

const reasonOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => error instanceof Error ? error.message : "")

describe("A review", () => {
  layer(Layer.merge(databases, Layer.orDie(layerPeople())), { excludeTestServices: true })((it) => {
    const test = <A, E>(
      name: string,
      effect: Effect.Effect<A, E, Ledger.Ledger | People.People | SqlClient.SqlClient>
    ) =>
      it.scoped(
        name,
        () =>
          Effect.flatMap(People.People, (people) => withLedger(Effect.provideService(effect, People.People, people)))
      )

    test(
      "shows the evidence of matches and doubtful Nos with the key, and stores who viewed it before",
      Effect.gen(function*() {
        yield* screened()
        const people = yield* People.People
        const profiles = (options?: Report.Options) =>
          Effect.map(collected(Report.rows(run, options)), (rows) => rows.map(({ aml_profile }) => aml_profile))
        deepStrictEqual(yield* profiles(), ["encrypted", "", "encrypted", "encrypted"])
        const shown = yield* profiles({ people })
        deepStrictEqual(shown.slice(0, 3), ["https://example.com/p/1", "", "https://example.com/p/1"])
        assertTrue(shown[3]?.startsWith("https://") === true)
        // The evidence of a "No" is not stored.
        deepStrictEqual((yield* ledgerRows).map(({ evidence }) => evidence !== null), [true, false, true, true])
        const { history } = yield* Ledger.Ledger
        deepStrictEqual(yield* collected(history), [])
        const matches = yield* collected(Matches.review(run, { reader: "ana" }))
        deepStrictEqual(
          matches.map(({ check, row }) => [row.id, row.check_id === check?.checkId, check?.result]),
          [["K1", true, "Potential match"], ["K3", true, "Potential match"], ["K4", true, "Doubtful No"]]
        )
        deepStrictEqual(
          (yield* collected(history)).map(({ actor, id, kind, run }) => [kind, id, actor, run]),
          ["K1", "K3", "K4"].map((id) => ["viewed", id, "ana", run])
        )
        // Nothing is shown that was not stored as viewed.
        const ledger = yield* Ledger.Ledger
        const failing = { ...ledger, append: () => Effect.dieMessage("The history is not available") }
        const exit = yield* Stream.runCount(Matches.review(run, { reader: "ana" })).pipe(
          Effect.provideService(Ledger.Ledger, failing),
          Effect.exit
        )
        strictEqual(exit._tag, "Failure")
      })
    )

    test(
      "stores no response under the policy none, and the report says so",
      Effect.gen(function*() {
        yield* screened({ evidence: "none" })
        const rows = yield* collected(Report.rows(run, { people: yield* People.People }))
        deepStrictEqual(rows.map(({ aml_profile }) => aml_profile), ["not stored", "", "not stored", "not stored"])
        strictEqual(
          (yield* collected(Matches.review(run, { reader: "ana" }))).every(({ check }) => check === undefined),
          true
        )
      })
    )

    test(
      "counts a decision with four eyes only after another person approved the last one about the same evidence",
      Effect.gen(function*() {
        yield* screened({ fourEyes: true })
        const of = Effect.map(decisionsOf(run), (decisions) => decisions.get("K1"))
        const first = yield* decision("K1", run)
        strictEqual(yield* of, "")
        const approve = (reviewer: string, decisions = [first]) =>
          Decisions.store(run, decisions, { reviewer, approves: true })
        assertTrue((yield* reasonOf(approve("bob"))).startsWith("Nobody has stored this decision"))
        yield* Decisions.store(run, [first], { reviewer: "Ana  B" })
        strictEqual(yield* of, "awaiting_approval")
        assertTrue((yield* reasonOf(approve(" ana b"))).startsWith("The reviewer made these decisions"))
        assertTrue((yield* reasonOf(approve("bob", [{ ...first, decision: "true_match" }]))).startsWith("Nobody"))
        assertTrue((yield* reasonOf(approve("bob", [{ ...first, reason: "other" }]))).startsWith("Nobody"))
        strictEqual(yield* of, "awaiting_approval")
        yield* approve("bob")
        strictEqual(yield* of, "false_positive")
        const [row] = yield* collected(Report.rows(run))
        deepStrictEqual([row?.reason, row?.reviewer, row?.approver], ["other_birth_year", "Ana  B", "bob"])
        // A change of mind needs an approval of its own, and the first decision stays in the history.
        yield* Decisions.store(run, [{ ...first, decision: "true_match" }], { reviewer: "bob" })
        strictEqual(yield* of, "awaiting_approval")
        const ledger = yield* Ledger.Ledger
        deepStrictEqual((yield* ledger.historyOf(["K1"])).map(({ decision, kind }) => [kind, decision]), [
          ["decided", "false_positive"],
          ["approved", "false_positive"],
          ["decided", "true_match"]
        ])
      })
    )

    test(
      "accepts all decisions or none, and only about the evidence that the reviewer saw",
      Effect.gen(function*() {
        yield* screened()
        const good = yield* decision("K1", run)
        const wrong = [
          [{ ...good, digest: "0".repeat(64) }, "does not have this digest"],
          [{ ...good, id: "K9" }, "no result for these ids"],
          [{ ...good, decision: "review_again" }, "not a word that the report uses"],
          [{ ...good, reason: "Ada Testpep is another person" }, "codes of 1 to 64"]
        ] as const
        for (const [bad, expected] of wrong) {
          const message = yield* reasonOf(Decisions.store(run, [good, bad], { reviewer: "ana" }))
          assertTrue(message.includes(expected) && message.includes("(decision 2 of the list)"), message)
          assertTrue(!message.includes("Ada"))
        }
        const { history } = yield* Ledger.Ledger
        deepStrictEqual(yield* collected(history), [])
      })
    )

    test(
      "never applies a decision about a match to another response if profile addresses are ignored",
      Effect.gen(function*() {
        const ignored = { profileAddress: "ignored" } as const
        yield* screened({ ...ignored, run: "1" })
        yield* Decisions.store("1", [yield* decision("K1", "1"), yield* decision("K4", "1")], { reviewer: "ana" })
        yield* screened({ ...ignored, run: "2", profile: "https://example.com/p/2" })
        const later = yield* decisionsOf("2")
        deepStrictEqual(
          [(yield* decisionsOf("1")).get("K1"), later.get("K1"), later.get("K4")],
          ["false_positive", "review_again", "false_positive"]
        )
        const changes = yield* collected(Comparison.compare("1", "2"))
        deepStrictEqual(changes.map(({ kind }) => kind), ["unchanged", "unchanged", "unchanged", "unchanged"])
        // With stable addresses, an equal response keeps the decision, and another address does not.
        yield* screened({ run: "3" })
        yield* Decisions.store("3", [yield* decision("K1", "3")], { reviewer: "ana" })
        yield* screened({ run: "4" })
        yield* screened({ run: "5", profile: "https://example.com/p/5" })
        deepStrictEqual(
          [(yield* decisionsOf("4")).get("K1"), (yield* decisionsOf("5")).get("K1")],
          ["false_positive", "review_again"]
        )
        // Nothing of the sandbox or of another service counts, and neither does a decision without a run.
        yield* screened({ run: "6", environment: "sandbox" })
        strictEqual((yield* decisionsOf("6")).get("K1"), "")
        const { digest } = yield* decision("K3", "4")
        const ledger = yield* Ledger.Ledger
        yield* ledger.append([{ kind: "decided", id: "K3", actor: "ana", digest, decision: "x", reason: "x" }])
        strictEqual((yield* decisionsOf("4")).get("K3"), "review_again")
      })
    )

    test(
      "exports and erases one person, unless the person is on hold, and changes nothing of others",
      Effect.gen(function*() {
        const ledger = yield* Ledger.Ledger
        yield* screened({ run: "1", evidence: "all" })
        yield* screened({ run: "2" })
        yield* Decisions.store("1", [yield* decision("K1", "1"), yield* decision("K3", "1")], { reviewer: "ana" })
        const exported = yield* PersonalData.read("K1", { actor: "dpo" })
        deepStrictEqual(
          [exported.runs.map(({ checks, run }) => [run, checks.length]), exported.history.map(({ kind }) => kind)],
          [[["1", 1], ["2", 1]], ["decided"]]
        )
        strictEqual((yield* Effect.flip(PersonalData.read("K9", { actor: "dpo" })))._tag, "PersonNotFound")
        strictEqual((yield* Effect.flip(PersonalData.erase("K9", { actor: "dpo" })))._tag, "PersonNotFound")
        const others = Effect.gen(function*() {
          const found = yield* Effect.forEach(["1", "2"], (run) => collected(Report.rows(run)))
          return found.flat().filter(({ line }) => line !== 1)
        })
        const before = yield* others
        strictEqual(yield* PersonalData.hold("K1", { actor: "legal" }), true)
        strictEqual(yield* PersonalData.hold("K1", { actor: "legal" }), false)
        strictEqual((yield* Effect.flip(PersonalData.erase("K1", { actor: "dpo" })))._tag, "PersonOnHold")
        strictEqual((yield* PersonalData.read("K1", { actor: "dpo" })).runs.length, 2)
        strictEqual(yield* PersonalData.hold("K1", { actor: "legal", releases: true }), true)
        strictEqual(yield* PersonalData.erase("K1", { actor: "dpo" }), 2)
        // After a failure of the overwriting, the next one overwrites, although the rows are gone.
        let overwritten = 0
        const counting: Ledger.Service = {
          ...ledger,
          erasePerson: (...args) => Effect.tap(ledger.erasePerson(...args), () => Effect.sync(() => overwritten++))
        }
        const repeated = PersonalData.erase("K1", { actor: "dpo" }).pipe(
          Effect.provideService(Ledger.Ledger, counting)
        )
        deepStrictEqual([(yield* Effect.flip(repeated))._tag, overwritten], ["PersonNotFound", 1])
        deepStrictEqual(yield* others, before)
        deepStrictEqual(yield* ledger.historyOf(["K1"]), [])
        const [erased] = yield* collected(Report.rows("1"))
        deepStrictEqual([erased?.outcome, erased?.id, erased?.digest, erased?.times_sent], ["erased", "", "", 1])
        assertTrue((yield* Report.page("1")).includes("<td>Erased on request</td><td class=\"number\">1</td>"))
        const history = yield* collected(ledger.history)
        deepStrictEqual(history.filter(({ id }) => id === null).map(({ actor, kind }) => [kind, actor]), [[
          "erased",
          "dpo"
        ]])
      })
    )

    test(
      "keeps a person on hold when old runs are erased, until the hold is released",
      Effect.gen(function*() {
        yield* screened()
        yield* PersonalData.hold("K3", { actor: "legal" })
        deepStrictEqual(yield* Rescreening.erase({ olderThan: 0, historyOlderThan: 0 }), [run])
        const held = yield* PersonalData.read("K3", { actor: "dpo" })
        deepStrictEqual([held.runs.map(({ checks }) => checks.length), held.history[0]?.kind], [[1], "held"])
        yield* PersonalData.hold("K3", { actor: "legal", releases: true })
        yield* Rescreening.erase({ olderThan: 0 })
        // Only the history is left.
        strictEqual(yield* PersonalData.hold("K3", { actor: "legal" }), true)
        yield* PersonalData.hold("K3", { actor: "legal", releases: true })
        yield* Rescreening.erase({ olderThan: 0, historyOlderThan: 0 })
        strictEqual((yield* Effect.flip(PersonalData.read("K3", { actor: "dpo" })))._tag, "PersonNotFound")
      })
    )

    test(
      "drops the result of a check in flight whose person is erased, and screens no erased person",
      Effect.gen(function*() {
        const ledger = yield* Ledger.Ledger
        yield* Rescreening.plan(Stream.make(entry("K1"), entry("K2"), entry("K3")), fast)
        const [claim] = yield* ledger.claim({ run, limit: 1, lease: 60_000 })
        if (claim === undefined) return yield* Effect.dieMessage("No row was claimed")
        yield* ledger.send(run, [claim], where.service)
        yield* PersonalData.erase("K1", { actor: "dpo" })
        yield* PersonalData.erase("K2", { actor: "dpo" })
        yield* ledger.settle(run, [{
          line: 1,
          token: claim.token,
          requests: 1,
          outcome: { state: "potential_match", checkId: "x" }
        }])
        yield* ledger.release(run, [{ line: 1, token: claim.token, requests: 1 }])
        const aml = service()
        const counts = yield* Effect.provide(Rescreening.work(where), aml.layer)
        deepStrictEqual([counts.erased, counts.no_match, aml.names.length], [2, 1, 1])
        const [row] = yield* ledgerRows
        deepStrictEqual([row?.state, row?.checkId, row?.late, row?.timesSent], ["erased", null, [], 1])
      })
    )

    test(
      "finds who of a class has no result in time over all runs, and never compares two classes or environments",
      Effect.gen(function*() {
        const high = { class: "high", environment: "sandbox" }
        yield* screened({ ...high, run: "1" })
        yield* Rescreening.plan(Stream.make(entry("K1"), entry("K3"), entry("K9"), { codes: ["columns"] }), {
          ...fast,
          ...high,
          run: "2"
        })
        const ids = Effect.map(
          collected(Coverage.due({ class: "high", olderThan: "30 days" })),
          (due) => due.map(({ id }) => id)
        )
        deepStrictEqual(yield* ids, ["K9"])
        deepStrictEqual(yield* Coverage.coverage({ class: "high", within: "30 days" }), {
          class: "high",
          run: "2",
          service: where.service,
          environment: "sandbox",
          people: 3,
          screened: 2,
          due: 1,
          wrongRows: 1
        })
        // Neither a run of another environment nor one of only some people has the people of the class.
        yield* screened({ class: "high", environment: "production", run: "production" })
        yield* Rescreening.plan(Stream.make(entry("K1")), { ...fast, ...high, run: "part", isPart: true })
        const of = (environment: string) => Coverage.coverage({ class: "high", environment, within: "30 days" })
        strictEqual((yield* of("sandbox")).run, "2")
        strictEqual((yield* of("production")).run, "production")
        strictEqual((yield* Effect.flip(Coverage.coverage({ class: "low", within: "30 days" })))._tag, "ClassNotFound")
        yield* screened({ run: "3" })
        strictEqual(
          yield* reasonOf(Stream.runDrain(Comparison.compare("1", "3"))),
          "Runs 1 and 3 have another class, so they cannot be compared. Compare runs of the same class."
        )
        const ledger = yield* Ledger.Ledger
        const all = { from: 0, to: Number.MAX_SAFE_INTEGER }
        const sent = (environment: string) => ledger.sentBetween({ service: where.service, environment }, all)
        deepStrictEqual((yield* sent("sandbox")).toSorted(), ["K1", "K2", "K3", "K4"])
        deepStrictEqual(yield* ledger.sentBetween({ service: where.service, environment: "" }, { from: 0, to: 1 }), [])
      })
    )

    test(
      "begins the page with what a person must do, and with which command",
      Effect.gen(function*() {
        yield* screened({ fourEyes: true })
        const toDo = Effect.map(
          Report.page(run),
          (page) => page.slice(page.indexOf("<h2>To do"), page.indexOf("<h2>Outcomes"))
        )
        assertTrue((yield* toDo).includes("<td>Results to decide about</td><td class=\"number\">3</td>"))
        const decisions = yield* Effect.forEach(["K1", "K3", "K4"], (id) => decision(id, run))
        yield* Decisions.store(run, decisions, { reviewer: "ana" })
        assertTrue((yield* toDo).includes("another person must approve</td><td class=\"number\">3</td>"))
        yield* Decisions.store(run, decisions, { reviewer: "bob", approves: true })
        strictEqual(yield* toDo, "<h2>To do</h2><p>No result needs a person.</p>\n")
      })
    )

    test(
      "never sends more than the limit of requests, with several workers and repeated requests, and accepts a higher one",
      Effect.gen(function*() {
        let posts = 0
        const aml = Layer.map(service().layer, (context) => {
          const { check } = Context.get(context, AmlClient.AmlClient)
          return Context.make(AmlClient.AmlClient, {
            check: (person) =>
              Effect.flatMap(Bearer.BeforeRequest, (before) => {
                const post = Effect.zipRight(before ?? Effect.void, Effect.sync(() => posts++))
                // Every third check is repeated, as after a 401.
                return post.pipe(Effect.zipRight(posts % 3 === 2 ? post : Effect.void), Effect.zipRight(check(person)))
              })
          })
        })
        const work = Effect.exit(Effect.provide(Rescreening.work(where), aml))
        yield* Rescreening.plan(many(60), { ...fast, maxChecks: 25 })
        yield* Effect.replicateEffect(work, 3, { concurrency: "unbounded" })
        assertTrue(posts > 0 && posts <= 25, `${posts}`)
        const ledger = yield* Ledger.Ledger
        const sent = Effect.map(ledgerRows, (rows) => rows.reduce((sum, { timesSent }) => sum + timesSent, 0))
        const { reason, reserved, state } = yield* ledger.run(run)
        deepStrictEqual([state, reason?.startsWith("the limit of 25 checks"), yield* sent], ["paused", true, posts])
        assertTrue(reserved >= posts && reserved <= 25, `${reserved}`)
        assertTrue(ConfigError.isConfigError(yield* Effect.flip(Rescreening.set(run, { maxChecks: 3 }))))
        strictEqual((yield* ledger.run(run)).policy.maxChecks, 25)
        yield* Rescreening.set(run, { maxChecks: 1000 })
        yield* Rescreening.resume(run)
        yield* work
        deepStrictEqual([(yield* ledger.counts(run)).no_match, yield* sent], [60, posts])
        assertTrue((yield* ledger.run(run)).reserved >= posts)
      })
    )

    test(
      "does not exceed the limit if a worker hangs past its lease, and continues after others reserved what was free",
      Effect.gen(function*() {
        const direct = yield* Ledger.Ledger
        const isHung = yield* Deferred.make<void>()
        const wake = yield* Deferred.make<void>()
        let hangs = false
        const hanging = <A, E>(effect: Effect.Effect<A, E>) =>
          Effect.suspend(() => hangs ? Effect.zipRight(Deferred.await(wake), effect) : effect)
        const ledger: Ledger.Service = {
          ...direct,
          workerState: (...args) => hanging(direct.workerState(...args)),
          renew: (...args) => hanging(direct.renew(...args)),
          claim: (...args) => hanging(direct.claim(...args)),
          send: (...args) =>
            Effect.zipRight(
              Effect.sync(() => hangs = true),
              Effect.zipRight(Deferred.succeed(isHung, undefined), hanging(direct.send(...args)))
            )
        }
        const aml = service()
        yield* Rescreening.plan(many(40), { ...fast, maxChecks: 20 })
        const worker = yield* Rescreening.work({ ...where, lease: "1 second" }).pipe(
          Effect.provideService(Ledger.Ledger, ledger),
          Effect.provide(aml.layer),
          Effect.exit,
          Effect.fork
        )
        yield* Deferred.await(isHung)
        yield* Effect.sleep("1100 millis")
        yield* Rescreening.pause(run)
        yield* Rescreening.resume(run)
        strictEqual(yield* direct.reserve(run, 20, 20), 20)
        hangs = false
        yield* Deferred.succeed(wake, undefined)
        const exit = yield* Fiber.join(worker)
        strictEqual(exit._tag, "Failure")
        deepStrictEqual(aml.names, [])
      })
    )

    test(
      "takes over the rows of killed workers before it sets a limit or resumes",
      Effect.gen(function*() {
        const ledger = yield* Ledger.Ledger
        yield* Rescreening.plan(many(2), fast)
        yield* ledger.claim({ run, limit: 1, lease: 1 })
        yield* Effect.sleep("10 millis")
        yield* Rescreening.pause(run)
        yield* Rescreening.set(run, { maxChecks: 5 })
        strictEqual((yield* ledger.counts(run)).pending, 2)
        yield* ledger.claim({ run, limit: 1, lease: 1 })
        yield* Effect.sleep("10 millis")
        yield* Rescreening.resume(run)
        strictEqual((yield* ledger.counts(run)).pending, 2)
      })
    )

    test(
      "exports late results, and the person of a row without a result",
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* Rescreening.plan(many(1), fast)
        yield* sql`UPDATE idv_rescreen_people SET late = ${"{\"token\":\"t\",\"state\":\"potential_match\"}"}`
        const { runs: [inRun] } = yield* PersonalData.read("K1", { actor: "dpo" })
        deepStrictEqual(inRun?.row.late.map(({ state }) => state), ["potential_match"])
        strictEqual(Redacted.value(inRun?.person?.name ?? Redacted.make("")), "CanaryK1 Testclear")
      })
    )

    test(
      "erases a person of a plan whose process was killed while it discarded the plan",
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* sql`CREATE TRIGGER killed BEFORE DELETE ON idv_rescreen_people BEGIN SELECT RAISE(ABORT, 'killed'); END`
        yield* Effect.exit(Rescreening.plan(Stream.concat(many(2), Stream.fail("cut")), fast))
        yield* sql`DROP TRIGGER killed`
        yield* PersonalData.erase("K1", { actor: "dpo" })
        deepStrictEqual(yield* sql`SELECT 1 FROM idv_rescreen_people WHERE id = 'K1'`, [])
      })
    )

    test(
      "tells what responses have beyond the service document once per run",
      Effect.gen(function*() {
        const body = JSON.stringify({
          cred_version: "1.0",
          request_id: "Canary",
          "Canary name": 1,
          credentials: { attributes: { name: "x", extra: { Canary: 1 } } }
        })
        const aml = Layer.map(service().layer, (context) =>
          Context.make(AmlClient.AmlClient, {
            check: (person) =>
              Effect.map(Context.get(context, AmlClient.AmlClient).check(person), (check) =>
                AmlCheck.make({ ...check, body: Redacted.make(new TextEncoder().encode(body)) }))
          }))
        yield* Rescreening.plan(many(20), fast)
        yield* Effect.provide(Rescreening.work(where), aml)
        const ledger = yield* Ledger.Ledger
        deepStrictEqual((yield* ledger.run(run)).undocumented, [
          "request_id",
          "(other)",
          "credentials.attributes.extra"
        ])
        assertTrue((yield* Report.page(run)).includes("undocumented parts: request_id, (other), credentials"))
      })
    )

    test(
      "asks for another decision if the date of birth of the request changed",
      Effect.gen(function*() {
        const aml = service(() => "Potential match")
        const screen = (name: string, dateOfBirth: string) =>
          Rescreening.plan(
            Stream.make({ key: "K1", person: Person.make({ name: "Ada Testpep", dateOfBirth }) }),
            { ...fast, run: name }
          ).pipe(Effect.zipRight(Rescreening.work({ ...where, run: name })), Effect.provide(aml.layer))
        yield* screen("1", "1990-02-01")
        yield* Decisions.store("1", [yield* decision("K1", "1")], { reviewer: "ana" })
        yield* screen("2", "1990-02-01")
        strictEqual((yield* decisionsOf("2")).get("K1"), "false_positive")
        yield* screen("3", "1990-03-01")
        strictEqual((yield* decisionsOf("3")).get("K1"), "review_again")
      })
    )

    test(
      "pauses a run whose evidence has another environment, and stores no result",
      Effect.gen(function*() {
        yield* Rescreening.plan(Stream.make(entry("K1")), { ...fast, environment: "production" })
        const work = (environment: string) =>
          Effect.provide(Rescreening.work({ ...where, environment }), service().layer)
        strictEqual((yield* Effect.flip(work("sandbox")))._tag, "RunConflict")
        assertTrue((yield* reasonOf(work("production"))).includes("another environment than the run"))
        deepStrictEqual((yield* ledgerRows).map(({ error, state }) => [state, error]), [
          ["not_screened", "EnvironmentDiffers"]
        ])
      })
    )
  })
})

describe("The standing of a decision", () => {
  layer(Layer.empty, { excludeTestServices: true })((it) => {
    /** An entry about one of two people, about one of two pieces of evidence, by one of three people. */
    const step = fc.record({
      kind: fc.constantFrom<History.Entry["kind"]>("decided", "approved", "viewed", "erased"),
      digest: fc.constantFrom("a", "b"),
      actor: fc.constantFrom("ana", "bob", "Ana "),
      days: fc.integer({ min: 0, max: 40 })
    })

    it.effect("follows a model for 1,000 random histories of decisions, approvals and erasures", () =>
      Effect.sync(() =>
        fc.assert(
          fc.property(fc.array(step, { maxLength: 12 }), fc.boolean(), fc.boolean(), (steps, fourEyes, expires) => {
            let entries: ReadonlyArray<History.Entry> = []
            /** The model: for each digest the last decision, who made it, when, and whether another person approved it. */
            const model = new Map<string, { entry: number; actor: string; day: number; isApproved: boolean }>()
            let day = 0
            for (const [index, { actor, days, digest, kind }] of steps.entries()) {
              day += days
              const name = actor.trim().toLowerCase()
              if (kind === "erased") {
                entries = []
                model.clear()
                continue
              }
              const approves = kind === "approved"
                ? entries.findLast((entry) => entry.kind === "decided" && entry.digest === digest)?.entry ?? null
                : null
              const at = DateTime.unsafeMake(day * 86_400_000)
              const text = { decision: `d${index}`, reason: "r" }
              entries = [...entries, {
                entry: index + 1,
                at,
                kind,
                id: "K1",
                actor,
                run: null,
                digest,
                ...text,
                approves
              }]
              const last = model.get(digest)
              if (kind === "decided") model.set(digest, { entry: index + 1, actor: name, day, isApproved: false })
              else if (kind === "approved" && last !== undefined && last.actor !== name) last.isApproved = true
            }
            for (const digest of ["a", "b"]) {
              const found = Decisions.standing(entries, digest, {
                fourEyes,
                decisionsValidDays: expires ? 60 : undefined,
                now: DateTime.unsafeMake(day * 86_400_000)
              })
              const last = model.get(digest)
              const isValid = last !== undefined && (!expires || day - last.day < 60)
              const expected = isValid
                ? fourEyes && !last.isApproved ? "awaiting_approval" : "decided"
                : model.size > 0
                ? "review_again"
                : "none"
              strictEqual(found.status, expected)
              strictEqual(found.decision?.entry, isValid ? last.entry : undefined)
            }
          }),
          { numRuns: runs(200) }
        )
      ))
  })
})
