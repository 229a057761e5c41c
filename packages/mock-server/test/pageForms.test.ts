/** The parts of the page that need no browser: its fault form, its requests, its search and its sentences. */
import { Fault, type Journal, Session, TestPerson } from "@effect-idv/mock-server"
import { describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Either, JSONSchema, Layer, Option, Schema, TestClock } from "effect"
import * as FaultFields from "../src/internal/page/faultFormFields.ts"
import * as Forms from "../src/internal/page/forms.ts"
import * as JournalView from "../src/internal/page/journalView.ts"
import * as OwnRequest from "../src/internal/page/ownRequest.ts"
import * as App from "../src/internal/server/app.ts"

const Members = Schema.Struct({
  anyOf: Schema.Array(Schema.Struct({
    properties: Schema.Struct(
      { kind: Schema.Struct({ enum: Schema.Array(Schema.String) }) },
      { key: Schema.String, value: Schema.Unknown }
    )
  }))
})

/** The fields of each kind in the schema, and in the form. */
const ofSchema = (schema: Schema.Schema.Any) =>
  Schema.decodeUnknownSync(Members)(JSONSchema.make(schema)).anyOf.map(({ properties }) =>
    [properties.kind.enum[0], Object.keys(properties).filter((name) => name !== "kind").toSorted()] as const
  )
const ofForm = (field: string) =>
  FaultFields.fields.filter(FaultFields.isChoice).filter((choice) => choice.field === field).flatMap(({ options }) =>
    options.map(({ fields, value }) => [value, fields.map(({ field }) => field).toSorted()] as const)
  )

/** The fault that a form means, or the fields that are wrong. */
const decodeFault = (typed: Forms.Fields) => {
  const { json, names } = FaultFields.encode(typed)
  return Either.mapLeft(
    Fault.decodeUnknown(json),
    (violations) => violations.map(({ path }) => names.get(path) ?? path)
  )
}

describe("The fault form of the page", () => {
  it("has the fields of each kind of fault and trigger", () => {
    deepStrictEqual(ofForm("what"), ofSchema(Fault.What))
    deepStrictEqual(ofForm("when"), ofSchema(Fault.When))
  })

  it("omits empty fields, and names the field of a problem as the form does", () => {
    for (const { kind } of Fault.kinds) {
      deepStrictEqual(
        Either.getRight(decodeFault({ on: "aml", what: kind })),
        Either.getRight(Fault.make({ on: "aml", what: { kind } }))
      )
    }
    deepStrictEqual(
      Either.getRight(decodeFault({
        on: "both",
        what: "status",
        "what.status.status": "429",
        "what.status.body": "404",
        "what.status.retryAfter": "date",
        "what.status.retryAfter.date.in": "3 seconds",
        // The fields of options that are not selected.
        "what.latency.distribution.fixed.delay": "nonsense",
        when: "probability",
        "when.probability.p": "0.5",
        ttl: "1 minute"
      })),
      Either.getRight(Fault.make({
        on: "both",
        what: { kind: "status", status: 429, body: "404", retryAfter: { kind: "date", in: "3 seconds" } },
        when: { kind: "probability", p: 0.5 },
        ttl: "1 minute"
      }))
    )
    deepStrictEqual(
      Either.flip(decodeFault({
        on: "aml",
        what: "latency",
        "what.latency.distribution": "normal",
        "what.latency.distribution.normal.mean": "soon",
        when: "window",
        "when.window.for": ""
      })),
      Either.right(["when.window.for", "what.latency.distribution.normal.mean"])
    )
  })
})

const origin = "http://localhost"

/** The test persons are born in 1990. */
const server = Layer.merge(
  App.layer([Session.demoCustomer], {}),
  Layer.effectDiscard(TestClock.setTime(Date.UTC(2026, 0, 31)))
)

const demoSession = Effect.gen(function*() {
  const { find } = yield* Session.Sessions
  return Option.getOrThrow(yield* find("demo-customer"))
})

const send = (text: string) =>
  Effect.gen(function*() {
    return yield* OwnRequest.send(yield* demoSession, text, origin)
  })

