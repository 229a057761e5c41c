import { AmlCheck, AmlClient, Failure, Person } from "@effect-idv/effect-4"
import { Duration, Effect, Exit, Redacted, Schedule, Schema } from "effect"
import { deepStrictEqual, match, ok, strictEqual } from "node:assert"
import { describe, it } from "vitest"
import * as Client from "./support/client.ts"
import * as Service from "./support/service.ts"

const server = Client.useServer()

describe("AmlClient", () => {
  it("returns the three results", () =>
    Effect.runPromise(Effect.gen(function*() {
      const session = yield* server.session
      const results = yield* Effect.forEach(
        [Client.ada, Client.pep, { ...Client.ada, name: "Mr Ada Testclear" }],
        (input) => Client.check(input)
      ).pipe(Effect.provide(server.layer(session)))
      deepStrictEqual(
        results.map(AmlCheck.match({
          onNo: () => "clear",
          onDoubtfulNo: ({ warnings }) => String(warnings[0]),
          onPotentialMatch: () => "review"
        })),
        ["clear", "review", "name at 0: it starts with a title (title)"]
      )
    })))

  it.each(
    [
      [{ kind: "status", status: 403 }, "AmlForbidden", "answered", "everyone"],
      [{ kind: "status", status: 422 }, "AmlRequestRejected", "answered", "person"],
      [{ kind: "status", status: 500 }, "AmlUnavailable", "answered", "service"],
      [{ kind: "reset" }, "AmlUnavailable", "unknown", "service"],
      [{ kind: "status", status: 200, body: "{\"match_found\":\"No\"}" }, "AmlResponseInvalid", "answered", "service"],
      [{ kind: "somebodyElse" }, "AmlResponseMismatch", "answered", "person"]
    ] as const
  )("fails closed: %o", (what, tag, sent, concerns) =>
    Effect.runPromise(Effect.gen(function*() {
      const session = yield* server.session
      yield* Effect.promise(() => session.fault({ on: "aml", what }))
      const error = yield* Effect.flip(Client.check()).pipe(Effect.provide(server.layer(session)))
      strictEqual(error._tag, tag)
      const facts = Failure.facts(error)
      deepStrictEqual([facts.sent, facts.concerns], [sent, concerns])
    })))

  it.each([
    ["AmlRateLimited", 429, "Too many requests; try again in 2m"],
    ["AmlRequestRejected", 408, "The service refused the request: status 408"]
  ])(
    "converts the wait of %s, status %d, and decodes the error from JSON",
    (tag, status, message) =>
      Effect.runPromise(Effect.gen(function*() {
        const session = yield* server.session
        yield* Effect.promise(() =>
          session.fault({
            on: "aml",
            what: { kind: "status", status, retryAfter: { kind: "seconds", seconds: 120 } }
          })
        )
        const error = yield* Effect.flip(Client.check()).pipe(Effect.provide(server.layer(session)))
        strictEqual(error._tag, tag)
        ok("retryAfter" in error && error.retryAfter !== undefined)
        strictEqual(Duration.toMillis(error.retryAfter), 120_000)
        strictEqual(error.message.replace(/ \(\w+\)/, "").replace(/, code [\w-]+/, ""), message)
        const json = yield* Schema.encodeEffect(Failure.Failure)(error)
        deepStrictEqual(JSON.parse(JSON.stringify(json)).retryAfter, 120_000)
        strictEqual((yield* Schema.decodeUnknownEffect(Failure.Failure)(json)).message, error.message)
      }))
  )

  it("sends a request with 401 once more, with a new token", () =>
    Effect.runPromise(Effect.gen(function*() {
      const session = yield* server.session
      const attempts = yield* Effect.gen(function*() {
        yield* Client.check()
        yield* Effect.promise(() => session.revokeTokens())
        return (yield* Client.check()).attempts
      }).pipe(Effect.provide(server.layer(session)))
      strictEqual(attempts, 2)
      yield* Effect.promise(() => session.verify({ kind: "exactly", n: 2, pattern: { operation: "token" } }))
    })))

  it("acquires one token for 1,000 fibers", () =>
    Effect.runPromise(Effect.gen(function*() {
      const session = yield* server.session
      // With the token, each check ends before its request.
      const check = AmlClient.beforeEachRequest(Client.check(), Effect.interrupt)
      yield* Effect.forEach(Array.from({ length: 1000 }), () => Effect.exit(check), { concurrency: "unbounded" }).pipe(
        Effect.provide(server.layer(session))
      )
      yield* Effect.promise(() => session.verify({ kind: "exactly", n: 1, pattern: { operation: "token" } }))
    })))

  it("closes the connection of an interrupted check, and reports that it was sent", () =>
    Effect.runPromise(Effect.scoped(Effect.gen(function*() {
      const service = yield* Service.make()
      const sent: Array<string> = []
      const interruptOnArrival = Effect.raceFirst(
        AmlClient.onInterruptedCheck(Client.check(), (status) => Effect.sync(() => void sent.push(status))),
        service.arrived
      )
      yield* Effect.provide(interruptOnArrival, Client.layerOf(service.url))
      deepStrictEqual(sent, ["unknown"])
      yield* service.closed
    }))))

  it("reports that a check was not sent if it is interrupted before its request", () =>
    Effect.runPromise(Effect.gen(function*() {
      const session = yield* server.session
      const sent: Array<string> = []
      const exit = yield* Client.check().pipe(
        AmlClient.beforeEachRequest(Effect.never),
        AmlClient.onInterruptedCheck((status) => Effect.sync(() => void sent.push(status))),
        Effect.timeout("200 millis"),
        Effect.provide(server.layer(session)),
        Effect.exit
      )
      ok(Exit.hasFails(exit))
      deepStrictEqual(sent, ["no"])
      yield* Effect.promise(() => session.verify({ kind: "never", pattern: { operation: "aml" } }))
    })))

  it("has an error with sent after the deadline of withPolicy", () =>
    Effect.runPromise(Effect.gen(function*() {
      const session = yield* server.session
      const error = yield* Effect.gen(function*() {
        // The deadline covers only the request that hangs, and not that for the token.
        yield* Client.check()
        yield* Effect.promise(() => session.fault({ on: "aml", what: { kind: "hang" } }))
        return yield* Effect.flip(AmlClient.withPolicy(Client.check(), { deadline: Duration.seconds(1) }))
      }).pipe(Effect.provide(server.layer(session)))
      ok(error._tag === "AmlTimeout")
      strictEqual(error.sent, "unknown")
      strictEqual(Duration.toMillis(error.deadline), 1000)
    })))

  it("retries with a schedule, which receives the error of this package", () =>
    Effect.runPromise(Effect.gen(function*() {
      const session = yield* server.session
      yield* Effect.promise(() => session.fault({ on: "aml", what: { kind: "status", status: 503 } }))
      const inputs: Array<boolean> = []
      const retry = Schedule.recurs(2).pipe(
        Schedule.setInputType<unknown>(),
        Schedule.tap(({ input }) => Effect.sync(() => void inputs.push(Schema.is(Failure.Failure)(input))))
      )
      yield* Effect.flip(Client.check()).pipe(AmlClient.withPolicy({ retry }), Effect.provide(server.layer(session)))
      deepStrictEqual(inputs, [true, true])
      yield* Effect.promise(() => session.verify({ kind: "exactly", n: 3, pattern: { operation: "aml" } }))
    })))

  it("refuses an invalid policy by the name of the option, and a negative duration", () =>
    Effect.runPromise(Effect.gen(function*() {
      const exit = yield* Client.check().pipe(
        AmlClient.withPolicy({ deadline: Duration.seconds(-1) }),
        Effect.provide(AmlClient.layerTest("No")),
        Effect.exit
      )
      match(String(Exit.isFailure(exit) && exit.cause), /withPolicy: .*deadline/)
    })))

  it("stores a check as the JSON of the client for Effect 3", () =>
    Effect.runPromise(Effect.gen(function*() {
      const check = yield* Client.check().pipe(Effect.provide(AmlClient.layerTest("No")))
      yield* AmlCheck.verify(check)
      const json = JSON.parse(JSON.stringify(yield* Schema.encodeEffect(AmlCheck.WithoutBody)(check)))
      deepStrictEqual([json.result, json.request.dob, "body" in json], ["No", "01-02-1990", false])
      const stored = yield* Schema.decodeUnknownEffect(AmlCheck.WithoutBody)(json)
      strictEqual(stored.sha256, check.sha256)
      strictEqual((yield* Effect.flip(AmlCheck.verify(stored))).reason, "no_body")
      const changed = yield* Effect.flip(
        Schema.decodeUnknownEffect(AmlCheck.WithoutBody)({ ...json, result: "Potential match" })
      )
      match(changed.message, /whose result follows from/)
    })))

  it("returns the result of a function of the person in layerTest, or an error", () =>
    Effect.runPromise(Effect.gen(function*() {
      const layer = AmlClient.layerTest(({ name }) => Redacted.value(name).includes("pep") ? "Potential match" : "No")
      const results = yield* Effect.forEach([Client.ada, Client.pep], Client.check).pipe(Effect.provide(layer))
      deepStrictEqual(results.map(({ result }) => result), ["No", "Potential match"])
    })))

  it("rejects a person with every reason, and refuses an object that is not a person", () =>
    Effect.runPromise(Effect.gen(function*() {
      const error = yield* Effect.flip(Person.make({ name: "12", dateOfBirth: "2030-01-01" }))
      deepStrictEqual(error.issues.map(({ code }) => code), ["no_letter", "in_future"])
      const person = yield* Person.make(Client.ada)
      const exit = yield* Effect.flatMap(AmlClient.AmlClient, (aml) => Effect.suspend(() => aml.check({ ...person })))
        .pipe(
          Effect.provide(AmlClient.layerTest("No")),
          Effect.exit
        )
      match(String(Exit.isFailure(exit) && exit.cause), /check takes a Person from Person.make/)
      const decoded = yield* Effect.flip(Schema.decodeUnknownEffect(Person.FromInput)({ ...Client.ada, name: "n/a" }))
      match(decoded.message, /placeholder/)
    })))
})
