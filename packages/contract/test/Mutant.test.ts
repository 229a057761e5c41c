import { HttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Array as Arr, Effect, Either, Layer, Predicate, Schema } from "effect"
import { readFileSync } from "node:fs"
import * as Api from "../../mock-server/src/index.ts"
import { MockServer } from "../../mock-server/src/index.ts"
import { layer } from "../../mock-server/test/support/mockServer.ts"
import * as Mutant from "./mutants/Mutant.ts"
import {
  type Answer,
  basic,
  checked,
  control,
  decodeGrant,
  formType,
  person,
  probes,
  send
} from "./support/mutantProbes.ts"

const decodeJson = Schema.decodeUnknownEither(Schema.parseJson(Schema.Unknown))

const objectOf = (text: string) =>
  Either.getRight(Either.filterOrLeft(decodeJson(text), Predicate.isRecord, () => undefined))

/** The paths at which two values of JSON differ. */
const jsonDifferences = (right: unknown, broken: unknown, path: string): ReadonlyArray<string> =>
  Predicate.isRecord(right) && Predicate.isRecord(broken)
    ? Arr.dedupe([...Object.keys(right), ...Object.keys(broken)]).flatMap((name) =>
      jsonDifferences(right[name], broken[name], path === "" ? name : `${path}.${name}`)
    )
    : JSON.stringify(right) === JSON.stringify(broken)
    ? []
    : [path]

/** Where two answers differ: only that one is a refusal and the other is not, or everywhere that they do. */
const differences = (right: Answer, broken: Answer): ReadonlyArray<string> => {
  if ((right.status < 300) !== (broken.status < 300)) return ["outcome"]
  const headers = Arr.dedupe([...Object.keys(right.headers), ...Object.keys(broken.headers)])
    .filter((name) => name !== "content-length" && right.headers[name] !== broken.headers[name])
  const bodies = [objectOf(right.text), objectOf(broken.text)].flatMap(Arr.fromOption)
  return [
    ...right.status === broken.status ? [] : ["status"],
    ...headers,
    ...bodies.length === 2
      ? jsonDifferences(bodies[0], bodies[1], "")
      : right.text === broken.text
      ? []
      : ["body"]
  ]
}

const attribute = (name: string) => `credentials.attributes.${name}`

const credentials = ["clear", "pep"]
const outcome = ["outcome"]
const error = ["status", "title", "detail"]

