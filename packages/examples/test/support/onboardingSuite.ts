/** Tests of the onboarding API that run with each database. */
import { Profile } from "@effect-idv/mock-server"
import { SqlClient } from "@effect/sql"
import { describe, layer } from "@effect/vitest"
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
      REVIEWERS: Onboarding.reviewers,
      ...variables
    })
    const sql = yield* Effect.provide(SqlClient.SqlClient, yield* Onboarding.database(url))
    const decided = (n: number) =>
      eventually(
        "the decisions",
        Effect.map(sql`SELECT applicant_id FROM decisions`, ({ length }) => length),
        (length) => length === n
      )
    /** Sends sign-ups, and moves the clock to their response once there are `n` decisions. */
    const after = <A, E, R>(n: number, signUps: Effect.Effect<A, E, R>) =>
      Effect.gen(function*() {
        const fiber = yield* Effect.fork(signUps)
        yield* decided(n)
        yield* server.movable.move(Onboarding.responseAfter + 100)
        return yield* Fiber.join(fiber)
      })
    /** By the clock of the server, in milliseconds. */
    const timed = <A extends object, E, R>(response: Effect.Effect<A, E, R>) =>
      Effect.suspend(() => {
        const startedAt = server.movable.clock.unsafeCurrentTimeMillis()
        return Effect.map(response, (response) => ({
          ...response,
          took: server.movable.clock.unsafeCurrentTimeMillis() - startedAt
        }))
      })
    return { ...server, ...mock, after, database: url, decided, sql, timed }
  })

interface Case {
  readonly applicantId: string
  readonly attempt: number
  readonly checks: number
  readonly dateOfBirth: string
  readonly name: string
  readonly reason: string
  readonly sent: string
  readonly evidence: ReadonlyArray<{ readonly name: string; readonly state: string; readonly amlProfile?: string }>
}

const casesOf = (url: string, query = "") =>
  Effect.map(Onboarding.reviews(url, query), ({ body }): ReadonlyArray<Case> => JSON.parse(body))

/** The status of a conclusion about the attempt and the evidence that `casesOf` returned. */
const conclude = (
  url: string,
  { applicantId, attempt, evidence }: Pick<Case, "applicantId" | "attempt" | "evidence">,
  reviewer: Onboarding.Reviewer,
  conclusion: "clear" | "refuse"
) =>
  Effect.map(
    Onboarding.act(url, `/${applicantId}/conclusions`, reviewer, {
      attempt,
      evidence: evidence.length,
      conclusion,
      reason: "known"
    }),
    ({ body, status }) => `${status} ${parse(body)["status"] ?? parse(body)["_tag"]}`
  )

/** Waits until a query returns a row. */
const awaitRow = <E, R>(query: Effect.Effect<ReadonlyArray<unknown>, E, R>) =>
  eventually("a row", Effect.delay(query, "50 millis"), (rows) => rows.length > 0)

