/** What the onboarding API does, whatever its database is. */
import { Profile } from "@effect-idv/mock-server"
import { SqlClient } from "@effect/sql"
import { describe, layer } from "@effect/vitest"
import { assertInclude, assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import type { Record } from "effect"
import { Array as Arr, DateTime, Effect, Fiber, type Layer, Schedule } from "effect"
import { randomUUID } from "node:crypto"
import { Databases } from "./databases.ts"
import * as Onboarding from "./onboarding.ts"

/** Every name here has this in it, and everybody the same day of birth. */
const canaries = ["canary", "1931-07-29", "29-07-1931"]

/** The lines in which one is. */
const assertNoCanary = (printed: string) =>
  deepStrictEqual(
    printed.split("\n").filter((line) => canaries.some((canary) => line.toLowerCase().includes(canary))),
    []
  )

const read = (body: string): Record<string, unknown> => JSON.parse(body)

const started = (variables: Record<string, string> = {}, profile?: Profile.Profile) =>
  Effect.gen(function*() {
    const { fresh } = yield* Databases
    const url = yield* fresh
    const mock = yield* Onboarding.mock(profile)
    const server = yield* Onboarding.serve(mock.options, {
      DATABASE_URL: url,
      REVIEWER_TOKEN: Onboarding.reviewerToken,
      ...variables
    })
    const context = yield* Onboarding.database(url)
    return { ...server, ...mock, database: url, sql: yield* Effect.provide(SqlClient.SqlClient, context) }
  })

/** Waits until a statement finds a row. */
const until = <E, R>(statement: Effect.Effect<ReadonlyArray<unknown>, E, R>) =>
  Effect.repeat(statement, { until: (rows) => rows.length > 0, schedule: Schedule.spaced("50 millis") })

/** Of each applicant, in the order of their names. */
const outcomes = (sql: SqlClient.SqlClient) =>
  sql`SELECT a.name, d.outcome, d.reason, e.check_id IS NOT NULL AS evidence FROM applicants a
    LEFT JOIN decisions d ON d.applicant_id = a.id LEFT JOIN evidence e ON e.applicant_id = a.id ORDER BY a.name`.pipe(
    Effect.map(Arr.map(({ evidence, name, outcome, reason }) => [name, outcome, reason, Boolean(evidence)]))
  )

export const suite = (name: string, layerDatabases: Layer.Layer<Databases>) =>
  describe(
    name,
    { concurrent: true },
    () =>
      layer(layerDatabases, { excludeTestServices: true, timeout: "1 minute" })((it) => {
        it.scoped("a \"No\" is a welcome, stored with its evidence", () =>
          Effect.gen(function*() {
            const { printed, sql, url } = yield* started()
            const { body, status } = yield* Onboarding.signUp(url, "Canary Testclear")
            strictEqual(status, 201)
            strictEqual(read(body)["status"], "welcome")
            deepStrictEqual(yield* outcomes(sql), [["Canary Testclear", "clear", "No", true]])
            for (const part of ["stored", "Store.claim", "SignUp.answer"]) assertInclude(yield* printed, part)
            assertNoCanary(yield* printed)
          }))

        it.scoped("a match, an outage, a silence and a damaged name get one answer, and none of them early", () =>
          Effect.gen(function*() {
            const { sql, url } = yield* started({ ANSWER_AFTER: "5 seconds" })
            const names = ["Canary Testpep", "Canary Test500", "Canary Testhang", "Can&#039;ary Testclear"]
            const answers = yield* Effect.forEach(names, (name) => Onboarding.signUp(url, name), {
              concurrency: "unbounded"
            })
            const seen = answers.map(({ body, headers, status }) => {
              const told: Record<string, unknown> = { ...read(body), applicantId: "" }
              return { status, headers, length: body.length, told }
            })
            deepStrictEqual(Arr.dedupeWith(seen, (a, b) => JSON.stringify(a) === JSON.stringify(b)), seen.slice(0, 1))
            deepStrictEqual(seen[0]?.told, { status: "received", applicantId: "" })
            strictEqual(seen[0]?.headers["cache-control"], "no-store")
            for (const { took } of answers) assertTrue(took >= 5000)
            deepStrictEqual(yield* outcomes(sql), [
              ["Can&#039;ary Testclear", "review", "DoubtfulName", true],
              ["Canary Test500", "review", "AmlUnavailable", false],
              ["Canary Testhang", "review", "AmlTimeout", false],
              ["Canary Testpep", "review", "PotentialMatch", true]
            ])
          }))

        it.scoped(
          "24 at once, with the service at its most awkward: everybody has an outcome, and nobody is in the logs",
          () =>
            Effect.gen(function*() {
              const { printed, sql, url } = yield* started({ ANSWER_AFTER: "12 seconds" }, Profile.presets.hostile)
              const words = [
                "Testclear",
                "Testpep",
                "Testsanc",
                "Test500",
                "Testecho",
                "Testunknown",
                "Testcut",
                "Testhtml"
              ]
              const names = Arr.makeBy(24, (i) => `Canary${String(i).padStart(2, "0")} ${words[i % words.length]}`)
              const answers = yield* Effect.forEach(names, (name) => Onboarding.signUp(url, name), {
                concurrency: "unbounded"
              })
              deepStrictEqual(Arr.dedupe(answers.map(({ status }) => status)), [201])
              deepStrictEqual(
                answers.map(({ body }) => read(body)["status"]),
                names.map((name) => name.endsWith("Testclear") ? "welcome" : "received")
              )
              const stored = yield* outcomes(sql)
              deepStrictEqual(stored.map(([name]) => name), names)
              deepStrictEqual(
                stored.map(([, outcome]) => outcome),
                names.map((name) => name.endsWith("Testclear") ? "clear" : "review")
              )
              assertInclude(yield* printed, "not screened")
              assertNoCanary(yield* printed)
            }),
          { sequential: true }
        )

        it.scoped("a key replays the stored answer, and nobody is screened twice", () =>
          Effect.gen(function*() {
            const { checks, url } = yield* started()
            const [clear, listed] = [randomUUID(), randomUUID()]
            const welcome = yield* Onboarding.signUp(url, "Canary Testclear", clear)
            const received = yield* Onboarding.signUp(url, "Canary Testpep", listed)
            strictEqual((yield* Onboarding.signUp(url, "Canary Testclear", clear)).body, welcome.body)
            strictEqual((yield* Onboarding.signUp(url, "  Canary   Testpep", listed)).body, received.body)
            yield* checks(2)
          }))

        it.scoped("a key that comes many times at once, to two servers, is one check and one answer", () =>
          Effect.gen(function*() {
            const { checks, database, options, url } = yield* started()
            const other = yield* Onboarding.serve(options, { DATABASE_URL: database })
            const key = randomUUID()
            const answers = yield* Effect.forEach(
              Arr.makeBy(12, (i) => i % 3 === 0 ? other.url : url),
              (url) => Onboarding.signUp(url, "Canary Testpep", key),
              { concurrency: "unbounded" }
            )
            deepStrictEqual(Arr.dedupe(answers.map(({ status }) => status)), [201])
            strictEqual(Arr.dedupe(answers.map(({ body }) => body)).length, 1)
            // Also at the server that only had to read it.
            for (const { took } of answers) assertTrue(took >= Onboarding.answerAfter - 500)
            yield* checks(1)
          }))

        it.scoped("a key with another person is a 409, also while the first is under way, and nobody is screened", () =>
          Effect.gen(function*() {
            const { checks, printed, sql, url } = yield* started()
            const key = randomUUID()
            const first = yield* Effect.fork(Onboarding.signUp(url, "Canary Testpep", key))
            yield* until(sql`SELECT id FROM applicants`)
            strictEqual((yield* Onboarding.signUp(url, "Canary Testclear", key)).status, 409)
            yield* first
            const reused = yield* Onboarding.signUp(url, "Canary Testpep", key, "1931-07-28")
            deepStrictEqual([reused.status, reused.body], [409, "{\"_tag\":\"KeyReused\"}"])
            yield* checks(1)
            assertNoCanary(yield* printed)
          }))

        it.scoped("whoever was begun by a process that is gone is reviewed, and not screened again", () =>
          Effect.gen(function*() {
            const { checks, sql, url } = yield* started()
            const key = randomUUID()
            yield* sql`INSERT INTO applicants (id, idempotency_key, name, date_of_birth, started_at)
          VALUES (${randomUUID()}, ${key}, 'Canary Testclear', '1931-07-29', '2026-01-01T00:00:00.000Z')`
            strictEqual(read((yield* Onboarding.signUp(url, "Canary Testclear", key)).body)["status"], "received")
            deepStrictEqual(yield* outcomes(sql), [["Canary Testclear", "review", "Interrupted", false]])
            yield* checks(0)
          }))

        it.scoped("an applicant who leaves is screened and stored all the same", () =>
          Effect.gen(function*() {
            const { checks, sql, url } = yield* started()
            const fiber = yield* Effect.fork(Onboarding.signUp(url, "Canary Testhang"))
            yield* until(sql`SELECT id FROM applicants`)
            yield* Fiber.interrupt(fiber)
            yield* until(sql`SELECT applicant_id FROM decisions`)
            deepStrictEqual(yield* outcomes(sql), [["Canary Testhang", "review", "AmlTimeout", false]])
            yield* checks(1)
          }))

        it.scoped("the back office sees the cases with their profile, and when evidence was changed", () =>
          Effect.gen(function*() {
            const { printed, sql, url } = yield* started()
            yield* Onboarding.signUp(url, "Canary Testpep")
            yield* Onboarding.signUp(url, "Canary Testclear")
            const { body, status } = yield* Onboarding.reviews(url)
            strictEqual(status, 200)
            const [first, ...others]: ReadonlyArray<Record<string, unknown>> = JSON.parse(body)
            deepStrictEqual(others, [])
            deepStrictEqual(
              [first?.["name"], first?.["dateOfBirth"], first?.["reason"], first?.["sent"], first?.["evidence"]],
              ["Canary Testpep", "1931-07-29", "PotentialMatch", "answered", "holds"]
            )
            assertInclude(String(first?.["amlProfile"]), "/aml-profiles/")
            yield* sql`UPDATE evidence SET content = replace(content, '"Potential match"', '"No"')`
            assertInclude((yield* Onboarding.reviews(url)).body, "\"evidence\":\"refuted\"")

            for (const authorization of ["", "Bearer ", "Bearer canary", `Basic ${Onboarding.reviewerToken}`]) {
              const refused = yield* Onboarding.get(`${url}/reviews`, { authorization })
              deepStrictEqual([refused.status, refused.body], [401, ""])
            }
            assertInclude(yield* printed, "Store.reviews")
            assertNoCanary(yield* printed)
          }))

        it.scoped("the back office reads whoever has no decision and is nobody's any more, page by page", () =>
          Effect.gen(function*() {
            const { checks, sql, url } = yield* started()
            yield* Onboarding.signUp(url, "Canary Testclear")
            const insert = (startedAt: string) => {
              const id = randomUUID()
              return sql`INSERT INTO applicants (id, idempotency_key, name, date_of_birth, started_at)
            VALUES (${id}, ${randomUUID()}, 'Canary Left', '1931-07-29', ${startedAt})`.pipe(Effect.as(id))
            }
            // Somebody is at it still.
            yield* insert(DateTime.formatIso(yield* DateTime.now))
            const left = yield* Effect.forEach(
              Arr.makeBy(102, (i) => `2026-01-01T00:00:00.${String(Math.floor(i / 3)).padStart(3, "0")}Z`),
              insert
            )
            const page = (query: string) =>
              Effect.map(
                Onboarding.reviews(url, query),
                ({ body }): ReadonlyArray<Record<string, unknown>> => JSON.parse(body)
              )
            const first = yield* page("")
            strictEqual(first.length, 100)
            const { evidence, reason, sent } = first[0] ?? {}
            deepStrictEqual([reason, sent, evidence], ["Interrupted", "unknown", "none"])
            const second = yield* page(`?after=${first.at(-1)?.["applicantId"]}`)
            const ids = [...first, ...second].map(({ applicantId }) => String(applicantId))
            deepStrictEqual([ids.length, ids.toSorted()], [102, left.toSorted()])
            deepStrictEqual(yield* page(`?after=${ids.at(-1)}`), [])
            strictEqual((yield* Onboarding.reviews(url, `?after=${randomUUID()}`)).status, 404)
            strictEqual((yield* Onboarding.reviews(url, "?after=canary")).status, 400)
            yield* checks(1)
          }))

        it.scoped("a database that fails is the documented 503: nobody is screened, or what was asked is reviewed", () =>
          Effect.gen(function*() {
            const { checks, database, options, printed, sql, url } = yield* started()
            const { reviewerToken: REVIEWER_TOKEN } = Onboarding
            // What it traces holds the cases; what the other does, nobody.
            const office = yield* Onboarding.serve(options, { DATABASE_URL: database, REVIEWER_TOKEN })
            const listed = Effect.map(
              Onboarding.reviews(office.url),
              ({ body }): ReadonlyArray<Record<string, unknown>> => JSON.parse(body)
            )
            yield* Onboarding.signUp(url, "Canary Testclear")
            // PostgreSQL then tells the name of which there are two.
            yield* sql`CREATE UNIQUE INDEX broken ON applicants (name)`
            const before = yield* Onboarding.signUp(url, "Canary Testclear")
            deepStrictEqual([before.status, before.headers["retry-after"]], [503, "30"])
            yield* checks(1)

            yield* sql`DROP INDEX broken`
            yield* sql`CREATE UNIQUE INDEX broken ON decisions (outcome)`
            const key = randomUUID()
            const after = yield* Onboarding.signUp(url, "Canary Testclear", key)
            deepStrictEqual([after.status, after.headers["retry-after"]], [503, "30"])
            yield* sql`DROP INDEX broken`
            deepStrictEqual(yield* listed, [])
            yield* sql`UPDATE applicants SET started_at = '2026-01-01T00:00:00.000Z'`
            // Without the applicant, who may never come again.
            const [left] = yield* listed
            strictEqual(left?.["reason"], "Interrupted")
            const lost = (yield* printed).split("\n").find((line) => line.includes("\"not stored\"")) ?? ""
            assertInclude(lost, `"applicantId":"${left?.["applicantId"]}"`)
            assertInclude(lost, "\"checkId\"")
            const again = yield* Onboarding.signUp(url, "Canary Testclear", key)
            deepStrictEqual([again.status, read(again.body)["status"]], [201, "received"])
            yield* checks(2)
            assertInclude(yield* printed, "the database is not available")
            assertNoCanary(yield* printed)
          }))
      })
  )
