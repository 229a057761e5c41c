import { HttpClient, HttpClientError, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Array as Arr, DateTime, Effect, Either, Layer, Redacted, Schema, TestClock } from "effect"
import { XMLParser, XMLValidator } from "fast-xml-parser"
import { MockServer, Profile } from "../../mock-server/src/index.ts"
import { Conformance, Contract } from "../src/index.ts"

const address = "http://localhost"

const mock: Conformance.Target = { kind: "mock", authUrl: address, baseUrl: address }

const sandbox: Conformance.Target = {
  ...mock,
  kind: "sandbox",
  customerId: "demo-customer",
  customerKey: Redacted.make("demo-key"),
  spacing: 0
}

const reference = Effect.runSync(Effect.cached(Effect.provide(Contract.load(), NodeContext.layer)))

/** The `TestClock` starts in 1970, before the birth of the test people. */
const verified = (target: Conformance.Target, options: Conformance.VerifyOptions = {}) =>
  TestClock.setTime(Date.UTC(2026, 4, 17, 12)).pipe(
    Effect.zipRight(reference),
    Effect.flatMap((claims) => Conformance.verify(target, claims, options))
  )

const playing = (patch: Profile.Patch) =>
  MockServer.layerHttpClientWith({ profile: Profile.apply(Profile.defaultProfile, patch) })

const lineWith = (text: string, part: string) => text.split("\n").find((line) => line.includes(part)) ?? ""

const Counts = { tests: Schema.NumberFromString, failures: Schema.NumberFromString, skipped: Schema.NumberFromString }

const Message = Schema.optionalWith(
  Schema.Struct({ "message": Schema.String, "#text": Schema.optionalWith(Schema.String, { exact: true }) }),
  { exact: true }
)

const Junit = Schema.Struct({
  testsuites: Schema.Struct({
    ...Counts,
    testsuite: Schema.Array(Schema.Struct({
      ...Counts,
      name: Schema.String,
      testcase: Schema.Array(Schema.Struct({ name: Schema.String, failure: Message, skipped: Message }))
    }))
  })
})

const readJunit = (xml: string) => {
  strictEqual(XMLValidator.validate(xml), true)
  const parser = new XMLParser({
    ignoreAttributes: false,
    htmlEntities: true,
    attributeNamePrefix: "",
    isArray: (name) => name === "testsuite" || name === "testcase"
  })
  return Schema.decodeUnknownSync(Junit)(parser.parse(xml)).testsuites
}

