import type { Person } from "@effect-idv/core"
import { AmlClient, AmlCredential, AmlError, TokenProvider, Violation } from "@effect-idv/core"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Cause, Effect, Either, Exit, FastCheck, Layer, Option, Predicate, Redacted, Schema } from "effect"
import * as Ada from "./support/ada.ts"
import { runs } from "./support/cases.ts"
import { applied, type Change, changes, junk, nearMisses, ofKey, people, utf8 } from "./support/invalidResponses.ts"
import * as JsonTree from "./support/jsonTree.ts"
import * as Responses from "./support/responses.ts"
import * as Service from "./support/service.ts"

interface Case {
  readonly person: Person.Person
  /** The result of the service before the change, or `undefined` if the change may set another result. */
  readonly original: string | undefined
  readonly body: Uint8Array<ArrayBuffer>
  readonly init: ResponseInit
}

const personAndWire = people.chain((person) =>
  Responses.wireAbout(person).map((wire) => ({ person, wire, original: wire.credentials.attributes.match_found }))
)

const json = { status: 200, headers: { "content-type": "application/json" } }

/** One service for all cases of a property, which responds as the case defines. */
const harness = () => {
  let respond = () => Service.json(Service.credential())
  const service = Service.make({ aml: () => Effect.sync(() => respond()) })
  const layer = Layer.provide(
    AmlClient.layer({ ...Service.options, retry: "never" }),
    Layer.merge(service.layer, TokenProvider.layerTest("stub"))
  )
  const check = ({ body, init, person }: Omit<Case, "original">) =>
    Effect.gen(function*() {
      respond = () => new Response([204, 205, 304].includes(init.status ?? 200) ? null : body, init)
      const aml = yield* AmlClient.AmlClient
      return yield* Effect.exit(aml.check(person))
    })
  return { check, layer }
}

// An independent interpretation of a response, which does not use the library.

