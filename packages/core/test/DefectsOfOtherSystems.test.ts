/** Defects that occurred in other systems. Each test shows that this client does not have the defect. */
import { AmlClient, AmlError, DateOfBirth, Failure, Idv, Person, PersonName } from "@effect-idv/core"
import { HttpClientError } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import {
  Array as Arr,
  Duration,
  Effect,
  Either,
  Exit,
  Fiber,
  Layer,
  Logger,
  LogLevel,
  Redacted,
  Schema,
  TestClock
} from "effect"
import * as Ada from "./support/ada.ts"
import { everythingPrinted, renderings } from "./support/canary.ts"
import * as Service from "./support/service.ts"

const started = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.zipRight(TestClock.setTime(Ada.today), effect)

const checkOf = (input: Person.Input) =>
  Effect.gen(function*() {
    const aml = yield* AmlClient.AmlClient
    return yield* aml.check(yield* Person.make(input))
  })

/** Every failure of a check, by its tag. */
const failures: ReadonlyArray<readonly [string, Parameters<typeof Service.make>[0] & object]> = [
  ["TokenRejected", { token: () => Effect.succeed(new Response(null, { status: 401 })) }],
  ["TokenEndpointUnavailable", {
    token: (_received, _count, request) =>
      new HttpClientError.RequestError({ request, reason: "Transport", cause: { code: "CERT_HAS_EXPIRED" } })
  }],
  ["TokenResponseInvalid", { token: () => Effect.sync(() => Service.json({})) }],
  ["AmlUnauthorized", { aml: () => Effect.sync(() => Service.json(Service.credential(), { status: 401 })) }],
  ["AmlForbidden", { aml: () => Effect.sync(() => Service.json(Service.credential(), { status: 403 })) }],
  ["AmlRequestRejected", { aml: () => Effect.sync(() => Service.json({ matches: [] }, { status: 404 })) }],
  ["AmlRateLimited", { aml: () => Effect.sync(() => new Response(null, { status: 429 })) }],
  ["AmlUnavailable", { aml: () => Effect.sync(() => Service.json(Service.credential(), { status: 503 })) }],
  ["AmlUnavailable", { aml: Service.failing({ code: "ECONNRESET" }) }],
  ["AmlResponseInvalid", { aml: () => Effect.sync(() => Service.json([])) }],
  ["AmlResponseMismatch", { aml: () => Effect.sync(() => Service.json(Service.credential({}, { name: "Bob" }))) }],
  ["AmlTimeout", { aml: () => Effect.never }]
]

const failureOf = (handlers: Parameters<typeof Service.make>[0]) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(Effect.flip(Ada.result))
    yield* TestClock.adjust("30 seconds")
    return yield* fiber
  }).pipe(Ada.provide(Service.make(handlers)), started)