describe("The table of a report", () => {
  it.effect("shows a violation with its sentence, what was expected, and a command that shows it", () =>
    Effect.gen(function*() {
      const real = yield* HttpClient.HttpClient
      let lastToken = ""
      const wrong = HttpClient.make((request, url) => {
        const { authorization } = request.headers
        const isOpen = url.pathname === "/api/aml" && authorization === undefined
        if (url.pathname === "/api/aml" && authorization !== undefined && lastToken === "") lastToken = authorization
        return real.execute(isOpen ? HttpClientRequest.setHeader(request, "authorization", lastToken) : request)
      })
      const report = yield* Effect.provideService(verified(sandbox), HttpClient.HttpClient, wrong)
      const table = Conformance.toTable(report, yield* reference, sandbox)
      const lines = table.split("\n")
      const at = lines.findIndex((line) => line.startsWith("  ✗ aml.authorization.missing: "))
      // Each claim stands once, above its cases.
      const sentence = "Authentication is mandatory for all API requests."
      const headings = lines.filter((line) => line.includes(sentence))
      deepStrictEqual(headings, [`aml.request.authorization: The service document, section 5: "${sentence}"`])
      assert(lines.indexOf(headings[0] ?? "") < at)
      deepStrictEqual(lines.slice(at + 1, at + 3).map((line) => line.trim()), [
        "expected refused, observed answered (HTTP 200)",
        "curl -i -X POST 'http://localhost/api/aml' -H 'content-type: application/json' " +
        "--data-raw '{\"entity_type\":\"person\",\"name\":\"Zoë Ana Testclear\",\"dob\":\"01-02-1990\"}'"
      ])
      assert(lines.length < 100, `${lines.length}`)
    }).pipe(Effect.provide(MockServer.layerHttpClient)))

  it.effect("tells a wrong field once, with the other cases whose responses have it", () =>
    Effect.gen(function*() {
      const real = yield* HttpClient.HttpClient
      const wrong = HttpClient.make((request) =>
        Effect.gen(function*() {
          const response = yield* real.execute(request)
          const { headers, status } = response
          const text = (yield* response.text).replace(/"birth_year":"\d+"/, "\"birth_year\":\"0000\"")
          return HttpClientResponse.fromWeb(request, new Response(text, { headers, status }))
        })
      )
      const report = yield* Effect.provideService(verified(sandbox), HttpClient.HttpClient, wrong)
      const own = report.results.filter(({ claim, verdict }) => claim === "aml.answer.every" && verdict === "violated")
      const [first, ...others] = own.map(({ id }) => id)
      assert(others.length > 0)
      const lines = Conformance.toTable(report, yield* reference, sandbox).split("\n")
      const about = lines.filter((line) => line.includes("birth_year wrong"))
      deepStrictEqual(about.length, 1)
      const more = `${others.length} more case${others.length === 1 ? "" : "s"}: ${others.join(", ")}`
      deepStrictEqual(lines.filter((line) => line.trim() === `the same in ${more}`).length, 1)
      assert(lines.some((line) => line.startsWith(`  ✗ ${first}: `)))
    }).pipe(Effect.provide(MockServer.layerHttpClient)))

  it.effect("shows each case of another cause, and the command of each case that it shows", () =>
    Effect.gen(function*() {
      const report = yield* verified(sandbox)
      const [first] = report.results
      assert(first !== undefined)
      const results = [
        ["a", "aml.answer.every", "no credential", "curl 1"],
        ["b", "aml.answer.every", "no credential", "curl 2"],
        ["c", "aml.answer.every", "name wrong", "curl 3"],
        ["d", "aml.answer.every", "name wrong", "curl 4"],
        ["e", "aml.request.people", "not every one answered", "curl 4"],
        ["f", "aml.request.people", "not every one answered", "curl 4"]
      ].map(([id = "", claim = "", observed = "", curl = ""]) => ({
        ...first,
        verdict: "violated" as const,
        ...{ id, claim, observed, curl }
      }))
      const lines = Conformance.toTable({ ...report, results }, yield* reference, sandbox).split("\n")
      deepStrictEqual(
        lines.flatMap((line) => /^ +(?:✗ ([a-f]): .*|(curl .*|the same.*))$/.exec(line)?.slice(1) ?? []).filter(
          Boolean
        ),
        ["a", "curl 1", "b", "curl 2", "c", "curl 3", "the same in 1 more case: d", "e", "curl 4", "f"]
      )
    }).pipe(Effect.provide(MockServer.layerHttpClient)))

  it.effect("shows what a drift differs from, and the profile flags of the mock server", () =>
    Effect.gen(function*() {
      const cases = Conformance.cases.filter(({ id }) => /^(token\.status|aml\.(cred-version|searched-on))/.test(id))
      const report = yield* verified(mock, { cases })
      const table = Conformance.toTable(report, yield* reference, mock)
      const lines = table.split("\n")
      const drifts = lines.filter((line) => line.startsWith("  ~ "))
      deepStrictEqual(drifts.slice(0, 2), [
        "  ~ token.status: the status of the token response: the contract's default is 200, observed 201",
        "  ~ aml.cred-version.value: cred_version: the contract's default is 1.0, observed 2.0 (HTTP 200)"
      ])
      strictEqual(
        lineWith(table, "idv-mock serve"),
        "  idv-mock serve --profile tokenStatus=201 --profile credVersion=2.0 --profile searchedOn=ahead"
      )
    }).pipe(Effect.provide(playing({ tokenStatus: "201", credVersion: "2.0", searchedOn: "ahead" }))))

  it.effect("shows one command below all drifts of a request", () =>
    Effect.gen(function*() {
      const report = yield* verified(sandbox)
      const lines = Conformance.toTable(report, yield* reference, sandbox).split("\n")
      const at = lines.findIndex((line) => line.startsWith("  ~ token.status"))
      deepStrictEqual(lines.slice(at, at + 3).map((line) => line.split(":")[0]), [
        "  ~ token.status",
        "  ~ token.type",
        "      curl -i -X POST 'http"
      ])
      assertInclude(lines[at + 2], "'http://localhost/oauth/service'")
    }).pipe(Effect.provide(playing({ tokenStatus: "201", tokenType: "absent" }))))

  it.effect("shows the commands of both requests if one response is wrong because of the other", () =>
    Effect.gen(function*() {
      const real = yield* HttpClient.HttpClient
      let profile = ""
      const wrong = HttpClient.make((request) =>
        Effect.gen(function*() {
          const response = yield* real.execute(request)
          const { headers, status } = response
          const text = yield* response.text
          const [own] = /"aml_profile":"[^"]+"/.exec(text) ?? []
          if (profile === "") profile = own ?? ""
          const changed = new Response(own === undefined ? text : text.replace(own, profile), { headers, status })
          return HttpClientResponse.fromWeb(request, changed)
        })
      )
      const report = yield* Effect.provideService(verified(sandbox), HttpClient.HttpClient, wrong)
      const { curl, observed } = report.results.find(({ id }) => id === "aml.profile.own") ?? {}
      const names = curl?.split("\n").map((command) => /"name":"([^"]+)"/.exec(command)?.[1])
      deepStrictEqual([observed, names?.length, new Set(names).size], ["shared", 2, 2])
      const table = Conformance.toTable(report, yield* reference, sandbox)
      for (const command of curl?.split("\n") ?? []) assertInclude(table, `\n      ${command}\n`)
    }).pipe(Effect.provide(MockServer.layerHttpClient)))

  it.effect("shows the commands of a sequence in their order, and those of the same time in one line", () =>
    Effect.gen(function*() {
      const real = yield* HttpClient.HttpClient
      let last = ""
      const wrong = HttpClient.make((request, url) =>
        Effect.gen(function*() {
          const { authorization = "" } = request.headers
          if (url.pathname === "/api/aml" && authorization !== `Bearer ${last}`) {
            return HttpClientResponse.fromWeb(request, new Response(null, { status: 401 }))
          }
          const response = yield* real.execute(request)
          const text = yield* response.text
          last = /"access_token":"([^"]+)"/.exec(text)?.[1] ?? last
          return HttpClientResponse.fromWeb(request, new Response(text, response))
        })
      )
      const report = yield* Effect.provideService(verified(sandbox), HttpClient.HttpClient, wrong)
      const { curl = "", verdict } = report.results.find(({ id }) => id === "token.renewal") ?? {}
      const lines = curl.split("\n")
      deepStrictEqual([verdict, lines.length], ["violated", 4])
      assert(/^curl .* & curl .* & wait$/.test(lines[0] ?? ""), lines[0])
      assertInclude(lines[3], "\"$TOKEN_1\"")
      assertInclude(
        Conformance.toTable(report, yield* reference, sandbox),
        "$TOKEN_1 is the token of the first token request"
      )
    }).pipe(Effect.provide(MockServer.layerHttpClient)))

  it.effect("shows the shortest sequence, and no sequence if its last request showed the same alone", () =>
    Effect.gen(function*() {
      const real = yield* HttpClient.HttpClient
      let last = ""
      const wrong = HttpClient.make((request, url) =>
        Effect.gen(function*() {
          const { authorization = "" } = request.headers
          const isOpen = url.pathname === "/api/aml" && authorization === ""
          const isEarlier = url.pathname === "/api/aml" && !isOpen && authorization !== `Bearer ${last}`
          if (isEarlier) return HttpClientResponse.fromWeb(request, new Response(null, { status: 401 }))
          const response = yield* real.execute(
            isOpen ? HttpClientRequest.setHeader(request, "authorization", `Bearer ${last}`) : request
          )
          const text = yield* response.text
          last = /"access_token":"([^"]+)"/.exec(text)?.[1] ?? last
          return HttpClientResponse.fromWeb(request, new Response(text === "" ? null : text, response))
        })
      )
      const ids = ["token.renewal", "aml.authorization.missing", "aml.authorization.after"]
      const cases = Conformance.cases.filter(({ id }) => ids.includes(id))
      const { results } = yield* Effect.provideService(verified(mock, { cases }), HttpClient.HttpClient, wrong)
      const linesOf = (id: string) => results.find((result) => result.id === id)?.curl?.split("\n")
      deepStrictEqual(ids.map((id) => linesOf(id)?.length), [3, 1, 1])
      deepStrictEqual(linesOf("aml.authorization.after"), linesOf("aml.authorization.missing"))
    }).pipe(Effect.provide(MockServer.layerHttpClient)))

  it.effect("shows what was sent at the time of a wrong response of the run, with any token", () =>
    Effect.gen(function*() {
      const real = yield* HttpClient.HttpClient
      let busy = 0
      const wrong = HttpClient.make((request, url) =>
        url.pathname !== "/api/aml" ? real.execute(request) : Effect.gen(function*() {
          busy += 1
          const isAlone = busy === 1
          yield* Effect.yieldNow()
          const response = yield* real.execute(request)
          const text = yield* response.text
          busy -= 1
          const changed = isAlone ? text : text.replace("Potential match", "No")
          return HttpClientResponse.fromWeb(request, new Response(changed === "" ? null : changed, response))
        })
      )
      const persons: Conformance.Target["persons"] = [
        { name: "Noor Lee Testpep", dob: "14-03-1957", matchFound: "Potential match" },
        { name: "Zoe Lee Testclear", dob: "01-02-1990", matchFound: "No" }
      ]
      const report = yield* Effect.provideService(verified({ ...sandbox, persons }), HttpClient.HttpClient, wrong)
      const { curl = "", verdict } = report.results.find(({ id }) => id === "aml.listed.result") ?? {}
      strictEqual(verdict, "violated")
      assert(/^curl .* & curl .*LISTED_NAME.* & wait$/.test(curl), curl)
      const again = report.results.find(({ id }) => id === "aml.again.run")?.curl ?? ""
      assert(again !== "" && !/TOKEN_\d/.test(again), again)
    }).pipe(Effect.provide(MockServer.layerHttpClient)))

  it.effect("says once that a response ends early, as if its length counted characters, and nothing about its fields", () =>
    Effect.gen(function*() {
      const real = yield* HttpClient.HttpClient
      const wrong = HttpClient.make((request, url) =>
        Effect.gen(function*() {
          const response = yield* real.execute(request)
          const text = yield* response.text
          const bytes = Buffer.from(text)
          const sent = url.pathname === "/api/aml" ? bytes.subarray(0, text.length) : bytes
          return HttpClientResponse.fromWeb(request, new Response(text === "" ? null : sent, response))
        })
      )
      const { results } = yield* Effect.provideService(verified(sandbox), HttpClient.HttpClient, wrong)
      deepStrictEqual(
        results.flatMap(({ id, observed, verdict }) => verdict === "violated" ? [[id, observed]] : []),
        [["aml.answered", "no credential"], ["aml.credential", "JSON that ends early"]]
      )
      strictEqual(
        results.find(({ id }) => id === "aml.birth-year")?.reason,
        "the response of the API is not a JSON object"
      )
      // A larger budget would not help.
      const ofBudget = results.filter(({ id, reason = "" }) => id.startsWith("aml.") && reason.endsWith("(--budget)"))
      deepStrictEqual(ofBudget.map(({ id }) => id), [])
    }).pipe(Effect.provide(MockServer.layerHttpClient)))

  it.effect("of a service shows its cost and the reasons of skipped cases, without alarms", () =>
    Effect.gen(function*() {
      const report = yield* verified(sandbox)
      const table = Conformance.toTable(report, yield* reference, { ...sandbox, budget: 99 })
      assertInclude(
        table,
        `\nsent            ${report.requests} requests of a budget of 99, only about fictional people\n`
      )
      assert(/\n  - \d+ cases: the clock of a service cannot be moved \(--wait-for-expiry\)\n/.test(table), table)
      deepStrictEqual(report.alarms, [])
    }).pipe(Effect.provide(MockServer.layerHttpClient)))

  it.effect("names a documented claim without a case that ran", () =>
    Effect.gen(function*() {
      const { claims: [claim] } = yield* reference
      const claims: Contract.Contract = { claims: [{ ...claim, id: "new.claim", level: "documented" }] }
      const report = Conformance.judge(claims, [], { kind: "sandbox" })
      assertInclude(
        Conformance.toTable(report, claims),
        "Not tested, wholly or in part\n  new.claim: the claim is documented, but none of its cases ran\n"
      )
      const { failures, testsuite: [suite] } = readJunit(Conformance.toJunit(report, claims))
      strictEqual(failures, 1)
      strictEqual(suite?.testcase[0]?.failure?.message, "the claim is documented, but none of its cases ran")
    }))

  it("escapes control characters and markup of a contract", () => {
    const odd = "\u001b[31m<a href=\"x\">&'\u0000\ud800"
    const claims = Either.getOrThrow(Contract.fromYaml(JSON.stringify({
      claims: [{
        id: "token.request.path",
        claim: "it is odd",
        level: "documented",
        section: "4.1",
        source: "nothing",
        accept: [odd],
        client: "tolerate"
      }]
    })))
    const report = Conformance.judge(
      claims,
      [{ case: "token.granted", observed: "granted", requests: 1, millis: 1 }],
      { kind: "sandbox" }
    )
    strictEqual(/[^\P{Cc}\n]/u.test(Conformance.toTable(report, claims)), false)
    const xml = Conformance.toJunit(report, claims)
    strictEqual(/[^\P{Cc}\n]|\p{Cs}/u.test(xml), false)
    const { testsuite: [suite] } = readJunit(xml)
    strictEqual(suite?.testcase.length, 1)
    assertInclude(suite?.testcase[0]?.failure?.message, "<a href=\"x\">&'\ufffd\ufffd, observed granted")
  })
})

