/** What a sandbox receives: the plan, the vendor's test persons, and services that know or refuse more than others. */
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Option, Predicate, Redacted, Schema, Stream, TestClock } from "effect"
import { MockServer } from "../../mock-server/src/index.ts"
import { Conformance, Contract } from "../src/index.ts"

const sandbox: Conformance.Target = {
  kind: "sandbox",
  authUrl: "http://localhost",
  baseUrl: "http://localhost",
  customerId: "demo-customer",
  customerKey: Redacted.make("demo-key"),
  spacing: 0
}

const persons: ReadonlyArray<Conformance.TestPerson> = [
  { name: "Greta Canary Testclear", dob: "04-05-1981", matchFound: "No" },
  { name: "Hugo Canary Testpep", dob: "06-07-1962", matchFound: "Potential match" }
]

const contract = Effect.runSync(Effect.cached(Effect.provide(Contract.load(), NodeContext.layer)))

interface Received {
  readonly path: string
  readonly authorization: string | undefined
  readonly agent: string | undefined
  readonly name: string
  readonly dob: string
  readonly body: string
}

const Body = Schema.parseJson(Schema.Struct({ name: Schema.String, dob: Schema.String }))

const tokenIn = (body: string): string => /"access_token":"([^"]+)"/.exec(body)?.[1] ?? "none"

/** The mock server, behind a service that refuses some requests itself, or changes credentials. */
const verify = (
  target: Conformance.Target,
  { answer = () => undefined, change = (credential) => credential }: {
    readonly answer?: (received: Received, i: number) => Response | undefined
    readonly change?: (credential: Record<string, unknown>, received: Received) => Record<string, unknown>
  } = {}
) => {
  const all: Array<Received> = []
  const granted: Array<string> = []
  return Effect.gen(function*() {
    const mock = yield* HttpClient.HttpClient
    const client = HttpClient.make((request, url) =>
      Effect.gen(function*() {
        const text = request.body._tag === "Uint8Array"
          ? Buffer.from(request.body.body).toString()
          : request.body._tag === "Stream"
          ? yield* Effect.orDie(Stream.mkString(Stream.decodeText(request.body.stream)))
          : ""
        const { dob, name } = Option.getOrElse(Schema.decodeOption(Body)(text), () => ({ name: "", dob: "" }))
        const { authorization, "user-agent": agent } = request.headers
        const received: Received = { path: url.pathname, authorization, agent, name, dob, body: text }
        all.push(received)
        const own = answer(received, all.length)
        if (own !== undefined) return HttpClientResponse.fromWeb(request, own)
        const response = yield* mock.execute(request)
        if (url.pathname === "/oauth/service") {
          const { headers, status } = response
          const body = yield* response.text
          granted.push(tokenIn(body))
          return HttpClientResponse.fromWeb(request, new Response(body, { headers, status }))
        }
        if (url.pathname !== "/api/aml" || response.status !== 200) return response
        const body: unknown = yield* response.json
        return Predicate.isRecord(body)
          ? HttpClientResponse.fromWeb(request, Response.json(change({ ...body }, received)))
          : response
      })
    )
    // The `TestClock` starts in 1970, before the birth of the test persons.
    yield* TestClock.setTime(Date.UTC(2026, 4, 17, 12))
    const claims = yield* contract
    const report = yield* Effect.provideService(Conformance.verify(target, claims), HttpClient.HttpClient, client)
    const violated = report.results.filter(({ verdict }) => verdict === "violated").map(({ claim }) => claim)
    return { all, granted, report, table: Conformance.toTable(report, claims, target), violated }
  }).pipe(Effect.provide(MockServer.layerHttpClient))
}

const attributesOf = (credential: Record<string, unknown>) => {
  const { credentials } = credential
  const attributes = Predicate.isRecord(credentials) ? credentials["attributes"] : undefined
  return Predicate.isRecord(attributes) ? attributes : {}
}

const withAttributes = (credential: Record<string, unknown>, changes: Record<string, unknown>) => ({
  ...credential,
  credentials: { attributes: { ...attributesOf(credential), ...changes } }
})

