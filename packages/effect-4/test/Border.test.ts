/** Looks for values of Effect 3, secrets and personal data in everything that the client returns, logs, traces and counts. */
import type { Idv } from "@effect-idv/effect-4"
import { AmlClient, Failure, IdvHttp, Person, Screening, TokenProvider } from "@effect-idv/effect-4"
import type * as Fault from "@effect-idv/mock-server/Fault"
import { Cause, Context, Duration, Effect, Layer, Redacted, Schema, Stream } from "effect"
import * as DateTime3 from "effect-3/DateTime"
import * as Duration3 from "effect-3/Duration"
import * as Effect3 from "effect-3/Effect"
import * as Exit3 from "effect-3/Exit"
import * as Option3 from "effect-3/Option"
import * as Redacted3 from "effect-3/Redacted"
import { deepStrictEqual, ok, strictEqual } from "node:assert"
import { inspect } from "node:util"
import { describe, it } from "vitest"
import * as Client from "./support/client.ts"
import * as Service from "./support/service.ts"
import { pathsOfEffect3 } from "./support/walk.ts"

const server = Client.useServer()

type Fault = typeof Fault.Fault.Encoded

/** A fault for each error that a check can have over a socket. */
const faults: ReadonlyArray<readonly [Failure.Failure["_tag"], Fault]> = [
  ["AmlUnauthorized", { on: "aml", what: { kind: "status", status: 401 } }],
  ["AmlForbidden", { on: "aml", what: { kind: "status", status: 403 } }],
  ["AmlRequestRejected", { on: "aml", what: { kind: "status", status: 422 } }],
  ["AmlRateLimited", {
    on: "aml",
    what: { kind: "status", status: 429, retryAfter: { kind: "seconds", seconds: 120 } }
  }],
  ["AmlUnavailable", { on: "aml", what: { kind: "reset" } }],
  ["AmlTimeout", { on: "aml", what: { kind: "hang" } }],
  ["AmlResponseInvalid", { on: "aml", what: { kind: "status", status: 200, body: "{\"match_found\":\"No\"}" } }],
  ["AmlResponseMismatch", { on: "aml", what: { kind: "somebodyElse" } }],
  ["TokenRejected", { on: "token", what: { kind: "status", status: 401 } }],
  ["TokenEndpointUnavailable", { on: "token", what: { kind: "status", status: 500 } }],
  ["TokenResponseInvalid", { on: "token", what: { kind: "html" } }]
]

/** The other errors, which a program may make itself. */
const made = Effect.gen(function*() {
  const rejected = yield* Effect.flip(Person.make({ name: "12", dateOfBirth: "2030-01-01" }))
  const decode = Schema.decodeUnknownEffect(Failure.Failure)
  return [
    rejected,
    yield* decode({ _tag: "TokenTimeout", deadline: 300 }),
    yield* decode({ _tag: "TokenProviderClosed" })
  ]
})

const canaries = { profile: "https://idv.example.com/canaryProfile", body: "canaryBody" }

/** Every rendering of a value in a log, a reporter or a debugger. */
const renderings = (value: unknown): ReadonlyArray<string> => [
  String(value),
  value instanceof Error ? `${value.message}\n${value.stack}` : "",
  JSON.stringify(value, (_, field) => typeof field === "bigint" ? String(field) : field) ?? "",
  inspect(value, { depth: 12 }),
  inspect(value, { depth: 12, showHidden: true }),
  inspect(value, { depth: 12, customInspect: false })
]

const isAbout = (canary: string) => (text: string) => text.includes(canary)

describe("the walk", () => {
  it("finds each value of Effect 3, wherever it is", () => {
    const duration = Duration3.seconds(1)
    for (
      const value of [
        duration,
        DateTime3.unsafeMake(0),
        Option3.none(),
        Redacted3.make("key"),
        Effect3.void,
        Exit3.fail("no"),
        { a: [{ b: duration }] },
        { [Symbol("hidden")]: duration },
        new Map([["a", duration]]),
        new Set([duration]),
        Redacted.make(duration),
        Cause.fail({ retryAfter: duration }),
        Object.create({ inherited: duration }),
        Object.defineProperty({}, "hidden", { value: duration, enumerable: false }),
        Object.defineProperty({}, "computed", { get: () => duration, enumerable: true })
      ]
    ) ok(pathsOfEffect3(value).length > 0, inspect(value))
    deepStrictEqual(pathsOfEffect3([Duration.seconds(1), Redacted.make("key"), Cause.fail("no")]), [])
  })
})

class OfTheProgram extends Schema.TaggedError<OfTheProgram>("OfTheProgram")("OfTheProgram", {}) {}

