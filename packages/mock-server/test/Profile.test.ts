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

  it("has the first variant of each point as its default", () => {
    deepStrictEqual<unknown>(
      Profile.defaultProfile,
      Object.fromEntries(Profile.points.map(({ name, variants: [first] }) => [name, first.value]))
    )
  })

  it.each(Profile.points)("describes $name with a question, a claim of its own and different variants", (point) => {
    assert.match(point.question, /^[A-Z].*\?$/)
    assert.match(point.claim, /^[a-z]+(?:[.-][a-z]+)*$/)
    strictEqual(Profile.points.filter(({ claim }) => claim === point.claim).length, 1)
    const values = point.variants.map(({ value }) => value)
    strictEqual(values.length > 1, true)
    deepStrictEqual([...new Set(values)], values)
    for (const { description, value } of point.variants) {
      assert.match(value, /^[\w.-]+$/)
      strictEqual(description.length > 0, true)
    }
  })

  it("has defaults that the client accepts", () => {
    deepStrictEqual(Profile.points.filter(({ variants: [first] }) => first.client === "refuses"), [])
  })

  it("has these variants that the client refuses", () => {
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

  it("has a variant for each field in which the client looks for a token", () => {
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

  it.each(Profile.points)("names $name and its variants in a violation, without the value", ({ name }) => {
    const expected = [
      `${name} is invalid: expected one of ${valuesOf(name).map((value) => `"${value}"`).join(", ")}`
    ]
    deepStrictEqual(violations(decodeProfile({ ...Profile.defaultProfile, [name]: "canary" })), expected)
    deepStrictEqual(violations(decodePatch({ [name]: "canary" })), expected)
  })

  it("refuses a status that is a number, because variants are texts", () => {
    deepStrictEqual(violations(decodePatch({ amlStatus: 201 })), [
      "amlStatus is invalid: expected one of \"200\", \"201\", \"203\""
    ])
  })

  it("refuses a field that is not a point", () => {
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

  it("requires every field of a profile, and none of a patch", () => {
    strictEqual(violations(decodeProfile({})).length, Profile.points.length)
    deepStrictEqual(decodePatch({}), Either.right({}))
  })

  it("lists the presets in a violation", () => {
    deepStrictEqual(violations(decodePatch({ preset: "canary" })), [
      "preset is invalid: expected one of \"default\", \"strict\", \"hostile\""
    ])
  })

  it.each(Object.keys(Profile.presets))("has the preset %s, which is a profile", (preset) => {
    const applied = Either.map(decodePatch({ preset }), (patch) => Profile.apply(Profile.defaultProfile, patch))
    deepStrictEqual(Either.flatMap(applied, decodeProfile), applied)
    strictEqual(Either.isRight(applied), true)
  })

  it("differs in strict from the default only in the requests that it accepts", () => {
    deepStrictEqual(Profile.presets.strict, {
      ...Profile.defaultProfile,
      tokenParameters: "refused",
      amlRequestType: "exact"
    })
  })

  it("uses in hostile another variant than the default wherever the client accepts one, and none that it refuses", () => {
    for (const { name, variants: [first, ...others] } of Profile.points) {
      const chosen = Profile.presets.hostile[name]
      const variant = [first, ...others].find(({ value }) => value === chosen)
      strictEqual(variant?.client, "accepts", name)
      strictEqual(chosen === first.value, others.every(({ client }) => client === "refuses"), name)
    }
  })

  it("changes only the fields of a patch", () => {
    const profile = Profile.apply(Profile.presets.hostile, { nameEcho: "nfd" })
    deepStrictEqual(profile, { ...Profile.presets.hostile, nameEcho: "nfd" })
    deepStrictEqual(Profile.apply({})(profile), profile)
  })

  it("applies the variants of a patch over its preset", () => {
    deepStrictEqual(
      Profile.apply(Profile.presets.hostile, { preset: "strict", tokenStatus: "203" }),
      { ...Profile.presets.strict, tokenStatus: "203" }
    )
    deepStrictEqual(Profile.apply(Profile.presets.hostile, { preset: "default" }), Profile.defaultProfile)
  })

  it("has a JSON schema with the variants of each field and no other fields", () => {
    const { additionalProperties, properties, required } = Schema.decodeUnknownSync(JsonSchema)(
      JSONSchema.make(Profile.Profile)
    )
    deepStrictEqual(Object.fromEntries(Object.entries(properties).map(([name, { enum: values }]) => [name, values])), {
      ...Object.fromEntries(Profile.points.map(({ name }) => [name, valuesOf(name)]))
    })
    deepStrictEqual(required, Profile.points.map(({ name }): string => name))
    strictEqual(additionalProperties, false)
  })

  it("has a JSON schema of a patch that requires no field", () => {
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