describe("The plan of a sandbox run", () => {
  it.effect("costs at most 60 requests, 12 checks, 2 wrong credentials, 12 bad tokens and 35 seconds", () =>
    Effect.gen(function*() {
      for (const target of [sandbox, { ...sandbox, persons }]) {
        const plan = Conformance.plan(target)
        const { cost, items } = plan
        assert(cost.requests <= 60 && cost.checks <= 12, JSON.stringify(cost))
        deepStrictEqual([cost.wrongCredentials, cost.badTokens], [2, 12])
        assert(items.length > 100, `${items.length}`)
        const text = Conformance.planText(plan, { ...target, spacing: undefined }, yield* contract)
        assert(Number(/about (\d+) s/.exec(text)?.[1]) <= 35, text)
      }
    }))

  it("needs no listed test person for the hour of a token and the time of a search", () => {
    const clocked = { ...sandbox, budget: 100_000, clock: () => Effect.void }
    const { items } = Conformance.plan({ ...clocked, wrongKeys: true })
    const ids = new Set(items.map(({ testCase }) => testCase.id))
    const ofTime = ["token.lifetime", "aml.answer.searched-on.time"]
    const missing = Conformance.cases.filter(({ claim, id }) => ofTime.includes(claim) && !ids.has(id))
    deepStrictEqual(missing.map(({ id }) => id), [])
  })

  it("names the smallest budget that is enough for all cases", () => {
    const plans = [0, -1].map((less) => {
      const target = { ...sandbox, persons }
      return Conformance.plan({ ...target, budget: Conformance.plan(target).sufficientBudget + less })
    })
    const reasons = plans.map(({ notTested }) => notTested.filter(([reason]) => reason.endsWith("(--budget)")).length)
    deepStrictEqual(reasons, [0, 1])
  })

  it("has the first probe of a case before the second one of any", () => {
    const { items, whyNot } = Conformance.plan({ ...sandbox, persons, budget: 120 })
    const ids = new Set(items.map(({ testCase }) => testCase.id))
    const isSecond = items.some(({ probe, testCase }) =>
      testCase.more?.some(({ steps, title }) =>
        title === probe.title && steps.length === 1 && /^aml\.dob/.test(testCase.id)
      )
    )
    strictEqual(isSecond, true)
    const missing = Conformance.cases.filter((testCase) =>
      !ids.has(testCase.id) && whyNot(testCase, testCase)?.includes("requests is spent")
    )
    deepStrictEqual(missing.filter(({ steps }) => steps.length < 2).map(({ id }) => id), [])
  })

  it.effect("is what the sandbox receives", () =>
    Effect.gen(function*() {
      let credentials = 0
      const { all, granted, report } = yield* verify({ ...sandbox, persons }, {
        change: (credential) => {
          credentials++
          return credential
        }
      })
      assert(credentials <= 12, `${credentials}`)
      const valid = granted.map((token) => `Bearer ${token}`)
      const badTokens = all.filter(({ authorization = "", path }) =>
        path === "/api/aml" && !valid.includes(authorization)
      )
      assert(badTokens.length <= 12, `${badTokens.length}`)
      strictEqual(all.length, report.requests)
      assert(all.length <= 60, `${all.length}`)
      const tokens = all.filter(({ path }) => path === "/oauth/service")
      const right = tokens[0]?.authorization
      strictEqual(tokens.filter(({ authorization }) => authorization !== right).length, 2)
      assertInclude(all[0]?.agent, "idv-contract/")
      strictEqual(all.every(({ agent }) => agent?.startsWith("idv-contract/") === true), true)
    }))
})

describe("A service that requires no name", () => {
  it.effect.each([
    ["ignores", "no name, but its value under other names"],
    ["refuses", "no name"]
  ])("and %s further fields receives the probe %s", ([how, probe]) =>
    Effect.gen(function*() {
      const { report } = yield* verify(sandbox, {
        answer: ({ body, path }) =>
          path === "/api/aml" && body.startsWith("{\"entity_type\":\"person\"") &&
            (how === "ignores" && body.includes("\"reference\"") || !body.includes("\"name\""))
            ? Response.json({ credentials: { attributes: { match_found: "No" } } })
            : undefined
      })
      const { probes, verdict } = report.results.find(({ id }) => id === "aml.name.missing") ?? {}
      deepStrictEqual([verdict, probes], ["lenient", [probe]])
    }))
})

