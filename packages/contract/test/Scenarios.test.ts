/** Runs the scenarios of the contract with an independent tool, `redocly respect`. */
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Context, Effect, Layer, Predicate } from "effect"
import { parse } from "yaml"
import { MockServer } from "../../mock-server/src/index.ts"
import * as Contract from "../src/Contract.ts"
import * as Redocly from "./support/redocly.ts"
import * as Scenarios from "./support/scenarios.ts"

describe("The scenarios", () => {
  it.effect("name existing claims in each workflow, and are all files of the folder", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const { claims } = yield* Contract.load()
      const ids = new Set(claims.map(({ id }) => id))
      deepStrictEqual(
        (yield* Scenarios.workflows).flatMap((workflow) => workflow["x-claims"].filter((id) => !ids.has(id))),
        []
      )
      deepStrictEqual(
        (yield* fs.readDirectory(Contract.pathOf("scenarios"))).toSorted(),
        [...Scenarios.names, Scenarios.documented].map((name) => `${name}.arazzo.yaml`).toSorted()
      )
    }).pipe(Effect.provide(NodeContext.layer)))

  it.effect.each(["no-match", "potential-match"])(
    "check each field of the credential in %s",
    (workflowId) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const yaml: unknown = parse(yield* fs.readFileString(Contract.pathOf("openapi.yaml")))
        const fieldsOf = (name: string) =>
          Object.keys(Object(["components", "schemas", name, "properties"].reduce<unknown>(member, yaml)))
        const pointers = [
          ...fieldsOf("AmlCredential").filter((field) => field !== "credentials").map((field) => `/${field}`),
          ...fieldsOf("Attributes").map((field) => `/credentials/attributes/${field}`)
        ]
        const criteria = (yield* Scenarios.workflows).filter((workflow) => workflow.workflowId === workflowId)
          .flatMap(({ steps }) => steps).flatMap(({ successCriteria }) => successCriteria)
          .map(({ condition, context = condition }) => context.split(" ")[0])
        strictEqual(pointers.length, 10)
        deepStrictEqual(pointers.filter((pointer) => !criteria.includes(`$response.body#${pointer}`)), [])
      }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("pass against the mock server, and cover the whole OpenAPI document", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const { url } = Context.get(yield* Layer.build(MockServer.layerTest), MockServer.MockServer)
      const runs = yield* Effect.forEach(
        Scenarios.names,
        (scenario) => Redocly.respect([{ scenario, url }], "--har-output", `${folder}/${scenario}.har`),
        { concurrency: 2 }
      )
      const outcomes = runs.flatMap(({ outcomes }) => outcomes.flat())
      deepStrictEqual(outcomes.filter(({ isGreen }) => !isGreen), [])
      deepStrictEqual(
        outcomes.map(({ workflow }) => workflow),
        (yield* Scenarios.workflows).map(({ workflowId }) => workflowId).filter((id) =>
          !id.startsWith(Scenarios.documented)
        )
      )
      strictEqual(outcomes.every(({ checks }) => checks > 0), true)
      deepStrictEqual(runs.map(({ exitCode }) => exitCode), [0, 0, 0, 0, 0])

      const { operations, problems } = yield* Redocly.drift(folder, url)
      // The document does not describe the control API, and two steps omit their credentials.
      const explained = problems.filter(({ path, ruleId, status }) =>
        ruleId === "undocumented-endpoint" && path.startsWith("/_mock/") ||
        ruleId === "security-baseline" && status === 401
      )
      deepStrictEqual(problems.filter((problem) => !explained.includes(problem)), [])
      strictEqual(explained.length, 5)
      // No step receives a response of the default status.
      deepStrictEqual(operations.map(({ missing, operationId }) => [operationId, missing]), [
        ["checkPerson", [{ kind: "response", status: "default" }]],
        ["getAccessToken", [{ kind: "response", status: "default" }]]
      ])
      strictEqual(operations.flatMap(({ covered }) => covered).filter(({ kind }) => kind === "property").length, 61)
    }).pipe(Effect.provide(NodeContext.layer)))
})

const member = (value: unknown, key: string): unknown => Predicate.hasProperty(value, key) ? value[key] : undefined

const credential = {
  credential_type: "aml",
  credential_name: "AML",
  issued_by: "Mock Identity Verification Service",
  issuer_id: "7d9f6c52-4b1e-4c39-9a76-2f0e8d1b5a64",
  cred_version: "1.0"
}