describe("A report as JSON", () => {
  it.effect("has the results and the counts", () =>
    Effect.gen(function*() {
      const report = yield* verified(sandbox)
      const file = yield* Schema.decode(Schema.parseJson(Conformance.ReportFile))(
        Conformance.toJson(report, yield* reference, sandbox)
      )
      const { alarms, coverage, failOn, kind, requests, results, unexecuted } = file
      deepStrictEqual({ alarms, coverage, failOn, kind, requests, results, unexecuted }, report)
      deepStrictEqual([file.version, file.conforms], [2, true])
      const { cases } = file.counts
      strictEqual(Object.values(cases).reduce((sum, count) => sum + count, 0), Conformance.cases.length)
      assert(cases["not tested"] > 0 && cases.drift === 1)
      const { claims } = yield* reference
      const { assumed, documented, observed, unknown } = file.counts.claims
      strictEqual(assumed.all + documented.all + observed.all + unknown.all, claims.length)
      strictEqual(assumed.drifted, 1)
      strictEqual(file.verdict, Conformance.verdict(report))
    }).pipe(Effect.provide(playing({ tokenStatus: "203" }))))
})

/** One case of each claim shows a report as well as all. */
const isOfClaim = (one: Conformance.Case, two: Conformance.Case) => one.claim === two.claim