describe("A default run finds a service that", () => {
  const third = { name: "Ines Canary Testclear", dob: "04-05-1981", matchFound: "No" } as const
  const sanctioned = { name: "Jon Canary Testsanc", dob: "06-07-1962", matchFound: "Potential match" } as const
  const refused = () => Response.json({ error: "invalid" }, { status: 400 })
  let listed = 0
  let tokens = 0
  it.effect.each<[string, string, Parameters<typeof verify>[1]]>([
    ["grants only two tokens", "token.request.path", {
      answer: ({ path }) => path === "/oauth/service" && ++tokens > 2 ? refused() : undefined
    }],
    ["reads a form as text", "token.request.path", {
      answer: ({ body }) => body.includes("%5F") ? refused() : undefined
    }],
    ["reads JSON as text", "aml.request.path", {
      answer: ({ body }) => body.startsWith("{\n") ? refused() : undefined
    }],
    ["lists everybody after a listed person", "aml.match.persons", {
      change: (credential, { name }) => {
        if (name.endsWith("Testpep")) listed++
        return listed > 0 ? withAttributes(credential, { match_found: "Potential match" }) : credential
      }
    }],
    ["misses the second listed person", "aml.match.persons", {
      change: (credential, { name }) =>
        name === sanctioned.name ? withAttributes(credential, { match_found: "No" }) : credential
    }],
    ["loses letters beyond Latin-1", "aml.answer.every", {
      change: (credential, { name }) =>
        /[^\x00-\xff]/.test(name)
          ? withAttributes(credential, { name: name.replaceAll(/[^\x00-\xff]/g, "?") })
          : credential
    }],
    ["refuses days after the 12th", "aml.request.people", {
      answer: ({ dob }) => /^(1[3-9]|[23]\d)-/.test(dob) ? refused() : undefined
    }]
  ])("%s", ([, claim, service]) =>
    Effect.gen(function*() {
      const { violated } = yield* verify({ ...sandbox, persons: [third, ...persons, sanctioned] }, service)
      assert(violated.includes(claim), violated.join())
    }))
})

describe("The vendor's test persons", () => {
  const broken = (credential: Record<string, unknown>, { name }: Received) =>
    name.includes("Testpep")
      ? {
        ...withAttributes(credential, {
          birth_year: "1900",
          searched_on: "now",
          aml_profile: "none",
          name: "Somebody"
        }),
        cred_version: 1
      }
      : credential

  it.effect("show what is wrong in the responses about listed persons", () =>
    Effect.gen(function*() {
      const { table, violated } = yield* verify({ ...sandbox, persons }, { change: broken })
      for (
        const claim of ["aml.answer.aml-profile", "aml.answer.birth-year", "aml.answer.searched-on"].concat([
          "aml.answer.name",
          "aml.answer.cred-version",
          "aml.answer.every"
        ])
      ) assert(violated.includes(claim), `${claim}: ${violated.join()}`)
      // Their names and dates are variables in the commands.
      deepStrictEqual(["Canary", "1981", "1962"].filter((canary) => table.includes(canary)), [])
      assertInclude(table, "\"name\":\"'\"$LISTED_NAME\"'\"")
    }))

  it.effect("are needed for every claim about Potential match, which otherwise is not tested", () =>
    Effect.gen(function*() {
      const { report, table, violated } = yield* verify(sandbox, { change: broken })
      deepStrictEqual(violated, [])
      const needed = report.results.filter(({ reason }) => reason === "needs a listed test person (--person)")
      deepStrictEqual(
        ["aml.request.listed", "aml.match.persons", "aml.answer.match-found", "aml.answer.aml-profile"].filter((
          claim
        ) => needed.every((result) => result.claim !== claim)),
        []
      )
      assertInclude(table, " need a listed test person (--person); ")
    }))

  it.effect("have the promised result", () =>
    Effect.gen(function*() {
      const { table, violated } = yield* verify({ ...sandbox, persons }, {
        change: (credential) => withAttributes(credential, { match_found: "No" })
      })
      deepStrictEqual(violated, ["aml.match.persons"], table)
    }))

  it.effect.each([404, 400, 403])(
    "may be all that a sandbox knows, and others receive %d",
    (status) =>
      Effect.gen(function*() {
        const known = persons.map(({ name }) => name)
        const answer = ({ authorization = "", name }: Received) =>
          name !== "" && authorization.startsWith("Bearer ") && !known.includes(name)
            ? Response.json({ error: "unknown person" }, { status })
            : undefined
        const { report, violated } = yield* verify({ ...sandbox, persons }, { answer })
        deepStrictEqual(violated, [])
        strictEqual(Conformance.isTested(report), true)
        // A larger budget would not help these.
        const reasons = report.results.flatMap(({ id, reason }) => id.startsWith("aml.person.") ? reason ?? [] : [])
        deepStrictEqual(new Set(reasons), new Set(["the sandbox answers only about its own test persons"]))
        const dates = report.results.find(({ id }) => id === "aml.dob.iso")
        strictEqual(dates?.verdict, "pass")
        const without = yield* verify(sandbox, { answer })
        assertInclude(
          Conformance.verdict(without.report, sandbox),
          status === 403 ? "the API refuses the token with 403" : "name them with --person or --persons"
        )
      })
  )
})