describe("A request of the user on the page", () => {
  it.effect("gets the response that its example is about, and shows neither token nor key", () =>
    Effect.gen(function*() {
      const sent = yield* Effect.forEach(
        OwnRequest.examples,
        ({ name, text }) => Effect.map(send(text), (entry) => [name, entry] as const)
      )
      deepStrictEqual(
        sent.map(([name, { response: { status } }]) => [name, String(status)]),
        [
          ["Check", "200"],
          ["Token", "200"],
          ["Wrong key", "401"],
          ["Wrong grant_type", "400"],
          ["No token", "401"],
          ["Unknown token", "401"],
          ["Expired token", "401"],
          ["Revoked token", "401"],
          ["ISO date of birth", "422"],
          ["Missing field", "422"],
          ["Extra field", "422"],
          ["Not JSON", "400"],
          ["Wrong content type", "415"]
        ]
      )
      const { journal, tokens } = yield* demoSession
      const issued = yield* tokens.list
      strictEqual(issued.length > 0, true)
      const shown = JSON.stringify([sent, yield* journal.entries])
      for (const secret of [...issued.map(({ token }) => token), "demo-key", btoa("demo-customer:demo-key")]) {
        strictEqual(shown.includes(secret), false, secret)
      }
    }).pipe(Effect.provide(server)))

  it.effect.each([
    ["", "a first line"],
    ["brew /api/aml", "a first line"],
    ["POST http://elsewhere/", "a first line"],
    ["POST /api/aml\nno colon", "in line 2"],
    ["POST /api/aml\na: b\nc: ä", "in line 3"]
  ])("is refused without a request if it cannot be sent: %j", ([text = "", expected = ""]) =>
    Effect.gen(function*() {
      const problems = yield* Effect.flip(send(text))
      assertInclude(Forms.format(problems), expected)
      const { list, unmatched } = yield* Session.Sessions
      deepStrictEqual(
        yield* Effect.forEach([unmatched, ...(yield* list).map(({ journal }) => journal)], ({ entries }) => entries),
        [[], []]
      )
    }).pipe(Effect.provide(server)))
})

const checkOf = (name: string) =>
  `POST /api/aml\nauthorization: Bearer <token>\ncontent-type: application/json\n\n` +
  JSON.stringify({ entity_type: "person", name, dob: "01-02-1990" })

/** The sentence about the exchange that a request caused, after which the session has no fault. */
const sentenceAfter = (text: string, faults: ReadonlyArray<string> = []) =>
  Effect.gen(function*() {
    const session = yield* demoSession
    yield* session.faults.clear
    for (const fault of faults) yield* session.faults.set(Either.getOrThrow(Fault.make(fault)))
    return (yield* send(text)).why
  })

describe("The sentence about an exchange", () => {
  it.effect("says what happened and why, what a fault changed first", () =>
    Effect.gen(function*() {
      const { testPersons } = yield* demoSession
      yield* testPersons.set([
        Either.getOrThrow(
          TestPerson.make({ match: { nameLast: "Sample" }, response: { kind: "status", status: 500 } })
        )
      ])
      const example = (name: string) => OwnRequest.examples.find((example) => example.name === name)?.text ?? ""
      for (
        const [text, expected, faults] of [
          [example("Token"), "A token for 3600 s"],
          [checkOf("Ada Testpep"), "Potential match: the name ends with Testpep"],
          [checkOf("Ada Lovelace"), "No: the name is not reserved"],
          [
            checkOf("Ada Testcut"),
            "Sent only a part of the body, and closed the connection: the name ends with Testcut"
          ],
          [
            checkOf("Ada Sample"),
            "Returned status 500 instead of the service's response: testPersons[0], matched by nameLast"
          ],
          [example("Unknown token"), "The token is unknown"],
          [example("Expired token"), "The token is expired, by this session's clock"],
          ["GET /nowhere", "There are POST /oauth/service and POST /api/aml, and for people /_mock/ui"],
          [
            checkOf("Ada"),
            "Returned status 500 instead of the service's response: fault f1, at its request 1",
            ["aml:status=500"]
          ],
          [
            checkOf("Ada"),
            "Removed the body: fault f2, at its request 1; delayed the response to 0 ms: fault f3, at its request 1",
            ["aml:empty", "aml:latency=0"]
          ],
          [
            checkOf("Ada"),
            "No: the name is not reserved; delayed the response to 0 ms: fault f4, at its request 1",
            ["aml:latency=0"]
          ],
          [
            checkOf("Ada"),
            "The token is expired, by this session's clock; made the token expire: fault f5, at its request 1",
            ["aml:tokenExpiry"]
          ]
        ] as const
      ) {
        strictEqual(yield* sentenceAfter(text, faults), expected)
      }
      // The quota allows the first request.
      yield* sentenceAfter(checkOf("Ada"), ["aml:quota=1"])
      strictEqual(
        (yield* send(checkOf("Ada"))).why,
        "The quota of 1 requests per 1m is exceeded; returned status 429: fault f6, at its request 2"
      )
    }).pipe(Effect.provide(server)))

  it.effect("is about the status if that is an error", () =>
    Effect.gen(function*() {
      for (const { lastWord } of TestPerson.reserved.filter(({ lastWord }) => /^Test\d/.test(lastWord))) {
        strictEqual(
          yield* sentenceAfter(checkOf(`Ada ${lastWord}`)),
          `Returned status ${lastWord.slice(4)} instead of the service's response: the name ends with ${lastWord}`
        )
      }
    }).pipe(Effect.provide(server)))
})

