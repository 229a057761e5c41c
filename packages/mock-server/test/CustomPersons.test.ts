/** Test persons that a user adds to a session. */
import { AmlClient, Idv, Person } from "@effect-idv/core"
import { Control, ControlApi, MockServer, Session, TestPerson } from "@effect-idv/mock-server"
import { assert, describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Either, Layer } from "effect"
import * as InProcess from "./support/mockServer.ts"
import * as Plain from "./support/plain.ts"

const { customerId, ...customer } = Session.testCustomer("test-persons")

const layerIdv = Layer.unwrapEffect(
  Effect.map(MockServer.MockServer, ({ options }) => Idv.layer({ ...options, customerId, ...customer }))
)

const layer = Layer.provideMerge(layerIdv, InProcess.layer)

/** The result, or the tag of the error. */
const check = (name: string, dateOfBirth = "1990-03-14") =>
  Effect.gen(function*() {
    const aml = yield* AmlClient.AmlClient
    const person = yield* Person.make({ name, dateOfBirth })
    return yield* AmlClient.withPolicy(aml.check(person), { retry: "never" }).pipe(
      Effect.match({
        onFailure: ({ _tag }) => String(_tag),
        onSuccess: ({ result }) => String(result)
      })
    )
  })

const session = Effect.map(Control.Control, ({ session }) => session(customerId))

const setPersons = (persons: typeof TestPerson.CustomList.Encoded) =>
  Effect.flatMap(session, ({ setTestPersons }) => setTestPersons(persons))

const violationsOf = (input: unknown) =>
  Either.match(TestPerson.make(JSON.parse(JSON.stringify(input))), {
    onLeft: ({ violations }) => violations.map(String),
    onRight: () => []
  })