describe("A service that blocks", () => {
  it.effect.each([401, 403])("after six failed authentications ends the run with %d, which says so", (status) => {
    let failed = 0
    const isWrong = ({ authorization, path }: Received) =>
      path === "/oauth/service"
        ? authorization !== `Basic ${Buffer.from("demo-customer:demo-key").toString("base64")}`
        : !/^Bearer [\w.-]{20,}$/.test(authorization ?? "")
    const answer = (received: Received) => {
      if (failed >= 6) return Response.json({ error: "blocked" }, { status })
      if (isWrong(received)) failed++
      return undefined
    }
    return Effect.gen(function*() {
      const { report, violated } = yield* verify(sandbox, { answer })
      deepStrictEqual(violated, [])
      assertInclude(Conformance.verdict(report, sandbox), `also refuses the documented request, with ${status}, after `)
      assertInclude(Conformance.verdict(report, sandbox), "the service may block the customer or this address")
      const next = yield* verify(sandbox, { answer })
      assertInclude(Conformance.verdict(next.report, sandbox), "may be blocked for a while")
    })
  })
})

describe("The limits of a sandbox run", () => {
  it.effect("hold for checks if the service answers every request, also those that it should refuse", () =>
    Effect.gen(function*() {
      let answered = 0
      const { report } = yield* verify(sandbox, {
        answer: ({ path }) => {
          if (path !== "/api/aml") return undefined
          answered++
          return Response.json({ credentials: { attributes: { match_found: "No" } } })
        }
      })
      assert(answered >= 10 && answered <= 12, `${answered}`)
      assert(report.results.some(({ reason = "" }) => reason.startsWith("the budget of 12 checks")))
    }))

  it.effect("leave a request for the end, which shows that a refusal was not because of a wrong credential", () =>
    Effect.gen(function*() {
      let isBlocked = false
      const right = `Basic ${Buffer.from("demo-customer:demo-key").toString("base64")}`
      const { all, report } = yield* verify(sandbox, {
        answer: ({ authorization, path }) => {
          if (path !== "/oauth/service") return undefined
          isBlocked ||= authorization !== right
          return isBlocked ? Response.json({ error: "blocked" }, { status: 401 }) : undefined
        }
      })
      const wrong = report.results.filter(({ id }) => id.startsWith("token.authorization.missing"))
      deepStrictEqual(wrong.map(({ verdict }) => verdict), ["not tested"])
      assertInclude(wrong[0]?.reason, "the refusal is not confirmed: the token endpoint also refuses")
      assert(all.length <= 60 && all.some(({ path }, i) => i > 50 && path === "/oauth/service"), `${all.length}`)
    }))
})

describe("What is inferred", () => {
  it.effect("never fails: ages, names of one word, an upper-case name, an empty issued_by, another result", () =>
    Effect.gen(function*() {
      let checks = 0
      const { report, violated } = yield* verify({ ...sandbox, budget: 500, wrongKeys: true }, {
        answer: ({ authorization = "", dob, name }) => {
          const year = Number(dob.slice(-4))
          const isOdd = /^\d\d-\d\d-\d{4}$/.test(dob) && (year > 2008 || year < 1916) || /^\S+$/.test(name)
          return authorization.startsWith("Bearer ") && isOdd ? Response.json({}, { status: 422 }) : undefined
        },
        change: (credential, { name }) => ({
          ...withAttributes(credential, {
            name: name === "" ? attributesOf(credential)["name"] : name.toUpperCase(),
            match_found: checks++ % 2 === 0 ? "No" : "Potential match"
          }),
          issued_by: ""
        })
      })
      deepStrictEqual(violated, [])
      const drifts = report.results.filter(({ verdict }) => verdict === "drift").map(({ claim }) => claim)
      for (const claim of ["aml.request.age", "aml.request.name.word", "aml.issued-by.text", "aml.match.again"]) {
        assert(drifts.includes(claim), `${claim}: ${drifts.join()}`)
      }
    }))
})
