import { HttpClient, HttpClientError, type HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Array as Arr, Effect, Layer, Option, Redacted, Schema } from "effect"
import { build } from "esbuild"
import { fileURLToPath } from "node:url"
import { Control, Profile } from "../../mock-server/src/index.ts"
import * as MockServer from "../../mock-server/test/support/mockServer.ts"
import { Conformance, Contract } from "../src/index.ts"

const target: Conformance.Target = { kind: "mock", authUrl: "http://localhost", baseUrl: "http://localhost" }

const reference = Effect.runSync(Effect.cached(Effect.provide(Contract.load(), NodeContext.layer)))

/** The results that are neither a pass nor inapplicable to the mock server. */
const missed = ({ results }: Conformance.Report) =>
  results.filter(({ reason, verdict }) =>
    verdict !== "pass" && !/^(the change makes no difference|every id|the checks of this run)/.test(reason ?? "")
  )

const folder = fileURLToPath(new URL("../src", import.meta.url))

/** The files of the workspace that a module imports, directly or not, and the packages that they import. */
const importsOf = (entryPoint: string) =>
  Effect.promise(() =>
    build({
      entryPoints: [entryPoint],
      bundle: true,
      format: "esm",
      platform: "node",
      packages: "external",
      metafile: true,
      write: false,
      absWorkingDir: folder
    })
  ).pipe(Effect.map(({ metafile: { inputs } }) => ({
    files: Object.keys(inputs),
    packages: Object.values(inputs).flatMap(({ imports }) => imports).filter(({ external }) => external).map((
      { path }
    ) => path)
  })))

/** Cases without a claim and claims without a case. A claim that no request can show needs none. */
const disagreements = (
  claims: ReadonlyArray<Contract.Claim>,
  cases: ReadonlyArray<Conformance.Case>
): ReadonlyArray<string> => [
  ...cases.filter(({ claim }) => claims.every(({ accept, id }) => id !== claim || accept === undefined))
    .map(({ claim, id }) => `the case ${id} tests ${claim}, which claims.yaml does not have`),
  ...claims.filter(({ accept, id }) => accept !== undefined && cases.every(({ claim }) => claim !== id))
    .map(({ id }) => `claims.yaml has ${id}, which no case tests`)
]

