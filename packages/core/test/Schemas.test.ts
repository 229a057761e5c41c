import { AmlCheck, AmlClient, AmlError, DateOfBirth, Person, PersonName, Violation } from "@effect-idv/core"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, HttpServer, OpenApi } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import {
  Arbitrary,
  Effect,
  Either,
  Equal,
  FastCheck,
  Hash,
  Layer,
  ParseResult,
  Redacted,
  Schema,
  Struct,
  TestClock
} from "effect"
import { inspect } from "node:util"
import * as Responses from "./support/responses.ts"

const atStart = TestClock.setTime(Date.parse("2026-11-20"))
const people = Arbitrary.make(Person.Person)

const isoOf = ({ day, month, year }: DateOfBirth.Parts) =>
  [String(year).padStart(4, "0"), ...[month, day].map((part) => String(part).padStart(2, "0"))].join("-")

describe("The Arbitrary of a person", () => {
  it.effect("generates people that make accepts unchanged and without warnings, in many scripts", () => {
    const scripts = ["Latin", "Cyrillic", "Greek", "Arabic", "Hebrew", "Devanagari", "Thai", "Han", "Hangul"]
    const seen = new Set<string>()
    return Effect.gen(function*() {
      yield* atStart
      yield* Responses.forAll(people, 300, (person) =>
        Effect.gen(function*() {
          const name = Redacted.value(person.name)
          const made = yield* Person.make({ name, dateOfBirth: isoOf(person.dateOfBirth) })
          strictEqual(Equal.equals(made, person), true)
          strictEqual(Redacted.value(made.name), name)
          deepStrictEqual([made.changes, made.warnings], [[], []])
          strictEqual(Schema.is(Person.Person)(person) && Schema.is(PersonName.PersonName)(person.name), true)
          for (const script of scripts) if (new RegExp(`\\p{Script=${script}}`, "u").test(name)) seen.add(script)
        }))
      deepStrictEqual(seen, new Set(scripts))
    })
  })

  it.effect("generates names and dates that decode and encode to the same text", () =>
    Effect.gen(function*() {
      yield* atStart
      const codecs = FastCheck.tuple(Arbitrary.make(PersonName.PersonName), Arbitrary.make(DateOfBirth.DateOfBirth))
      yield* Responses.forAll(codecs, 300, ([personName, date]) =>
        Effect.gen(function*() {
          const name = yield* Schema.encode(PersonName.FromString)(personName)
          const dateOfBirth = yield* Schema.encode(DateOfBirth.FromIso)(date)
          strictEqual(Equal.equals(yield* Schema.decode(PersonName.FromString)(name), personName), true)
          strictEqual(Equal.equals(yield* Schema.decode(DateOfBirth.FromIso)(dateOfBirth), date), true)
          const person = yield* Schema.decode(Person.FromInput)({ name, dateOfBirth })
          deepStrictEqual(yield* Schema.encode(Person.FromInput)(person), { name, dateOfBirth })
        }))
    }))
})

/** Every rendering of a failed decoding that contains its message. The issue itself may hold the value. */
const rendered = <A, I>(schema: Schema.Schema<A, I>, input: unknown): string =>
  Either.match(Schema.decodeUnknownEither(schema, { errors: "all" })(input), {
    onLeft: (error) =>
      [
        error.message,
        String(error),
        inspect(error.message),
        JSON.stringify(ParseResult.ArrayFormatter.formatErrorSync(error)),
        ParseResult.TreeFormatter.formatErrorSync(error)
      ].join("\n"),
    onRight: () => "decoded"
  })

const violationsOf = <A, I>(schema: Schema.Schema<A, I>, input: unknown) =>
  Either.match(Violation.decodeUnknown(schema)(input), {
    onLeft: (violations) => violations.map(String),
    onRight: () => []
  })

const aName = "expected a full name that can be screened"
const aDate = "expected a date of birth that can be screened, as yyyy-mm-dd"