/** Of each claim: the probes whose answers its mutants may change, and where in the answer. */
const expected: Record<string, readonly [probes: ReadonlyArray<string>, places: ReadonlyArray<string>]> = {
  "token.request.path": [["grant"], outcome],
  "token.request.method": [["get", "put"], outcome],
  "token.request.content-type": [["json", "text", "no type"], outcome],
  "token.request.authorization": [
    ["wrong key", "empty key", "unknown customer", "no customer", "scheme", "in the body"],
    outcome
  ],
  "token.request.grant-type": [["no grant_type", "password", "upper case"], outcome],
  "token.request.grant-type.once": [["twice"], outcome],
  "token.request.charset": [["charset"], outcome],
  "token.request.parameters": [["parameter"], outcome],
  "token.request.encoded-credentials": [["form-encoded"], outcome],
  "token.success.status": [["grant"], ["status"]],
  "token.response.content-type": [["grant"], ["content-type"]],
  "token.response.fields": [["grant"], [
    "access_token",
    "accessToken",
    "token",
    "token_type",
    "expires_in",
    "data",
    "body",
    "content-type"
  ]],
  "token.response.type": [["grant"], ["token_type"]],
  "token.response.format": [["grant"], ["access_token"]],
  "token.response.lifetime": [["grant"], ["expires_in"]],
  "token.response.no-store": [["grant"], ["cache-control"]],
  "token.lifetime": [["35 minutes", "60.5 minutes", "61 minutes", "130 minutes", "used", "again"], [
    ...outcome,
    "detail"
  ]],
  "token.renewal": [["renewed"], outcome],
  "token.revoked": [["revoked"], outcome],
  "aml.request.path": [["clear", "pep"], [
    ...outcome,
    ...["credential_type", "credential_name", "issued_by", "issuer_id", "cred_version", "credentials", "error"]
  ]],
  "aml.request.method": [["aml get", "aml put"], outcome],
  "aml.request.authorization": [["no token", "forged", "aml scheme", "id and key"], outcome],
  "aml.request.scheme-case": [["lower case"], outcome],
  "aml.request.content-type": [["aml text", "aml charset"], outcome],
  "aml.request.body": [["array", "not json", "empty"], outcome],
  "aml.request.entity-type": [["no entity_type", "company", "Person"], outcome],
  "aml.request.name": [["no name", "number", "parts"], outcome],
  "aml.request.name.empty": [["blank"], outcome],
  "aml.request.name.script": [["cyrillic"], outcome],
  "aml.request.dob": [["no dob", "iso", "slashes", "short", "dob as number"], outcome],
  "aml.request.dob.day": [["no day"], outcome],
  "aml.request.extra-fields": [["extra"], outcome],
  "limits.body": [["long"], [...outcome, "status"]],
  "aml.success.status": [credentials, ["status"]],
  "aml.answer.content-type": [credentials, ["content-type"]],
  "aml.answer.credential": [credentials, ["body", "content-type"]],
  "aml.answer.credential-type": [credentials, ["credential_type"]],
  "aml.answer.credential-name": [credentials, ["credential_name"]],
  "aml.answer.issued-by": [credentials, ["issued_by"]],
  "aml.answer.issuer-id": [credentials, ["issuer_id"]],
  "aml.answer.cred-version": [credentials, ["cred_version"]],
  "aml.cred-version": [credentials, ["cred_version"]],
  "aml.answer.attributes": [credentials, [
    "credentials",
    "credentials.attributes",
    ...["name", "birth_year", "searched_on", "match_found", "aml_profile"].map((name) => `credentials.${name}`),
    ...["credential_type", "credential_name", "issued_by", "issuer_id", "cred_version", "data"]
  ]],
  "aml.answer.name": [
    [...credentials, "second person"],
    ["name", "birth_year", "match_found"].map(attribute)
  ],
  "aml.name.echo": [credentials, [attribute("name")]],
  "aml.answer.birth-year": [[...credentials, "leap day"], [attribute("birth_year")]],
  "aml.answer.searched-on": [credentials, [attribute("searched_on")]],
  "aml.searched-on.zone": [credentials, [attribute("searched_on")]],
  "aml.answer.match-found": [[...credentials, "sanc"], [attribute("match_found")]],
  "aml.match.subjects": [[...credentials, "sanc"], [attribute("match_found")]],
  "aml.match.again": [["again"], [attribute("match_found")]],
  "aml.answer.aml-profile": [[...credentials, "sanc"], [attribute("aml_profile")]],
  "aml.profile.page": [["page"], [...outcome, "body", "content-type"]],
  "aml.credential.extra-fields": [credentials, ["valid_until", "credentials.format", attribute("is_final")]],
  "token.error": [
    ["wrong key"],
    ["outcome", "status", "www-authenticate", "body", "content-type", "error", "error_description", "type", "title"]
  ],
  "token.error.code": [["wrong key"], ["error"]],
  "token.error.challenge": [["wrong key"], ["www-authenticate"]],
  "token.error.method": [["put"], ["status"]],
  "token.error.content-type": [["text"], ["status"]],
  "token.error.grant-type": [["password"], ["error"]],
  "token.error.grant-type-missing": [["no grant_type"], ["error"]],
  "token.error.echo": [["wrong key"], ["error_description"]],
  "aml.error": [
    ["company"],
    ["body", "content-type", "errors", "error", "type", ...error]
  ],
  "aml.error.method": [["aml put"], ["status"]],
  "aml.error.unauthorized": [["no token"], ["status"]],
  "aml.error.challenge": [["no token"], ["www-authenticate"]],
  "token.expired": [["61 minutes"], ["status", "www-authenticate"]],
  "aml.error.content-type": [["aml text"], ["status"]],
  "aml.error.json": [["not json"], ["status"]],
  "aml.error.fields": [["company"], ["outcome", "status"]],
  "aml.error.echo": [["company"], ["detail"]],
  "paths.other": [["elsewhere"], [...outcome, "status"]],
  "redirects": [["grant", ...credentials], outcome],
  "limits.rate.retry-after": [["limited"], ["retry-after"]]
}

/** What every mutant is asked beside the probes of its claim, which shows nothing but there. */
const common = ["grant", "wrong key", "clear", "company"]

/** Of a server that gives no token, or elsewhere, or that knows no path, there is nothing more to see. */
const unseen: Record<string, ReadonlyArray<string>> = {
  "token.request.path": common,
  "token.response.fields": ["clear", "company"],
  "redirects": ["clear", "company"],
  "aml.request.path": ["company"]
}

/** Each probe has a customer, and so a session, of its own. */
let customers = 0

const answerTo = (probe: string) =>
  Effect.map(
    Effect.suspend(() => probes[probe]?.(`test-probe-${++customers}`) ?? Effect.dieMessage(`no probe ${probe}`)),
    ({ answer }) => answer
  )

