import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Array as Arr, Effect, Either, Layer, Predicate, Schema } from "effect"
import { readFileSync } from "node:fs"
import { sample } from "../../core/test/support/cases.ts"
import { MockServer } from "../../mock-server/src/index.ts"
import { layer } from "../../mock-server/test/support/mockServer.ts"
import * as Mutant from "./mutants/Mutant.ts"
import {
  basic,
  checked,
  control,
  decodeGrant,
  formType,
  person,
  type ProbeResponse,
  probes,
  send
} from "./support/mutantProbes.ts"

const decodeJson = Schema.decodeUnknownEither(Schema.parseJson(Schema.Unknown))

const objectOf = (text: string) =>
  Either.getRight(Either.filterOrLeft(decodeJson(text), Predicate.isRecord, () => undefined))

/** The paths at which two JSON values differ. */
const jsonDifferences = (expected: unknown, actual: unknown, path: string): ReadonlyArray<string> =>
  Predicate.isRecord(expected) && Predicate.isRecord(actual)
    ? Arr.dedupe([...Object.keys(expected), ...Object.keys(actual)]).flatMap((name) =>
      jsonDifferences(expected[name], actual[name], path === "" ? name : `${path}.${name}`)
    )
    : JSON.stringify(expected) === JSON.stringify(actual)
    ? []
    : [path]

/** Where two responses differ: only "outcome" if one of them is a refusal, or else every part that differs. */
const differences = (expected: ProbeResponse, actual: ProbeResponse): ReadonlyArray<string> => {
  if ((expected.status < 300) !== (actual.status < 300)) return ["outcome"]
  const headers = Arr.dedupe([...Object.keys(expected.headers), ...Object.keys(actual.headers)])
    .filter((name) => name !== "content-length" && expected.headers[name] !== actual.headers[name])
  const bodies = [objectOf(expected.text), objectOf(actual.text)].flatMap(Arr.fromOption)
  return [
    ...expected.status === actual.status ? [] : ["status"],
    ...headers,
    ...bodies.length === 2
      ? jsonDifferences(bodies[0], bodies[1], "")
      : expected.text === actual.text
      ? []
      : ["body"]
  ]
}

const attribute = (name: string) => `credentials.attributes.${name}`

const credentials = ["clear", "pep"]
const outcome = ["outcome"]
const error = ["status", "title", "detail"]