describe("A rejected person from JSON", () => {
  const cases: ReadonlyArray<readonly [string, unknown, ReadonlyArray<string>]> = [
    ["a name", { name: "Canary\u200b", dateOfBirth: "1931-07-29" }, [`name is invalid: ${aName}`]],
    ["a date", { name: "Canary", dateOfBirth: "29.07.1931" }, [`dateOfBirth is invalid: ${aDate}`]],
    ["both", { name: "\u0000Canary", dateOfBirth: "1931-02-31" }, [
      `name is invalid: ${aName}`,
      `dateOfBirth is invalid: ${aDate}`
    ]],
    ["a date as number", { name: "Canary", dateOfBirth: 19310729 }, [`dateOfBirth is invalid: ${aDate}`]],
    ["a name in a list", { name: ["Canary"], dateOfBirth: "1931-07-29" }, [`name is invalid: ${aName}`]],
    ["a name alone", { name: "Canary" }, [`dateOfBirth is missing: ${aDate}`]],
    ["no object", "Canary 1931-07-29", ["the value is invalid: expected a person, as { name, dateOfBirth }"]],
    ["a list", [{ name: "Canary", dateOfBirth: "1931-07-29" }], [
      "the value is invalid: expected a person, as { name, dateOfBirth }"
    ]]
  ]
  it.effect.each(cases)(
    "for %s is reported with paths and descriptions, without the value",
    ([, input, expected]) =>
      Effect.gen(function*() {
        yield* atStart
        deepStrictEqual(violationsOf(Person.FromInput, input), expected)
        const message = rendered(Person.FromInput, input)
        strictEqual(/canary|1931|31-02|29\.07/i.test(message), false, message)
        strictEqual(message.includes("decoded"), false)
      })
  )

  it.effect("has the code and the index in the message of its ParseError", () =>
    Effect.gen(function*() {
      yield* atStart
      const message = rendered(Person.FromInput, { name: "Ada\u200b", dateOfBirth: "1990-02-30" })
      assert(message.includes("name at 3: an invisible character (invisible_character)"), message)
      assert(message.includes("dateOfBirth: the date does not exist (no_such_date)"), message)
    }))

  const schemas: ReadonlyArray<readonly [string, Schema.Schema.AnyNoContext, ReadonlyArray<unknown>]> = [
    ["PersonName.FromString", PersonName.FromString, ["Canary\u200b", 19310729, ["Canary"], { name: "Canary" }]],
    ["DateOfBirth.FromIso", DateOfBirth.FromIso, ["1931-02-31", "29.07.1931", 19310729, { year: 1931 }]],
    ["DateOfBirth.FromWire", DateOfBirth.FromWire, ["31-02-1931", "1931-07-29", 19310729]],
    ["PersonName.PersonName", PersonName.PersonName, ["Canary", Redacted.make(" Canary")]],
    ["DateOfBirth.DateOfBirth", DateOfBirth.DateOfBirth, ["1931-07-29", { year: 1931, month: 7, day: 29 }]],
    ["Person.Person", Person.Person, ["Canary", { name: "Canary", dateOfBirth: "1931-07-29" }]],
    ["Person.RequestBody", Person.RequestBody, [{ entity_type: "person", name: " ", dob: "31-02-1931" }]]
  ]
  it.effect.each(schemas)("through %s shows no value either", ([, schema, inputs]) =>
    Effect.gen(function*() {
      yield* atStart
      for (const input of inputs) {
        const message = [rendered(schema, input), ...violationsOf(schema, input)].join("\n")
        strictEqual(/canary|1931|decoded/i.test(message), false, message)
      }
    }))

  it.effect("keeps its path within other schemas", () =>
    Effect.gen(function*() {
      yield* atStart
      const schema = Schema.Struct({ people: Schema.Array(Person.FromInput) })
      const input = { people: [{ name: "Ada", dateOfBirth: "1990-02-01" }, { name: "?", dateOfBirth: "1990-02-01" }] }
      deepStrictEqual(violationsOf(schema, input), [`people.1.name is invalid: ${aName}`])
    }))
})