describe("A report as JUnit XML", () => {
  it.effect.each<[string, Conformance.Target]>([["mock server", mock], ["service", sandbox]])(
    "of a %s has one failure for each alarm, and the reasons of skipped cases",
    ([, target]) =>
      Effect.gen(function*() {
        const isSandbox = target.kind === "sandbox"
        const report = yield* verified(target, isSandbox ? {} : { cases: Arr.dedupeWith(Conformance.cases, isOfClaim) })
        const xml = Conformance.toJunit(report, yield* reference)
        const { failures, tests, testsuite } = readJunit(xml)
        const listed = report.results.filter(({ verdict }) => verdict !== "not tested")
        strictEqual(tests, listed.length)
        strictEqual(failures, report.alarms.length)
        // A drift is an alarm for a mock server only.
        strictEqual(failures, isSandbox ? 0 : 2)
        const cases = testsuite.flatMap(({ testcase }) => testcase)
        deepStrictEqual(
          cases.map(({ name }) => name).toSorted(),
          listed.map(({ id, title }) => `${id}: ${title}`).toSorted()
        )
        const { failure } = cases.find(({ name }) => name.startsWith("token.type:")) ?? {}
        if (!isSandbox) {
          strictEqual(failure?.message, "the contract's default is Bearer, observed other (HTTP 201)")
          assertInclude(failure?.["#text"], "Assumption token.response.type: RFC 6749")
          assertInclude(failure?.["#text"], "\ncurl -i -X POST 'http://localhost/oauth/service'")
        }
        const isCounted = /name="not tested: the clock of a service cannot be moved[^"]*" value="\d+"/.test(xml)
        strictEqual(isCounted, isSandbox)
      }).pipe(Effect.provide(playing({ tokenType: "other", tokenStatus: "201" })))
  )
})