describe("A mutant", () => {
  it("has an id of its own, of its claim", () => {
    const ids = Mutant.mutants.map(({ id }) => id)
    deepStrictEqual(Arr.dedupe(ids), ids)
    deepStrictEqual(Mutant.mutants.filter(({ claim, id }) => !id.startsWith(`${claim}/`)), [])
    deepStrictEqual(ids.filter((id) => !/^[a-z.-]+\/[a-z0-9]+(-[a-z0-9]+)*$/.test(id)), [])
    assert.isAtLeast(ids.length, 60)
  })

  it("says what it does wrong as the words after it", () => {
    deepStrictEqual(Mutant.mutants.filter(({ breaks }) => !/^[a-z].*[^.]$/.test(breaks)), [])
  })

  it("is behind no entry point of the package", () => {
    const text = readFileSync(new URL("../../mock-server/package.json", import.meta.url), "utf8")
    const { exports, publishConfig } = JSON.parse(text)
    deepStrictEqual([exports["./Mutant"], publishConfig.exports["./Mutant"]], [null, null])
    deepStrictEqual([exports["./internal/*"], publishConfig.exports["./internal/*"]], [null, null])
    strictEqual(Object.keys(Api).includes("Mutant"), false)
  })

  it.layer(layer)((it) => {
    it.effect("differs from the mock server, and only where its claim says", () =>
      Effect.gen(function*() {
        const all = Arr.dedupe(Object.values(expected).flatMap(([probes]) => probes).concat(common))
        const right = new Map(
          yield* Effect.forEach(
            all,
            (probe) => Effect.map(answerTo(probe), (answer): readonly [string, Answer | undefined] => [probe, answer])
          )
        )

        const problems: Array<string> = []
        for (const mutant of Mutant.mutants.filter(({ isLate }) => isLate !== true)) {
          const client = yield* Mutant.client(mutant)
          const [shown = [], places = []] = expected[mutant.claim] ?? []
          const differ = (probe: string) =>
            Effect.map(answerTo(probe), (answer) => {
              const before = right.get(probe)
              return before === undefined ? ["nothing to compare"] : differences(before, answer)
            }).pipe(
              Effect.provideService(HttpClient.HttpClient, client),
              // A token that is not where it was, or that nothing accepts, is nothing to go on with.
              Effect.catchAllDefect(() => Effect.succeed(["outcome"]))
            )
          const seen = Arr.dedupe((yield* Effect.forEach(shown, differ)).flat())
          if (seen.length === 0) problems.push(`${mutant.id} shows nothing`)
          for (const place of Arr.difference(seen, places)) problems.push(`${mutant.id} changes ${place}`)
          for (const probe of Arr.difference(common, [...shown, ...unseen[mutant.claim] ?? []])) {
            for (const place of yield* differ(probe)) problems.push(`${mutant.id} changes ${place} of ${probe}`)
          }
        }
        deepStrictEqual(problems, [])
      }))
  })

  const mutant = Mutant.mutants.find(({ id }) => id === "aml.answer.match-found/lower-case")

  it.live("answers on a socket, with the right control plane and page", () =>
    Effect.gen(function*() {
      assert.isDefined(mutant)
      if (mutant === undefined) return
      yield* Effect.gen(function*() {
        const { options, url } = yield* MockServer.MockServer
        deepStrictEqual([options.authUrl, options.baseUrl], [url, url])
        const to = (path: string) => `${url}${path}`
        const granted = yield* send("POST", to("/oauth/service"), {
          "authorization": basic("test-socket:test-key"),
          "content-type": formType
        }, "grant_type=client_credentials")
        const authorization = `Bearer ${decodeGrant(granted.raw).access_token}`
        const { answer, raw } = yield* send(
          "POST",
          to("/api/aml"),
          { authorization, "content-type": "application/json" },
          JSON.stringify(person)
        )
        strictEqual(answer.status, 200)
        assertInclude(raw, "\"match_found\":\"no\"")
        const profile = /"aml_profile":"([^"]+)"/.exec(raw)?.[1] ?? ""
        strictEqual(profile.startsWith(`${url}/aml-profiles/`), true)
        strictEqual((yield* send("GET", profile, {}, "")).answer.status, 200)
        const session = yield* send("GET", to("/_mock/sessions/test-socket"), {}, "")
        assertInclude(session.raw, "\"exchanges\":3")
      }).pipe(Effect.provide(Layer.merge(Mutant.layerSocket(mutant), NodeHttpClient.layerUndici)))
    }))

  it.live("in process comes with the right control plane", () =>
    Effect.gen(function*() {
      assert.isDefined(mutant)
      if (mutant === undefined) return
      yield* Effect.gen(function*() {
        const { raw } = yield* checked()("test-mine")
        assertInclude(raw, "\"match_found\":\"no\"")
        const { entries } = yield* Effect.flatMap(control("test-mine"), ({ journal }) => journal())
        deepStrictEqual(entries.map(({ operation }) => operation), ["token", "aml"])
        const broken = yield* Effect.either(checked({ body: { ...person, name: "Ada Testcut" } })("test-mine"))
        strictEqual(Either.isLeft(broken), true)
      }).pipe(Effect.provide(Mutant.layerHttpClient(mutant)))
    }))
})