const attributes = {
  name: "Ada Testclear",
  birth_year: "1990",
  searched_on: "2025-06-01 12:34:56",
  match_found: "No",
  aml_profile: "http://127.0.0.1:4010/aml-profiles/demo-1"
}

const address = "http://127.0.0.1:4010"

/** A HAR entry of a check with this response. */
const exchange = (answer: unknown) => ({
  startedDateTime: "2025-06-01T12:34:56.000Z",
  time: 1,
  request: {
    method: "POST",
    url: `${address}/api/aml`,
    httpVersion: "HTTP/1.1",
    headers: [{ name: "Authorization", value: "Bearer token" }, { name: "Content-Type", value: "application/json" }],
    postData: {
      mimeType: "application/json",
      text: JSON.stringify({ entity_type: "person", name: "Ada Testclear", dob: "01-02-1990" })
    }
  },
  response: {
    status: 200,
    statusText: "OK",
    httpVersion: "HTTP/1.1",
    headers: [{ name: "Content-Type", value: "application/json" }],
    content: { mimeType: "application/json", text: JSON.stringify(answer) }
  }
})

const right = { ...credential, credentials: { attributes } }

/** Wrong credentials: the field, its value, and the schema keywords that refuse it. */
const wrong: ReadonlyArray<readonly [field: string, value: unknown, ...keywords: ReadonlyArray<string>]> = [
  ["credential_type", "AML", "const"],
  ["credential_name", "aml", "const"],
  ["issued_by", null, "type"],
  ["issuer_id", "7d9f6c52", "pattern", "format"],
  ["cred_version", "1", "pattern"],
  ["cred_version", 1.1, "type"],
  ["credentials", [], "type"],
  ["credentials/attributes", "none", "type"],
  ["credentials/attributes/name", 1, "type"],
  ["credentials/attributes/birth_year", "90", "pattern"],
  ["credentials/attributes/birth_year", 1990, "type"],
  ["credentials/attributes/searched_on", "2025-06-01T12:34:56Z", "pattern"],
  ["credentials/attributes/searched_on", "01-06-2025 12:34:56", "pattern"],
  ["credentials/attributes/searched_on", "2025-13-01 12:34:56", "pattern"],
  ["credentials/attributes/match_found", "no", "enum"],
  ["credentials/attributes/match_found", "Match", "enum"],
  ["credentials/attributes/match_found", null, "enum", "type"],
  ["credentials/attributes/match_found", false, "enum", "type"],
  ["credentials/attributes/aml_profile", "profile-1", "pattern", "format"],
  ["credentials/attributes/aml_profile", "", "pattern", "format"],
  ["credentials/attributes/aml_profile", null, "type"]
]

const fields = ["credentials", "credentials/attributes"].concat(
  Object.keys(credential),
  Object.keys(attributes).map((field) => `credentials/attributes/${field}`)
)

/** One credential for each missing field. */
const incomplete = fields.map((field) => [field, undefined, "required"] as const)

const withField = (field: string, value: unknown) => {
  const [, , attribute] = field.split("/")
  return attribute !== undefined
    ? { ...credential, credentials: { attributes: { ...attributes, [attribute]: value } } }
    : field === "credentials/attributes"
    ? { ...credential, credentials: { attributes: value } }
    : { ...right, [field]: value }
}

const counted = (found: ReadonlyArray<readonly [what: string, times: number]>) =>
  found.reduce<Record<string, number>>(
    (counts, [what, times]) => ({ ...counts, [what]: (counts[what] ?? 0) + times }),
    {}
  )

describe("The schemas of openapi.yaml", () => {
  it.scopedLive("accept a valid credential, also with extra fields, and refuse each wrong one", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const har = `${yield* fs.makeTempDirectoryScoped()}/traffic.har`
      const refused = [...wrong, ...incomplete]
      const answers = [...refused.map(([field, value]) => withField(field, value)), right, { ...right, until: null }]
      const log = { version: "1.2", creator: { name: "test", version: "1" }, entries: answers.map(exchange) }
      yield* fs.writeFileString(har, JSON.stringify({ log }))
      const { problems, run } = yield* Redocly.drift(har, address)
      deepStrictEqual(run, { totalExchanges: answers.length, documentedExchanges: answers.length })
      deepStrictEqual(
        counted(problems.map(({ dataPath, details, occurrences }) => [`${dataPath} ${details?.keyword}`, occurrences])),
        counted(
          refused.flatMap(([field, , ...keywords]) => keywords.map((keyword) => [`/${field} ${keyword}`, 1] as const))
        )
      )
    }).pipe(Effect.provide(NodeContext.layer)))
})
