/** Tests of the onboarding API that run with each database. */
import { Profile } from "@effect-idv/mock-server"
import { SqlClient } from "@effect/sql"
import { describe, layer, type Vitest } from "@effect/vitest"
import { assertInclude, assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import type { Record } from "effect"
import { Array as Arr, DateTime, Effect, Fiber, type Layer } from "effect"
import { randomUUID } from "node:crypto"
import { eventually } from "../../../core/test/support/eventually.ts"
import { Databases } from "./databases.ts"
import * as Onboarding from "./onboarding.ts"

/** Every name contains "canary", and every applicant has the same date of birth. */
const canaries = ["canary", "1931-07-29", "29-07-1931"]

const assertNoCanary = (printed: string) =>
  deepStrictEqual(
    printed.split("\n").filter((line) => canaries.some((canary) => line.toLowerCase().includes(canary))),
    []
  )

const parse = (body: string): Record<string, unknown> => JSON.parse(body)

const start = (variables: Record<string, string> = {}, profile?: Profile.Profile) =>
  Effect.gen(function*() {
    const url = yield* Effect.flatMap(Databases, ({ create }) => create)
    const mock = yield* Onboarding.mock(profile)
    const server = yield* Onboarding.serve(mock.options, {
      DATABASE_URL: url,
      REVIEWER_TOKEN: Onboarding.reviewerToken,
      ...variables
    })
    const context = yield* Onboarding.database(url)
    return { ...server, ...mock, database: url, sql: yield* Effect.provide(SqlClient.SqlClient, context) }
  })

/** Waits until a query returns a row. */
const awaitRow = <E, R>(query: Effect.Effect<ReadonlyArray<unknown>, E, R>) =>
  eventually("a row", Effect.delay(query, "50 millis"), (rows) => rows.length > 0)

/** The decision on each applicant, ordered by name. */
const outcomes = (sql: SqlClient.SqlClient) =>
  sql`SELECT a.name, d.outcome, d.reason, e.check_id IS NOT NULL AS evidence FROM applicants a
    LEFT JOIN decisions d ON d.applicant_id = a.id LEFT JOIN evidence e ON e.applicant_id = a.id ORDER BY a.name`.pipe(
    Effect.map(Arr.map(({ evidence, name, outcome, reason }) => [name, outcome, reason, Boolean(evidence)]))
  )

/** `more` defines tests with the same server. */
export const suite = (
  name: string,
  layerDatabases: Layer.Layer<Databases>,
  more: (it: Vitest.MethodsNonLive<Databases, true>) => void = () => {}
) =>
  describe(
    name,
    { concurrent: true },
    () =>
      layer(layerDatabases, { excludeTestServices: true })((it) => {
        it.scoped("a \"No\" is a welcome, stored with its evidence", () =>
          Effect.gen(function*() {
            // A welcome is sent at once, so a late deadline only helps on a busy machine.
            const { printed, sql, url } = yield* start({ ANSWER_AFTER: "20 seconds" })
            const { body, status } = yield* Onboarding.signUp(url, "Canary Testclear")
            strictEqual(status, 201)
            strictEqual(parse(body)["status"], "welcome")
            deepStrictEqual(yield* outcomes(sql), [["Canary Testclear", "clear", "No", true]])
            for (const part of ["stored", "Store.claim", "SignUp.respond"]) assertInclude(yield* printed, part)
            assertNoCanary(yield* printed)
          }))

        it.scoped("a match, an outage, a timeout and a damaged name get the same response, and none of them early", () =>
          Effect.gen(function*() {
            const { sql, url } = yield* start({ ANSWER_AFTER: "15 seconds" })
            const names = ["Canary Testpep", "Canary Test500", "Canary Testhang", "Can&#039;ary Testclear"]
            const responses = yield* Effect.forEach(names, (name) => Onboarding.signUp(url, name), {
              concurrency: "unbounded"
            })
            const comparable = responses.map(({ body, headers, status }) => {
              const content: Record<string, unknown> = { ...parse(body), applicantId: "" }
              return { status, headers, length: body.length, content }
            })
            deepStrictEqual(
              Arr.dedupeWith(comparable, (a, b) => JSON.stringify(a) === JSON.stringify(b)),
              comparable.slice(0, 1)
            )
            deepStrictEqual(comparable[0]?.content, { status: "received", applicantId: "" })
            strictEqual(comparable[0]?.headers["cache-control"], "no-store")
            for (const { took } of responses) assertTrue(took >= 15_000)
            deepStrictEqual(yield* outcomes(sql), [
              ["Can&#039;ary Testclear", "review", "DoubtfulNo", true],
              ["Canary Test500", "review", "AmlUnavailable", false],
              ["Canary Testhang", "review", "AmlTimeout", false],
              ["Canary Testpep", "review", "PotentialMatch", true]
            ])
          }))

        it.scoped(
          "with a hostile service, 24 concurrent applicants have a decision, and the logs contain no applicant",
          () =>
            Effect.gen(function*() {
              const { printed, sql, url } = yield* start({ ANSWER_AFTER: "24 seconds" }, Profile.presets.hostile)
              const lastNames = [
                "Testclear",
                "Testpep",
                "Testsanc",
                "Test500",
                "Testecho",
                "Testunknown",
                "Testcut",
                "Testhtml"
              ]
              const names = Arr.makeBy(24, (i) =>
                `Canary${String(i).padStart(2, "0")} ${lastNames[i % lastNames.length]}`)
              const responses = yield* Effect.forEach(names, (name) =>
                Onboarding.signUp(url, name), {
                concurrency: "unbounded"
              })
              deepStrictEqual(Arr.dedupe(responses.map(({ status }) => status)), [201])
              deepStrictEqual(
                responses.map(({ body }) => parse(body)["status"]),
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

        it.scoped("a repeated key returns the stored response without another check", () =>
          Effect.gen(function*() {
            const { url, verifyChecks } = yield* start()
            const [clear, match] = [randomUUID(), randomUUID()]
            const welcome = yield* Onboarding.signUp(url, "Canary Testclear", clear)
            const received = yield* Onboarding.signUp(url, "Canary Testpep", match)
            strictEqual((yield* Onboarding.signUp(url, "Canary Testclear", clear)).body, welcome.body)
            strictEqual((yield* Onboarding.signUp(url, "  Canary   Testpep", match)).body, received.body)
            yield* verifyChecks(2)
          }))

        it.scoped("a key in concurrent requests to two servers causes one check and one response", () =>
          Effect.gen(function*() {
            const { database, options, url, verifyChecks } = yield* start()
            const other = yield* Onboarding.serve(options, { DATABASE_URL: database })
            const key = randomUUID()
            const responses = yield* Effect.forEach(
              Arr.makeBy(12, (i) => i % 3 === 0 ? other.url : url),
              (url) => Onboarding.signUp(url, "Canary Testpep", key),
              { concurrency: "unbounded" }
            )
            deepStrictEqual(Arr.dedupe(responses.map(({ status }) => status)), [201])
            strictEqual(Arr.dedupe(responses.map(({ body }) => body)).length, 1)
            // Also at the server that only read the decision.
            for (const { took } of responses) assertTrue(took >= Onboarding.responseAfter - 500)
            yield* verifyChecks(1)
          }))

        it.scoped("a key with another person is a 409 without a check, also while the first request is in flight", () =>
          Effect.gen(function*() {
            const { printed, sql, url, verifyChecks } = yield* start()
            const key = randomUUID()
            const first = yield* Effect.fork(Onboarding.signUp(url, "Canary Testpep", key))
            yield* awaitRow(sql`SELECT id FROM applicants`)
            strictEqual((yield* Onboarding.signUp(url, "Canary Testclear", key)).status, 409)
            yield* first
            const reused = yield* Onboarding.signUp(url, "Canary Testpep", key, "1931-07-28")
            deepStrictEqual([reused.status, reused.body], [409, "{\"_tag\":\"KeyReused\"}"])
            yield* verifyChecks(1)
            assertNoCanary(yield* printed)
          }))

        it.scoped("an applicant whose process ended before the decision goes to review, without another check", () =>
          Effect.gen(function*() {
            const { sql, url, verifyChecks } = yield* start()
            const key = randomUUID()
            yield* sql`INSERT INTO applicants (id, idempotency_key, name, date_of_birth, started_at)
          VALUES (${randomUUID()}, ${key}, 'Canary Testclear', '1931-07-29', '2026-01-01T00:00:00.000Z')`
            strictEqual(parse((yield* Onboarding.signUp(url, "Canary Testclear", key)).body)["status"], "received")
            deepStrictEqual(yield* outcomes(sql), [["Canary Testclear", "review", "Interrupted", false]])
            yield* verifyChecks(0)
          }))

        it.scoped("an applicant who disconnects is screened and stored", () =>
          Effect.gen(function*() {
            const { sql, url, verifyChecks } = yield* start()
            const fiber = yield* Effect.fork(Onboarding.signUp(url, "Canary Testhang"))
            yield* awaitRow(sql`SELECT id FROM applicants`)
            yield* Fiber.interrupt(fiber)
            yield* awaitRow(sql`SELECT applicant_id FROM decisions`)
            deepStrictEqual(yield* outcomes(sql), [["Canary Testhang", "review", "AmlTimeout", false]])
            yield* verifyChecks(1)
          }))

        it.scoped("the back office sees the cases with their AML profile, and whether evidence was changed", () =>
          Effect.gen(function*() {
            const { printed, sql, url } = yield* start()
            yield* Onboarding.signUp(url, "Canary Testpep")
            yield* Onboarding.signUp(url, "Canary Testclear")
            const { body, status } = yield* Onboarding.reviews(url)
            strictEqual(status, 200)
            const [first, ...others]: ReadonlyArray<Record<string, unknown>> = JSON.parse(body)
            deepStrictEqual(others, [])
            deepStrictEqual(
              [first?.["name"], first?.["dateOfBirth"], first?.["reason"], first?.["sent"], first?.["evidence"]],
              ["Canary Testpep", "1931-07-29", "PotentialMatch", "answered", "verified"]
            )
            assertInclude(String(first?.["amlProfile"]), "/aml-profiles/")
            yield* sql`UPDATE evidence SET content = replace(content, '"Potential match"', '"No"')`
            assertInclude((yield* Onboarding.reviews(url)).body, "\"evidence\":\"refuted\"")

            for (const authorization of ["", "Bearer ", "Bearer canary", `Basic ${Onboarding.reviewerToken}`]) {
              const rejected = yield* Onboarding.get(`${url}/reviews`, { authorization })
              deepStrictEqual([rejected.status, rejected.body], [401, ""])
            }
            assertInclude(yield* printed, "Store.reviews")
            assertNoCanary(yield* printed)
          }))

        it.scoped("the back office pages through applicants without a decision whose lease has expired", () =>
          Effect.gen(function*() {
            const { sql, url, verifyChecks } = yield* start()
            yield* Onboarding.signUp(url, "Canary Testclear")
            const insert = (startedAt: string) => {
              const id = randomUUID()
              return sql`INSERT INTO applicants (id, idempotency_key, name, date_of_birth, started_at)
            VALUES (${id}, ${randomUUID()}, 'Canary Left', '1931-07-29', ${startedAt})`.pipe(Effect.as(id))
            }
            // The lease of this applicant has not expired.
            yield* insert(DateTime.formatIso(yield* DateTime.now))
            const abandoned = yield* Effect.forEach(
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
            deepStrictEqual([ids.length, ids.toSorted()], [102, abandoned.toSorted()])
            deepStrictEqual(yield* page(`?after=${ids.at(-1)}`), [])
            strictEqual((yield* Onboarding.reviews(url, `?after=${randomUUID()}`)).status, 404)
            strictEqual((yield* Onboarding.reviews(url, "?after=canary")).status, 400)
            yield* verifyChecks(1)
          }))

        it.scoped("a database failure is the documented 503, without a check or with a case for review", () =>
          Effect.gen(function*() {
            const { database, options, printed, sql, url, verifyChecks } = yield* start()
            const { reviewerToken: REVIEWER_TOKEN } = Onboarding
            // The spans of this server may contain the cases; those of the other contain no applicant.
            const backOffice = yield* Onboarding.serve(options, { DATABASE_URL: database, REVIEWER_TOKEN })
            const cases = Effect.map(
              Onboarding.reviews(backOffice.url),
              ({ body }): ReadonlyArray<Record<string, unknown>> => JSON.parse(body)
            )
            yield* Onboarding.signUp(url, "Canary Testclear")
            // The error of PostgreSQL then contains the duplicate name.
            yield* sql`CREATE UNIQUE INDEX conflict ON applicants (name)`
            const before = yield* Onboarding.signUp(url, "Canary Testclear")
            deepStrictEqual([before.status, before.headers["retry-after"]], [503, "30"])
            yield* verifyChecks(1)

            yield* sql`DROP INDEX conflict`
            yield* sql`CREATE UNIQUE INDEX conflict ON decisions (outcome)`
            const key = randomUUID()
            const after = yield* Onboarding.signUp(url, "Canary Testclear", key)
            deepStrictEqual([after.status, after.headers["retry-after"]], [503, "30"])
            yield* sql`DROP INDEX conflict`
            deepStrictEqual(yield* cases, [])
            yield* sql`UPDATE applicants SET started_at = '2026-01-01T00:00:00.000Z'`
            // The case exists although the applicant has not retried.
            const [abandoned] = yield* cases
            strictEqual(abandoned?.["reason"], "Interrupted")
            const logLine = (yield* printed).split("\n").find((line) => line.includes("\"not stored\"")) ?? ""
            assertInclude(logLine, `"applicantId":"${abandoned?.["applicantId"]}"`)
            assertInclude(logLine, "\"checkId\"")
            const again = yield* Onboarding.signUp(url, "Canary Testclear", key)
            deepStrictEqual([again.status, parse(again.body)["status"]], [201, "received"])
            yield* verifyChecks(2)
            assertInclude(yield* printed, "the database is not available")
            assertNoCanary(yield* printed)
          }))

        more(it)
      })
  )