describe("Observations", () => {
  it.effect("are a file of claims with the observed claims, and all others unchanged", () =>
    Effect.gen(function*() {
      const first = yield* reference
      yield* TestClock.setTime(Date.UTC(2026, 4, 17, 12))
      const report = yield* verified(sandbox)
      const second = yield* Contract.fromYaml(yield* Conformance.toObservations(report, first))
      const ran = new Set(report.results.filter(({ verdict }) => verdict !== "not tested").map(({ claim }) => claim))
      strictEqual(second.claims.length, first.claims.length)
      for (const [i, claim] of second.claims.entries()) {
        const { level, observed, observedOn, ...rest } = claim
        const before = first.claims[i]
        assert(before !== undefined)
        if (!ran.has(claim.id)) {
          deepStrictEqual(claim, before)
          continue
        }
        deepStrictEqual({ ...rest, level: before.level }, before)
        strictEqual(level, before.level === "documented" ? "documented" : "observed", claim.id)
        deepStrictEqual(observedOn, { day: "2026-05-17", target: "sandbox" })
        assert(observed !== undefined)
      }
      const status = second.claims.find(({ id }) => id === "token.success.status")
      deepStrictEqual(status?.observed, [201])

      // An unchanged service passes the next run, and a change drifts.
      const again = yield* Conformance.verify(sandbox, second)
      deepStrictEqual(again.results.filter(({ verdict }) => verdict !== "pass" && verdict !== "not tested"), [])
      const changed = yield* Effect.provide(Conformance.verify(sandbox, second), playing({}))
      deepStrictEqual(changed.results.filter(({ verdict }) => verdict === "drift").map(({ id }) => id), [
        "token.status"
      ])
      // A drift alone does not fail the run, but a change of an observed point does.
      deepStrictEqual(changed.alarms, ["token.status"])
    }).pipe(Effect.provide(playing({ tokenStatus: "201" }))))

  it.effect("of a target that refuses the customer leave all claims unchanged", () =>
    Effect.gen(function*() {
      const first = yield* reference
      const report = yield* verified({ ...sandbox, customerKey: Redacted.make("wrong") })
      deepStrictEqual(yield* Contract.fromYaml(yield* Conformance.toObservations(report, first)), first)
    }).pipe(Effect.provide(MockServer.layerHttpClient)))
})

