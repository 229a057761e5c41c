import { AmlClient, Idv } from "@effect-idv/core"
import { MockServer, Profile } from "@effect-idv/mock-server"
import { Reactivity } from "@effect/experimental"
import { SqlClient, Statement } from "@effect/sql"
import { describe, it, layer } from "@effect/vitest"
import { assertInclude, assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import {
  Array as Arr,
  Clock,
  Config,
  ConfigError,
  DateTime,
  Duration,
  Effect,
  Fiber,
  Layer,
  Record,
  TestClock,
  TestContext
} from "effect"
import { randomUUID } from "node:crypto"
import { connect } from "node:net"
import { setTimeout } from "node:timers/promises"
import { eventually, withLongerLimits } from "../../core/test/support/eventually.ts"
import * as Cases from "../src/onboarding-api/Cases.ts"
import * as Screening from "../src/onboarding-api/Screening.ts"
import * as Settings from "../src/onboarding-api/Settings.ts"
import * as SignUp from "../src/onboarding-api/SignUp.ts"
import * as Store from "../src/onboarding-api/Store.ts"
import * as Tenants from "../src/onboarding-api/Tenants.ts"
import { Databases, layerPostgres, layerSqlite } from "./support/databases.ts"
import * as Onboarding from "./support/onboarding.ts"
import * as OnboardingProcess from "./support/onboardingProcess.ts"
import { suite } from "./support/onboardingSuite.ts"

suite("onboarding-api on SQLite", layerSqlite)
/** Starts a server with a database in memory, as without `DATABASE_URL`. */
const start = (variables: Record<string, string> = {}) =>
  Effect.gen(function*() {
    const mock = yield* Onboarding.mock()
    return { ...mock, ...yield* Onboarding.serve(mock.options, variables) }
  })

/** The claim of a new applicant, from a store that takes this long. */
const claimAfter = (duration: Duration.DurationInput) =>
  Effect.flatMap(DateTime.now, (startedAt) =>
    Effect.delay(
      Effect.succeed({ applicantId: randomUUID(), startedAt, isNew: true, isSamePerson: true }),
      duration
    ))

const layerNoCases = Layer.mock(Cases.Cases, { isInReview: () => Effect.succeed(false) })

describe("onboarding-api", { concurrent: true }, () => {
  it.scopedLive("an unreadable request is a 400 and an invalid person a 422, and neither repeats a value", () =>
    Effect.gen(function*() {
      const { printed, url, verifyChecks } = yield* start()
      const responses = yield* Effect.forEach([
        Onboarding.signUpText(url, "{\"name\": \"Canary"),
        Onboarding.signUpText(url, "\"Canary\""),
        Onboarding.signUpText(url, "{\"name\": [\"Canary\"], \"canary\": 1}"),
        Onboarding.signUp(url, "Canary Testclear", "00000000-0000-0000-0000-00000canary0"),
        Onboarding.signUp(url, "Canary\u0000", randomUUID(), "29.07.1931")
      ], (request) => request)
      deepStrictEqual(responses.map(({ status }) => status), [400, 400, 400, 400, 422])
      deepStrictEqual(
        responses.map(({ body }) => {
          const { errors = [], issues = [] } = JSON.parse(body)
          return [...errors, ...issues].map(({ field, path }) => field ?? path.join("."))
        }),
        [[], [""], ["name"], ["idempotency-key"], ["name", "dateOfBirth"]]
      )
      const output = [yield* printed, ...responses.map(({ body }) => body)].join("\n").toLowerCase()
      deepStrictEqual(["canary", "1931"].filter((canary) => output.includes(canary)), [])
      yield* verifyChecks(0)
    }))

  it.scopedLive("the server aborts a request with a body that is too long, and serves the next one", () =>
    Effect.gen(function*() {
      const { printed, url, verifyChecks } = yield* start()
      const body = JSON.stringify({ name: "Canary".repeat(3000), dateOfBirth: "1931-07-29" })
      strictEqual((yield* Effect.either(Onboarding.signUpText(url, body)))._tag, "Left")
      strictEqual((yield* Onboarding.get(`${url}/openapi.json`)).status, 200)
      strictEqual((yield* printed).includes("Canary"), false)
      yield* verifyChecks(0)
    }))

  it.scopedLive("a sign-up beyond the limit gets a 503 with Retry-After, without a check", () =>
    Effect.gen(function*() {
      const { movable, url, verifyChecks } = yield* start({ SIGN_UPS_AT_ONCE: "1" })
      const first = yield* Effect.fork(Onboarding.signUp(url, "Canary Testhang"))
      yield* eventually("the check of the first", Effect.isSuccess(Effect.sandbox(verifyChecks(1))), (isSent) => isSent)
      const second = yield* Onboarding.signUp(url, "Canary Testclear")
      deepStrictEqual([second.status, second.headers["retry-after"]], [503, "30"])
      // To the deadline of the check, and then to the response.
      const moving = yield* Effect.fork(
        Effect.forever(Effect.zipRight(movable.move("30 seconds"), Effect.promise(() => setTimeout(50))))
      )
      strictEqual((yield* Fiber.join(first)).status, 201)
      yield* Fiber.interrupt(moving)
      yield* verifyChecks(1)
    }))

  it.scopedLive("the response to an outage is not later than to a match, also with a slow database", () =>
    Effect.gen(function*() {
      let claims = 0
      const reasons: Array<string> = []
      const layerSlowStore = Layer.mock(Store.Store, {
        claim: () => Effect.tap(claimAfter("150 millis"), () => Effect.sync(() => claims++)),
        decide: (_applicantId, _attempt, decision) =>
          Effect.suspend(() => {
            reasons.push(decision.reason)
            return Effect.delay(Effect.succeed(decision), "300 millis")
          })
      })
      const layerIdv = Layer.unwrapEffect(Effect.map(MockServer.MockServer, ({ options }) => Idv.layer(options)))
      const { signUp } = yield* Effect.provide(
        SignUp.SignUp,
        yield* Layer.build(SignUp.layer.pipe(
          Layer.provide(layerNoCases),
          Layer.provide(Screening.layer),
          Layer.provide(layerSlowStore),
          Layer.provide(layerIdv),
          Layer.provide(MockServer.layerHttpClient)
        ))
      )
      const fiber = yield* Effect.fork(
        Effect.forEach(
          ["Canary Testpep", "Canary Testhang"],
          (name) => Effect.timed(signUp(randomUUID(), { name, otherNames: [], dateOfBirth: "1931-07-29" })),
          { concurrency: 2 }
        )
      )
      const pass = TestClock.adjust("50 millis")
      yield* Effect.repeat(pass, { until: () => claims === 2 })
      yield* eventually("the match", () => reasons, (reasons) => reasons.includes("Potential match"))
      const timed = yield* Effect.raceFirst(Fiber.join(fiber), Effect.forever(pass))
      deepStrictEqual(reasons, ["Potential match", "AmlTimeout"])
      const times = timed.map(([took]) => Duration.toMillis(took))
      assertTrue(Math.min(...times) >= 2000, times.join())
      assertTrue(Math.max(...times) - Math.min(...times) < 200, times.join())
    }).pipe(
      Effect.withConfigProvider(Onboarding.provider({ ANSWER_AFTER: "2 seconds" })),
      Effect.provide(TestContext.TestContext)
    ))

  it.scopedLive("the response to a match is not early if the wall clock is set forward", () =>
    Effect.gen(function*() {
      let [passed, setForward] = [0, 0]
      const clock: Clock.Clock = {
        ...Clock.make(),
        unsafeCurrentTimeMillis: () => passed + setForward,
        currentTimeMillis: Effect.sync(() => passed + setForward),
        unsafeCurrentTimeNanos: () => BigInt(passed) * 1_000_000n,
        currentTimeNanos: Effect.sync(() => BigInt(passed) * 1_000_000n),
        sleep: (duration) => Effect.sync(() => void (passed += Duration.toMillis(duration)))
      }
      const { signUp } = yield* Effect.provide(
        SignUp.SignUp,
        yield* Layer.build(SignUp.layer.pipe(
          Layer.provide(layerNoCases),
          Layer.provide(Layer.mock(Screening.Screening, {
            screen: () =>
              Effect.sync(() => {
                setForward = 3_600_000
                return { outcome: "review", reason: "Potential match", sent: "answered", checks: 1 }
              })
          })),
          Layer.provide(Layer.mock(Store.Store, { claim: () => claimAfter(0) }))
        ))
      )
      const form = { name: "Canary Testpep", otherNames: [], dateOfBirth: "1931-07-29" }
      strictEqual((yield* Effect.withClock(signUp(randomUUID(), form), clock)).status, "received")
      assertTrue(passed >= 2000, `${passed}`)
    }).pipe(Effect.withConfigProvider(Onboarding.provider({ ANSWER_AFTER: "2 seconds" }))))

  it.scopedLive("a re-check ends if the database hangs", () =>
    Effect.gen(function*() {
      const hangs = yield* SqlClient.make({
        acquirer: Effect.never,
        compiler: Statement.makeCompilerSqlite(),
        spanAttributes: []
      }).pipe(Effect.provide(Reactivity.layer))
      const { check } = yield* Effect.provide(
        Cases.Cases,
        yield* Layer.build(Cases.layer.pipe(
          Layer.provide(Layer.mock(Screening.Screening, {})),
          Layer.provide(Layer.succeed(SqlClient.SqlClient, hangs))
        ))
      )
      const fiber = yield* Effect.fork(Effect.flip(check("alice", randomUUID())))
      yield* TestClock.adjust(Store.timeout)
      strictEqual(String((yield* Fiber.join(fiber))._tag), "StoreUnavailable")
    }).pipe(Effect.withConfigProvider(Onboarding.provider({})), Effect.provide(TestContext.TestContext)))

  // `it.scoped` would not provide the TestContext, because `suite` calls `layer` with `excludeTestServices`.
  it.scopedLive("the lease and the grace period are longer than the longest claim, check and storing", () =>
    Effect.gen(function*() {
      const { gracePeriod, lease, responseAfter } = yield* Settings.settings
      const timeout = new Store.StoreUnavailable({ operation: "decide", code: "timeout" })
      const form = { name: "Canary Testclear", otherNames: [], dateOfBirth: "1931-07-29" }
      let decides = 0
      const layer = SignUp.layer.pipe(
        Layer.provide(
          Layer.mock(Cases.Cases, { isInReview: () => Effect.delay(Effect.succeed(false), Store.timeout) })
        ),
        Layer.provide(Screening.layer),
        Layer.provide([
          Layer.mock(Store.Store, {
            claim: () => claimAfter(Store.timeout),
            decide: () =>
              Effect.suspend(() => {
                decides++
                return Effect.delay(Effect.fail(timeout), Store.timeout)
              })
          }),
          Layer.mock(AmlClient.AmlClient, {
            check: () => Effect.delay(Effect.dieMessage("the deadline has passed"), responseAfter)
          })
        ])
      )
      const { signUp } = yield* Effect.provide(SignUp.SignUp, yield* Layer.build(layer))
      const fiber = yield* Effect.fork(
        Effect.timed(Effect.either(signUp(randomUUID(), form)))
      )
      yield* TestClock.adjust("10 minutes")
      const [took] = yield* Fiber.join(fiber)
      strictEqual(decides, 6)
      assertTrue(Duration.lessThan(took, lease))
      assertTrue(Duration.lessThan(lease, gracePeriod))
    }).pipe(Effect.withConfigProvider(Onboarding.provider({})), Effect.provide(TestContext.TestContext)))

  it.scopedLive("an invalid variable is reported in one line, with its name and without its value", () =>
    Effect.gen(function*() {
      const { options } = yield* Onboarding.mock()
      const messages = yield* Effect.forEach(
        [
          { ANSWER_AFTER: "0 seconds" },
          { ANSWER_AFTER: "infinity" },
          { ANSWER_AFTER: "canary" },
          { SIGN_UPS_AT_ONCE: "0" },
          { SIGN_UPS_AT_ONCE: "-1" },
          { SIGN_UPS_AT_ONCE: "canary" },
          { PORT: "canary" },
          { PORT: "70000" },
          { OPERATIONS_PORT: "canary" },
          { SIGN_UPS_PER_SECOND: "0" },
          { REVIEWERS: "canary" },
          { REVIEWERS: "alice:canary" },
          { REVIEWERS: "alice:canary-with-16-characters,bob:canary-with-16-characters" },
          { REVIEWERS: "alice:canary-with-16-characters,alice:canary-with-more-characters" },
          { REVIEWERS: "alice:canary-with-16-characters,Alice:canary-with-more-characters" }
        ],
        (variables) =>
          Effect.map(
            Effect.flip(Onboarding.serve(options, variables)),
            (error) => ConfigError.isConfigError(error) ? Tenants.describe(error) : ""
          )
      )
      const answerAfter = "ANSWER_AFTER should be from 1s to 1m, such as \"4 seconds\""
      const atOnce = "SIGN_UPS_AT_ONCE should be a whole number from 1 to 10000"
      const port = "PORT should be a whole number from 0 to 65535"
      deepStrictEqual(messages, [
        ...[answerAfter, answerAfter, answerAfter, atOnce, atOnce, atOnce, port, port],
        "OPERATIONS_PORT should be a whole number from 0 to 65535",
        "SIGN_UPS_PER_SECOND should be a whole number from 1 to 10000",
        ...Arr.replicate(
          "REVIEWERS should be names with a token each, such as alice:…,bob:…. A token has at least 16 characters, and no " +
            "two reviewers have the same name, in upper or lower case, or the same token",
          5
        )
      ])
    }))

  it.scopedLive("tenants have names of their own, and an error names the variable of its tenant", () =>
    Effect.gen(function*() {
      const run = (variables: Record<string, string>) =>
        Tenants.forEach(Effect.zipRight(Config.string("IDV_CUSTOMER_KEY"), Effect.never), Layer.empty).pipe(
          Effect.withConfigProvider(Onboarding.provider(variables)),
          Effect.flip,
          Effect.map(Tenants.describe)
        )
      const names = "TENANTS should be different names in capital letters and digits, such as ACME,GLOBEX"
      deepStrictEqual(
        yield* Effect.forEach(
          [
            { TENANTS: "canary" },
            { TENANTS: "ACME,ACME" },
            { TENANTS: "ACME", IDV_CUSTOMER_KEY: "canary" }
          ],
          run
        ),
        [names, names, "ACME_IDV_CUSTOMER_KEY is missing"]
      )
    }))

  it.scopedLive("without REVIEWERS nobody can read the cases", () =>
    Effect.gen(function*() {
      const { url } = yield* start()
      const responses = yield* Effect.forEach(["", "Bearer ", "Bearer undefined"], (authorization) =>
        Onboarding.get(`${url}/reviews`, { authorization }))
      deepStrictEqual(
        responses.map(({ status }) =>
          status
        ),
        [401, 401, 401]
      )
    }))

  it.scopedLive("serves its OpenAPI document, with every status, at /openapi.json and its page at /docs", () =>
    Effect.gen(function*() {
      const { url } = yield* start()
      const { body } = yield* Onboarding.get(`${url}/openapi.json`)
      const { paths } = JSON.parse(body)
      deepStrictEqual(Object.keys(paths), [
        "/sign-ups",
        "/reviews",
        "/reviews/{applicantId}/history",
        "/reviews/{applicantId}/checks",
        "/reviews/{applicantId}/conclusions"
      ])
      deepStrictEqual(Object.keys(paths["/sign-ups"].post.responses), ["201", "400", "409", "422", "503"])
      const { parameters, responses } = paths["/reviews"].get
      deepStrictEqual(Object.keys(responses).sort(), ["200", "400", "401", "404", "503"])
      deepStrictEqual([parameters[0].name, parameters[0].required], ["after", false])
      const page = yield* Onboarding.get(`${url}/docs`)
      assertInclude(page.headers["content-type"] ?? "", "text/html")
      assertInclude(page.body, "/sign-ups")
      strictEqual((yield* Onboarding.get(`${url}/elsewhere`)).status, 404)
    }))

  it.scopedLive("is alive, ready with a token, and shows its metrics, only on the port of its operations", () =>
    Effect.gen(function*() {
      const { operations, url } = yield* start()
      strictEqual((yield* Onboarding.get(`${operations}/live`)).status, 200)
      const ready = Effect.map(Onboarding.get(`${operations}/ready`), ({ body, status }) => `${status} ${body}`)
      strictEqual(yield* ready, "503 acquiring")
      yield* eventually("a token", ready, (response) => response === "200 ready")
      assertInclude((yield* Onboarding.get(`${operations}/metrics`)).body, "idv_token_requests_total")
      for (const path of ["live", "ready", "metrics"]) {
        strictEqual((yield* Onboarding.get(`${url}/${path}`)).status, 404)
      }
    }))

  it.scopedLive("a sign-up beyond the rate gets the 503, and one a second later does not", () =>
    Effect.gen(function*() {
      const { signUp } = yield* Effect.provide(
        SignUp.SignUp,
        yield* Layer.build(SignUp.layer.pipe(
          Layer.provide(layerNoCases),
          Layer.provide(Layer.mock(Screening.Screening, {
            screen: () => Effect.succeed({ outcome: "clear", reason: "No", sent: "answered", checks: 1 })
          })),
          Layer.provide(Layer.mock(Store.Store, {
            claim: () => claimAfter(0)
          }))
        ))
      )
      const outcome = Effect.match(
        Effect.suspend(() =>
          signUp(randomUUID(), { name: "Canary Testclear", otherNames: [], dateOfBirth: "1931-07-29" })
        ),
        { onFailure: ({ _tag }) => _tag, onSuccess: ({ status }) => status }
      )
      deepStrictEqual([yield* outcome, yield* outcome, yield* outcome], ["welcome", "welcome", "NotAvailable"])
      yield* TestClock.adjust("1 second")
      strictEqual(yield* outcome, "welcome")
    }).pipe(
      Effect.withConfigProvider(Onboarding.provider({ SIGN_UPS_PER_SECOND: "2" })),
      Effect.provide(TestContext.TestContext)
    ))
})

/** Sends SIGTERM during sign-ups, and returns whether one of them got its response after the signal. */
const terminate = (answerAfter: number) =>
  Effect.gen(function*() {
    const database = yield* Effect.flatMap(Databases, ({ create }) => create)
    const { options } = yield* Onboarding.mock(Profile.presets.hostile)
    const server = yield* OnboardingProcess.start({
      ANSWER_AFTER: `${answerAfter} seconds`,
      DATABASE_URL: database,
      ...OnboardingProcess.serviceVariables(options)
    })
    const url = yield* server.url
    const count = 20
    const names = Arr.makeBy(count, (i) => `Canary${i} ${i % 2 === 0 ? "Testsanc" : "Test503"}`)
    const signUps = yield* Effect.fork(
      Effect.forEach(names, (name) => Onboarding.signUp(url, name), { concurrency: "unbounded" })
    )
    const sql = yield* Effect.provide(SqlClient.SqlClient, yield* Onboarding.database(database))
    const started = Effect.map(sql`SELECT id FROM applicants`, ({ length }) => length)
    yield* eventually("all sign-ups in the database", Effect.delay(started, "100 millis"), (n) => n === count)
    // The server does not wait for a connection without a request.
    yield* Effect.acquireRelease(
      Effect.sync(() => connect(Number(new URL(url).port), "127.0.0.1").on("error", () => {})),
      (socket) => Effect.sync(() => socket.destroy())
    )
    const shutdown = yield* Effect.fork(server.terminate)
    const health = Effect.either(Onboarding.get(`${url}/openapi.json`))
    yield* eventually("a server that refuses connections", health, ({ _tag }) => _tag === "Left")

    const responses = yield* Fiber.join(signUps)
    deepStrictEqual(Arr.dedupe(responses.map(({ status }) => status)), [201])
    strictEqual(yield* Fiber.join(shutdown), 0)
    const printed = yield* server.printed
    strictEqual(printed.split("\n").filter((line) => line.includes("\"stored\"")).length, count)
    deepStrictEqual(
      printed.split("\n").filter((line) => /canary|1931-07-29|29-07-1931|test-key/i.test(line)),
      []
    )

    const stored = yield* sql`SELECT count(*) AS n FROM decisions WHERE outcome = 'review'`
    deepStrictEqual(stored, [{ n: count }])
    return responses.some(({ headers }) => headers["connection"] === "close")
  })

/** Runs a test of a process whose checks must end before it responds. */
const answeringAfter = <A, E, R>(run: (answerAfter: string) => Effect.Effect<A, E, R>) =>
  withLongerLimits(2000, (millis) => Effect.scoped(run(`${millis} millis`)), 32_000)

describe(
  "onboarding-api as a process",
  { concurrent: true },
  () =>
    layer(layerSqlite, { excludeTestServices: true })((it) => {
      it.scoped(
        "SIGTERM completes and stores the sign-ups in flight and exits with 0, and the output contains no applicant",
        () =>
          Effect.gen(function*() {
            let answerAfter = 2
            // On a busy machine, all are answered before the signal.
            while (!(yield* Effect.scoped(terminate(answerAfter)))) answerAfter *= 2
          })
      )

      it.scoped("two tenants have a service, applicants, reviewers and readiness of their own", () =>
        answeringAfter((answerAfter) =>
          Effect.gen(function*() {
            const tenant = (name: string, reviewers: string) =>
              Effect.gen(function*() {
                const { options, verifyChecks } = yield* Onboarding.mock()
                const variables = {
                  ANSWER_AFTER: answerAfter,
                  DATABASE_URL: yield* Effect.flatMap(Databases, ({ create }) => create),
                  OPERATIONS_PORT: "0",
                  PORT: "0",
                  REVIEWERS: reviewers,
                  ...OnboardingProcess.serviceVariables(options)
                }
                return { variables: Record.mapKeys(variables, (variable) => `${name}_${variable}`), verifyChecks }
              })
            const acme = yield* tenant("ACME", Onboarding.reviewers)
            const globex = yield* tenant("GLOBEX", "dora:canary-token-of-dora")
            const server = yield* OnboardingProcess.start({
              TENANTS: "ACME,GLOBEX",
              ...acme.variables,
              ...globex.variables
            })
            const listening = Effect.map(server.printed, (printed) =>
              Array.from(
                printed.matchAll(/listens at (\S+) .* For probes: (\S+)\/ready/g),
                ([, url = "", operations = ""]) => ({ url, operations })
              ))
            const addresses = yield* eventually("both tenants", listening, ({ length }) => length === 2)
            const readBy = (url: string, token: string) =>
              Effect.map(
                Onboarding.get(`${url}/reviews`, { authorization: `Bearer ${token}` }),
                ({ body, status }) => [status, status === 200 ? JSON.parse(body).length : 0]
              )
            const [dora, alice] = ["canary-token-of-dora", "canary-token-of-alice"]
            const ofReviewer = (token: string) =>
              Effect.map(
                Effect.filter(addresses, ({ url }) => Effect.map(readBy(url, token), ([status]) => status === 200)),
                ([address]) => address ?? { url: "", operations: "" }
              )
            const [atAcme, atGlobex] = [yield* ofReviewer(alice), yield* ofReviewer(dora)]
            const key = randomUUID()
            const signUp = (url: string, name: string) =>
              Effect.map(Onboarding.signUp(url, name, key), ({ body }) => JSON.parse(body).status)
            // The same key in both, for two people.
            strictEqual(yield* signUp(atAcme.url, "Canary Testpep"), "received")
            strictEqual(yield* signUp(atGlobex.url, "Canary Testclear"), "welcome")
            for (const { verifyChecks } of [acme, globex]) yield* verifyChecks(1)
            deepStrictEqual(
              yield* Effect.all([atAcme, atGlobex].flatMap(({ url }) => [readBy(url, alice), readBy(url, dora)])),
              [[200, 1], [401, 0], [401, 0], [200, 0]]
            )
            for (
              const [name, other, { operations }] of [["ACME", "GLOBEX", atAcme], ["GLOBEX", "ACME", atGlobex]] as const
            ) {
              strictEqual((yield* Onboarding.get(`${operations}/ready`)).body, "ready")
              const { body: metrics } = yield* Onboarding.get(`${operations}/metrics`)
              assertInclude(metrics, `idv_token_requests_total{tenant="${name}"} 1`)
              assertTrue(!metrics.includes(other))
              assertInclude(yield* server.printed, `"tenant":"${name}"`)
            }
            strictEqual(yield* server.terminate, 0)
            deepStrictEqual((yield* server.printed).split("\n").filter((line) => /canary|1931/i.test(line)), [])
          })
        ))

      it.scoped("an error at the start is one line, without the password of the database", () =>
        Effect.gen(function*() {
          const lines = yield* Effect.forEach([
            { IDV_AUTH_URL: "https://auth.example.com" },
            {
              DATABASE_URL: "postgres://user:canary@127.0.0.1:1/none",
              ...OnboardingProcess.serviceVariables({ authUrl: "http://127.0.0.1:1", baseUrl: "http://127.0.0.1:1" })
            },
            { TENANTS: "ACME", ACME_DATABASE_URL: "file:none.sqlite", IDV_AUTH_URL: "https://auth.example.com" }
          ], (variables) =>
            Effect.gen(function*() {
              const { exitCode, printed } = yield* OnboardingProcess.start(variables)
              strictEqual(yield* exitCode, 1)
              return (yield* printed).split("\n").at(-1)?.split("; ")[0]
            }), { concurrency: 3 })
          deepStrictEqual(lines, [
            "The onboarding API did not start: DATABASE_URL is missing: it is required with a real service: " +
            "postgres://… or file:…",
            "The onboarding API did not start: SqlError (ECONNREFUSED)",
            "The onboarding API did not start: ACME_IDV_AUTH_URL is missing: it should be the address of the token " +
            "endpoint, such as https://auth.example.com"
          ])
        }))
    })
)

/** onboardingApi.nightly.test.ts runs the suite. */
layer(layerPostgres, { excludeTestServices: true })("onboarding-api on PostgreSQL", (it) => {
  const start = (options: Idv.Options, database: string) =>
    OnboardingProcess.start({
      ANSWER_AFTER: "16 seconds",
      DATABASE_URL: database,
      ...OnboardingProcess.serviceVariables(options),
      TOKEN_KEY: Buffer.alloc(32, 1).toString("base64")
    })

  it.scoped(
    "as two processes on one PostgreSQL sends one token request, because the second one adopts the token",
    () =>
      Effect.gen(function*() {
        const database = yield* Effect.flatMap(Databases, ({ create }) => create)
        const { options, verifyChecks, verifyTokens } = yield* Onboarding.mock()
        const [first, second] = yield* Effect.all([start(options, database), start(options, database)])
        for (const server of [first, second]) {
          const signUp = Onboarding.signUp(yield* server.url, "Canary Testclear", randomUUID())
          // On a busy machine, the first connection to the database can time out, and an applicant repeats the request.
          yield* eventually("a welcome", signUp, ({ body }) => JSON.parse(body).status === "welcome")
        }
        yield* verifyChecks(2)
        yield* verifyTokens(1)
      })
  )

  it.scoped(
    "as a process does not start with a key that is short, or without PostgreSQL, and prints no value",
    () =>
      Effect.gen(function*() {
        const database = yield* Effect.flatMap(Databases, ({ create }) => create)
        const { options } = yield* Onboarding.mock()
        const lines = yield* Effect.forEach([
          { DATABASE_URL: database, TOKEN_KEY: "canary" },
          { DATABASE_URL: "file:none.sqlite", TOKEN_KEY: "canary" }
        ], (variables) =>
          Effect.gen(function*() {
            const { exitCode, printed } = yield* OnboardingProcess.start({
              ...OnboardingProcess.serviceVariables(options),
              ...variables
            })
            strictEqual(yield* exitCode, 1)
            return (yield* printed).split("\n").at(-1)
          }))
        deepStrictEqual(lines, [
          "The onboarding API did not start: encryptionKey.key should be 32 random bytes as base64, such as " +
          "`openssl rand -base64 32` prints",
          "The onboarding API did not start: TOKEN_KEY requires a DATABASE_URL that starts with postgres://"
        ])
      })
  )
})
