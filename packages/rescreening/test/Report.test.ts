import { AmlClient, AmlError } from "@effect-idv/core"
import { SqlClient } from "@effect/sql"
import { describe, layer } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Chunk, Context, Duration, Effect, Layer, Redacted, Stream } from "effect"
import { createHash, createHmac } from "node:crypto"
import { Comparison, Decisions, Ledger, type Population, Report, Rescreening } from "../src/index.ts"
import * as Databases from "./support/databases.ts"
import { entry, layerPeople, service } from "./support/people.ts"

const where = { service: "api.example.com" }
const options = { ...where, rate: 2000 }

const lost = new AmlError.AmlUnavailable({ reason: "broken", host: "api.example.com", sent: "unknown" })

/** A run of the people with these numbers; the service answers by the number. */
const screened = (
  run: string,
  numbers: ReadonlyArray<number>,
  answer: (number: number) => "No" | "Potential match" | typeof lost,
  more?: Partial<Rescreening.PlanOptions>
) => {
  const aml = service((name) => answer(Number(/\d+/.exec(name)?.[0])))
  const people = Stream.fromIterable(numbers.map((number) => entry(`K${number}`, `Canary${number} Testclear`)))
  return Rescreening.plan(people, { ...options, ...more, run }).pipe(
    Effect.zipRight(Rescreening.work({ ...where, run })),
    Effect.provide([aml.layer, layerPeople()])
  )
}

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

const text = <E>(stream: Stream.Stream<string, E, Ledger.Ledger>) => Stream.mkString(stream)