describe("The verdict if the documented requests fail", () => {
  const answering = (make: (path: string) => Response | undefined) =>
    Layer.succeed(
      HttpClient.HttpClient,
      HttpClient.make((request, url) => {
        const response = make(url.pathname)
        return response === undefined
          ? Effect.fail(new HttpClientError.RequestError({ request, reason: "Transport" }))
          : Effect.succeed(HttpClientResponse.fromWeb(request, response))
      })
    )

  const html = (status: number) =>
    new Response("<!doctype html><title>Canary</title>", { status, headers: { "content-type": "text/html" } })

  const json = (body: unknown, status = 200) => Response.json(body, { status })

  const invalid = { error: "invalid_client" }

  /** A token endpoint that is right, and this API. */
  const api = (answer: () => Response | undefined) => (path: string) =>
    path === "/oauth/service" ? json({ access_token: "t", token_type: "Bearer", expires_in: 3600 }) : answer()

  const blocked =
    "this machine or the customer may be blocked for a while, as after wrong keys or bad tokens of an earlier run"
  const ownPersons = "If the sandbox knows only its own test persons, name them with --person or --persons"
  const nothing = "Nothing can be verified: "
  const noCheck = "The AML check cannot be verified: "

  it.effect.each<[string, string, (path: string) => Response | undefined]>([
    [
      "no server responds",
      `${nothing}no server responds at ${address}: check the address, and start the server`,
      () => undefined
    ],
    [
      "the customer is refused",
      `${nothing}the customer is refused with 401: check its id and its key. If they are right, ${blocked}`,
      () => json(invalid, 401)
    ],
    [
      "a firewall refuses this machine",
      `${nothing}the token endpoint answers 403 with an HTML page: a firewall may refuse this machine`,
      () => html(403)
    ],
    [
      "the token request is refused with 403",
      `${nothing}the token request is refused with 403, by the service or by a firewall in front of it: ${blocked}`,
      () => json(invalid, 403)
    ],
    [
      "the customer is refused with an HTML page",
      `${nothing}the customer is refused with 401: check its id and its key. If they are right, ${blocked}`,
      () => html(401)
    ],
    [
      "the token request is refused",
      `${nothing}the token request is refused with 400: the id or the key of the customer may be wrong`,
      () => json(invalid, 400)
    ],
    [
      "the token request is refused with 200",
      `${nothing}the token request is refused with 200: the id or the key of the customer may be wrong`,
      () => json(invalid)
    ],
    [
      "the token endpoint responds with HTML",
      `${nothing}the token endpoint responds with an HTML page (200): check the address`,
      () => html(200)
    ],
    [
      "there is no token endpoint",
      `${nothing}the token endpoint does not exist there (404): check the address`,
      () => json({}, 404)
    ],
    ["the token endpoint fails", `${nothing}the token endpoint fails with 503`, () => json({}, 503)],
    ["there is no token", `${nothing}the token endpoint responds with 200, but without a token`, () => json({})],
    [
      "the token endpoint redirects",
      `${nothing}the token endpoint redirects with 302, which is not followed: check the address`,
      () => new Response(null, { status: 302, headers: { location: "https://example.com/" } })
    ],
    [
      "there is no API",
      `${noCheck}no server responds at ${address}: check the address, and start the server`,
      api(() => undefined)
    ],
    [
      "the API responds with HTML",
      `${noCheck}the API responds with an HTML page (200): check the address`,
      api(() => html(200))
    ],
    ["the API refuses the token", `${noCheck}the API refuses the token with 401`, api(() => json({}, 401))],
    [
      "the API refuses the check",
      `${noCheck}the API refuses the request of section 4.2 with 422. ${ownPersons}`,
      api(() => json({}, 422))
    ]
  ])("is one line at the end of a short table: %s", ([, line, make]) =>
    Effect.gen(function*() {
      const report = yield* verified(sandbox)
      strictEqual(Conformance.verdict(report, sandbox), line)
      const table = Conformance.toTable(report, yield* reference, sandbox)
      strictEqual(table.split("\n").at(-1), line)
      if (line.startsWith(nothing)) assert(table.split("\n").length < 20, table)
      assert(report.alarms.length > 0)
      const claims = yield* reference
      for (
        const text of [
          table,
          Conformance.toJunit(report, claims, sandbox),
          Conformance.toJson(report, claims, sandbox)
        ]
      ) {
        strictEqual(/canary|demo-key/i.test(text), false)
      }
    }).pipe(Effect.provide(answering(make))))

  it.effect("names the wrong address if the two differ", () =>
    Effect.gen(function*() {
      const { results, ...report } = yield* verified(sandbox)
      const runInfo: Conformance.RunInfo = { authUrl: "http://localhost/auth", baseUrl: address }
      assertInclude(Conformance.verdict({ ...report, results }, runInfo), "check the auth URL")
    }).pipe(Effect.provide(answering(() => html(200)))))
})

