import * as AccessToken from "@effect-idv/core/AccessToken"
import * as Violation from "@effect-idv/core/Violation"
import * as Profile from "@effect-idv/mock-server/Profile"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Either, JSONSchema, Schema } from "effect"

const decodeProfile = Violation.decodeUnknown(Profile.Profile)
const decodePatch = Violation.decodeUnknown(Profile.Patch)

const violations = <A>(decoded: Either.Either<A, Violation.Violations>): ReadonlyArray<string> =>
  Either.match(decoded, { onLeft: (left) => left.map(String), onRight: () => [] })

const valuesOf = (name: Profile.Name): ReadonlyArray<string> =>
  Profile.points.filter((point) => point.name === name).flatMap(({ variants }) => variants.map(({ value }) => value))

describe("Profile", () => {
  it("has a point for each field of a profile, and a field for each point", () => {
    deepStrictEqual(Profile.points.map(({ name }): string => name), Object.keys(Profile.Profile.fields))
  })

  it("the default profile is the first variant of each point", () => {
    deepStrictEqual<unknown>(
      Profile.defaultProfile,
      Object.fromEntries(Profile.points.map(({ name, variants: [first] }) => [name, first.value]))
    )
  })

  it.each(Profile.points)("$name is described: a question, a claim of its own, variants that differ", (point) => {
    assert.match(point.question, /^[A-Z].*\?$/)
    assert.match(point.claim, /^[a-z]+(?:[.-][a-z]+)*$/)
    assert.match(point.section, /^\d(?:\.\d)?$/)
    strictEqual(Profile.points.filter(({ claim }) => claim === point.claim).length, 1)
    const values = point.variants.map(({ value }) => value)
    strictEqual(values.length > 1, true)
    deepStrictEqual([...new Set(values)], values)
    for (const { description, value } of point.variants) {
      assert.match(value, /^[\w.-]+$/)
      strictEqual(description.length > 0, true)
    }
  })

  it("the client accepts the default of every point", () => {
    deepStrictEqual(Profile.points.filter(({ variants: [first] }) => first.client === "refuses"), [])
  })

  it("the variants that the client refuses are these", () => {
    deepStrictEqual(
      Profile.points.flatMap(({ name, variants }) =>
        variants.filter(({ client }) => client === "refuses").map(({ value }) => `${name}: ${value}`)
      ),
      [
        "tokenType: other",
        "amlStatus: 203",
        "expiredToken: forbidden",
        "nameEcho: reordered",
        "credVersion: 2.0",
        "redirects: same-origin",
        "redirects: other-origin"
      ]
    )
  })

  it("has a variant for each place where the client looks for a token", () => {
    deepStrictEqual<unknown>(valuesOf("tokenField"), AccessToken.Field.literals)
  })

  it.each(Profile.points.flatMap(({ name, variants }) => variants.map(({ value }) => [name, value] as const)))(
    "%s can be %s, alone and as a patch",
    (name, value) => {
      const expected: unknown = { ...Profile.defaultProfile, [name]: value }
      deepStrictEqual<unknown>(decodeProfile(expected), Either.right(expected))
      deepStrictEqual<unknown>(
        Either.map(decodePatch({ [name]: value }), (patch) => Profile.apply(Profile.defaultProfile, patch)),
        Either.right(expected)
      )
    }
  )

  it.each(Profile.points)("a refusal of $name names it and lists its variants, and not the value", ({ name }) => {
    const expected = [
      `${name} is invalid: expected one of ${valuesOf(name).map((value) => `"${value}"`).join(", ")}`
    ]
    deepStrictEqual(violations(decodeProfile({ ...Profile.defaultProfile, [name]: "canary" })), expected)
    deepStrictEqual(violations(decodePatch({ [name]: "canary" })), expected)
  })

  it("refuses a status that is a number, for the variants are texts", () => {
    deepStrictEqual(violations(decodePatch({ amlStatus: 201 })), [
      "amlStatus is invalid: expected one of \"200\", \"201\", \"203\""
    ])
  })

  it("refuses a field that is no point", () => {
    deepStrictEqual(violations(decodeProfile({ ...Profile.defaultProfile, tokenfield: "token" })), [
      "tokenfield is unexpected: expected no such field"
    ])
    deepStrictEqual(violations(decodePatch({ tokenfield: "token", preset: "strict" })), [
      "tokenfield is unexpected: expected no such field"
    ])
    deepStrictEqual(violations(decodeProfile({ ...Profile.defaultProfile, preset: "strict" })), [
      "preset is unexpected: expected no such field"
    ])
  })

  it("a profile has every field, a patch none that it must have", () => {
    strictEqual(violations(decodeProfile({})).length, Profile.points.length)
    deepStrictEqual(decodePatch({}), Either.right({}))
  })

  it("a refusal of a preset lists the presets", () => {
    deepStrictEqual(violations(decodePatch({ preset: "canary" })), [
      "preset is invalid: expected one of \"default\", \"strict\", \"hostile\""
    ])
  })

  it.each(Object.keys(Profile.presets))("the preset %s is a profile", (preset) => {
    const applied = Either.map(decodePatch({ preset }), (patch) => Profile.apply(Profile.defaultProfile, patch))
    deepStrictEqual(Either.flatMap(applied, decodeProfile), applied)
    strictEqual(Either.isRight(applied), true)
  })

  it("strict differs from the default in what a request may have", () => {
    deepStrictEqual(Profile.presets.strict, {
      ...Profile.defaultProfile,
      tokenParameters: "refused",
      amlRequestType: "exact"
    })
  })

  it("hostile leaves the default wherever the client accepts something else, and has nothing that it refuses", () => {
    for (const { name, variants: [first, ...others] } of Profile.points) {
      const chosen = Profile.presets.hostile[name]
      const variant = [first, ...others].find(({ value }) => value === chosen)
      strictEqual(variant?.client, "accepts", name)
      strictEqual(chosen === first.value, others.every(({ client }) => client === "refuses"), name)
    }
  })

  it("a patch changes what it names and keeps the rest", () => {
    const profile = Profile.apply(Profile.presets.hostile, { nameEcho: "nfd" })
    deepStrictEqual(profile, { ...Profile.presets.hostile, nameEcho: "nfd" })
    deepStrictEqual(Profile.apply({})(profile), profile)
  })

  it("a patch with a preset starts from it, and its variants win", () => {
    deepStrictEqual(
      Profile.apply(Profile.presets.hostile, { preset: "strict", tokenStatus: "203" }),
      { ...Profile.presets.strict, tokenStatus: "203" }
    )
    deepStrictEqual(Profile.apply(Profile.presets.hostile, { preset: "default" }), Profile.defaultProfile)
  })

  it("its JSON schema lists the variants of each field and allows no other", () => {
    const { additionalProperties, properties, required } = Schema.decodeUnknownSync(JsonSchema)(
      JSONSchema.make(Profile.Profile)
    )
    deepStrictEqual(Object.fromEntries(Object.entries(properties).map(([name, { enum: values }]) => [name, values])), {
      ...Object.fromEntries(Profile.points.map(({ name }) => [name, valuesOf(name)]))
    })
    deepStrictEqual(required, Profile.points.map(({ name }): string => name))
    strictEqual(additionalProperties, false)
  })

  it("the JSON schema of a patch requires nothing", () => {
    const { additionalProperties, properties, required } = Schema.decodeUnknownSync(JsonSchema)(
      JSONSchema.make(Profile.Patch)
    )
    deepStrictEqual(Object.keys(properties).sort(), [...Profile.points.map(({ name }) => name), "preset"].sort())
    deepStrictEqual(required, [])
    strictEqual(additionalProperties, false)
  })
})

const JsonSchema = Schema.Struct({
  properties: Schema.Record({ key: Schema.String, value: Schema.Struct({ enum: Schema.Array(Schema.String) }) }),
  required: Schema.Array(Schema.String),
  additionalProperties: Schema.Boolean
})