/** For each claim: the probes whose responses its mutants may change, and the parts that they may change. */
const allowedChanges: Record<string, readonly [probes: ReadonlyArray<string>, parts: ReadonlyArray<string>]> = {
  "token.request.path": [["grant"], outcome],
  "token.request.method": [["get", "put"], outcome],
  "token.request.content-type": [["json", "text", "no type"], outcome],
  "token.request.authorization": [
    ["wrong key", "empty key", "unknown customer", "no customer"],
    outcome
  ],
  "token.request.credentials": [["scheme", "in the body"], outcome],
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
    "tokenType",
    "expires_in",
    "expiresIn",
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
  "aml.request.authorization": [["no token", "forged", "id and key"], outcome],
  "aml.request.token-place": [["aml scheme"], outcome],
  "aml.request.scheme-case": [["lower case"], outcome],
  "aml.request.content-type": [["aml text", "aml charset"], outcome],
  "aml.request.body": [["array", "not json", "empty"], outcome],
  "aml.request.entity-type": [["no entity_type", "company", "Person"], outcome],
  "aml.request.name": [["no name", "number", "parts"], outcome],
  "aml.request.name.empty": [["blank"], outcome],
  "aml.request.name.damaged": [["damaged"], outcome],
  "aml.request.people": [["apostrophe", "middle names"], outcome],
  "aml.request.listed": [["pep"], outcome],
  "aml.request.name.word": [["one word"], outcome],
  "aml.request.age": [["old"], outcome],
  "aml.request.name.script": [["cyrillic"], outcome],
  "aml.request.dob": [["no dob", "iso", "slashes", "short", "dob as number"], outcome],
  "aml.request.dob.day": [["no day"], outcome],
  "aml.request.extra-fields": [["extra"], outcome],
  "limits.body": [["long"], [...outcome, "status"]],
  "aml.success.status": [credentials, ["status"]],
  "aml.answer.content-type": [credentials, ["content-type"]],
  "aml.answer.encoding": [credentials, ["body", "content-type", attribute("name")]],
  "aml.answer.credential": [credentials, ["body", "content-type"]],
  "aml.answer.credential-type": [credentials, ["credential_type"]],
  "aml.answer.credential-name": [credentials, ["credential_name"]],
  "aml.answer.issued-by": [credentials, ["issued_by"]],
  "aml.issued-by.text": [credentials, ["issued_by"]],
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
  "aml.answer.every": [credentials, [attribute("name"), attribute("aml_profile")]],
  "aml.answer.issuer": [credentials, ["issuer_id"]],
  "aml.answer.searched-on.time": [credentials, [attribute("searched_on")]],
  "aml.profile.own": [credentials, [attribute("aml_profile")]],
  "aml.profile.stable": [credentials, [attribute("aml_profile")]],
  "aml.name.echo": [credentials, [attribute("name")]],
  "aml.answer.birth-year": [[...credentials, "leap day"], [attribute("birth_year")]],
  "aml.answer.searched-on": [credentials, [attribute("searched_on")]],
  "aml.searched-on.zone": [credentials, [attribute("searched_on")]],
  "aml.answer.match-found": [[...credentials, "sanc"], [attribute("match_found")]],
  "aml.match.subjects": [[...credentials, "sanc"], [attribute("match_found")]],
  "aml.match.everybody": [credentials, [attribute("match_found")]],
  "aml.match.persons": [credentials, [attribute("match_found")]],
  "aml.match.again": [["again"], [attribute("match_found")]],
  "aml.match.later": [["later"], [attribute("match_found")]],
  "aml.answer.aml-profile": [[...credentials, "sanc"], [attribute("aml_profile")]],
  "aml.profile.page": [["page"], [...outcome, "body", "content-type"]],
  "aml.credential.extra-fields": [credentials, [
    ...["valid_until", "links", "credentials.format", "credentials.revision"],
    ...["is_final", "lists"].map(attribute)
  ]],
  "token.error": [
    ["wrong key"],
    [
      "outcome",
      "status",
      "www-authenticate",
      "body",
      "content-type",
      "error",
      "error_description",
      "type",
      "title",
      "detail"
    ]
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
    ["body", "content-type", "errors", "error", "error_description", "type", ...error]
  ],
  "aml.error.method": [["aml put"], ["status"]],
  "aml.error.unauthorized": [["no token"], ["status"]],
  "aml.error.challenge": [["no token"], ["www-authenticate"]],
  "token.expired": [["61 minutes"], ["status", "www-authenticate", "title"]],
  "aml.error.content-type": [["aml text"], ["status"]],
  "aml.error.json": [["not json"], ["status"]],
  "aml.error.fields": [["company"], ["outcome", "status"]],
  "aml.error.echo": [["company"], ["detail"]],
  "paths.other": [["elsewhere"], [...outcome, "status"]],
  "redirects": [["grant", ...credentials], outcome],
  "limits.rate.retry-after": [["limited"], ["retry-after"]]
}

/** Probes whose responses a mutant must not change, unless they are those of its claim. */
const common = ["grant", "wrong key", "clear", "company"]

/** The common probes that mutants of these claims cannot respond to, such as checks without a token. */
const unreachable: Record<string, ReadonlyArray<string>> = {
  "token.request.path": common,
  "token.response.fields": ["clear", "company"],
  "redirects": ["clear", "company"],
  "aml.request.path": ["company"]
}

/** Each probe has its own customer, and so its own session. */
let customers = 0

const responseTo = (probe: string) =>
  Effect.map(
    Effect.suspend(() => probes[probe]?.(`test-probe-${++customers}`) ?? Effect.dieMessage(`no probe ${probe}`)),
    ({ response }) => response
  )