describe("what the client returns", () => {
  it("keeps an error of Effect 4 that is a defect", () =>
    Effect.runPromise(Effect.gen(function*() {
      const session = yield* server.session
      const defect = new OfTheProgram()
      const exit = yield* Client.check().pipe(
        AmlClient.beforeEachRequest(Effect.die(defect)),
        Effect.provide(server.layer(session)),
        Effect.exit
      )
      ok(exit._tag === "Failure")
      strictEqual(Cause.squash(exit.cause), defect)
    })))

  it("has no value of Effect 3 and no leak in a result", () =>
    Effect.runPromise(Effect.gen(function*() {
      const session = yield* server.session
      const recorded = yield* Client.recorded(
        Effect.all([Client.check(Client.pep), Client.check()]).pipe(Effect.provide(server.layer(session)))
      )
      ok(recorded.exit._tag === "Success")
      deepStrictEqual(pathsOfEffect3(recorded.exit), [])
      deepStrictEqual(leaks(recorded, session.customerKey), [])
    })))

  it.each([
    [200, Service.credential({ match_found: "Potential match", aml_profile: canaries.profile })],
    [200, Service.credential({ match_found: canaries.body, aml_profile: canaries.profile })],
    [422, JSON.stringify({ error: `${canaries.body} ${Service.token}`, message: `${canaries.profile} Ada Testclear` })]
  ])(
    "has no token, profile or body outside of a Redacted after status %i",
    (status, body) =>
      Effect.runPromise(Effect.scoped(Effect.gen(function*() {
        const service = yield* Service.make({
          respond: (response) => {
            response.statusCode = status
            response.end(body)
          }
        })
        const recorded = yield* Client.recorded(
          Client.check().pipe(
            Effect.tapCause((cause) => Effect.logError("failed", cause)),
            Effect.provide(Client.layerOf(service.url))
          )
        )
        const { exit } = recorded
        const pretty = exit._tag === "Failure" ? Cause.pretty(exit.cause) : ""
        deepStrictEqual([pathsOfEffect3(exit), leaks(recorded, "s3cret-key", pretty)], [[], []])
        // The canaries were there.
        ok(
          exit._tag === "Failure" ||
            Redacted.value(exit.value.credential.credentials.attributes.amlProfile) === canaries.profile
        )
      })))
  )

  it.each(faults)("has none in %s", (tag, fault) =>
    Effect.runPromise(Effect.gen(function*() {
      const session = yield* server.session
      yield* Effect.promise(() => session.fault(fault))
      const policy = tag === "AmlTimeout" ? { deadline: Duration.millis(300) } : {}
      const recorded = yield* Client.recorded(
        Client.check(Client.pep).pipe(
          Effect.tapCause((cause) => Effect.logError("failed", cause)),
          AmlClient.withPolicy({ retry: "never", ...policy }),
          Effect.provide(server.layer(session, { tokenPolicy: { attempts: 1 } }))
        )
      )
      ok(recorded.exit._tag === "Failure")
      const error = Cause.squash(recorded.exit.cause)
      ok(Schema.is(Failure.Failure)(error), String(error))
      strictEqual(error._tag, tag)
      deepStrictEqual(
        pathsOfEffect3([recorded.exit, Failure.facts(error), recorded.logs.map(({ message }) => message)]),
        []
      )
      deepStrictEqual(leaks(recorded, session.customerKey, Cause.pretty(recorded.exit.cause)), [])
    })))

  it("has none in the other errors, and every error of the union was tried", () =>
    Effect.runPromise(Effect.gen(function*() {
      const errors = yield* made
      deepStrictEqual(pathsOfEffect3(errors), [])
      const tags = [...faults.map(([tag]) => tag), ...errors.map(({ _tag }) => _tag)]
      const members = Failure.Failure.members.map(({ identifier }) => identifier.split("/").at(-1))
      deepStrictEqual(tags.toSorted(), members.toSorted())
    })))

  it("has none in the outcomes, the services, the readiness, a defect and an error of the options", () =>
    Effect.runPromise(Effect.gen(function*() {
      const session = yield* server.session
      yield* Effect.promise(() => session.fault({ on: "aml", what: { kind: "reset" }, when: { kind: "first", n: 1 } }))
      const all = yield* Effect.gen(function*() {
        const people = Stream.make(
          { key: 0, person: Person.make(Client.pep) },
          { key: 1, person: Person.make(Client.ada) },
          { key: 2, person: Person.make({ name: "12", dateOfBirth: "1990-02-01" }) }
        )
        const outcomes = yield* Stream.runCollect(Screening.stream(people, { concurrency: 1 }))
        deepStrictEqual(outcomes.map(({ _tag }) => _tag), ["Unknown", "NoMatch", "NotScreened"])
        const context = yield* Effect.context<Idv.Idv>()
        const provider = Context.get(context, TokenProvider.TokenProvider)
        const refused = yield* Effect.exit(
          Client.check().pipe(AmlClient.withPolicy({ deadline: Duration.seconds(-1) }))
        )
        return [outcomes, Context.get(context, AmlClient.AmlClient), provider, yield* provider.readiness, refused]
      }).pipe(Effect.provide(server.layer(session)))
      const http = yield* Effect.scoped(Layer.build(IdvHttp.layerUndici()))
      const options = yield* Effect.exit(
        Effect.scoped(Layer.build(Client.layerOf("not an address", { customerKey: Redacted.make("CANARY") })))
      )
      deepStrictEqual(pathsOfEffect3([all, Context.get(http, IdvHttp.IdvHttp), options]), [])
      ok(!renderings(options).some(isAbout("CANARY")))
    })))
})

/** The canaries that are in a rendering of the exit, the logs, the spans or the metrics. */
const leaks = (
  { exit, logs, metrics, spans }: Effect.Success<ReturnType<typeof Client.recorded>>,
  key: string,
  pretty = ""
): ReadonlyArray<string> => {
  const texts = [
    pretty,
    ...renderings(exit),
    ...logs.flatMap(({ annotations, cause, message }) => [message, annotations, cause].flatMap(renderings)),
    ...spans.flatMap(({ attributes, events, name, status }) =>
      [name, [...attributes], events, status].flatMap(renderings)
    ),
    ...renderings(metrics)
  ]
  strictEqual(spans.some(({ name }) => name !== "caller"), true)
  const personal = ["Testpep", "Zoë", "1957-03-14", "14-03-1957", "Testclear", "1990-02-01", "01-02-1990"]
  return [
    key,
    btoa(`acme-bank:${key}`),
    "Bearer ",
    "access_token",
    ...personal,
    Service.token,
    ...Object.values(canaries)
  ]
    .filter((canary) => texts.some(isAbout(canary)))
}