describe("The client does not repeat a defect of other systems", () => {
  const bodies: ReadonlyArray<unknown> = [
    Service.credential(),
    { error: "unauthorized", match_found: "No" },
    { matches: [] },
    {},
    []
  ]
  it.effect.each(bodies)(
    "a 401 with a JSON body was read as no match: %j is an error",
    (body) =>
      Effect.gen(function*() {
        const error = yield* failureOf({ aml: () => Effect.sync(() => Service.json(body, { status: 401 })) })
        strictEqual(error._tag, "AmlUnauthorized")
      })
  )

  it.effect.each<DateOfBirth.Input>([
    "",
    "unknown",
    "03/04/1980",
    "1990-02-30",
    "1990",
    "1990-02",
    "01-02-1990",
    { year: Number.NaN, month: 2, day: 1 },
    { year: 1990, month: 0, day: 0 }
  ])("an unparseable date of birth (%j) was dropped and only the name was searched: it is rejected", (dateOfBirth) => {
    const service = Service.make()
    return Effect.gen(function*() {
      const error = yield* Effect.flip(checkOf({ ...Ada.input, dateOfBirth }))
      assert(error._tag === "AmlInputRejected")
      deepStrictEqual(error.issues.map(({ field }) => field), ["dateOfBirth"])
      deepStrictEqual([service.tokenRequests.length, service.amlRequests.length], [0, 0])
    }).pipe(Ada.provide(service), started)
  })

  it.effect("a date of which only the year is known is sent as a complete date", () => {
    const service = Service.make()
    return Effect.gen(function*() {
      yield* checkOf({ ...Ada.input, dateOfBirth: yield* DateOfBirth.assumed(1957) })
      strictEqual(service.amlRequests[0]?.body.includes("\"dob\":\"01-01-1957\""), true)
    }).pipe(Ada.provide(service), started)
  })

  it.effect.each(failures)("a failed screening was logged as clear: %s is logged as a failure", ([
    tag,
    handlers
  ]) =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const logger = Logger.make((options) => void lines.push(Logger.logfmtLogger.log(options)))
      const error = yield* failureOf(handlers).pipe(
        Effect.provide(
          Layer.merge(Logger.replace(Logger.defaultLogger, logger), Logger.minimumLogLevel(LogLevel.All))
        )
      )
      strictEqual(error._tag, tag)
      const audit = lines.filter((line) => line.includes("AML check"))
      strictEqual(audit.length, 1)
      strictEqual(audit[0]?.includes(`outcome=${tag}`), true, audit[0])
      strictEqual(lines.some((line) => /NoMatch|clear/i.test(line)), false)
    }))

  it.effect.each<Record<string, string>>([{}, { customerKey: "" }, { customerId: "" }])(
    "a missing key made every check clear: without credentials (%j) no client is made",
    (credentials) => {
      const service = Service.make()
      const { customerId = "acme-bank", customerKey = "" } = credentials
      return Effect.gen(function*() {
        const layer = Idv.layer({ ...Service.options, customerId, customerKey: Redacted.make(customerKey) })
        const error = yield* Effect.flip(
          Effect.scoped(Layer.build(Layer.provide(layer, service.layer)))
        )
        strictEqual(/customerKey|customerId/.test(String(error)), true)
        strictEqual(service.tokenRequests.length + service.amlRequests.length, 0)
      })
    }
  )

  it.effect("cached results hid new listings: every check sends a request", () => {
    const service = Service.make({
      aml: (_, count) =>
        Effect.sync(() => Service.json(Service.credential({}, { match_found: count === 3 ? "Potential match" : "No" })))
    })
    return Effect.gen(function*() {
      const aml = yield* AmlClient.AmlClient
      const person = yield* Ada.person
      const check = Effect.map(aml.check(person), ({ result }) => result)
      deepStrictEqual(yield* Effect.replicateEffect(check, 2), ["No", "No"])
      strictEqual(yield* check, "Potential match")
      yield* Effect.replicateEffect(check, 7, { concurrency: "unbounded" })
      strictEqual(service.amlRequests.length, 10)
      strictEqual(service.amlRequests.some(({ headers }) => "if-none-match" in headers), false)
    }).pipe(Ada.provide(service), started)
  })

  it.effect.each(failures)("an unavailable service looked like a match: %s is not a result", ([
    tag,
    handlers
  ]) =>
    Effect.gen(function*() {
      const error = yield* failureOf(handlers)
      strictEqual(error._tag, tag)
      const shown = [...renderings(error), String(error.message)].join("\n")
      strictEqual(/potential match|matchFound|match_found/i.test(shown.replaceAll(/\bat .*/g, "")), false, shown)
    }))

  it.effect("a timeout shorter than the latency led to double billing: the error has sent: \"unknown\"", () => {
    const service = Service.make({
      aml: () => Effect.delay(Effect.sync(() => Service.json(Service.credential())), "8 seconds")
    })
    return Effect.gen(function*() {
      const fiber = yield* Effect.fork(Effect.flip(Ada.result))
      yield* TestClock.adjust("1 minute")
      const error = yield* fiber
      assert.deepInclude(error, { _tag: "AmlTimeout", sent: "unknown", deadline: Duration.seconds(5) })
      assert(error._tag !== "AmlInputRejected" && Failure.facts(error).sent === "unknown")
      strictEqual(service.amlRequests.length, 1)
    }).pipe(Ada.provide(service, { deadline: "5 seconds" }), started)
  })

  it.effect("a check whose connection broke after it was sent is not retried", () => {
    const service = Service.make({ aml: Service.failing({ code: "ECONNRESET", syscall: "read" }) })
    return Effect.gen(function*() {
      const fiber = yield* Effect.fork(Effect.flip(Ada.result))
      yield* TestClock.adjust("1 minute")
      assert.deepInclude(yield* fiber, { _tag: "AmlUnavailable", sent: "unknown" })
      strictEqual(service.amlRequests.length, 1)
    }).pipe(Ada.provide(service), started)
  })

  const leaked = "Canarymatch Canarylisted"
  const tippingOff: ReadonlyArray<readonly [string, unknown]> = [
    ["a message", { message: `matches ${leaked}` }],
    ["a problem", { type: "about:blank", title: leaked, detail: `is ${leaked}`, status: 422 }],
    ["an OAuth error", { error: "rejected", error_description: leaked }],
    ["a list of errors", { errors: [{ code: leaked, message: leaked }, leaked] }],
    ["errors by field", { errors: { [leaked]: [leaked] } }],
    ["a code that is a text", { code: leaked }],
    ["a credential", Service.credential({}, { match_found: "Potential match", name: leaked, aml_profile: leaked })],
    ["a text", leaked]
  ]
  it.effect.each(tippingOff)(
    "a 422 body leaked the matched name: it does not leak as %s",
    ([, body]) =>
      Effect.gen(function*() {
        const service = Service.make({ aml: () => Effect.sync(() => Service.json(body, { status: 422 })) })
        const { exit, printed } = yield* everythingPrinted(Ada.result.pipe(Ada.provide(service), started), String)
        assert(Exit.isFailure(exit) && exit.cause._tag === "Fail")
        const { error } = exit.cause
        assert(error._tag === "AmlRequestRejected")
        const encoded = JSON.stringify(yield* Schema.encode(AmlError.AmlRequestRejected)(error))
        const shown = [printed, encoded, ...renderings(error)].join("\n")
        strictEqual(/canary(match|listed)/i.test(shown), false)
        deepStrictEqual(Object.keys(JSON.parse(encoded)).sort().filter((key) => key !== "code"), ["_tag", "status"])
      })
  )

  it.effect.each(["A", "Ö", "王", "𠮷", "李", "O", "Ng", "ا", "𞤀"])(
    "short names were recorded as no hit without a request: %s is sent",
    (name) => {
      const service = Service.make({
        aml: () => Effect.sync(() => Service.json(Service.credential({}, { name, match_found: "Potential match" })))
      })
      return Effect.gen(function*() {
        const { result } = yield* checkOf({ ...Ada.input, name })
        strictEqual(result, "Potential match")
        strictEqual(
          service.amlRequests[0]?.body,
          `{"entity_type":"person","name":"${name}","dob":"14-03-1957"}`
        )
      }).pipe(Ada.provide(service), started)
    }
  )

  it("the length of a name was counted in bytes: it is counted in code points", () => {
    for (const letter of ["x", "ö", "王", "𠮷"]) {
      strictEqual(Either.isRight(PersonName.make(letter.repeat(255))), true, letter)
      strictEqual(Either.isLeft(PersonName.make(letter.repeat(256))), true, letter)
    }
  })

  it.effect.each<unknown>([undefined, null, "", "abc", -5, 0, true, [], {}])(
    "an invalid expires_in (%j) became NaN and each call fetched a token: one token is used for nearly an hour",
    (expires_in) => {
      const service = Service.make({
        token: (_, count) => Effect.sync(() => Service.tokenResponse(count, { expires_in }))
      })
      return Effect.gen(function*() {
        yield* Effect.replicateEffect(Ada.result, 20)
        yield* TestClock.setTime(Ada.today + 38 * 60_000)
        yield* Effect.replicateEffect(Ada.result, 20)
        strictEqual(service.tokenRequests.length, 1)
        yield* TestClock.setTime(Ada.today + 60 * 60_000)
        yield* Ada.result
        strictEqual(service.tokenRequests.length, 2)
      }).pipe(Ada.provide(service), started)
    }
  )

  it.effect("a 401 never dropped the token: it is replaced once, and the new one is used", () => {
    const service = Service.make({
      aml: ({ headers }) =>
        Effect.sync(() =>
          headers["authorization"] === "Bearer token-1"
            ? new Response(null, { status: 401 })
            : Service.json(Service.credential())
        )
    })
    return Effect.gen(function*() {
      const fibers = yield* Effect.forkAll(Arr.makeBy(10, () => Ada.result))
      deepStrictEqual(new Set(yield* Fiber.join(fibers)), new Set(["No"]))
      strictEqual(yield* Ada.result, "No")
      strictEqual(service.tokenRequests.length, 2)
      strictEqual(service.amlRequests.at(-1)?.headers["authorization"], "Bearer token-2")
    }).pipe(Ada.provide(service), started)
  })

  it.effect("an unknown property was logged with its value: it is in the evidence and in no log", () =>
    Effect.gen(function*() {
      const response = Service.credential({ canaryOuter: "canaryValue" }, { canaryInner: ["canaryValue"] })
      const service = Service.make({ aml: () => Effect.sync(() => Service.json(response)) })
      const { exit, printed } = yield* everythingPrinted(
        Effect.gen(function*() {
          const { check } = yield* AmlClient.AmlClient
          return yield* check(yield* Ada.person)
        }).pipe(Ada.provide(service), started),
        String
      )
      strictEqual(/canary(outer|inner|value)/i.test(printed), false)
      assert(Exit.isSuccess(exit) && exit.value.body !== undefined)
      deepStrictEqual(JSON.parse(new TextDecoder().decode(Redacted.value(exit.value.body))), response)
    }))
})