describe("A mutant", () => {
  it("has a unique id that begins with its claim", () => {
    const ids = Mutant.mutants.map(({ id }) => id)
    deepStrictEqual(Arr.dedupe(ids), ids)
    deepStrictEqual(Mutant.mutants.filter(({ claim, id }) => !id.startsWith(`${claim}/`)), [])
    deepStrictEqual(ids.filter((id) => !/^[a-z.-]+\/([a-z0-9]+(-[a-z0-9]+)*|[a-zA-Z]+=[\w.-]+)$/.test(id)), [])
    assert.isAtLeast(ids.length, 200)
  })

  // The next test compares a sample, and a claim without probes would be noticed only if it is in the sample.
  it("has probes whose responses it may change", () => {
    const claims = Mutant.mutants.filter(({ isLate }) => isLate !== true).map(({ claim }) => claim)
    deepStrictEqual(Arr.difference(Arr.dedupe(claims), Object.keys(allowedChanges)), [])
  })

  it("has a description that continues a sentence", () => {
    deepStrictEqual(Mutant.mutants.filter(({ description }) => !/^[a-z].*[^.]$/.test(description)), [])
  })

  it("is not published", () => {
    const text = readFileSync(new URL("../package.json", import.meta.url), "utf8")
    deepStrictEqual(JSON.parse(text).files, ["CHANGELOG.md", "bundle", "contract", "dist", "src"])
  })

  it.layer(layer)((it) => {
    it.effect("differs from the mock server only in the behavior of its claim", () =>
      Effect.gen(function*() {
        const all = Arr.dedupe(Object.values(allowedChanges).flatMap(([probes]) => probes).concat(common))
        const expected = new Map(
          yield* Effect.forEach(
            all,
            (probe) =>
              Effect.map(
                responseTo(probe),
                (response): readonly [string, ProbeResponse | undefined] => [probe, response]
              )
          )
        )

        const problems: Array<string> = []
        for (const mutant of sample(Mutant.mutants.filter(({ isLate }) => isLate !== true), 6)) {
          const [probes = [], parts = []] = allowedChanges[mutant.claim] ?? []
          const changesOf = (probe: string) =>
            Effect.map(responseTo(probe), (response) => {
              const before = expected.get(probe)
              return before === undefined ? ["nothing to compare"] : differences(before, response)
            }).pipe(
              // A mutant whose token is missing or refused everywhere ends the probe.
              Effect.catchAllDefect(() => Effect.succeed(["outcome"]))
            )
          const others = Arr.difference(common, [...probes, ...unreachable[mutant.claim] ?? []])
          const { changed, changedOthers } = yield* Effect.all({
            changed: Effect.map(Effect.forEach(probes, changesOf), (changes) => Arr.dedupe(changes.flat())),
            changedOthers: Effect.forEach(
              others,
              (probe) => Effect.map(changesOf(probe), (changes) => changes.map((part) => `${part} of ${probe}`))
            )
          }).pipe(Effect.provide(Mutant.layerShared(mutant)))
          if (changed.length === 0) problems.push(`${mutant.id} changes nothing`)
          for (const part of [...Arr.difference(changed, parts), ...changedOthers.flat()]) {
            problems.push(`${mutant.id} changes ${part}`)
          }
        }
        deepStrictEqual(problems, [])
      }))
  })

  const mutant = Mutant.mutants.find(({ id }) => id === "aml.answer.match-found/lower-case")

  it.live("is served on a socket, with the control API and the page of the mock server", () =>
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
        const { raw, response } = yield* send(
          "POST",
          to("/api/aml"),
          { authorization, "content-type": "application/json" },
          JSON.stringify(person)
        )
        strictEqual(response.status, 200)
        assertInclude(raw, "\"match_found\":\"no\"")
        const profile = /"aml_profile":"([^"]+)"/.exec(raw)?.[1] ?? ""
        strictEqual(profile.startsWith(`${url}/aml-profiles/`), true)
        strictEqual((yield* send("GET", profile, {}, "")).response.status, 200)
        const session = yield* send("GET", to("/_mock/sessions/test-socket"), {}, "")
        assertInclude(session.raw, "\"exchanges\":3")
      }).pipe(Effect.provide(Layer.merge(Mutant.layerSocket(mutant), NodeHttpClient.layerUndici)))
    }))

  it.live("is served in process, with the control API of the mock server", () =>
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