describe("The circumstances of a run in a report", () => {
  const sha = "0123456789abcdef".repeat(4)
  const runInfo: Conformance.RunInfo = {
    ...sandbox,
    authUrl: "https://user:canary@auth.example.com/idv/?key=canary#canary",
    baseUrl: "https://api.example.com",
    startedAt: DateTime.unsafeMake("2026-05-17T12:30:01.234Z"),
    version: "1.2.3",
    claimsSha256: sha,
    checks: 12
  }

  it.effect("are the addresses, the time, the version and the cost, but not the customer", () =>
    Effect.gen(function*() {
      const report = yield* verified(sandbox)
      const claims = yield* reference
      const table = Conformance.toTable(report, claims, runInfo)
      deepStrictEqual(table.split("\n").slice(0, 10), [
        "target          sandbox",
        "token endpoint  https://auth.example.com/idv",
        "API             https://api.example.com",
        "started         2026-05-17T12:30:01.234Z",
        "version         1.2.3",
        "contract        version 1",
        `claims          SHA-256 ${sha}`,
        `document        SHA-256 ${claims.document?.sha256}`,
        `sent            ${report.requests} requests of a budget of 60, 12 checks that may be billed, ` +
        "only about fictional people",
        ""
      ])
      const json = Conformance.toJson(report, claims, runInfo)
      const run = {
        authUrl: "https://auth.example.com/idv",
        baseUrl: "https://api.example.com",
        startedAt: "2026-05-17T12:30:01.234Z",
        version: "1.2.3",
        claimsSha256: sha,
        contractVersion: 1,
        documentSha256: claims.document?.sha256 ?? "",
        requests: report.requests,
        budget: 60,
        checks: 12
      }
      deepStrictEqual((yield* Schema.decode(Schema.parseJson(Conformance.ReportFile))(json)).run, run)
      const xml = Conformance.toJunit(report, claims, runInfo)
      strictEqual(XMLValidator.validate(xml), true)
      assertInclude(xml, "timestamp=\"2026-05-17T12:30:01\"")
      for (const [name, value] of Object.entries({ target: "sandbox", ...run })) {
        if (name !== "startedAt") assertInclude(xml, `<property name="${name}" value="${value}"/>`)
      }
      for (const text of [table, json, xml]) strictEqual(/canary|demo-customer|demo-key/.exec(text)?.[0], undefined)
    }).pipe(Effect.provide(MockServer.layerHttpClient)))
})