describe("A test person of your own", () => {
  it.effect("matches by name, by last word or by date of birth, and decides before the reserved names", () =>
    Effect.gen(function*() {
      yield* setPersons([
        { match: { name: "Zoë  Müller" }, response: "Potential match" },
        { match: { nameLast: "Sample", dateOfBirth: "1980-01-02" }, response: { kind: "status", status: 503 } },
        { match: { nameLast: "Sample" }, response: "Potential match" },
        { match: { dateOfBirth: "1970-12-31" }, response: "No" }
      ])
      strictEqual(yield* check("zoe\u0308 MÜLLER"), "Potential match")
      strictEqual(yield* check("Anna Müller"), "No")
      strictEqual(yield* check("Ada Sample", "1980-01-02"), "AmlUnavailable")
      strictEqual(yield* check("Ada SAMPLE"), "Potential match")
      strictEqual(yield* check("Ada Sample Smith"), "No")
      strictEqual(yield* check("Ada Testpep", "1970-12-31"), "No")
      strictEqual(yield* check("Ada Testpep"), "Potential match")
      const { testPersons } = yield* session
      deepStrictEqual((yield* testPersons).map(({ match, matched }) => [match.join(), matched]), [
        ["name", 1],
        ["nameLast,dateOfBirth", 1],
        ["nameLast", 1],
        ["dateOfBirth", 1]
      ])
    }).pipe(Effect.provide(layer)))

  it.effect("can have any fault that acts on a response, and the journal names it without the person", () =>
    Effect.gen(function*() {
      yield* setPersons([{ match: { nameLast: "Sample" }, response: { kind: "somebodyElse" } }])
      strictEqual(yield* check("Ada Sample"), "AmlResponseMismatch")
      const { journal } = yield* session
      const { entries } = yield* journal({ operation: "aml" })
      deepStrictEqual(entries.map(({ faults }) => faults), [[{
        id: "test-person",
        kind: "somebodyElse",
        request: null
      }]])
      assertInclude(entries[0]?.why, "testPersons[0], matched by nameLast")
      strictEqual(/sample|1990|03-14/i.test(JSON.stringify(entries)), false)
    }).pipe(Effect.provide(layer)))

  it.effect("belongs to one session, ends with an empty list, and a reset restores those it began with", () =>
    Effect.gen(function*() {
      const initial = Either.getOrThrow(TestPerson.make({ match: { nameLast: "Sample" }, response: "Potential match" }))
      yield* Effect.gen(function*() {
        strictEqual(yield* check("Ada Sample"), "Potential match")
        yield* setPersons([])
        strictEqual(yield* check("Ada Sample"), "No")
        const other = yield* Plain.token("test-other-persons")
        assertInclude((yield* Plain.check(other, "Ada Sample")).text, "Potential match")
        yield* Effect.flatMap(session, ({ reset }) => reset)
        strictEqual(yield* check("Ada Sample"), "Potential match")
      }).pipe(Effect.provide(Layer.provideMerge(layerIdv, InProcess.layerWith({ testPersons: [initial] }))))
    }))

  it.effect("comes with a new session", () =>
    Effect.gen(function*() {
      const response = yield* Plain.control("POST", "/sessions", {
        customerId,
        testPersons: [{ match: { nameLast: "Sample" }, response: "Potential match" }]
      })
      strictEqual(response.status, 201)
      strictEqual(yield* check("Ada Sample"), "Potential match")
    }).pipe(Effect.provide(layer)))

  it("is refused with the field and the expectation", () => {
    const cases: ReadonlyArray<readonly [unknown, string]> = [
      [
        { match: { nameLast: "TestPEP" }, response: "No" },
        "match.nameLast is invalid: expected a last word that is not"
      ],
      [{ match: { name: "Ada Testsanc" }, response: "No" }, "match.name is invalid: expected a last word that is not"],
      [{ match: { nameLast: "two words" }, response: "No" }, "match.nameLast is invalid: expected one word"],
      ...["1990-02-30", "30-01-1990"].map((dateOfBirth) =>
        [
          { match: { dateOfBirth }, response: "No" },
          "match.dateOfBirth is invalid: expected a date that exists, as yyyy-mm-dd"
        ] as const
      ),
      [{ match: {}, response: "No" }, "match is invalid: expected an object with one or more of name"],
      [
        { match: { last: "x" }, response: "No" },
        "match.last is unexpected: expected one of name, nameLast, dateOfBirth"
      ],
      [{ match: { name: "A B" }, response: "no" }, "response is invalid: expected \"No\", \"Potential match\", or an"],
      [
        { match: { name: "A B" }, response: { kind: "quota" } },
        "response.kind is invalid: expected one of latency, status,"
      ],
      [{ match: { name: "A B" }, response: { kind: "status", status: 99 } }, "response.status is invalid: expected a"],
      [{ match: { name: "A B" }, response: "No", body: "{}" }, "body is unexpected: expected one of match, response"]
    ]
    for (const [input, expected] of cases) {
      const [violation = "", ...others] = violationsOf(input)
      deepStrictEqual([violation.startsWith(expected), others], [true, []], violation)
      strictEqual(/testpep|ada|two words|02-30|A B/i.test(violation), false, violation)
    }
  })

  it.effect("with a reserved name leaves the list as it is, and the error has its index", () =>
    Effect.gen(function*() {
      yield* setPersons([{ match: { nameLast: "Sample" }, response: "Potential match" }])
      const refused = yield* Plain.control("PUT", `/sessions/${customerId}/test-persons`, [
        { match: { nameLast: "Other" }, response: "Potential match" },
        { match: { nameLast: "Testpep" }, response: "No" }
      ])
      strictEqual(refused.status, 400)
      assertInclude(refused.text, "\"path\":\"1.match.nameLast\"")
      strictEqual(yield* check("Ada Other"), "No")
      strictEqual(yield* check("Ada Sample"), "Potential match")
    }).pipe(Effect.provide(layer)))

  it.effect("never appears in a response of the control API, in a print or in an error", () =>
    Effect.gen(function*() {
      const canary = { match: { name: "Canary Person", dateOfBirth: "1911-11-11" }, response: "No" } as const
      const outputs = [
        JSON.stringify(yield* setPersons([canary])),
        (yield* Plain.control("GET", `/sessions/${customerId}/test-persons`)).text,
        (yield* Plain.control("GET", `/sessions/${customerId}`)).text,
        String(Either.getOrThrow(TestPerson.make(canary)).match.name),
        JSON.stringify(Either.getOrThrow(TestPerson.make(canary))),
        String(yield* Effect.flip(setPersons([{ ...canary, match: { ...canary.match, nameLast: "Testpep" } }])))
      ]
      for (const output of outputs) strictEqual(/canary|1911|11-11/i.test(output), false, output)
    }).pipe(Effect.provide(layer)))

  it.effect("is unknown for a customer without a session", () =>
    Effect.gen(function*() {
      const { session } = yield* Control.Control
      const error = yield* Effect.flip(session("nobody").testPersons)
      assert.instanceOf(error, ControlApi.SessionUnknown)
    }).pipe(Effect.provide(layer)))
})