describe("A date of which only the year is known", () => {
  it.effect("is never encoded as a complete date", () =>
    Effect.gen(function*() {
      yield* atStart
      const dateOfBirth = yield* DateOfBirth.assumed(1931)
      const person = yield* Person.make({ name: "Canary", dateOfBirth })
      const errors = [
        yield* Effect.flip(Schema.encode(DateOfBirth.FromIso)(dateOfBirth)),
        yield* Effect.flip(Schema.encode(Person.FromInput)(person))
      ]
      for (const { message } of errors) {
        assert(message.includes("Expected a date whose day and month are known"), message)
        strictEqual(/canary|1931/i.test(message), false, message)
      }
      deepStrictEqual(person.changes.map(String), [
        "dateOfBirth: the day and the month are unknown: 1 January was sent (assumed)"
      ])
      strictEqual(yield* Schema.encode(DateOfBirth.FromWire)(dateOfBirth), "01-01-1931")
    }))

  it.effect("differs from 1 January of that year, also in a person", () =>
    Effect.gen(function*() {
      yield* atStart
      const dates = [yield* DateOfBirth.assumed(1931), yield* DateOfBirth.make("1931-01-01")]
      const [assumed, known] = yield* Effect.forEach(
        dates,
        (dateOfBirth) => Person.make({ name: "Ada", dateOfBirth })
      )
      strictEqual(Equal.equals(dates[0], dates[1]), false)
      strictEqual(Equal.equals(assumed, known), false)
      const again = yield* Person.make({ name: "Ada", dateOfBirth: yield* DateOfBirth.assumed(1931) })
      strictEqual(Equal.equals(assumed, again), true)
    }))

  it.effect.each<[number, string]>([
    [1931, "accepted"],
    [2026, "accepted"],
    [2027, "in_future"],
    [1897, "accepted"],
    [1895, "too_long_ago"],
    [1369, "other_calendar"],
    [2569, "other_calendar"],
    [0, "no_such_date"],
    [-1, "no_such_date"],
    [1931.5, "format"],
    [Number.NaN, "format"],
    [Number.POSITIVE_INFINITY, "format"]
  ])("of the year %d is %s", ([year, expected]) =>
    Effect.gen(function*() {
      yield* atStart
      const code = yield* Effect.match(DateOfBirth.assumed(year), {
        onFailure: ({ issues }) => issues[0].code,
        onSuccess: () => "accepted"
      })
      strictEqual(code, expected)
    }))
})

describe("PersonName", () => {
  const codes = (text: string, options?: PersonName.Options) =>
    Either.match(PersonName.make(text, options), {
      onLeft: ({ issues }) => issues.map(({ code }) => code),
      onRight: () => []
    })

  it("rejects custom placeholders instead of the default ones", () => {
    const options = { placeholders: ["Test  Person"] }
    deepStrictEqual(codes("UNKNOWN"), ["placeholder"])
    deepStrictEqual(codes("UNKNOWN", options), [])
    deepStrictEqual(codes(" test person ", options), ["placeholder"])
    deepStrictEqual(codes("test person"), [])
    deepStrictEqual(codes("-", { placeholders: [] }), ["no_letter"])
  })

  it.effect("of a person uses the same options", () =>
    Effect.gen(function*() {
      const input = { name: "Unknown", dateOfBirth: "1950-02-01" }
      const error = yield* Effect.flip(Person.make(input))
      deepStrictEqual(error.issues.map(({ code }) => code), ["placeholder"])
      strictEqual(Redacted.value((yield* Person.make(input, { placeholders: [] })).name), "Unknown")
    }))
})

describe("Two persons", () => {
  it.effect("are equal, and have the same hash, if name and date are equal", () =>
    Effect.gen(function*() {
      yield* atStart
      const make = (name: string, dateOfBirth: string) => Person.make({ name, dateOfBirth })
      const zoe = yield* make("Zoë Testpep", "1957-03-14")
      const written = yield* make(" Zoe\u0308  Testpep", "1957-03-14")
      strictEqual(Equal.equals(zoe, written), true)
      strictEqual(Hash.hash(zoe), Hash.hash(written))
      strictEqual(new Set([zoe, written].map((person) => person.changes.length)).size, 2)
      for (const [name, date] of [["Zoe Testpep", "1957-03-14"], ["Zoë Testpep", "1957-03-15"]] as const) {
        strictEqual(Equal.equals(zoe, yield* make(name, date)), false)
      }
      strictEqual(Equal.equals(zoe, { ...zoe }), false)
      strictEqual(Schema.is(Person.Person)({ ...zoe }), false)
    }))
})

describe("The findings about a person", () => {
  it("has the field, the description and the code, and round-trips", () => {
    const issue = new Person.Issue({ field: "name", code: "invisible_character", index: 3 })
    const warning = new Person.Warning({ field: "name", code: "title", index: 0 })
    const change = new Person.Change({ field: "name", code: "composed" })
    deepStrictEqual([issue, warning, change].map(String), [
      "name at 3: an invisible character (invisible_character)",
      "name at 0: it starts with a title (title)",
      "name: letters and their marks were composed (NFC) (composed)"
    ])
    const rejected = new AmlError.AmlInputRejected({ issues: [issue] })
    const stored = JSON.stringify(Schema.encodeSync(AmlError.AmlInputRejected)(rejected))
    const back = Schema.decodeSync(Schema.parseJson(AmlError.AmlInputRejected))(stored)
    deepStrictEqual(back.issues.map(String), [String(issue)])
    strictEqual(back.message, "The person cannot be screened: name at 3: an invisible character (invisible_character)")
  })

  it("has a description for every code, and prints it", () => {
    const rendered = [
      ...Struct.keys(Person.issues).map((code) => new Person.Issue({ field: "name", code })),
      ...Struct.keys(Person.warnings).map((code) => new Person.Warning({ field: "name", code })),
      ...Struct.keys(Person.changes).map((code) => new Person.Change({ field: "name", code }))
    ]
    for (const note of rendered) {
      strictEqual(new RegExp(`^name: .+ \\(${note.code}\\)$`).test(String(note)), true, String(note))
    }
  })
})

