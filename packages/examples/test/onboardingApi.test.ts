import { AmlClient, Idv } from "@effect-idv/core"
import { MockServer, Profile } from "@effect-idv/mock-server"
import { SqlClient } from "@effect/sql"
import { describe, it, layer } from "@effect/vitest"
import { assertInclude, assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Array as Arr, ConfigError, DateTime, Duration, Effect, Fiber, Layer, TestClock, TestContext } from "effect"
import { randomUUID } from "node:crypto"
import { connect } from "node:net"
import { eventually } from "../../core/test/support/eventually.ts"
import * as SignUp from "../src/onboarding-api/SignUp.ts"
import * as Store from "../src/onboarding-api/Store.ts"
import * as Variable from "../src/onboarding-api/Variable.ts"
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

describe("onboarding-api", () => {
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
      strictEqual((yield* Onboarding.get(`${url}/health`)).status, 200)
      strictEqual((yield* printed).includes("Canary"), false)
      yield* verifyChecks(0)
    }))

  it.scopedLive("a sign-up beyond the limit gets a 503 with Retry-After, without a check", () =>
    Effect.gen(function*() {
      const { url, verifyChecks } = yield* start({ ANSWER_AFTER: "16 seconds", SIGN_UPS_AT_ONCE: "1" })
      const first = yield* Effect.fork(Onboarding.signUp(url, "Canary Testhang"))
      yield* eventually("the check of the first", Effect.isSuccess(Effect.sandbox(verifyChecks(1))), (isSent) => isSent)
      const second = yield* Onboarding.signUp(url, "Canary Testclear")
      deepStrictEqual([second.status, second.headers["retry-after"]], [503, "30"])
      strictEqual((yield* Fiber.join(first)).status, 201)
      yield* verifyChecks(1)
    }))

  it.scopedLive("the response to an outage is not later than to a match, also with a slow database", () =>
    Effect.gen(function*() {
      const layerSlowStore = Layer.mock(Store.Store, {
        claim: () =>
          Effect.flatMap(DateTime.now, (startedAt) =>
            Effect.delay(
              Effect.succeed({ applicantId: randomUUID(), startedAt, isNew: true, isSamePerson: true }),
              "150 millis"
            )),
        decide: (_applicantId, decision) => Effect.delay(Effect.succeed(decision), "300 millis")
      })
      const layerIdv = Layer.unwrapEffect(Effect.map(MockServer.MockServer, ({ options }) => Idv.layer(options)))
      const { signUp } = yield* Effect.provide(
        SignUp.SignUp,
        yield* Layer.build(SignUp.layer.pipe(
          Layer.provide(layerSlowStore),
          Layer.provide(layerIdv),
          Layer.provide(MockServer.layerHttpClient)
        ))
      )
      const fiber = yield* Effect.fork(
        Effect.forEach(
          ["Canary Testpep", "Canary Testhang"],
          (name) => Effect.timed(signUp(randomUUID(), { name, dateOfBirth: "1931-07-29" })),
          { concurrency: 2 }
        )
      )
      const timed = yield* Effect.raceFirst(Fiber.join(fiber), Effect.forever(TestClock.adjust("25 millis")))
      const times = timed.map(([took]) => Duration.toMillis(took))
      assertTrue(Math.min(...times) >= Onboarding.responseAfter, times.join())
      assertTrue(Math.max(...times) - Math.min(...times) < 200, times.join())
    }).pipe(Effect.withConfigProvider(Onboarding.provider({})), Effect.provide(TestContext.TestContext)))

  // `it.scoped` would not provide the TestContext, because `suite` calls `layer` with `excludeTestServices`.
  it.scopedLive("the lease and the grace period are longer than the longest claim, check and storing", () =>
    Effect.gen(function*() {
      const { gracePeriod, lease, responseAfter } = yield* SignUp.settings
      const timeout = new Store.StoreUnavailable({ operation: "decide", code: "timeout" })
      let decides = 0
      const layer = SignUp.layer.pipe(
        Layer.provide([
          Layer.mock(Store.Store, {
            claim: () =>
              Effect.flatMap(DateTime.now, (startedAt) =>
                Effect.delay(
                  Effect.succeed({ applicantId: randomUUID(), startedAt, isNew: true, isSamePerson: true }),
                  Store.timeout
                )),
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
        Effect.timed(Effect.either(signUp(randomUUID(), { name: "Canary Testclear", dateOfBirth: "1931-07-29" })))
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
          { REVIEWER_TOKEN: "canary" }
        ],
        (variables) =>
          Effect.map(
            Effect.flip(Onboarding.serve(options, variables)),
            (error) => ConfigError.isConfigError(error) ? Variable.describe(error) : ""
          )
      )
      const answerAfter = "ANSWER_AFTER should be from 1s to 1m, such as \"4 seconds\""
      const atOnce = "SIGN_UPS_AT_ONCE should be a whole number from 1 to 10000"
      const port = "PORT should be a whole number from 0 to 65535"
      deepStrictEqual(messages, [
        ...[answerAfter, answerAfter, answerAfter, atOnce, atOnce, atOnce, port, port],
        "REVIEWER_TOKEN should have at least 16 characters"
      ])
    }))

  it.scopedLive("without REVIEWER_TOKEN nobody can read the cases", () =>
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
      deepStrictEqual(Object.keys(paths), ["/sign-ups", "/reviews", "/health"])
      deepStrictEqual(Object.keys(paths["/sign-ups"].post.responses), ["201", "400", "409", "422", "503"])
      const { parameters, responses } = paths["/reviews"].get
      deepStrictEqual(Object.keys(responses).sort(), ["200", "400", "401", "404", "503"])
      deepStrictEqual([parameters[0].name, parameters[0].required], ["after", false])
      const page = yield* Onboarding.get(`${url}/docs`)
      assertInclude(page.headers["content-type"] ?? "", "text/html")
      assertInclude(page.body, "/sign-ups")
      strictEqual((yield* Onboarding.get(`${url}/health`)).body, "{\"status\":\"ok\"}")
      strictEqual((yield* Onboarding.get(`${url}/elsewhere`)).status, 404)
    }))
})