describe("The search of the page", () => {
  it.effect("compares the last word with the name that was sent, and shows it masked", () =>
    Effect.gen(function*() {
      for (const name of ["Ada Lovelace", "Ada Testpep", "Grace  LOVELACE ", "Lovelace Ada"]) yield* send(checkOf(name))
      const { journal } = yield* demoSession
      const entries = yield* journal.entries
      const found = (search: string) => JournalView.make(entries, JournalView.parse({ search, to: "" }), 0)
      const { matches, rows } = found(" lovelace ")
      deepStrictEqual([matches, rows.map(({ entry: { id }, number }) => [id, number])], [2, [[3, 3], [1, 1]]])
      strictEqual(JSON.stringify(rows).includes("ovelace"), false)
      strictEqual(found("Lovel").matches, 0)
    }).pipe(Effect.provide(server)))

  it.effect("finds the exchanges that match each word: a status, an operation, a rule, a fault, a group", () =>
    Effect.gen(function*() {
      const { faults, journal } = yield* demoSession
      yield* send(checkOf("Ada Testclear"))
      yield* send("POST /api/aml\nauthorization: Bearer unknown")
      yield* faults.set(Either.getOrThrow(Fault.make("aml:empty")))
      yield* send(checkOf("Ada Testclear"))
      const entries = yield* journal.entries
      const found = (search: string) =>
        JournalView.make(entries, JournalView.parse({ search }), 0).rows.map(({ entry: { id } }) => id)
      const unmatched = yield* (yield* Session.Sessions).unmatched.entries
      deepStrictEqual(
        ["", "200", "aml Answered", "token", "fault", "f1 empty", "200 testclear", "error", "f1 token"].map(found),
        [[3, 1], [3, 1], [3, 1], [], [3], [3], [3, 1], [], []]
      )
      deepStrictEqual(
        JournalView.make(unmatched, JournalView.parse({ search: "error unexpected 401" }), 0).matches,
        1
      )
    }).pipe(Effect.provide(server)))

  it.effect("divides the exchanges into pages without a gap, whatever arrives meanwhile", () =>
    Effect.gen(function*() {
      const entry = (id: number): Journal.Entry => ({
        id,
        customerId: null,
        at: "",
        operation: id % 2 === 0 ? "token" : "aml",
        request: { method: "POST", target: "/", headers: {}, body: "" },
        response: { status: 200, headers: {}, body: "", delivery: "whole" },
        rule: "",
        facts: { kind: "other", what: "" },
        why: "",
        claims: [],
        faults: [],
        unexpected: false,
        millis: 0
      })
      const entries = Array.from({ length: 1000 }, (_, index) => entry(index + 1))
      const seen: Array<number> = []
      let before = Option.some("")
      while (Option.isSome(before)) {
        const view = JournalView.make(entries, JournalView.parse({ search: "token", to: before.value }), 0)
        strictEqual(view.newerCount + view.rows.length <= view.matches, true)
        for (const { entry: { id } } of view.rows) seen.push(id)
        before = view.older
        entries.push(entry(entries.length + 1))
      }
      deepStrictEqual(seen, Array.from({ length: 500 }, (_, index) => 1000 - 2 * index))
    }))
})
