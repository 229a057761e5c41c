/** Compares `openapi.yaml` with the service document, the claims, and the OpenAPI document of core's `IdvApi`. */
import { FileSystem, OpenApi } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, JSONSchema, Predicate, Schema } from "effect"
import { parse } from "yaml"
import { IdvApi } from "../../core/src/index.ts"
import * as Contract from "../src/Contract.ts"
import * as Redocly from "./support/redocly.ts"

const document = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const yaml: unknown = parse(yield* fs.readFileString(Contract.pathOf("openapi.yaml")))
  return yaml
})

const undocumented = Effect.map(
  Contract.load(),
  ({ claims }) => claims.filter(({ level }) => level !== "documented").map(({ id }) => id)
)

/** The value at a JSON pointer. Only paths have slashes in their names, and these are written as `~`. */
const at = (value: unknown, pointer: string): unknown =>
  pointer.split("/").map((key) => key.replaceAll("~", "/")).reduce(
    (value, key) => Predicate.hasProperty(value, key) ? value[key] : undefined,
    value
  )

const entries = (value: unknown): ReadonlyArray<readonly [string, unknown]> =>
  Predicate.isRecord(value) || Array.isArray(value) ? Object.entries(value) : []

const idsOf = (mark: unknown): ReadonlyArray<string> => [mark].flat().map(String)

const marks = (value: unknown): ReadonlyArray<string> =>
  entries(value).flatMap(([key, member]) => key === "x-claim" ? idsOf(member) : marks(member))

const token = "paths/~oauth~service/post"
const aml = "paths/~api~aml/post"
const schemas = "components/schemas"
const attributes = `${schemas}/Attributes/properties`
const credential = `${schemas}/AmlCredential/properties`

/** Everything that the service document does not show, with its claim and its place in `openapi.yaml`. */
const notShown: ReadonlyArray<readonly [section: string, what: string, claim: string, where: string]> = [
  ["1", "the identity check, the credential request, companies", "operations.other", "x-not-shown"],
  ["2.2", "fields of the token response", "token.response.fields", `${schemas}/TokenResponse`],
  ["3", "states and the moves between them", "states", "x-not-shown"],
  ["4.1", "fields of the token response", "token.response.fields", `${schemas}/TokenResponse`],
  ["4.2", "content type of the request body", "aml.request.content-type", `${aml}/requestBody`],
  ["4.2", "success status of the token endpoint", "token.success.status", `${token}/responses/200`],
  ["4.2", "success status of the check", "aml.success.status", `${aml}/responses/200`],
  ["4.2", "other endpoints", "operations.other", "x-not-shown"],
  ["6", "events, payloads, delivery", "events", "x-not-shown"],
  ["7", "error responses of the token endpoint", "token.error", `${token}/responses/401`],
  ["7", "error responses of the check", "aml.error", `${aml}/responses/422`],
  ["7", "status codes of the token endpoint", "token.error.grant-type", `${token}/responses/400`],
  ["7", "status codes of the check", "aml.error.fields", `${aml}/responses/422`],
  ["7", "error codes", "token.error.code", `${schemas}/OAuthError/properties/error`],
  ["7", "the conditions that produce them", "aml.error.unauthorized", `${aml}/responses/401`],
  ["8", "rate limits", "limits.rate", "components/responses/TooMany"],
  ["8", "size limits", "limits.body", "components/responses/TooLong"],
  ["9", "versioning of the API", "versioning.api", "x-not-shown"]
]