const at = (value: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>(
    (value, key) => Predicate.isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined,
    value
  )

const attribute = (body: unknown, key: string) => at(body, "credentials", "attributes", key)

const parse = (body: Uint8Array): unknown =>
  Either.getOrUndefined(Either.try((): unknown => JSON.parse(new TextDecoder().decode(body))))

const forms = (name: string): ReadonlyArray<string> => {
  const text = name.normalize("NFC").replaceAll(/[\p{Zs}\t]+/gu, " ").replaceAll(/^ | $/g, "")
  return [text, text.toUpperCase(), text.toLowerCase()].map((text) => text.normalize("NFC"))
}

const isSameName = (one: string, other: unknown): boolean =>
  Predicate.isString(other) && forms(one).some((form) => {
    const pattern = new RegExp(`^${form.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&")}$`, "iu")
    return forms(other).some((form) => pattern.test(form))
  })

const isAbout = (person: Person.Person, body: unknown): boolean =>
  attribute(body, "birth_year") === String(person.dateOfBirth.year).padStart(4, "0") &&
  isSameName(Redacted.value(person.name), attribute(body, "name"))

/** The documented fields only. */
const projection = (body: unknown) => ({
  ...Object.fromEntries(
    ["credential_type", "credential_name", "issued_by", "issuer_id", "cred_version"].map((key) => [key, at(body, key)])
  ),
  credentials: {
    attributes: Object.fromEntries(
      ["name", "birth_year", "searched_on", "match_found", "aml_profile"].map((key) => [key, attribute(body, key)])
    )
  }
})

const encode = Schema.encodeSync(AmlCredential.AmlCredential)

const tagsOf = (tally: ReadonlyMap<string, number>) => new Set(tally.keys())

/** The property that holds for every response. It counts the outcomes of the cases. */
const isFailClosed = (check: ReturnType<typeof harness>["check"], tally: Map<string, number>) => (responseCase: Case) =>
  Effect.map(check(responseCase), (exit) => {
    const { body, init: { status }, original, person } = responseCase
    const description = `status ${status}, ${new TextDecoder().decode(body)}`
    const count = (outcome: string) => tally.set(outcome, (tally.get(outcome) ?? 0) + 1)
    if (Exit.isFailure(exit)) {
      const error = Option.getOrUndefined(Cause.failureOption(exit.cause))
      if (!AmlError.isAmlError(error)) return assert.fail(`${Cause.pretty(exit.cause)}\n${description}`)
      count(error._tag)
      return
    }
    const parsed = parse(body)
    const { credential, result } = exit.value
    const { matchFound } = credential.credentials.attributes
    assert(result === matchFound || (matchFound === "No" && result === "Doubtful No"), description)
    count(matchFound)
    assert(status !== undefined && status >= 200 && status <= 299, description)
    strictEqual(attribute(parsed, "match_found"), matchFound, description)
    assert(isAbout(person, parsed), description)
    deepStrictEqual({ ...encode(credential) }, projection(parsed), description)
    if (original !== undefined) strictEqual(matchFound, original, description)
  })

const holds = (cases: FastCheck.Arbitrary<Case>, numRuns: number, expected: ReadonlyArray<string>) => {
  const { check, layer } = harness()
  const tally = new Map<string, number>()
  return Effect.gen(function*() {
    yield* Responses.forAll(cases, numRuns, isFailClosed(check, tally))
    // The cases are useful only if each of these outcomes occurs.
    deepStrictEqual(tagsOf(tally), new Set(expected))
  }).pipe(Effect.provide(layer))
}

// Changes of a response.

const outcomes = [...Responses.matches, "AmlResponseInvalid", "AmlResponseMismatch"]

describe("For every response, the result is that of the service about this person, or a typed failure", () => {
  it.live("with one or two changes at any depth of the JSON", () =>
    holds(
      FastCheck.tuple(personAndWire, FastCheck.array(changes, { minLength: 1, maxLength: 2 })).map((
        [{ original, person, wire }, changes]
      ): Case => ({
        person,
        // Two changes may produce the other result: one adds it, and one moves it to match_found.
        original: changes.length === 1 ? original : undefined,
        body: applied(changes, wire),
        init: json
      })),
      220,
      outcomes
    ))

  it.live("with flipped bits, and truncated, lost, added or repeated bytes", () => {
    type Edit = (bytes: Uint8Array<ArrayBuffer>, index: number) => Uint8Array<ArrayBuffer>
    const edit = FastCheck.oneof(
      FastCheck.nat(7).map((bit): Edit => (bytes, index) =>
        bytes.map((byte, at) => at === index ? byte ^ (1 << bit) : byte)
      ),
      FastCheck.constant<Edit>((bytes, index) => bytes.slice(0, index)),
      FastCheck.constant<Edit>((bytes, index) => bytes.slice(index)),
      FastCheck.constant<Edit>((bytes, index) => bytes.filter((_, at) => at !== index)),
      FastCheck.nat(255).map((byte): Edit => (bytes, index) =>
        Uint8Array.from([...bytes.slice(0, index), byte, ...bytes.slice(index)])
      ),
      FastCheck.nat(40).map((length): Edit => (bytes, index) =>
        Uint8Array.from([...bytes.slice(0, index + length), ...bytes.slice(index)])
      )
    )
    return holds(
      FastCheck.tuple(personAndWire, FastCheck.nat(), edit).map(([{ original, person, wire }, place, edit]): Case => {
        const bytes = utf8(JSON.stringify(wire))
        return { person, original, body: edit(bytes, place % bytes.length), init: json }
      }),
      180,
      outcomes
    )
  })

  it.live("with a match_found similar to one of the two results", () =>
    holds(
      FastCheck.tuple(personAndWire, FastCheck.oneof(FastCheck.constantFrom(...nearMisses).map(JsonTree.from), junk))
        .map(
          ([{ person, wire }, value]): Case => ({
            person,
            original: "neither",
            body: applied([ofKey("match_found", value)], wire),
            init: json
          })
        ),
      100,
      ["AmlResponseInvalid"]
    ))

  it.live("with any key twice in its object, which is not a result", () => {
    const others = FastCheck.oneof(FastCheck.constantFrom(...Responses.matches).map(JsonTree.from), junk)
    const again = FastCheck.tuple(FastCheck.nat(), others, FastCheck.boolean(), FastCheck.boolean()).map(
      ([place, value, isFirst, isEscaped]): Change => (tree) => {
        const members = JsonTree.membersOf(tree)
        const member = members[place % members.length]
        if (member === undefined) return tree
        const key = isEscaped ? member.key.replaceAll("e", "\\u0065") : member.key
        return JsonTree.replace(tree, member, isFirst ? [{ key, value }, member] : [member, { key, value }])
      }
    )
    return holds(
      FastCheck.tuple(personAndWire, again).map(([{ person, wire }, again]): Case => ({
        person,
        original: "neither",
        body: applied([again], wire),
        init: json
      })),
      120,
      ["AmlResponseInvalid"]
    )
  })

  it.live("with any status and any content type", () => {
    const outside = ["AmlUnauthorized", "AmlForbidden", "AmlRequestRejected", "AmlRateLimited", "AmlUnavailable"]
    const headers = FastCheck.constantFrom<Record<string, string>>(
      {},
      { "content-type": "text/html" },
      { "content-type": "application/json; charset=utf-16" },
      { "content-type": "application/problem+json" },
      { "content-encoding": "br" },
      { "content-encoding": "gzip" },
      { "www-authenticate": "Basic" },
      { "retry-after": "0" },
      { location: "https://api.example.com/api/aml" }
    )
    const status = FastCheck.oneof(
      FastCheck.constantFrom(200, 201, 202, 203, 204, 205, 206, 207, 226, 299),
      FastCheck.constantFrom(300, 301, 302, 303, 304, 307, 308, 400, 401, 403, 404, 408, 409, 422, 425, 429, 500, 503),
      FastCheck.integer({ min: 200, max: 599 })
    )
    return holds(
      FastCheck.tuple(personAndWire, status, headers, FastCheck.array(changes, { maxLength: 1 })).map((
        [{ original, person, wire }, status, headers, changes]
      ): Case => ({ person, original, body: applied(changes, wire), init: { status, headers } })),
      300,
      [...outcomes, ...outside]
    )
  })

  it.live("with the two results exchanged, it is the other result", () =>
    holds(
      FastCheck.tuple(
        personAndWire,
        FastCheck.constantFrom(...Responses.matches),
        FastCheck.array(changes, { maxLength: 1 })
      )
        .map(([{ person, wire }, other, changes]): Case => ({
          person,
          original: undefined,
          body: applied([ofKey("match_found", JsonTree.from(other)), ...changes], wire),
          init: json
        })),
      150,
      outcomes
    ))
})

describe("A valid response", () => {
  it.live("is accepted with any undocumented fields", () => {
    const { check, layer } = harness()
    const isKnown = new Set(JsonTree.membersOf(JsonTree.from(Service.credential())).map(({ key }) => key))
    const extras = FastCheck.dictionary(FastCheck.fullUnicodeString(), FastCheck.jsonValue({ maxDepth: 1 })).filter((
      extras
    ) => Object.keys(extras).every((key) => !isKnown.has(JSON.stringify(key))))
    const cases = FastCheck.tuple(personAndWire, extras, extras, extras)
    return Effect.gen(function*() {
      yield* Responses.forAll(cases, 60, ([{ person, wire }, outer, middle, inner]) => {
        const { credentials: { attributes }, ...rest } = wire
        const body = JSON.stringify({
          ...outer,
          ...rest,
          credentials: { ...middle, attributes: { ...inner, ...attributes } }
        })
        return Effect.map(check({ person, body: utf8(body), init: json }), (exit) => {
          deepStrictEqual<unknown>(
            Exit.getOrElse(Exit.map(exit, ({ credential }) => encode(credential)), () => undefined),
            wire,
            body
          )
        })
      })
    }).pipe(Effect.provide(layer))
  })

  it.live("is accepted with a field of nearly 1 MiB, and with many fields", () => {
    const { check, layer } = harness()
    return Effect.gen(function*() {
      const person = yield* Ada.person
      const extras: ReadonlyArray<unknown> = [
        "x".repeat(1_000_000),
        "\\\"".repeat(240_000),
        "\u{20bb7}".repeat(250_000),
        Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [index, index]))
      ]
      for (const extra of extras) {
        const body = utf8(JSON.stringify(Service.credential({ extra })))
        const exit = yield* check({ person, body, init: json })
        deepStrictEqual<unknown>(
          Exit.getOrElse(Exit.map(exit, ({ credential }) => encode(credential)), () => undefined),
          Service.credential(),
          `${body.length} bytes`
        )
      }
    }).pipe(Effect.provide(layer))
  })

  it("that is decoded and encoded is the same JSON", () => {
    FastCheck.assert(
      FastCheck.property(personAndWire, ({ wire }) => {
        const body = utf8(JSON.stringify(wire))
        deepStrictEqual<unknown>(encode(Either.getOrThrow(AmlCredential.decodeJson(body))), wire)
      }),
      { numRuns: runs(200) }
    )
  })
})

describe("AmlCredential.decodeJson", () => {
  it("returns the same credential or the same violations as the schema", () => {
    const decode = Violation.decodeJson(AmlCredential.AmlCredential)
    FastCheck.assert(
      FastCheck.property(personAndWire, FastCheck.array(changes, { maxLength: 2 }), ({ wire }, changes) => {
        const body = applied(changes, wire)
        deepStrictEqual(AmlCredential.decodeJson(body), decode(body))
      }),
      { numRuns: runs(150) }
    )
  })
})