describe("The conformance suite", () => {
  it.effect("imports no other package of this repository", () =>
    Effect.gen(function*() {
      const { files, packages } = yield* importsOf("Vitest.ts")
      assert(files.length > 20)
      deepStrictEqual(files.filter((file) => file.startsWith("..")), [])
      const isOurs = (name: string) => name.startsWith("@effect-idv/")
      deepStrictEqual(packages.filter(isOurs), [])
      // The filter finds such imports elsewhere.
      assert((yield* importsOf("../../mock-server/src/MockServer.ts")).packages.some(isOurs))
    }))

  it.effect("has a case for each claim that can be observed, and for no other claim", () =>
    Effect.gen(function*() {
      const { claims } = yield* reference
      deepStrictEqual(disagreements(claims, Conformance.cases), [])
      const [first] = claims
      deepStrictEqual(
        disagreements([{ ...first, id: "new.claim" }], Conformance.cases.filter(({ id }) => id === "token.status")),
        [
          "the case token.status tests token.success.status, which claims.yaml does not have",
          "claims.yaml has new.claim, which no case tests"
        ]
      )
      deepStrictEqual(disagreements(claims.filter(({ accept }) => accept === undefined), []), [])
      const ids = Conformance.cases.map(({ id }) => id)
      strictEqual(new Set(ids).size, ids.length)
    }))

  it.effect("is plain data", () =>
    Effect.sync(() => deepStrictEqual(JSON.parse(JSON.stringify(Conformance.cases)), Conformance.cases)))

  it.effect("passes on the mock server: every case runs, without alarms, and nothing contains a key", () => {
    const reported = new Set<string>()
    return Effect.gen(function*() {
      const customer = { customerId: "demo-customer", customerKey: Redacted.make("demo-key") }
      const observations = yield* Conformance.observe({ ...target, ...customer })
      const report = Conformance.judge(yield* reference, observations, { kind: "mock" })
      deepStrictEqual(missed(report), [])
      deepStrictEqual({ alarms: report.alarms, unexecuted: report.unexecuted }, { alarms: [], unexecuted: [] })
      strictEqual(report.results.length, Conformance.cases.length)
      // The run has deleted its own sessions and no others.
      const { session, sessions } = yield* Control.Control
      deepStrictEqual((yield* sessions).map(({ customerId }) => customerId), ["demo-customer"])

      const table = Conformance.toTable(report, yield* reference, target)
      const documented = (yield* reference).claims.filter(({ level, unobserved }) =>
        level === "documented" && !unobserved
      )
      for (const heading of ["Violated", "Lenient", "Drift"]) strictEqual(table.includes(`\n${heading}`), false)
      deepStrictEqual(table.split("\n").slice(-3), [
        `${documented.length} of ${documented.length} documented claims tested`,
        "",
        Conformance.verdict(report, target)
      ])
      strictEqual(Conformance.verdict(report).startsWith("It conforms: "), true)

      // No exchange has a claim of its own.
      const ids = (yield* reference).claims.map(({ id }) => id)
      deepStrictEqual([...reported].filter((id) => !ids.includes(id)), [])
      assert(reported.size > 20)

      const { entries } = yield* session("demo-customer").journal({})
      assert(entries.length > 50)
      const all = JSON.stringify([observations, report])
      for (const canary of ["demo-key", "test-key"]) strictEqual(all.includes(canary), false, canary)
    }).pipe(Effect.provide(
      MockServer.layerWith({
        onExchange: ({ claims }) =>
          Effect.sync(() => {
            for (const claim of claims) reported.add(claim)
          })
      })
    ))
  })

  it.effect("gives the customers of a mock server keys of their own, and sends those that a service may confuse", () => {
    const ids = ["token.key.colon", "token.key.second-customer", "token.id.changed"]
    /** The keys of created sessions. The service accepts each key for each customer, also if it is cut at a colon. */
    const keys: Array<string> = []
    const CreatedSession = Schema.parseJson(Schema.Struct({ customerKey: Schema.String }))
    const careless = Effect.map(HttpClient.HttpClient, (mock) =>
      HttpClient.make((request, url) => {
        const text = request.body._tag === "Uint8Array" ? Buffer.from(request.body.body).toString() : ""
        if (url.pathname === "/_mock/sessions") {
          keys.push(Option.getOrThrow(Schema.decodeOption(CreatedSession)(text)).customerKey)
        }
        const basic = Buffer.from((request.headers["authorization"] ?? "").split(" ")[1] ?? "", "base64").toString()
        const key = basic.slice(basic.indexOf(":") + 1)
        return url.pathname === "/oauth/service" && keys.some((known) => known === key || known.split(":")[0] === key)
          ? Effect.succeed(HttpClientResponse.fromWeb(request, Response.json({ access_token: "0123456789abcdef" })))
          : mock.execute(request)
      }))
    return Effect.gen(function*() {
      const cases = Conformance.cases.filter(({ id }) => ids.includes(id))
      const right = yield* Conformance.observe(target, cases)
      deepStrictEqual(right.map(({ observed, partial, skipped }) => [observed, partial, skipped]), [
        ["refused", undefined, undefined],
        ["refused", undefined, undefined],
        ["refused", undefined, undefined]
      ])
      const wrong = yield* Effect.flatMap(
        careless,
        (client) => Effect.provideService(Conformance.observe(target, cases), HttpClient.HttpClient, client)
      )
      strictEqual(keys.length, 2)
      assert(keys.every((key) => /:.*[^\x00-\x7f]/.test(key)) && keys[0] !== keys[1])
      deepStrictEqual(wrong.map(({ case: id, probes = [] }) => [id, probes.length > 0]), ids.map((id) => [id, true]))
      deepStrictEqual(wrong[0]?.probes, ["the key up to its first colon"])
    }).pipe(Effect.provide(MockServer.layer))
  })

  it.effect("has no case with two probes of the same title", () =>
    Effect.sync(() => {
      for (const { id, more = [], title } of Conformance.cases) {
        const titles = [title, ...more.map((probe) => probe.title)]
        deepStrictEqual([id, titles.length], [id, new Set(titles).size])
      }
    }))
})