/** Every rule of the service document that OpenAPI can express, with its place and its value. */
const rules: ReadonlyArray<readonly [section: string, pointer: string, value: unknown]> = [
  ["4.1", `${token}/security`, [{ customer: [] }]],
  ["4.1", "components/securitySchemes/customer/scheme", "basic"],
  ["4.1", `${token}/requestBody/required`, true],
  ["4.1", `${schemas}/TokenRequest/required`, ["grant_type"]],
  ["4.1", `${schemas}/TokenRequest/properties/grant_type/const`, "client_credentials"],
  ["4.2", `${aml}/security`, [{ accessToken: [] }]],
  ["4.2", "components/securitySchemes/accessToken/scheme", "bearer"],
  ["4.2", `${aml}/requestBody/required`, true],
  ["4.2", `${schemas}/AmlRequest/type`, "object"],
  ["4.2", `${schemas}/AmlRequest/required`, ["entity_type", "name", "dob"]],
  ["4.2", `${schemas}/AmlRequest/properties/entity_type/const`, "person"],
  ["4.2", `${schemas}/AmlRequest/properties/name/type`, "string"],
  ["4.2", `${schemas}/AmlRequest/properties/dob/pattern`, "^(0[1-9]|[12][0-9]|3[01])-(0[1-9]|1[0-2])-[0-9]{4}$"],
  ["2.3", `${schemas}/AmlCredential/type`, "object"],
  [
    "2.3",
    `${schemas}/AmlCredential/required`,
    ["credential_type", "credential_name", "issued_by", "issuer_id", "cred_version", "credentials"]
  ],
  ["2.3", `${credential}/credential_type/const`, "aml"],
  ["2.3", `${credential}/credential_name/const`, "AML"],
  ["2.3", `${credential}/issued_by/type`, "string"],
  ["2.3", `${credential}/issuer_id/format`, "uuid"],
  ["9", `${credential}/cred_version/pattern`, "^[0-9]+\\.[0-9]+$"],
  ["2.3", `${credential}/credentials/type`, "object"],
  ["2.3", `${credential}/credentials/required`, ["attributes"]],
  [
    "2.3",
    `${schemas}/Attributes/required`,
    ["name", "birth_year", "searched_on", "match_found", "aml_profile"]
  ],
  ["2.3", `${attributes}/name/type`, "string"],
  ["2.3", `${attributes}/birth_year/pattern`, "^\\d{4}$"],
  [
    "2.3",
    `${attributes}/searched_on/pattern`,
    "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01]) ([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]$"
  ],
  ["4.2", `${attributes}/match_found/enum`, ["Potential match", "No"]],
  ["4.2", `${attributes}/aml_profile/format`, "uri"]
]

describe("openapi.yaml", () => {
  it.effect("names the claim of each behaviour that the service document does not show, and of no other", () =>
    Effect.gen(function*() {
      const marked = new Set(marks(yield* document))
      deepStrictEqual([...marked].toSorted(), (yield* undocumented).toSorted())
    }).pipe(Effect.provide(NodeContext.layer)))

  it.effect.each(notShown)(
    "marks as an assumption what section %s does not show: %s",
    ([, , claim, where]) =>
      Effect.gen(function*() {
        strictEqual(marks(at(yield* document, where)).includes(claim), true)
      }).pipe(Effect.provide(NodeContext.layer))
  )

  it.effect("names a claim for every response, every header and every field of an error", () =>
    Effect.gen(function*() {
      const yaml = yield* document
      const resolve = (value: unknown) =>
        Predicate.hasProperty(value, "$ref") ? at(yaml, String(value.$ref).slice(2)) : value
      const responses = [token, aml].flatMap((operation) =>
        entries(at(yaml, `${operation}/responses`)).map(([status, response]) =>
          [`${operation} ${status}`, resolve(response)] as const
        )
      )
      const headers = responses.flatMap(([name, response]) =>
        entries(at(response, "headers")).map(([header, value]) => [`${name} ${header}`, resolve(value)] as const)
      )
      const fields = ["TokenResponse", "OAuthError", "Problem", "FieldsProblem"].map((name) =>
        [name, at(yaml, `${schemas}/${name}`)] as const
      )
      strictEqual(responses.length, 15)
      strictEqual(headers.length, 5)
      deepStrictEqual(
        [...responses, ...headers, ...fields].filter(([, value]) => at(value, "x-claim") === undefined),
        []
      )
    }).pipe(Effect.provide(NodeContext.layer)))

  it.effect.each(rules)("has the rule of section %s at %s", ([, pointer, value]) =>
    Effect.gen(function*() {
      deepStrictEqual(at(yield* document, pointer), value)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.effect("names the section of each field of the service document", () =>
    Effect.gen(function*() {
      const yaml = yield* document
      const fields = ["TokenRequest", "AmlRequest", "AmlCredential", "Attributes"].flatMap((name) =>
        entries(at(yaml, `${schemas}/${name}/properties`))
      )
      strictEqual(fields.length, 15)
      const silent = fields.filter(([, field]) => !/^Sections? \d/.test(String(at(field, "description"))))
      deepStrictEqual(silent, [])
    }).pipe(Effect.provide(NodeContext.layer)))
})

/** Values of openapi.yaml that go beyond what the document shows. */
const inferred = ["4.2 components/schemas/AmlRequest/properties/dob/pattern"]

describe("openapi-documented.yaml", () => {
  it.effect("has each rule of the service document, and no assumption", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const yaml: unknown = parse(yield* fs.readFileString(Contract.pathOf("openapi-documented.yaml")))
      deepStrictEqual(marks(yaml), [])
      // The credential is that of the JSON Schema, which another test compares with openapi.yaml.
      const own = rules.filter(([section, pointer]) => section !== "2.3" && !/AmlCredential|Attributes/.test(pointer))
      const different = own.filter(([, pointer, value]) => JSON.stringify(at(yaml, pointer)) !== JSON.stringify(value))
      deepStrictEqual(different.map(([section, pointer]) => `${section} ${pointer}`), inferred)
      deepStrictEqual(
        [token, aml].map((operation) => entries(at(yaml, `${operation}/responses`)).map(([status]) => status)),
        [["2XX", "default"], ["2XX", "default"]]
      )
      // A service may also refuse with 200: the alternative to the credential is everything without one.
      const [credential, refusal, ...others] = entries(
        at(yaml, `${aml}/responses/2XX/content/*~*/schema/anyOf`)
      ).map(([, schema]) => schema)
      deepStrictEqual(others, [])
      deepStrictEqual(credential, { $ref: "./schemas/AmlCredential.json" })
      deepStrictEqual(at(refusal, "not"), {
        type: "object",
        required: ["credentials"],
        properties: { credentials: {} }
      })
    }).pipe(Effect.provide(NodeContext.layer)))
})

describe("claims.schema.json", () => {
  it.effect("is the schema of Contract.Contract", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const text = yield* fs.readFileString(Contract.pathOf("claims.schema.json"))
      strictEqual(text, `${JSON.stringify(JSONSchema.make(Contract.Contract), null, 2)}\n`)
    }).pipe(Effect.provide(NodeContext.layer)))
})