describe.each(Databases.kinds)("Report with %s", (_, databases) => {
  layer(databases, { excludeTestServices: true })((it) => {
    const test = <A, E>(name: string, effect: Effect.Effect<A, E, Ledger.Ledger | SqlClient.SqlClient>) =>
      it.scoped(name, () => Effect.flatMap(Databases.ledger, (context) => Effect.provide(effect, context)))

    test(
      "has no empty part for a run of exactly one page, which a file could not be written from",
      Effect.gen(function*() {
        const people = Stream.fromIterable(numbers(1, 1000).map((n) => entry(`K${n}`, `Canary${n} Testclear`)))
        yield* Effect.provide(Rescreening.plan(people, { ...options, run: "page" }), layerPeople())
        for (const report of [Report.csv("page"), Report.jsonLines("page")]) {
          const parts = Chunk.toReadonlyArray(yield* Stream.runCollect(report))
          strictEqual(parts.some((part) => part === ""), false)
          strictEqual(parts.join("").includes("K1000"), true)
        }
        assertTrue((yield* Report.page("page")).includes("Nothing was sent yet."))
      })
    )

    test(
      "compares two runs: reports changed results, new people, people who left, and unknown rows, and no others",
      Effect.gen(function*() {
        yield* screened("2026-10", numbers(1, 60), (number) => number <= 10 ? "Potential match" : "No")
        yield* screened("2026-11", numbers(4, 64), (number) =>
          // 4 to 6 are not a match any more, 21 to 24 are one now, and of 30 and 31 nothing is known.
          number === 30 || number === 31 ? lost : (number >= 7 && number <= 10) || (number >= 21 && number <= 24)
            ? "Potential match"
            : "No")
        const changes = Chunk.toReadonlyArray(yield* Stream.runCollect(Comparison.compare("2026-10", "2026-11")))
        const of = (kind: Comparison.Kind) =>
          changes.filter((change) => change.kind === kind).map(({ id }) => Number(id.slice(1))).toSorted((a, b) =>
            a - b
          )
        deepStrictEqual(of("newly_matched"), [21, 22, 23, 24])
        deepStrictEqual(of("no_longer_matched"), [4, 5, 6])
        deepStrictEqual(of("newly_unknown"), [30, 31])
        deepStrictEqual(of("gone_from_population"), [1, 2, 3])
        deepStrictEqual(of("new_in_population"), [61, 62, 63, 64])
        deepStrictEqual(of("no_longer_unknown"), [])
        strictEqual(of("unchanged").length, 64 - 4 - 3 - 2 - 3 - 4)
        strictEqual(changes.length, 64)
        const [match] = changes.filter(({ id }) => id === "K21")
        deepStrictEqual([match?.before?.outcome, match?.after?.outcome], ["no_match", "potential_match"])
        assertTrue(match?.before?.contentDigest !== match?.after?.contentDigest)
        const back = Chunk.toReadonlyArray(yield* Stream.runCollect(Comparison.compare("2026-11", "2026-10")))
        strictEqual(back.filter(({ kind }) => kind === "no_longer_unknown").length, 2)
        strictEqual((yield* Effect.flip(Stream.runDrain(Comparison.compare("2026-10", "2026-12"))))._tag, "RunNotFound")
        const page = yield* Report.page("2026-11", { since: "2026-10" })
        for (const heading of ["Newly matched (4)", "No longer matched (3)", "No result any more (2)"]) {
          assertTrue(page.includes(heading), heading)
        }
        assertTrue(page.includes("<td>K21</td><td>no_match</td><td>potential_match</td>"))
        assertTrue(!page.includes("Canary"))
        assertTrue(!(yield* Report.page("2026-11")).includes("Changes since"))
      })
    )

    test(
      "compares keys in any script, in one order for both databases",
      Effect.gen(function*() {
        const people = (keys: ReadonlyArray<string>) =>
          Stream.fromIterable(keys.map((key) => entry(key, "Ada Testclear")))
        const keys = ["a", "Z", "ä", "\u{1F600}", "\uFF76", "中", "_", "10", "9"]
        yield* Effect.provide(Rescreening.plan(people(keys), { ...options, run: "a" }), layerPeople())
        yield* Effect.provide(Rescreening.plan(people(keys.toReversed()), { ...options, run: "b" }), layerPeople())
        yield* Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE idv_rescreen_runs SET state = 'complete'`)
        const changes = Chunk.toReadonlyArray(yield* Stream.runCollect(Comparison.compare("a", "b")))
        deepStrictEqual(changes.map(({ kind }) => kind), keys.map(() => "unchanged"))
      })
    )

    test(
      "refuses to compare a run that is not complete, and shows no changes on its page",
      Effect.gen(function*() {
        yield* screened("1", [1, 2], () => "No")
        yield* screened("2", [1, 2], () => "No")
        yield* Effect.provide(
          Rescreening.plan(Stream.make(entry("K1", "Ada Testclear")), { ...options, run: "3" }),
          layerPeople()
        )
        for (const [before, after] of [["1", "3"], ["3", "1"]] as const) {
          strictEqual(
            String(yield* Effect.flip(Stream.runDrain(Comparison.compare(before, after)))),
            "RunIncomplete: Run 3 is not complete, so it cannot be compared. Screen its remaining rows first."
          )
        }
        assertTrue(!(yield* Report.page("3", { since: "1" })).includes("Changes since"))
        assertTrue((yield* Report.page("2", { since: "1" })).includes("Changes since"))
      })
    )

    test(
      "compares the evidence of equal results: another profile address or another sign of damage is a change",
      Effect.gen(function*() {
        const screenedAs = (run: string, profiles: ReadonlyArray<string>, names: ReadonlyArray<string>) => {
          const people = Stream.fromIterable(names.map((name, index) => entry(`K${index}`, name)))
          const layer = Layer.map(AmlClient.layerTest("Potential match"), (context) => {
            const { check } = Context.get(context, AmlClient.AmlClient)
            return Context.make(AmlClient.AmlClient, {
              check: (person) =>
                Effect.map(check(person), ({ credential: { credentials: { attributes }, ...rest }, ...checked }) => {
                  const amlProfile = Redacted.make(profiles[names.indexOf(Redacted.value(person.name))] ?? "")
                  const credential = { ...rest, credentials: { attributes: { ...attributes, amlProfile } } }
                  return { ...checked, credential }
                })
            })
          })
          return Rescreening.plan(people, { ...options, run }).pipe(
            Effect.zipRight(Rescreening.work({ ...where, run })),
            Effect.provide([layer, layerPeople()])
          )
        }
        const profile = "https://example.com/aml-profiles/1"
        const names = ["Ada Testpep", "Zoë Testpep", "Jos? Testpep"]
        yield* screenedAs("1", [profile, profile, profile], names)
        yield* screenedAs("2", [profile, `${profile}2`, profile], [names[0] ?? "", names[1] ?? "", "José Testpep"])
        const kinds = Effect.map(
          Stream.runCollect(Comparison.compare("1", "2")),
          (changes) => Chunk.toReadonlyArray(changes).map(({ kind }) => kind)
        )
        deepStrictEqual(yield* kinds, ["unchanged", "evidence_changed", "evidence_changed"])
        assertTrue((yield* Report.page("2", { since: "1" })).includes("The same result with other evidence (2)"))
      })
    )

    test(
      "has no digest that a guessed response shows",
      Effect.gen(function*() {
        const bodies: Array<Uint8Array> = []
        const layer = Layer.map(AmlClient.layerTest("Potential match"), (context) => {
          const { check } = Context.get(context, AmlClient.AmlClient)
          return Context.make(AmlClient.AmlClient, {
            check: (person) =>
              Effect.tap(check(person), ({ body }) => {
                if (body !== undefined) bodies.push(Redacted.value(body))
              })
          })
        })
        yield* Rescreening.plan(Stream.make(entry("K1", "Ada Testpep")), { ...options, run: "1" }).pipe(
          Effect.zipRight(Rescreening.work({ ...where, run: "1" })),
          Effect.provide([layer, layerPeople()])
        )
        const [body] = bodies
        assertTrue(body !== undefined)
        const guessed = ["", "idv"].flatMap((key) => [
          createHash("sha256").update(body).digest("hex"),
          createHmac("sha256", key).update(body).digest("hex")
        ])
        const changes = yield* Stream.runCollect(Comparison.compare("1", "1"))
        const shown = [yield* text(Report.csv("1")), yield* text(Report.jsonLines("1")), JSON.stringify(changes)].join()
        assertTrue(/[\da-f]{64}/.test(shown))
        deepStrictEqual(guessed.filter((digest) => shown.includes(digest)), [])
      })
    )

    test(
      "shows how many wrong rows may belong to people who seem to be gone or new",
      Effect.gen(function*() {
        const planned = (run: string, rows: Stream.Stream<Population.Row>) =>
          Rescreening.plan(rows, { ...options, run }).pipe(
            Effect.zipRight(Rescreening.work({ ...where, run })),
            Effect.provide([service().layer, layerPeople()])
          )
        yield* planned("1", Stream.make(entry("K1"), entry("K2")))
        yield* planned("2", Stream.make(entry("K1"), { codes: ["date_of_birth.no_such_date"] }))
        const changes = Chunk.toReadonlyArray(yield* Stream.runCollect(Comparison.compare("1", "2")))
        deepStrictEqual(changes.map(({ id, kind }) => [id, kind]), [["K1", "unchanged"], [
          "K2",
          "gone_from_population"
        ]])
        deepStrictEqual(yield* Comparison.wrongRows("1", "2"), { before: 0, after: 1 })
        const now = "<td>Wrong rows now: may be people who seem gone</td><td class=\"number\">1</td>"
        assertTrue((yield* Report.page("2", { since: "1" })).includes(now))
        assertTrue(!(yield* Report.page("1", { since: "1" })).includes("Wrong rows now"))
      })
    )

    test(
      "shows a decision beside the same evidence, and asks for a new review when the evidence changed",
      Effect.gen(function*() {
        const matches = () => "Potential match" as const
        yield* screened("1", [1, 2, 3], matches)
        const rows = (run: string) => Effect.map(Stream.runCollect(Report.rows(run)), Chunk.toReadonlyArray)
        const digests = new Map((yield* rows("1")).map(({ digest, id }) => [id, digest]))
        const decide = (id: string) => ({
          id,
          digest: digests.get(id) ?? "",
          decision: "false_positive",
          reason: "other_birth_year"
        })
        yield* Decisions.store("1", [decide("K1"), decide("K2")], { reviewer: "ana" })
        yield* Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`UPDATE idv_rescreen_history SET digest = 'of other evidence' WHERE id = 'K2'`
        )
        yield* screened("2", [1, 2, 3], matches)
        for (const run of ["1", "2"]) {
          deepStrictEqual(
            (yield* rows(run)).map(({ decision, id, match_found }) => [id, match_found, decision]),
            [["K1", "Potential match", "false_positive"], ["K2", "Potential match", "review_again"], [
              "K3",
              "Potential match",
              ""
            ]]
          )
        }
      })
    )

    test(
      "lists the rows that were sent again after they were unknown, and no others",
      Effect.gen(function*() {
        const failed = new AmlError.AmlUnavailable({
          reason: "status",
          status: 500,
          host: "api.example.com",
          sent: "answered"
        })
        const limited = new AmlError.AmlRateLimited({ retryAfter: Duration.zero })
        const answers = new Map<string, ReadonlyArray<AmlClient.Canned>>([
          ["Canary1", [lost, "No"]],
          ["Canary2", [lost, lost]],
          // Sent twice, and unknown since then.
          ["Canary3", [limited, lost, "No"]],
          ["Canary4", [failed, "No"]],
          ["Canary5", ["No"]]
        ])
        const aml = service((name, count) => answers.get(name.split(" ")[0] ?? "")?.[count - 1] ?? "No")
        const again = Effect.map(Report.page("1"), (page) => [
          /Rows sent again after they were unknown<\/td><td>(\d+)</.exec(page)?.[1],
          /may have been billed twice \(\d+\).*?<\/table>/s.exec(page)?.[0].match(/K\d(?=<)/g)
        ])
        yield* Effect.gen(function*() {
          yield* Rescreening.plan(
            Stream.fromIterable(numbers(1, 5).map((number) => entry(`K${number}`, `Canary${number} Testclear`))),
            { ...options, run: "1" }
          )
          yield* Rescreening.work({ ...where, run: "1" })
          deepStrictEqual(yield* again, ["0", undefined])
          yield* Rescreening.resume("1", { again: ["unknown", "not_screened"] })
          deepStrictEqual(yield* again, ["0", undefined])
          yield* Rescreening.work({ ...where, run: "1" })
          deepStrictEqual(yield* again, ["3", ["K1", "K2", "K3"]])
        }).pipe(Effect.provide([aml.layer, layerPeople()]))
      })
    )

    test(
      "shows a result that arrived after the row was screened again, and that the run was amended",
      Effect.gen(function*() {
        const ledger = yield* Ledger.Ledger
        yield* Effect.provide(Rescreening.plan(Stream.make(entry("K1")), { ...options, run: "1" }), layerPeople())
        const [claim] = yield* ledger.claim({ run: "1", limit: 1, lease: 60_000 })
        if (claim === undefined) return yield* Effect.dieMessage("No row was claimed")
        yield* ledger.send("1", [claim], where.service)
        yield* ledger.endLeases([claim.token])
        yield* ledger.expire("1")
        yield* Rescreening.resume("1", { again: ["unknown"] })
        yield* Effect.provide(Rescreening.work({ ...where, run: "1" }), [service().layer, layerPeople()])
        const late = { line: claim.line, token: claim.token, requests: 1 }
        const first = Effect.map(Stream.runCollect(Report.rows("1")), (rows) => Chunk.toReadonlyArray(rows)[0])
        const stored = yield* Effect.map(
          Stream.runCollect(ledger.byLine("1")),
          (rows) => Chunk.toReadonlyArray(rows)[0]?.contentDigest
        )
        const decide = (digest: string) =>
          Decisions.store("1", [{ id: "K1", digest, decision: "false_positive", reason: "x" }], { reviewer: "ana" })
        yield* decide(stored ?? "")
        yield* ledger.settle("1", [{ ...late, outcome: { state: "potential_match", contentDigest: "late" } }])
        const row = yield* first
        // The decision was made before the match arrived.
        strictEqual(row?.decision, "review_again")
        assertTrue((yield* Report.page("1")).includes("or an old decision</td><td class=\"number\">1</td>"))
        // Nobody could decide about a row without a result.
        yield* Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`UPDATE idv_rescreen_people SET state = 'unknown', content_digest = NULL, response_digest = NULL`
        )
        yield* decide((yield* first)?.digest ?? "")
        strictEqual((yield* first)?.decision, "false_positive")
        yield* Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE idv_rescreen_people SET state = 'no_match'`)
        deepStrictEqual([row?.outcome, row?.late], ["no_match", ["potential_match"]])
        strictEqual((yield* text(Report.csv("1"))).trimEnd().endsWith(",potential_match"), true)
        const page = yield* Report.page("1")
        assertTrue(page.includes("Another result arrived after the row was screened again (1)"))
        assertTrue(/<td>K1<\/td><td>[^<]+<\/td><td>no_match, late: potential_match<\/td>/.test(page))
        assertTrue(page.includes("or the row was screened again</td><td>1</td>"))
      })
    )

    test(
      "writes each row once, and escapes spreadsheet formulas",
      Effect.gen(function*() {
        const people = Stream.make(
          entry("=1+1", "Ada Testclear"),
          entry("K2", "Zoë Testpep"),
          { codes: ["columns"] },
          entry("K2", "Zoë Testpep"),
          entry("K5", "Testclear, Bob")
        )
        const aml = service((name) => name.endsWith("Testpep") ? "Potential match" : "No")
        yield* Rescreening.plan(people, { ...options, run: "1" }).pipe(
          Effect.zipRight(Rescreening.work({ ...where, run: "1" })),
          Effect.provide([aml.layer, layerPeople()])
        )
        const csv = (yield* text(Report.csv("1"))).trimEnd().split("\n").map((line) => line.split(",").slice(0, 5))
        deepStrictEqual(csv, [
          ["line", "id", "outcome", "match_found", "codes"],
          ["1", "'=1+1", "no_match", "No", ""],
          ["2", "K2", "potential_match", "Potential match", ""],
          ["3", "", "wrong_row", "", "columns"],
          ["4", "", "wrong_row", "", "id.repeated"],
          ["5", "K5", "no_match_doubtful", "No", "name.family_name_first"]
        ])
        const lines: ReadonlyArray<Report.Row> = (yield* text(Report.jsonLines("1"))).trimEnd().split("\n").map((
          line
        ) => JSON.parse(line))
        deepStrictEqual(lines.map(({ outcome, times_sent }) => [outcome, times_sent]), [
          ["no_match", 1],
          ["potential_match", 1],
          ["wrong_row", 0],
          ["wrong_row", 0],
          ["no_match_doubtful", 1]
        ])
        const page = yield* Report.page("1")
        assertTrue(page.includes("<td>In all</td><td class=\"number\">5</td>"))
        assertTrue(page.includes("<td>K2</td>"))
        assertTrue(/<rect [^>]*height="100.00"[^]*Checks sent per second, from .*; [\d.]+ at most, /.test(page))
        assertTrue(!page.includes("Zoë"))
      })
    )

    test(
      "shows no keys on the page if the policy hides them, and otherwise escapes them",
      Effect.gen(function*() {
        const people = Stream.make(entry("<script>1", "Zoë Testpep"))
        const aml = service(() => "Potential match")
        const run = (run: string, keysOnPage: boolean) =>
          Rescreening.plan(people, { ...options, run, keysOnPage }).pipe(
            Effect.zipRight(Rescreening.work({ ...where, run })),
            Effect.provide([aml.layer, layerPeople()]),
            Effect.zipRight(Report.page(run))
          )
        const hidden = yield* run("hidden", false)
        assertTrue(!hidden.includes("script") && hidden.includes("Potential matches (1)"))
        const shown = yield* run("shown", true)
        assertTrue(shown.includes("&lt;script&gt;1") && !shown.includes("<script"))
      })
    )

    test(
      "fails when a row is missing, and when a run was erased",
      Effect.gen(function*() {
        yield* screened("1", [1, 2, 3], () => "No")
        const sql = yield* SqlClient.SqlClient
        yield* sql`DELETE FROM idv_rescreen_people WHERE line = 2`
        strictEqual(
          (yield* Effect.flip(text(Report.csv("1")))).message,
          "Run 1 was planned with 3 rows, but the ledger has 2. Check whether another program changed the database."
        )
        strictEqual((yield* Effect.flip(Report.page("1")))._tag, "SumsDiffer")
        deepStrictEqual(yield* Rescreening.erase({ olderThan: 0 }), ["1"])
        strictEqual((yield* Effect.flip(Report.page("1")))._tag, "RunErased")
        const status = yield* Effect.flatMap(Stream.runHead(Rescreening.status("1")), (status) => status)
        strictEqual(status.counts.no_match, 2)
      })
    )
  })
})