describe("The reference contract", () => {
  it.effect("has a claim in every section of the service document", () =>
    Effect.gen(function*() {
      const sections = new Set((yield* reference).claims.map(({ section }) => section))
      const document = ["1", "2.1", "2.2", "2.3", "3", "4.1", "4.2", "5", "6", "7", "8", "9"]
      deepStrictEqual([...sections].toSorted(), document)
    }))

  it.effect("accepts no unknown word", () =>
    Effect.gen(function*() {
      const observations = Conformance.cases.map(({ id }) => ({
        case: id,
        observed: "another word",
        requests: 1,
        millis: 0
      }))
      for (const kind of ["mock", "sandbox"] as const) {
        const { alarms, results } = Conformance.judge(yield* reference, observations, { kind })
        strictEqual(results.length, Conformance.cases.length)
        // An assumption about a service may be wrong, but a service may not contradict the document.
        const drifts = results.filter(({ level }) => level !== "documented")
        deepStrictEqual(results.filter(({ verdict }) => verdict === "drift"), drifts)
        const alarming = kind === "mock" ? ["violated", "drift"] : ["violated"]
        deepStrictEqual(alarms, results.filter(({ verdict }) => alarming.includes(verdict)).map(({ id }) => id))
        assert(results.some(({ verdict }) => verdict === "lenient") && alarms.length > 40)
      }
    }))

  it.effect.each(Profile.points)(
    "agrees with the profile option $name",
    ({ name, ...point }) =>
      Effect.gen(function*() {
        const { claims } = yield* reference
        const claim = claims.find(({ mock }) => mock?.option === name)
        const values = point.variants.map(({ value }) => value)
        const refused = point.variants.filter(({ client }) => client === "refuses").map(({ value }) => value)
        deepStrictEqual(
          {
            claim: claim?.id,
            level: claim?.level,
            values: [claim?.mock?.default, ...claim?.mock?.variants ?? []].map(String),
            refused: (claim?.refuses ?? []).map(String).filter((word) => values.some((value) => value === word))
          },
          { claim: point.claim, level: point.level, values, refused }
        )
      })
  )

  it.effect.each<[Arr.NonEmptyReadonlyArray<string> | undefined, boolean]>([[undefined, false], [["refused"], true], [
    ["refused", "answered"],
    false
  ]])(
    "with the observations %j of a claim, a lenient service is a change: %j",
    ([observed, isChanged]) =>
      Effect.gen(function*() {
        const contract = yield* reference
        const claims = Arr.map(contract.claims, (claim) =>
          claim.id === "aml.request.dob" && observed !== undefined ? { ...claim, observed } : claim)
        const { alarms, results } = Conformance.judge(
          { ...contract, claims },
          [{ case: "aml.dob.iso", observed: "answered", requests: 1, millis: 1 }],
          { kind: "sandbox" }
        )
        const result = results.find(({ id }) =>
          id === "aml.dob.iso"
        )
        deepStrictEqual([result?.verdict, result?.isChanged ?? false], ["lenient", isChanged])
        strictEqual(alarms.includes("aml.dob.iso"), isChanged)
      })
  )

  it.effect("names every profile option, and no other", () =>
    Effect.gen(function*() {
      const names: ReadonlyArray<string> = Profile.points.map(({ name }) => name)
      const options = (yield* reference).claims.flatMap(({ mock }) => mock?.option ?? [])
      deepStrictEqual(options.toSorted(), names.toSorted())
    }))

  const variants = Profile.points.flatMap(({ claim, name, variants }) =>
    variants.map(({ value }) => ({ claim, name, value }))
  )

  it.effect.each(variants)(
    "predicts the observation of the profile variant $name=$value",
    ({ claim, name, value }) =>
      Effect.gen(function*() {
        const own = Conformance.cases.filter((testCase) => testCase.claim === claim)
        const contract = yield* reference
        const observations = yield* Conformance.observe(target, own)
        const words = new Set(observations.map(({ observed }) => observed))
        assert(words.has(value), [...words].join())
        const { mock } = contract.claims.find(({ id }) => id === claim) ?? {}
        const { results } = Conformance.judge(contract, observations, { kind: "sandbox" })
        const { verdict } = results.find(({ observed }) => observed === value) ?? {}
        strictEqual(verdict, String(mock?.default) === value ? "pass" : "drift")
      }).pipe(
        Effect.provide(MockServer.layerWith({
          profile: Profile.apply(Profile.defaultProfile, { [name]: value })
        }))
      )
  )
})