const withoutMarks = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(withoutMarks)
    : Predicate.isRecord(value)
    ? Object.fromEntries(
      Object.entries(value).filter(([key]) => key !== "x-claim").map(([key, member]) => [
        key,
        key === "$ref" ? String(member).replace("#/components/schemas/", "#/$defs/") : withoutMarks(member)
      ])
    )
    : value

const refsIn = (value: unknown): ReadonlyArray<string> =>
  entries(value).flatMap(([key, member]) =>
    key === "$ref" ? [String(member).replace("#/components/schemas/", "")] : refsIn(member)
  )

/** The JSON Schema of a schema of the OpenAPI document, with the schemas to which it refers. */
const schemaFile = (openApi: unknown, name: string): string => {
  const schema = at(openApi, `${schemas}/${name}`)
  const definitions = refsIn(schema).map((ref) => [ref, withoutMarks(at(openApi, `${schemas}/${ref}`))])
  const own = withoutMarks(schema)
  const json = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: name,
    ...(Predicate.isRecord(own) && own),
    ...(definitions.length > 0 && { $defs: Object.fromEntries(definitions) })
  }
  return `${JSON.stringify(json, null, 2)}\n`
}

describe("The JSON Schemas", () => {
  it.effect.each(["TokenRequest", "TokenResponse", "AmlRequest", "AmlCredential"])(
    "include %s as openapi.yaml has it",
    (name) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const path = Contract.pathOf(`schemas/${name}.json`)
        strictEqual(
          yield* fs.readFileString(path),
          schemaFile(yield* document, name),
          `schemas/${name}.json differs from ${name} in openapi.yaml`
        )
      }).pipe(Effect.provide(NodeContext.layer))
  )
})

const generated = OpenApi.fromApi(IdvApi.IdvApi)

/** A JSON file that is deleted when the scope closes. */
const written = (json: unknown) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = `${yield* fs.makeTempDirectoryScoped()}/document.json`
    yield* fs.writeFileString(path, JSON.stringify(json))
    return path
  })

const Linted = Schema.parseJson(Schema.Array(
  Schema.Struct({ problems: Schema.Array(Schema.Struct({ ruleId: Schema.String })) })
))

/** Redocly prints one JSON object for each file. */
const lint = (...args: ReadonlyArray<string>) =>
  Redocly.run("lint", "--format", "json", ...args).pipe(
    Effect.flatMap(({ stdout }) => Schema.decode(Linted)(`[${stdout.replaceAll(/^\}\{$/gm, "},{")}]`)),
    Effect.map((files) => ({
      files: files.length,
      rules: files.flatMap(({ problems }) => problems.map(({ ruleId }) => ruleId))
    }))
  )