describe("A target without a TLS connection", () => {
  it.effect.each<[string, string]>([
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "Node.js does not trust the certificate of https://idv.example: "],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "the certificate of https://idv.example is for another host: "],
    ["CERT_HAS_EXPIRED", "the certificate of https://idv.example is expired or not yet valid: "],
    ["ERR_SSL_PACKET_LENGTH_TOO_LONG", "the TLS handshake with https://idv.example fails: "]
  ])("is reported with the reason of %s", ([code, text]) =>
    Effect.gen(function*() {
      const target = { ...sandbox, authUrl: "https://idv.example", baseUrl: "https://idv.example" }
      const report = yield* verified(target)
      strictEqual(Conformance.isTested(report), false)
      assertInclude(Conformance.verdict(report, target), `Nothing can be verified: ${text}`)
    }).pipe(Effect.provide(Layer.succeed(
      HttpClient.HttpClient,
      HttpClient.make((request) =>
        Effect.fail(
          new HttpClientError.RequestError({
            request,
            reason: "Transport",
            cause: new Error("no connection", { cause: Object.assign(new Error(code), { code }) })
          })
        )
      )
    ))))
})

describe("A target that should be a mock server", () => {
  const received: Array<string> = []
  const service = (status: number, body: unknown) =>
    Layer.succeed(
      HttpClient.HttpClient,
      HttpClient.make((request) => {
        received.push(`${request.method} ${request.url} ${request.headers["authorization"] ?? "-"}`)
        return Effect.succeed(HttpClientResponse.fromWeb(request, Response.json(body, { status })))
      })
    )

  it.effect.each<[string, number, unknown, string]>([
    ["responds with 404", 404, {}, "is not an idv-mock server: use --target sandbox"],
    ["responds with another 200", 200, { live: "yes" }, "is not an idv-mock server: use --target sandbox"],
    ["responds with 403", 403, {}, "start it with --allowed-host"]
  ])("receives no further request if it %s", ([, status, body, line]) =>
    Effect.gen(function*() {
      received.length = 0
      const target = { ...mock, customerId: "demo-customer", customerKey: Redacted.make("demo-key") }
      const error = yield* Effect.flip(verified(target))
      assertInclude(error.message, line)
      deepStrictEqual(received, ["GET http://localhost/_mock/live -"])
    }).pipe(Effect.provide(service(status, body))))

  it.effect("is detected at both addresses, or at the address of its control API", () =>
    Effect.gen(function*() {
      received.length = 0
      const apart: Conformance.Target = { ...mock, authUrl: "http://one/a", baseUrl: "http://two/b/" }
      yield* Conformance.requireMockServer(apart)
      yield* Conformance.requireMockServer({ ...apart, controlUrl: "http://three/c" })
      yield* Conformance.requireMockServer({ ...apart, kind: "sandbox" })
      deepStrictEqual(received, [
        "GET http://one/_mock/live -",
        "GET http://two/_mock/live -",
        "GET http://three/c/_mock/live -"
      ])
    }).pipe(Effect.provide(service(200, { live: true }))))
})