describe("Against an unusual target, a run", () => {
  const sandbox: Conformance.Target = {
    kind: "sandbox",
    authUrl: "http://localhost",
    baseUrl: "http://localhost",
    customerId: "ours",
    customerKey: Redacted.make("key"),
    spacing: 0
  }

  /** The observations, the reasons of skipped cases, and the number of requests. */
  const outcome = (target: Conformance.Target) =>
    Effect.map(Conformance.observe(target), (observations) => ({
      observed: [...new Set(observations.flatMap(({ case: id, observed }) => observed ? [`${id}: ${observed}`] : []))],
      reasons: [...new Set(observations.flatMap(({ skipped }) => skipped ?? []))],
      requests: observations.reduce((sum, { requests }) => sum + requests, 0)
    }))

  const answering = (make: (url: URL, request: HttpClientRequest.HttpClientRequest) => Response | undefined) =>
    Layer.succeed(
      HttpClient.HttpClient,
      HttpClient.make((request, url) => {
        const response = make(url, request)
        return response === undefined
          ? Effect.fail(new HttpClientError.RequestError({ request, reason: "Transport" }))
          : Effect.succeed(HttpClientResponse.fromWeb(request, response))
      })
    )

  const html = (status: number) =>
    new Response("<!doctype html><title>Canary</title>", { status, headers: { "content-type": "text/html" } })
  const granted = () => Response.json({ access_token: "t", token_type: "Bearer", expires_in: 3600 })

  it.effect("sends one request if there is no response", () =>
    Effect.gen(function*() {
      const { observed, reasons, requests } = yield* outcome(sandbox)
      deepStrictEqual(new Set(observed.map((line) => line.replace(/^[^:]+: /, ""))), new Set(["no answer"]))
      assert(reasons.includes("the token endpoint does not respond"))
      strictEqual(requests, 1)
    }).pipe(Effect.provide(answering(() => undefined))))

  it.effect("sends one request if the customer is refused", () =>
    Effect.gen(function*() {
      const { observed, reasons, requests } = yield* outcome(sandbox)
      assert(observed.includes("token.granted: refused"))
      assert(reasons.includes("the customer received no token"))
      strictEqual(requests, 1)
    }).pipe(Effect.provide(answering(() => Response.json({ error: "invalid_client" }, { status: 401 })))))

  it.effect("sends one request if every response is HTML", () =>
    Effect.gen(function*() {
      const { observed, requests } = yield* outcome(sandbox)
      assert(observed.includes("token.granted: no token"))
      strictEqual(requests, 1)
    }).pipe(Effect.provide(answering(() => html(200)))))

  it.effect("sends no token and no person if the API responds with HTML", () => {
    const paths: Array<string> = []
    return Effect.gen(function*() {
      const { observed, reasons } = yield* outcome(sandbox)
      assert(observed.includes("aml.credential: html"))
      assert(reasons.includes("the API responds with HTML"))
      deepStrictEqual(paths.filter((path) => path.startsWith("/api")), ["/api/aml", "/api/aml"])
    }).pipe(Effect.provide(answering((url, request) => {
      const hasPerson = JSON.stringify(request.body).includes("entity_type")
      paths.push(`${url.pathname}${"authorization" in request.headers || hasPerson ? " with authorization" : ""}`)
      return url.pathname === "/oauth/service" ? granted() : html(200)
    })))
  })

  it.effect("sends at most as many requests as its budget", () => {
    const paths: Array<string> = []
    return Effect.gen(function*() {
      const { reasons, requests } = yield* outcome({ ...sandbox, budget: 12 })
      assert(requests >= 3 && requests <= 12, `${requests}`)
      strictEqual(paths.length, requests)
      assert(reasons.some((reason) => reason.endsWith("(--budget)")))
    }).pipe(Effect.provide(answering((url) => {
      paths.push(url.pathname)
      return granted()
    })))
  })

  /** The mock server, which sends this response to every request after some. */
  const failingAfter = (after: number, answer: () => Response, paths: Array<string> = []) =>
    Layer.provideMerge(
      Layer.effect(
        HttpClient.HttpClient,
        Effect.map(HttpClient.HttpClient, (mock) =>
          HttpClient.make((request, url) => {
            paths.push(url.pathname)
            return paths.length > after
              ? Effect.succeed(HttpClientResponse.fromWeb(request, answer()))
              : mock.execute(request)
          }))
      ),
      MockServer.layer
    )

  const ours: Conformance.Target = {
    ...sandbox,
    customerId: "demo-customer",
    customerKey: Redacted.make("demo-key")
  }

  /** What the mock server itself shows, for all tests that compare with it. */
  const complete = Effect.runSync(Effect.cached(Effect.provide(
    Effect.flatMap(reference, (contract) => Conformance.verify(ours, contract)),
    MockServer.layer
  )))

  const refusal = (status: number) => () => Response.json({ error: "no" }, { status })

  it.effect.each([[401, 20], [403, 45], [429, 20]] as const)(
    "passes no case because of a refusal if every request is refused with %d after %d requests",
    ([status, after]) => {
      const paths: Array<string> = []
      return Effect.gen(function*() {
        const contract = yield* reference
        const report = yield* Conformance.verify(ours, contract)
        assert(report.requests <= 60 && paths.length === report.requests, `${report.requests}`)
        const { results } = yield* complete
        const wordOf = new Map(results.map(({ id, observed }) => [id, observed]))
        // A case that passes was observed before the refusals began.
        for (const { id, observed, verdict } of report.results) {
          if (verdict === "pass") deepStrictEqual([id, observed], [id, wordOf.get(id)])
        }
        const reasons = report.results.flatMap(({ reason }) => reason ?? [])
        const why = status === 429 ? "rate limited" : "documented request"
        assert(reasons.some((reason) => reason.includes(why)), reasons.join())
        assert(report.alarms.length > 0)
        // A service that limits the rate receives only a few more requests.
        if (status === 429) assert(paths.length < after + 8, `${paths.length}`)
      }).pipe(Effect.provide(failingAfter(after, refusal(status), paths)))
    }
  )

  it.effect("replaces a token that expires early, and fails only the lifetime of the token", () => {
    const uses = new Map<string, number>()
    return Effect.gen(function*() {
      const mock = yield* HttpClient.HttpClient
      const expiring = HttpClient.make((request, url) => {
        const token = request.headers["authorization"] ?? ""
        const used = (uses.get(token) ?? 0) + 1
        if (url.pathname === "/api/aml") uses.set(token, used)
        return used > 8
          ? Effect.succeed(HttpClientResponse.fromWeb(request, refusal(401)()))
          : mock.execute(request)
      })
      const { alarms, results } = yield* Effect.provideService(
        Conformance.verify({ ...ours, budget: 200 }, yield* reference),
        HttpClient.HttpClient,
        expiring
      )
      deepStrictEqual(alarms, ["token.lifetime.kept"])
      strictEqual(results.find(({ id }) => id === "aml.dob.iso")?.verdict, "pass")
    }).pipe(Effect.provide(MockServer.layer))
  })

  it.effect("never sends the key to the API", () => {
    const sent: Array<string> = []
    return Effect.gen(function*() {
      const mock = yield* HttpClient.HttpClient
      const watched = HttpClient.make((request, url) => {
        const authorization = request.headers["authorization"] ?? ""
        strictEqual(request.headers["accept-encoding"], "identity")
        if (url.pathname !== "/oauth/service") {
          sent.push(Buffer.from(authorization.split(" ")[1] ?? "", "base64").toString())
        }
        return mock.execute(request)
      })
      const { results } = yield* Effect.provideService(
        Conformance.verify(ours, yield* reference, {
          cases: Conformance.cases.filter(({ id }) => /^aml\.authorization/.test(id))
        }),
        HttpClient.HttpClient,
        watched
      )
      strictEqual(results.find(({ id }) => id === "aml.authorization.customer")?.verdict, "pass")
      assert(sent.some((text) => text.startsWith("nobody-")))
      deepStrictEqual(sent.filter((text) => text.includes("demo-key") || text.includes("demo-customer:")), [])
    }).pipe(Effect.provide(MockServer.layer))
  })

  it.live("reads at most a megabyte of an endless body", () => {
    let chunks = 0
    let isCancelled = false
    const endless = () =>
      new Response(
        new ReadableStream({
          pull: (controller) => {
            chunks++
            controller.enqueue(new Uint8Array(64 * 1024).fill(32))
          },
          cancel: () => {
            isCancelled = true
          }
        }),
        { headers: { "content-type": "application/json" } }
      )
    return Effect.gen(function*() {
      const { observed, requests } = yield* outcome(sandbox)
      assert(observed.includes("token.granted: too long"))
      strictEqual(requests, 1)
      assert(isCancelled && chunks < 24, `${chunks}`)
      const report = Conformance.judge(yield* reference, yield* Conformance.observe(sandbox), { kind: "sandbox" })
      deepStrictEqual(report.alarms, ["token.granted"])
    }).pipe(Effect.provide(answering(endless)))
  })

  it.effect("requests a token without the address of the API", () =>
    Effect.gen(function*() {
      const cases = Conformance.cases.filter(({ id }) => id === "token.granted")
      const [observation] = yield* Conformance.observe({ ...sandbox, baseUrl: "" }, cases)
      strictEqual(observation?.observed, "granted")
    }).pipe(Effect.provide(answering(() => Response.json({ access_token: "t" })))))

  it.effect("ignores a token that no header can hold", () =>
    Effect.gen(function*() {
      const { observed, requests } = yield* outcome(sandbox)
      assert(observed.includes("token.granted: no token"))
      strictEqual(requests, 1)
    }).pipe(Effect.provide(answering(() => Response.json({ access_token: "abc\ndef \u20ac" })))))

  it.effect.each([["Bearer", "Bearer"], ["bearer", "bearer"], ["BEARER", "bearer"], ["MAC", "other"]] as const)(
    "reads the token type %s without regard to case, as the client does",
    ([type, observation]) =>
      Effect.gen(function*() {
        const { observed } = yield* outcome({ ...sandbox, budget: 4 })
        assert(observed.includes(`token.type: ${observation}`), observed.join("\n"))
      }).pipe(Effect.provide(answering(() => Response.json({ access_token: "t", token_type: type, expires_in: 3600 }))))
  )

  it.effect("counts an error with status 200 as a refusal", () =>
    Effect.gen(function*() {
      const mock = yield* HttpClient.HttpClient
      const lenient = HttpClient.make((request) =>
        Effect.map(mock.execute(request), (answer) =>
          answer.status < 400
            ? answer
            : HttpClientResponse.fromWeb(request, Response.json({ message: "invalid" })))
      )
      const { alarms, results } = yield* Effect.provideService(
        Conformance.verify(ours, yield* reference),
        HttpClient.HttpClient,
        lenient
      )
      deepStrictEqual(alarms, [])
      strictEqual(results.find(({ id }) => id === "aml.dob.iso")?.observed, "refused")
      strictEqual(results.find(({ id }) => id === "aml.error")?.verdict, "drift")
    }).pipe(Effect.provide(MockServer.layer)))

  it.effect("fails the documented check if its response is an error with status 200", () =>
    Effect.gen(function*() {
      const report = yield* Conformance.verify(sandbox, yield* reference)
      deepStrictEqual(report.alarms.filter((id) => !id.startsWith("token.")), ["aml.answered"])
      strictEqual(report.results.find(({ id }) => id === "aml.answered")?.observed, "refused")
    }).pipe(
      Effect.provide(
        answering(({ pathname }) => pathname === "/oauth/service" ? granted() : Response.json({ error: "no" }))
      )
    ))

  it.effect("sends only the requests of claims that the contract has", () =>
    Effect.gen(function*() {
      const { claims } = yield* reference
      const only = (ids: ReadonlyArray<string>): Contract.Contract => {
        const [first, ...rest] = claims.filter(({ id }) => ids.includes(id))
        assert(first !== undefined)
        return { claims: [first, ...rest] }
      }
      const some = yield* Conformance.verify(ours, only(["token.success.status", "events"]))
      deepStrictEqual([some.requests, some.alarms], [1, []])
      const others = some.results.filter(({ reason }) => reason === "the contract has no such claim")
      strictEqual(others.length, Conformance.cases.length - 1)
      const none = yield* Conformance.verify(ours, only(["events"]))
      deepStrictEqual([none.requests, none.alarms], [0, ["no case ran"]])
      assert(Conformance.verdict(none).startsWith("No case ran (the contract has no such claim): "))
    }).pipe(Effect.provide(MockServer.layer)))

  it.effect("does not conform completely if documented claims were only partly tested", () =>
    Effect.gen(function*() {
      const report = yield* Conformance.verify(ours, yield* reference)
      deepStrictEqual(report.alarms, [])
      const part = report.coverage.filter(({ coverage, level }) => level === "documented" && coverage === "part")
      const ids = part.map(({ claim }) => claim)
      assert(ids.includes("token.request.authorization") && ids.includes("token.lifetime"), ids.join())
      const reasons = report.coverage.flatMap(({ reasons }) => reasons)
      for (const flag of ["--person", "--wrong-keys", "--wait-for-expiry", "--budget"]) {
        assert(reasons.some((reason) => reason.endsWith(`(${flag})`)), reasons.join())
      }
      const verdict = Conformance.verdict(report)
      assert(verdict.startsWith("Nothing contradicts the contract: "), verdict)
      assert(
        /\d+ of \d+ documented claims tested, \d+ of them completely; \d+ need a listed test person \(--person\); /
          .test(verdict),
        verdict
      )
    }).pipe(Effect.provide(MockServer.layer)))

  it.effect("skips cases with an alarm if a mock server refuses its control API", () =>
    Effect.gen(function*() {
      const mock = yield* HttpClient.HttpClient
      const guarded = HttpClient.make((request, url) =>
        url.pathname.startsWith("/_mock/sessions")
          ? Effect.succeed(HttpClientResponse.fromWeb(request, new Response("", { status: 401 })))
          : mock.execute(request)
      )
      // A case that revokes a token, one that moves the clock, and one that changes nothing.
      const selected = ["token.revoked", "token.lifetime.ended", "aml.sequence.fields"]
      const cases = Conformance.cases.filter(({ id }) => selected.includes(id))
      strictEqual(cases.length, selected.length)
      const report = yield* Effect.provideService(
        Conformance.verify(target, yield* reference, { cases }),
        HttpClient.HttpClient,
        guarded
      )
      const skipped = missed(report).filter(({ id }) => selected.includes(id))
      deepStrictEqual(skipped.map(({ id }) => id), selected.slice(0, 2))
      deepStrictEqual(
        [...new Set(skipped.map(({ reason }) => reason))],
        ["the control API of the mock server responds with 401"]
      )
      deepStrictEqual(report.alarms.filter((id) => selected.includes(id)), selected.slice(0, 2))
    }).pipe(Effect.provide(MockServer.layer)))
})
