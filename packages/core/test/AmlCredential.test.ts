import { AmlCredential, Violation } from "@effect-idv/core"
import { describe, it } from "@effect/vitest"
import { assertLeft, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Arbitrary, Either, FastCheck, Redacted, Schema, Struct } from "effect"
import { inspect } from "node:util"
import { credential } from "./support/service.ts"

const decode = Violation.decodeUnknown(AmlCredential.AmlCredential)

const paths = (input: unknown) =>
  Either.match(decode(input), {
    onLeft: (violations) => violations.map(({ path }) => path),
    onRight: () => []
  })

describe("AmlCredential", () => {
  it("decodes the documented credential and encodes it to the same wire format", () => {
    const wire = credential({}, { match_found: "Potential match" })
    const decoded = Either.getOrThrow(decode(wire))
    strictEqual(decoded.credentials.attributes.matchFound, "Potential match")
    strictEqual(Redacted.value(decoded.credentials.attributes.birthYear), "1957")
    deepStrictEqual(Schema.encodeSync(AmlCredential.AmlCredential)(decoded), wire)
  })

  it("has an Arbitrary of complete credentials", () => {
    FastCheck.assert(
      FastCheck.property(
        Arbitrary.make(AmlCredential.AmlCredential),
        (credential) => {
          const { searchedOn } = credential.credentials.attributes
          return Either.isRight(decode(Schema.encodeSync(AmlCredential.AmlCredential)(credential))) &&
            searchedOn >= "2000" && searchedOn < "2100-01-02"
        }
      )
    )
  })

  it("ignores undocumented fields", () => {
    deepStrictEqual(decode(credential({ extra: 1 }, { more: 2 })), decode(credential()))
  })

  const attribute = (key: string) => `credentials.attributes.${key}`
  it.each<[string, unknown, ReadonlyArray<string>]>([
    ["nothing", undefined, [""]],
    ["null", null, [""]],
    ["an array", [], [""]],
    ["another type", credential({ credential_type: "AML" }), ["credential_type"]],
    ["no issuer", credential({ issued_by: undefined }), ["issued_by"]],
    ["an issuer id that is not a UUID", credential({ issuer_id: "1" }), ["issuer_id"]],
    ["another major version", credential({ cred_version: "2.0" }), ["cred_version"]],
    ["a version without minor", credential({ cred_version: "1" }), ["cred_version"]],
    ["a version as number", credential({ cred_version: 1.0 }), ["cred_version"]],
    ["no credentials", credential({ credentials: {} }), ["credentials.attributes"]],
    ["match_found missing", credential({}, { match_found: undefined }), [attribute("match_found")]],
    ...[
      null,
      "no",
      "NO",
      " No",
      "No ",
      "N",
      "",
      "None",
      "false",
      false,
      0,
      ["No"],
      "potential match",
      "Potential Match"
    ]
      .map((value): [string, unknown, ReadonlyArray<string>] => [
        `match_found ${JSON.stringify(value)}`,
        credential({}, { match_found: value }),
        [attribute("match_found")]
      ]),
    ["no profile", credential({}, { aml_profile: undefined }), [attribute("aml_profile")]],
    ["a profile that is not a URL", credential({}, { aml_profile: "none" }), [attribute("aml_profile")]],
    ["a script as profile", credential({}, { aml_profile: "javascript:alert(1)" }), [attribute("aml_profile")]],
    ["a blank name", credential({}, { name: " " }), [attribute("name")]],
    ["a birth year as number", credential({}, { birth_year: 1957 }), [attribute("birth_year")]],
    ["a birth year of two digits", credential({}, { birth_year: "90" }), [attribute("birth_year")]],
    ["an ISO timestamp", credential({}, { searched_on: "2026-11-20T09:30:00" }), [attribute("searched_on")]],
    ["a day that does not exist", credential({}, { searched_on: "2026-02-30 09:30:00" }), [attribute("searched_on")]],
    [
      "a script that ends with a URL as profile",
      credential({}, { aml_profile: "javascript:alert()//https://a.example" }),
      [
        attribute("aml_profile")
      ]
    ],
    ...[
      "https://a.example/\u0000",
      "https://user:key@a.example/1",
      "https:///user:key@a.example/1",
      "https:////a.example@b.example/1",
      "https://a.example/\u3164",
      "https://a.example/\"x",
      "https://a.example/<script>",
      "https://a.example/`x`",
      "https://a.example\\x",
      "https://a.example/\u202e"
    ]
      .map((url): [string, unknown, ReadonlyArray<string>] => [
        `${JSON.stringify(url)} as profile`,
        credential({}, { aml_profile: url }),
        [attribute("aml_profile")]
      ]),
    ["a URL with a space as profile", credential({}, { aml_profile: "https://a.example/a b" }), [
      attribute("aml_profile")
    ]],
    ["a birth year of five digits", credential({}, { birth_year: "19571" }), [attribute("birth_year")]],
    ["a birth year after a sign", credential({}, { birth_year: "-1957" }), [attribute("birth_year")]],
    ["a timestamp with a zone", credential({}, { searched_on: "2026-11-20 09:30:00Z" }), [attribute("searched_on")]],
    ["a timestamp after a date", credential({}, { searched_on: "2026-11-20 2026-11-20 09:30:00" }), [
      attribute("searched_on")
    ]],
    ["the major version 11", credential({ cred_version: "11.0" }), ["cred_version"]],
    ["a version with a suffix", credential({ cred_version: "1.0-beta" }), ["cred_version"]],
    ["an hour that does not exist", credential({}, { searched_on: "2026-02-20 24:00:00" }), [attribute("searched_on")]]
  ])("rejects %s", (_, input, expected) => {
    deepStrictEqual(paths(input), expected)
  })

  it("reports what was expected, and never the value", () => {
    assertLeft(
      Either.mapLeft(decode(credential({}, { match_found: "canary", name: 4711 })), Violation.format),
      "credentials.attributes.name is invalid: expected a string; " +
        "credentials.attributes.match_found is invalid: expected \"Potential match\" | \"No\""
    )
  })

  it("reports what was expected of each field", () => {
    const wrong = { name: " ", birth_year: "x", searched_on: "x", aml_profile: "x" }
    assertLeft(
      Either.mapLeft(
        decode(credential({ error: "x", cred_version: "x" }, wrong)),
        (violations) => violations.map(({ expected }) => expected)
      ),
      [
        "no error",
        "a version 1.x, as major.minor",
        "a name",
        "a year as YYYY",
        "a date and time that exist, as YYYY-MM-DD HH:MM:SS",
        "an http or https URL"
      ]
    )
  })

  it("is named by an error of its schema, without the value", () => {
    const messageOf = <A, I>(schema: Schema.Schema<A, I>) =>
      Either.match(Schema.validateEither(schema)("canary"), { onLeft: ({ message }) => message, onRight: () => "" })
    strictEqual(messageOf(AmlCredential.AmlCredential), "Expected an AML credential")
    const decodeError = Either.flip(Schema.decodeUnknownEither(AmlCredential.AmlCredential)("canary"))
    strictEqual(Either.getOrThrow(decodeError).message, "Expected an AML credential")
    strictEqual(messageOf(AmlCredential.Attributes), "Expected the attributes of an AML credential")
  })

  it("reports what was expected of a missing field", () => {
    assertLeft(
      Either.mapLeft(
        decode(credential({ cred_version: undefined, credentials: undefined })),
        (violations) => violations.map(String)
      ),
      ["cred_version is invalid: expected a string", "credentials is invalid: expected an object"]
    )
    assertLeft(
      Either.mapLeft(decode(Struct.omit(credential(), "cred_version")), Violation.format),
      "cred_version is missing: expected a version 1.x, as major.minor"
    )
  })

  it("accepts a new minor version, and a profile without TLS", () => {
    deepStrictEqual(paths(credential({ cred_version: "1.27" }, { aml_profile: "HTTP://a.example" })), [])
  })

  it("accepts a non-ASCII profile URL every time", () => {
    const decodeJson = () =>
      AmlCredential.decodeJson(
        new TextEncoder().encode(JSON.stringify(credential({}, { aml_profile: "https://bücher.example/müller" })))
      )
    const refused = Array.from({ length: 15_000 }, decodeJson).filter(Either.isLeft)
    strictEqual(refused.length, 0)
  })

  it("prints no name, no year and no profile", () => {
    const decoded = Either.getOrThrow(decode(credential({}, { name: "Canary", aml_profile: "https://canary.example" })))
    const printed = [JSON.stringify(decoded), inspect(decoded, { depth: null, showHidden: true })].join()
    strictEqual(/canary|1957/i.test(printed), false, printed)
  })
})