describe("redocly lint", () => {
  it.scopedLive("finds no problem in openapi.yaml and the scenarios", () =>
    Effect.gen(function*() {
      deepStrictEqual(yield* lint("openapi.yaml", "scenarios/*.arazzo.yaml"), { files: 7, rules: [] })
      deepStrictEqual(yield* lint("openapi-documented.yaml"), { files: 1, rules: [] })
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("finds only the problems of the document of IdvApi that core cannot fix", () =>
    Effect.gen(function*() {
      deepStrictEqual((yield* lint(yield* written(generated))).rules, [
        // The addresses depend on the environment (section 1), and core knows none.
        "no-empty-servers",
        // Core accepts any error of the API, because the service document shows none (section 7).
        "operation-4xx-response"
      ])
    }).pipe(Effect.provide(NodeContext.layer)))
})

const Changes = Schema.parseJson(Schema.Struct({
  changes: Schema.Array(Schema.Struct({
    path: Schema.String,
    typeName: Schema.String,
    kind: Schema.Literal("added", "removed", "modified"),
    property: Schema.optional(Schema.String),
    revision: Schema.optional(Schema.Struct({ value: Schema.optional(Schema.Unknown) }))
  }))
}))

/** Whether a change affects descriptions only. */
const isWords = ({ path, property, typeName }: (typeof Changes.Type)["changes"][number]) =>
  ["description", "summary", "title", "x-claim"].includes(property ?? "") ||
  ["SpecExtension", "ExamplesMap", "Tag"].includes(typeName) ||
  // Referenced schemas are compared at the reference, whatever their names.
  /^#\/components\/(schemas|responses)/.test(path)

const short = (path: string) =>
  path.slice(2).replaceAll("~1", "/").replace("paths//oauth/service/post", "token").replace(
    "paths//api/aml/post",
    "aml"
  ).replace("content/application/json/schema", "json").replace(
    "content/application/x-www-form-urlencoded/schema",
    "form"
  ).replaceAll("/properties/", ".")

/** The differences of the second document from the first. */
const diff = (base: string, revision: string) =>
  Redocly.run("diff", base, revision, "--format", "json", "--fail-on", "none").pipe(
    Effect.flatMap(({ stdout }) => Schema.decode(Changes)(stdout)),
    Effect.map(({ changes }) =>
      changes.filter((change) => !isWords(change)).map(({ kind, path, property, revision }) =>
        property === undefined
          ? `${short(path)} ${kind}`
          : `${short(path)} ${property} ${JSON.stringify(revision?.value) ?? "none"}`
      )
    )
  )

const explained: ReadonlyArray<readonly [reason: string, ...differences: ReadonlyArray<string>]> = [
  ["the addresses are of the environment (section 1), and core knows none", "servers removed"],
  ["each document has a version of its own: that of the API is not shown (section 9)", "info version \"0.0.1\""],
  [
    "an HttpApi writes an empty list if there is none",
    "security added",
    "token/parameters added",
    "aml/parameters added"
  ],
  [
    "an HttpApi writes a constant as a list of one",
    "token/requestBody/form.grant_type const none",
    "token/requestBody/form.grant_type enum [\"client_credentials\"]",
    "aml/requestBody/json.entity_type const none",
    "aml/requestBody/json.entity_type enum [\"person\"]",
    "aml/responses/200/json.credential_type const none",
    "aml/responses/200/json.credential_type enum [\"aml\"]"
  ],
  [
    "an HttpApi writes each object as closed; core ignores unknown fields",
    "token/requestBody/form additionalProperties false",
    "token/responses/200/json additionalProperties false",
    "token/responses/401/json additionalProperties false",
    "aml/responses/200/json additionalProperties false",
    "aml/responses/200/json.credentials additionalProperties false",
    "aml/responses/200/json.credentials.attributes additionalProperties false"
  ],
  [
    "core checks these texts with functions, which have no pattern",
    "aml/requestBody/json.name pattern none",
    "aml/requestBody/json.dob pattern none",
    "aml/responses/200/json.credentials.attributes.searched_on pattern none",
    "aml/responses/200/json.credentials.attributes.aml_profile format none",
    "aml/responses/200/json.credentials.attributes.aml_profile pattern none"
  ],
  ["core refuses another major version", "aml/responses/200/json.cred_version pattern \"^1\\\\.\\\\d+$\""],
  [
    "core refuses a credential beside an error",
    "aml/responses/200/json.error added",
    "aml/responses/200/json.errors added"
  ],
  ["core ignores text for people", "aml/responses/200/json.credential_name const none"],
  [
    "core assumes one hour for an invalid lifetime",
    "token/responses/200/json.expires_in $id \"/schemas/unknown\"",
    "token/responses/200/json.expires_in minimum none",
    "token/responses/200/json.expires_in type none"
  ],
  ["core reads none of these headers", "token/responses/200/headers removed", "token/responses/401/headers removed"],
  ["core accepts any error and reads one field", "token/responses/401/json.error_description removed"],
  [
    "core accepts any error, because none is shown (section 7)",
    "token/responses/400 removed",
    "token/responses/413 removed",
    "token/responses/415 removed",
    "token/responses/429 removed",
    "token/responses/default removed",
    "aml/responses/400 removed",
    "aml/responses/401 removed",
    "aml/responses/413 removed",
    "aml/responses/415 removed",
    "aml/responses/422 removed",
    "aml/responses/429 removed",
    "aml/responses/default removed"
  ]
]

/** Replaces the values at JSON pointers. `undefined` removes a value. */
const replaceAt = (document: unknown, replacements: Readonly<Record<string, unknown>>): unknown =>
  Object.entries(replacements).reduce((json, [pointer, value]) => {
    const keys = pointer.split("/").map((key) => key.replaceAll("~", "/"))
    const put = (json: unknown, [key = "", ...rest]: ReadonlyArray<string>): unknown => ({
      ...Predicate.isRecord(json) ? json : {},
      [key]: rest.length === 0 ? value : put(Predicate.isRecord(json) ? json[key] : undefined, rest)
    })
    return put(json, keys)
  }, document)

describe("redocly diff", () => {
  it.scopedLive("finds only explained differences between openapi.yaml and the document of IdvApi", () =>
    Effect.gen(function*() {
      const found = yield* diff("openapi.yaml", yield* written(generated))
      deepStrictEqual(found.toSorted(), explained.flatMap(([, ...differences]) => differences).toSorted())
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("finds each changed or missing rule", () =>
    Effect.gen(function*() {
      const found = yield* diff(
        "openapi.yaml",
        yield* written(replaceAt(yield* document, {
          [`${attributes}/match_found/enum`]: ["Potential match", "No", "no"],
          [`${attributes}/birth_year/pattern`]: "^\\d{2}$",
          [`${attributes}/aml_profile`]: undefined,
          [`${schemas}/Attributes/required`]: ["name", "birth_year", "searched_on", "match_found"],
          [`${credential}/credential_type/const`]: "AML",
          [`${credential}/issuer_id/format`]: undefined,
          [`${credential}/issued_by/type`]: "number",
          [`${schemas}/AmlRequest/properties/dob/pattern`]: undefined,
          [`${schemas}/AmlRequest/additionalProperties`]: true,
          [`${schemas}/TokenRequest/properties/grant_type/const`]: "password",
          [`${token}/security`]: [],
          [`${token}/responses/401/content`]: { "text/plain": {} },
          [`${token}/responses/200/headers`]: undefined,
          "components/securitySchemes/accessToken/scheme": "basic"
        }))
      )
      deepStrictEqual(found.toSorted(), [
        "aml/requestBody/json additionalProperties true",
        "aml/requestBody/json.dob pattern none",
        "aml/responses/200/json.credential_type const \"AML\"",
        "aml/responses/200/json.credentials.attributes required [\"name\",\"birth_year\",\"searched_on\",\"match_found\"]",
        "aml/responses/200/json.credentials.attributes.aml_profile removed",
        "aml/responses/200/json.credentials.attributes.birth_year pattern \"^\\\\d{2}$\"",
        "aml/responses/200/json.credentials.attributes.match_found enum [\"Potential match\",\"No\",\"no\"]",
        "aml/responses/200/json.issued_by type \"number\"",
        "aml/responses/200/json.issuer_id format none",
        "components/securitySchemes/accessToken scheme \"basic\"",
        "token/requestBody/form.grant_type const \"password\"",
        "token/responses/200/headers removed",
        "token/responses/401/content/application/json removed",
        "token/responses/401/content/text/plain added",
        "token/security/0 removed"
      ])
    }).pipe(Effect.provide(NodeContext.layer)))
})