describe("AmlClient.layerTest", () => {
  const check = (name: string) =>
    Effect.gen(function*() {
      yield* atStart
      const aml = yield* AmlClient.AmlClient
      const person = yield* Person.make({ name, dateOfBirth: "1990-02-01" })
      const evidence = yield* aml.check(person)
      yield* AmlCheck.verify(evidence)
      const { credential: { credentials: { attributes } }, result } = evidence
      strictEqual(Redacted.value(attributes.name), name)
      strictEqual(Redacted.value(attributes.birthYear), "1990")
      return result
    })

  it.effect.each(AmlCheck.Result.literals)("returns %s for every person", (result) =>
    Effect.gen(function*() {
      strictEqual(yield* check("Ada"), result)
    }).pipe(Effect.provide(AmlClient.layerTest(result))))

  it.effect("returns a doubtful \"No\" about a damaged name", () =>
    Effect.gen(function*() {
      strictEqual(yield* check("Jos? Testclear"), "Doubtful No")
    }).pipe(Effect.provide(AmlClient.layerTest("No"))))

  it.effect("fails with the error of its argument", () => {
    const error = new AmlError.AmlForbidden({ status: 403 })
    return Effect.gen(function*() {
      strictEqual(yield* Effect.flip(check("Ada")), error)
    }).pipe(Effect.provide(AmlClient.layerTest(error)))
  })

  it.effect("returns the result of a function of the person", () => {
    const error = new AmlError.AmlUnavailable({ reason: "broken", sent: "unknown" })
    const layer = AmlClient.layerTest(({ name }) =>
      Redacted.value(name) === "Zoë" ? "Potential match" : Redacted.value(name) === "Ada" ? "No" : error
    )
    return Effect.gen(function*() {
      deepStrictEqual([yield* check("Ada"), yield* check("Zoë")], ["No", "Potential match"])
      strictEqual(yield* Effect.flip(check("Bob")), error)
    }).pipe(Effect.provide(layer))
  })
})

describe("A backend", () => {
  const endpoint = HttpApiEndpoint.post("screen", "/screen").setPayload(Person.FromInput).addSuccess(Schema.String)
  const Api = HttpApi.make("api").add(HttpApiGroup.make("people").add(endpoint))
  const group = HttpApiBuilder.group(
    Api,
    "people",
    (handlers) =>
      handlers.handle(
        "screen",
        ({ payload }) => Schema.is(Person.Person)(payload) ? Effect.succeed("made") : Effect.die("")
      )
  )
  const live = Layer.mergeAll(Layer.provide(HttpApiBuilder.api(Api), group), HttpServer.layerContext)

  const post = (body: unknown) =>
    Effect.acquireUseRelease(
      Effect.sync(() => HttpApiBuilder.toWebHandler(live)),
      ({ handler }) =>
        Effect.promise(() =>
          handler(
            new Request("http://localhost/screen", {
              method: "POST",
              headers: { "content-type": "application/json" },
              body: JSON.stringify(body)
            })
          ).then((response) => response.text().then((text) => ({ status: response.status, text })))
        ),
      ({ dispose }) => Effect.promise(() => dispose())
    )

  it.live("accepts a person as the payload of an endpoint", () =>
    Effect.gen(function*() {
      deepStrictEqual(yield* post({ name: "Zoë Testpep", dateOfBirth: "1957-03-14" }), {
        status: 200,
        text: "\"made\""
      })
    }))

  it.live.each<[string, unknown]>([
    ["cannot be screened", { name: "Canary\u200b", dateOfBirth: "1931-02-31" }],
    ["has another type", { name: ["Canary"], dateOfBirth: 19310229 }],
    ["is not a person", "Canary 1931"]
  ])(
    "responds with 400 if the payload %s, with a description and without the value",
    ([, input]) =>
      Effect.gen(function*() {
        const { status, text } = yield* post(input)
        strictEqual(status, 400)
        strictEqual(/canary|1931/i.test(text), false, text)
      })
  )

  it("has an OpenAPI document that describes the payload", () => {
    const document = JSON.stringify(OpenApi.fromApi(Api))
    assert(document.includes("dateOfBirth") && document.includes("name"))
  })
})