/** The decision on each applicant, ordered by name. */
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
      layer(layerDatabases, { excludeTestServices: true })((it) => {
        it.scoped("a \"No\" is a welcome, stored with its evidence", () =>
          Effect.gen(function*() {
            const { printed, sql, url } = yield* start()
            const { body, status } = yield* Onboarding.signUp(url, "Canary Testclear")
            strictEqual(status, 201)
            strictEqual(parse(body)["status"], "welcome")
            deepStrictEqual(yield* outcomes(sql), [["Canary Testclear", "clear", "No", true]])
            for (const part of ["stored", "Store.claim", "SignUp.respond"]) assertInclude(yield* printed, part)
            assertNoCanary(yield* printed)
          }))

        it.scoped("a match, an outage, a timeout and a damaged name get the same response, and none of them early", () =>
          Effect.gen(function*() {
            const { decided, movable, sql, timed, url } = yield* start()
            const names = ["Canary Testpep", "Canary Test500", "Canary Testhang", "Can&#039;ary Testclear"]
            const fiber = yield* Effect.fork(
              Effect.forEach(names, (name) => timed(Onboarding.signUp(url, name)), { concurrency: "unbounded" })
            )
            yield* decided(3)
            // To the deadline of the check that hangs, and then to the response.
            yield* movable.move(Onboarding.responseAfter - 400)
            yield* decided(4)
            yield* movable.move(500)
            const responses = yield* Fiber.join(fiber)
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
            for (const { took } of responses) assertTrue(took >= Onboarding.responseAfter, `${took}`)
            deepStrictEqual(yield* outcomes(sql), [
              ["Can&#039;ary Testclear", "review", "Doubtful No", true],
              ["Canary Test500", "review", "AmlUnavailable", false],
              ["Canary Testhang", "review", "AmlTimeout", false],
              ["Canary Testpep", "review", "Potential match", true]
            ])
          }))

        it.scoped(
          "with a hostile service, 24 concurrent applicants have a decision, and the logs contain no applicant",
          () =>
            Effect.gen(function*() {
              const { after, printed, sql, url } = yield* start({}, Profile.presets.hostile)
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
              const responses = yield* after(
                names.length,
                Effect.forEach(names, (name) =>
                  Onboarding.signUp(url, name), { concurrency: "unbounded" })
              )
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
            })
        )

        it.scoped("another form of a person in review gets the same response under each name, without a check", () =>
          Effect.gen(function*() {
            const { after, fault, sql, url, verifyChecks } = yield* start()
            yield* Onboarding.signUp(url, "Canary Testother")
            yield* fault({ on: "aml", when: { kind: "first", n: 2 }, what: { kind: "status", status: 500 } })
            yield* after(
              2,
              Onboarding.signUp(url, "Canary Testoutage", randomUUID(), "1931-07-29", ["Canary Testclear"])
            )
            yield* after(3, Onboarding.signUp(url, "Canary Testpep"))
            yield* verifyChecks(4)
            const names = ["Canary Testoutage", "Canary Testclear", "Canary Testpep"]
            const responses = yield* after(
              6,
              Effect.forEach(names, (name) => Onboarding.signUp(url, name), { concurrency: "unbounded" })
            )
            deepStrictEqual(responses.map(({ body }) => parse(body)["status"]), Arr.replicate("received", 3))
            strictEqual((yield* sql`SELECT 1 FROM decisions WHERE reason = 'InReview'`).length, 3)
            yield* verifyChecks(4)
            // Another person has the same name.
            strictEqual(
              parse((yield* Onboarding.signUp(url, "Canary Testclear", randomUUID(), "1931-07-28")).body)["status"],
              "welcome"
            )
          }))

        it.scoped("a repeated key returns the stored response without another check", () =>
          Effect.gen(function*() {
            const { after, url, verifyChecks } = yield* start()
            const [clear, match] = [randomUUID(), randomUUID()]
            const welcome = yield* Onboarding.signUp(url, "Canary Testclear", clear)
            const received = yield* after(2, Onboarding.signUp(url, "Canary Testpep", match))
            strictEqual((yield* Onboarding.signUp(url, "Canary Testclear", clear)).body, welcome.body)
            strictEqual((yield* Onboarding.signUp(url, "  Canary   Testpep", match)).body, received.body)
            yield* verifyChecks(2)
          }))

        it.scoped("a key in concurrent requests to two servers causes one check and one response", () =>
          Effect.gen(function*() {
            const { after, database, movable, options, timed, url, verifyChecks } = yield* start()
            const other = yield* Onboarding.serve(options, { DATABASE_URL: database }, movable)
            const key = randomUUID()
            const responses = yield* after(
              1,
              Effect.forEach(
                Arr.makeBy(12, (i) => i % 3 === 0 ? other.url : url),
                (url) => timed(Onboarding.signUp(url, "Canary Testpep", key)),
                { concurrency: "unbounded" }
              )
            )
            deepStrictEqual(Arr.dedupe(responses.map(({ status }) => status)), [201])
            strictEqual(Arr.dedupe(responses.map(({ body }) => body)).length, 1)
            // Also at the server that only read the decision.
            for (const { took } of responses) assertTrue(took >= Onboarding.responseAfter - 1000, `${took}`)
            yield* verifyChecks(1)
          }))

        it.scoped("a key with another person is a 409 without a check, also while the first request is in flight", () =>
          Effect.gen(function*() {
            const { after, printed, sql, url, verifyChecks } = yield* start()
            const key = randomUUID()
            const first = yield* Effect.fork(Onboarding.signUp(url, "Canary Testpep", key))
            yield* awaitRow(sql`SELECT id FROM applicants`)
            strictEqual((yield* Onboarding.signUp(url, "Canary Testclear", key)).status, 409)
            yield* after(1, Fiber.join(first))
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
            const { movable, sql, url, verifyChecks } = yield* start()
            const fiber = yield* Effect.fork(Onboarding.signUp(url, "Canary Testhang"))
            yield* eventually("the check", Effect.isSuccess(Effect.sandbox(verifyChecks(1))), (isSent) => isSent)
            yield* Fiber.interrupt(fiber)
            yield* movable.move(Onboarding.responseAfter)
            yield* awaitRow(sql`SELECT applicant_id FROM decisions`)
            deepStrictEqual(yield* outcomes(sql), [["Canary Testhang", "review", "AmlTimeout", false]])
            yield* verifyChecks(1)
          }))

        it.scoped("the back office sees the cases with their AML profile, and whether evidence was changed", () =>
          Effect.gen(function*() {
            const { after, printed, sql, url } = yield* start()
            yield* after(1, Onboarding.signUp(url, "Canary Testpep"))
            yield* Onboarding.signUp(url, "Canary Testclear")
            const [first, ...others] = yield* casesOf(url)
            deepStrictEqual(others, [])
            deepStrictEqual(
              [first?.name, first?.dateOfBirth, first?.reason, first?.sent, first?.evidence[0]?.state],
              ["Canary Testpep", "1931-07-29", "Potential match", "answered", "verified"]
            )
            assertInclude(String(first?.evidence[0]?.amlProfile), "/aml-profiles/")
            yield* sql`UPDATE evidence SET content = replace(content, '"Potential match"', '"No"')`
            deepStrictEqual((yield* casesOf(url))[0]?.evidence, [{ name: "Canary Testpep", state: "refuted" }])

            const [, token = ""] = /:([^,]+)/.exec(Onboarding.reviewers) ?? []
            for (const authorization of ["", "Bearer ", "Bearer canary", `Basic ${token}`]) {
              const rejected = yield* Onboarding.get(`${url}/reviews`, { authorization })
              deepStrictEqual([rejected.status, rejected.body], [401, ""])
            }
            assertInclude(yield* printed, "Store.list")
            assertNoCanary(yield* printed)
          }))

        it.scoped("two reviewers close a case, and the history says who read and concluded what", () =>
          Effect.gen(function*() {
            const { after, printed, url, verifyChecks } = yield* start()
            yield* after(1, Onboarding.signUp(url, "Canary Testpep"))
            const [{ applicantId = "" } = {}] = yield* casesOf(url)
            const conclude = (reviewer: Onboarding.Reviewer, conclusion: string, attempt = 1) =>
              Effect.map(
                Onboarding.act(url, `/${applicantId}/conclusions`, reviewer, {
                  attempt,
                  evidence: 1,
                  conclusion,
                  reason: "a canary"
                }),
                ({ body, status }) => `${status} ${parse(body)["status"] ?? parse(body)["_tag"]}`
              )
            deepStrictEqual(
              yield* Effect.all([
                conclude("alice", "clear", 2),
                conclude("alice", "clear"),
                // The same reviewer alone closes nothing, with either conclusion.
                conclude("alice", "clear"),
                conclude("alice", "refuse"),
                conclude("bob", "refuse")
              ]),
              ["409 CaseChanged", "200 open", "409 CaseChanged", "409 CaseChanged", "200 open"]
            )
            // They disagree: a third reviewer decides.
            strictEqual((yield* casesOf(url)).length, 1)
            strictEqual(yield* conclude("carol", "refuse"), "200 closed")
            deepStrictEqual(yield* casesOf(url), [])
            strictEqual(yield* conclude("carol", "refuse"), "409 CaseChanged")
            strictEqual((yield* Onboarding.act(url, `/${applicantId}/checks`, "bob", {})).status, 409)
            yield* verifyChecks(1)

            const history = yield* Onboarding.act(url, `/${applicantId}/history`, "bob")
            const entries: ReadonlyArray<Record<string, unknown>> = JSON.parse(history.body)
            deepStrictEqual(entries.map(({ action, reason, reviewer }) => [action, reviewer, reason]), [
              ["decision", null, "Potential match"],
              ["read", "alice", null],
              ["clear", "alice", "a canary"],
              ["refuse", "bob", "a canary"],
              ["read", "alice", null],
              ["refuse", "carol", "a canary"]
            ])
            assertInclude(
              (yield* Onboarding.act(url, `/${applicantId}/history`, "alice")).body,
              "\"read\",\"reviewer\":\"bob\""
            )
            for (const path of ["history", "checks", "conclusions"] as const) {
              const payload = {
                history: undefined,
                checks: {},
                conclusions: { attempt: 1, evidence: 0, conclusion: "clear", reason: "a" }
              }
              strictEqual(
                (yield* Onboarding.act(url, `/${randomUUID()}/${path}`, "bob", payload[path])).status,
                404
              )
            }
            assertNoCanary(yield* printed)
          }))

        it.scoped("a re-check after an outage checks the names without a response once, and leaves the case open", () =>
          Effect.gen(function*() {
            const { after, fault, printed, url, verifyChecks } = yield* start()
            yield* Onboarding.signUp(url, "Canary Testclear")
            yield* fault({ on: "aml", when: { kind: "first", n: 2 }, what: { kind: "status", status: 500 } })
            const names = ["Canary Testclear", "Canary Testgone"] as const
            yield* after(2, Onboarding.signUp(url, names[0], randomUUID(), "1931-07-29", [names[1]]))
            const [outage] = yield* casesOf(url)
            deepStrictEqual([outage?.reason, outage?.attempt, outage?.evidence], ["AmlUnavailable", 1, []])
            yield* Onboarding.act(url, `/${outage?.applicantId}/conclusions`, "bob", {
              attempt: 1,
              evidence: 0,
              conclusion: "refuse",
              reason: "known"
            })
            const again = yield* Effect.replicateEffect(
              Onboarding.act(url, `/${outage?.applicantId}/checks`, "alice", {}),
              2,
              { concurrency: 2 }
            )
            deepStrictEqual(again.map(({ status }) => status).toSorted(), [200, 409])
            yield* verifyChecks(5)
            const [open] = yield* casesOf(url)
            deepStrictEqual(
              [open?.reason, open?.attempt, open?.evidence.map(({ name }) => name)],
              ["No", 2, [...names]]
            )
            // The conclusion about the first attempt does not count.
            const conclusion = { attempt: 2, evidence: 2, conclusion: "clear", reason: "No match" }
            for (const [reviewer, status] of [["alice", "open"], ["bob", "closed"]] as const) {
              const { body } = yield* Onboarding.act(url, `/${open?.applicantId}/conclusions`, reviewer, conclusion)
              strictEqual(parse(body)["status"], status)
            }
            deepStrictEqual(yield* casesOf(url), [])
            yield* verifyChecks(5)
            assertNoCanary(yield* printed)
          }))

        it.scoped("a database belongs to the tenant that it was made for, also at another address", () =>
          Effect.gen(function*() {
            const url = yield* Effect.flatMap(Databases, ({ create }) => create)
            const sameDatabase = url.replace(/^postgres:/, "postgresql:").replace(/(?<=^file:.*)\/(?=[^/]+$)/, "/./")
            assertTrue(sameDatabase !== url)
            yield* Onboarding.database(url, "ACME")
            yield* Onboarding.database(sameDatabase, "ACME")
            for (const tenant of ["GLOBEX", ""]) {
              const error = yield* Effect.flip(Onboarding.database(sameDatabase, tenant))
              assertInclude(String(error), "should be another database for each tenant")
            }
          }))

        it.scoped("a person is cleared only with a verified response for each name", () =>
          Effect.gen(function*() {
            const { after, sql, url } = yield* start()
            yield* Onboarding.signUp(url, "Canary Testclear")
            yield* after(
              3,
              Effect.all([
                Onboarding.signUp(url, "Canary Test500", randomUUID(), "1931-07-29", ["Canary Testpep"]),
                Onboarding.signUp(url, "Canary2 Testpep")
              ], { concurrency: 2 })
            )
            const [partial, match] = (yield* casesOf(url)).toSorted((a, b) => b.checks - a.checks)
            assertTrue(partial !== undefined && match !== undefined)
            strictEqual(yield* conclude(url, partial, "alice", "clear"), "409 CaseChanged")
            strictEqual(yield* conclude(url, match, "alice", "clear"), "200 open")
            yield* sql`UPDATE evidence SET content = replace(content, '"Potential match"', '"No"')`
            strictEqual(yield* conclude(url, match, "bob", "clear"), "409 CaseChanged")
            strictEqual(yield* conclude(url, partial, "bob", "refuse"), "200 open")
          }))

        it.scoped("a case is listed only with a stored decision, and a late response is read before a conclusion", () =>
          Effect.gen(function*() {
            const { after, movable, sql, url, verifyChecks } = yield* start()
            yield* after(1, Onboarding.signUp(url, "Canary Testpep"))
            const [match] = yield* casesOf(url)
            const id = randomUUID()
            yield* sql`INSERT INTO applicants (id, idempotency_key, name, other_names, date_of_birth, started_at)
              VALUES (${id}, ${randomUUID()}, 'Canary Testpep', '["Canary Testhang"]', '1931-07-29',
                '2026-01-01T00:00:00.000Z')`
            const first = (yield* casesOf(url)).find(({ applicantId }) => applicantId === id)
            assertTrue(match !== undefined && first !== undefined)
            deepStrictEqual([first.reason, first.checks], ["Interrupted", 2])
            // The process that was taken for dead stores its result.
            const late = yield* sql`INSERT INTO decisions (applicant_id, outcome, reason, sent, checks, decided_at)
              VALUES (${id}, 'clear', 'No', 'answered', 2, '2026-01-01T00:00:00.000Z')
              ON CONFLICT DO NOTHING RETURNING attempt`
            deepStrictEqual(late, [])
            const storeLate = sql`INSERT INTO evidence (check_id, applicant_id, name, content)
              SELECT ${randomUUID()}, ${id}, name, content FROM evidence WHERE applicant_id = ${match.applicantId}`
            yield* storeLate
            strictEqual(yield* conclude(url, first, "alice", "refuse"), "409 CaseChanged")

            // Checks only the other name, which hangs.
            const checking = yield* Effect.fork(Onboarding.act(url, `/${id}/checks`, "bob", {}))
            yield* eventually("the re-check", Effect.isSuccess(Effect.sandbox(verifyChecks(2))), (isSent) => isSent)
            deepStrictEqual((yield* casesOf(url)).map(({ applicantId }) => applicantId), [match.applicantId])
            strictEqual(
              yield* conclude(url, { ...first, attempt: 2, evidence: match.evidence }, "alice", "refuse"),
              "409 CaseChanged"
            )
            yield* movable.move(Onboarding.responseAfter)
            const checked: Case = JSON.parse((yield* Fiber.join(checking)).body)
            deepStrictEqual(
              [checked.attempt, checked.reason, checked.sent, checked.checks, checked.evidence.length],
              [2, "Potential match", "unknown", 3, 1]
            )
            strictEqual(yield* conclude(url, checked, "alice", "refuse"), "200 open")
            strictEqual(yield* conclude(url, checked, "bob", "refuse"), "200 closed")
            yield* sql`INSERT INTO evidence (check_id, applicant_id, name, content)
              SELECT ${randomUUID()}, applicant_id, name, content FROM evidence WHERE applicant_id = ${id}`
            strictEqual((yield* casesOf(url)).length, 2)
          }))

        it.scoped("another form of a person who is being screened, or was refused, is not a welcome", () =>
          Effect.gen(function*() {
            const { decided, movable, sql, url, verifyChecks } = yield* start()
            const first = yield* Effect.fork(
              Onboarding.signUp(url, "Canary Testclear", randomUUID(), "1931-07-29", ["Canary Testhang"])
            )
            yield* eventually("the checks", Effect.isSuccess(Effect.sandbox(verifyChecks(2))), (isSent) => isSent)
            const second = yield* Effect.fork(Onboarding.signUp(url, "Canary Testclear"))
            yield* decided(1)
            yield* movable.move(Onboarding.responseAfter)
            yield* decided(2)
            yield* movable.move(Onboarding.responseAfter)
            for (const fiber of [first, second]) {
              strictEqual(parse((yield* Fiber.join(fiber)).body)["status"], "received")
            }
            for (const open of yield* casesOf(url)) {
              yield* conclude(url, open, "alice", "refuse")
              strictEqual(yield* conclude(url, open, "bob", "refuse"), "200 closed")
            }
            const third = yield* Effect.fork(Onboarding.signUp(url, "Canary Testclear"))
            yield* decided(3)
            yield* movable.move(Onboarding.responseAfter + 100)
            strictEqual(parse((yield* Fiber.join(third)).body)["status"], "received")
            strictEqual((yield* sql`SELECT 1 FROM decisions WHERE reason = 'InReview'`).length, 2)
            yield* verifyChecks(2)
          }))

        it.scoped("a re-check keeps the signs of damage that normalisation removes", () =>
          Effect.gen(function*() {
            const { after, fault, url } = yield* start()
            yield* Onboarding.signUp(url, "Canary Testclear")
            yield* fault({ on: "aml", when: { kind: "first", n: 1 }, what: { kind: "reset" } })
            yield* after(2, Onboarding.signUp(url, "Canary Mar\u00c3\u00ada Testclear"))
            const [outage] = yield* casesOf(url)
            deepStrictEqual([outage?.reason, outage?.sent, outage?.checks], ["AmlUnavailable", "unknown", 1])
            const { body } = yield* Onboarding.act(url, `/${outage?.applicantId}/checks`, "alice", {})
            const { checks, reason, sent }: Case = JSON.parse(body)
            deepStrictEqual([reason, sent, checks], ["Doubtful No", "unknown", 2])
          }))

        it.scoped("of four reviewers at the same time, one closes the case", () =>
          Effect.gen(function*() {
            const { after, url } = yield* start()
            yield* after(1, Onboarding.signUp(url, "Canary Testpep"))
            const [open] = yield* casesOf(url)
            assertTrue(open !== undefined)
            const statuses = yield* Effect.all([
              conclude(url, open, "alice", "clear"),
              conclude(url, open, "bob", "refuse"),
              conclude(url, open, "carol", "clear"),
              conclude(url, open, "dave", "refuse")
            ], { concurrency: 4 })
            deepStrictEqual(statuses.filter((status) => status === "200 closed"), ["200 closed"])
            deepStrictEqual(yield* casesOf(url), [])
          }))

        it.scoped("the worst result of all names decides, and the case says how many checks it cost", () =>
          Effect.gen(function*() {
            const { after, fault, sql, url, verifyChecks } = yield* start()
            const signUp = (name: string, ...others: ReadonlyArray<string>) =>
              Onboarding.signUp(url, name, randomUUID(), "1931-07-29", others)
            // The same name twice is one check.
            strictEqual(
              parse((yield* signUp("Canary Testclear", "  Canary Testclear", "Canary Testzwei")).body)["status"],
              "welcome"
            )
            yield* verifyChecks(2)
            yield* after(2, signUp("Canary2 Testclear", "Canary2 Testpep", "Canary Testcut", "Can&#039;ary Testclear"))
            yield* fault({ on: "aml", when: { kind: "first", n: 1 }, what: { kind: "reset" } })
            yield* after(3, signUp("Canary3 Testclear", "Canary3 Testzwei"))
            const cases = yield* casesOf(url)
            deepStrictEqual(
              cases.map(({ checks, evidence, reason, sent }) => [reason, sent, checks, evidence.length]),
              [["Potential match", "answered", 4, 3], ["AmlUnavailable", "unknown", 2, 1]]
            )
            deepStrictEqual(yield* sql`SELECT outcome, checks FROM decisions WHERE outcome = 'clear'`, [
              { outcome: "clear", checks: 2 }
            ])
            yield* verifyChecks(8)
            const key = randomUUID()
            const rejected = yield* Onboarding.signUp(url, "Canary Testclear", key, "1931-07-29", ["Canary Two", ""])
            deepStrictEqual([rejected.status, parse(rejected.body)["issues"]], [400, [
              { _tag: "Type", path: ["otherNames", 1], message: "does not match the API definition" }
            ]])
            yield* Onboarding.signUp(url, "Canary Testclear", key)
            strictEqual(
              (yield* Onboarding.signUp(url, "Canary Testclear", key, "1931-07-29", ["Canary Two"])).status,
              409
            )
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
            const first = yield* casesOf(url)
            strictEqual(first.length, 100)
            const { checks, evidence, reason, sent } = first[0] ?? {}
            deepStrictEqual([reason, sent, checks, evidence], ["Interrupted", "unknown", 1, []])
            const second = yield* casesOf(url, `?after=${first.at(-1)?.applicantId}`)
            const ids = [...first, ...second].map(({ applicantId }) => String(applicantId))
            deepStrictEqual([ids.length, ids.toSorted()], [102, abandoned.toSorted()])
            deepStrictEqual(yield* casesOf(url, `?after=${ids.at(-1)}`), [])
            strictEqual((yield* Onboarding.reviews(url, `?after=${randomUUID()}`)).status, 404)
            strictEqual((yield* Onboarding.reviews(url, "?after=canary")).status, 400)
            yield* verifyChecks(1)
          }))

        it.scoped("a database failure is the documented 503, without a check or with a case for review", () =>
          Effect.gen(function*() {
            const { database, options, printed, sql, url, verifyChecks } = yield* start()
            // The spans of this server may contain the cases; those of the other contain no applicant.
            const backOffice = yield* Onboarding.serve(options, {
              DATABASE_URL: database,
              REVIEWERS: Onboarding.reviewers
            })
            const cases = casesOf(backOffice.url)
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
            strictEqual(abandoned?.reason, "Interrupted")
            const logLine = (yield* printed).split("\n").find((line) => line.includes("\"not stored\"")) ?? ""
            assertInclude(logLine, `"applicantId":"${abandoned?.applicantId}"`)
            assertInclude(logLine, "\"checkIds\"")
            const again = yield* Onboarding.signUp(url, "Canary Testclear", key)
            deepStrictEqual([again.status, parse(again.body)["status"]], [201, "received"])
            yield* verifyChecks(2)
            assertInclude(yield* printed, "the database is not available")
            assertNoCanary(yield* printed)
          }))
      })
  )