describe(
  "onboarding-api as a process",
  { concurrent: true },
  () =>
    layer(layerSqlite, { excludeTestServices: true })((it) => {
      it.scoped(
        "SIGTERM completes and stores the sign-ups in flight and exits with 0, and the output contains no applicant",
        () =>
          Effect.gen(function*() {
            const database = yield* Effect.flatMap(Databases, ({ create }) => create)
            const { options } = yield* Onboarding.mock(Profile.presets.hostile)
            const server = yield* OnboardingProcess.start({
              ANSWER_AFTER: "16 seconds",
              DATABASE_URL: database,
              IDV_AUTH_URL: options.authUrl,
              IDV_BASE_URL: options.baseUrl,
              IDV_CUSTOMER_ID: "test-onboarding",
              IDV_CUSTOMER_KEY: "test-key"
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
            const health = Effect.either(Onboarding.get(`${url}/health`))
            yield* eventually("a server that refuses connections", health, ({ _tag }) => _tag === "Left")

            const responses = yield* Fiber.join(signUps)
            deepStrictEqual(Arr.dedupe(responses.map(({ headers, status }) => `${status} ${headers["connection"]}`)), [
              "201 close"
            ])
            strictEqual(yield* Fiber.join(shutdown), 0)
            const printed = yield* server.printed
            strictEqual(printed.split("\n").filter((line) => line.includes("\"stored\"")).length, count)
            deepStrictEqual(
              printed.split("\n").filter((line) => /canary|1931-07-29|29-07-1931|test-key/i.test(line)),
              []
            )

            const stored = yield* sql`SELECT count(*) AS n FROM decisions WHERE outcome = 'review'`
            deepStrictEqual(stored, [{ n: count }])
          })
      )

      it.scoped("without variables it starts with a mock server", () =>
        Effect.gen(function*() {
          const server = yield* OnboardingProcess.start({})
          strictEqual((yield* Onboarding.signUp(yield* server.url, "Canary Testclear")).status, 201)
          assertInclude(yield* server.printed, "No IDV_* variable is set: the mock server runs in this process")
          strictEqual(yield* server.terminate, 0)
        }))

      it.scoped("an error at the start is one line, without the password of the database", () =>
        Effect.gen(function*() {
          const lines = yield* Effect.forEach([
            { IDV_AUTH_URL: "https://auth.example.com" },
            { DATABASE_URL: "postgres://user:canary@127.0.0.1:1/none" }
          ], (variables) =>
            Effect.gen(function*() {
              const { exitCode, printed } = yield* OnboardingProcess.start(variables)
              strictEqual(yield* exitCode, 1)
              return (yield* printed).split("\n").at(-1)
            }), { concurrency: 2 })
          deepStrictEqual(lines, [
            "The onboarding API did not start: DATABASE_URL is missing: it is required with a real service: " +
            "postgres://… or file:…",
            "The onboarding API did not start: SqlError (ECONNREFUSED)"
          ])
        }))
    })
)

suite("onboarding-api on PostgreSQL", layerPostgres, (it) => {
  const start = (options: Idv.Options, database: string) =>
    OnboardingProcess.start({
      ANSWER_AFTER: "16 seconds",
      DATABASE_URL: database,
      IDV_AUTH_URL: options.authUrl,
      IDV_BASE_URL: options.baseUrl,
      IDV_CUSTOMER_ID: "test-onboarding",
      IDV_CUSTOMER_KEY: "test-key",
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
          const { body } = yield* Onboarding.signUp(yield* server.url, "Canary Testclear")
          strictEqual(JSON.parse(body).status, "welcome")
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
              IDV_AUTH_URL: options.authUrl,
              IDV_BASE_URL: options.baseUrl,
              IDV_CUSTOMER_ID: "test-onboarding",
              IDV_CUSTOMER_KEY: "test-key",
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
