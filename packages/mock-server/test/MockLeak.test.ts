import { Control, Fault, type Journal, MockServer, Profile, Session } from "@effect-idv/mock-server"
import { HttpServerRequest } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Cause, Effect, Layer, Logger, Option, Redacted } from "effect"
import { inspect } from "node:util"
import * as App from "../src/internal/server/app.ts"
import * as DataPlane from "../src/internal/service/dataPlane.ts"
import * as PlainRequest from "../src/internal/wire/request.ts"
import { type Answer, basic, check, control, json, request, tokenRequest } from "./support/plain.ts"
import { send } from "./support/rawClient.ts"

const canary = {
  name: "Zoë Canarina",
  dob: "29-07-1873",
  key: "c4n4ry-key",
  control: "c4n4ry-control"
}

/** Finds a value in any case, Unicode normal form, Base64 or escaped form. */
const folded = (text: string) => text.normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase()

/** The year as a word, because the ids of traces contain all digits in some order. */
const year = /(?<![0-9a-f])1873(?![0-9a-f])/

const leaks = (text: string, handles: ReadonlyArray<string>): ReadonlyArray<string> => {
  const all = folded(text)
  return ["canarina", "29-07", canary.key, canary.control, ...handles].filter((secret) =>
    [secret, encodeURIComponent(secret), Buffer.from(secret).toString("base64").replaceAll("=", "")].some((form) =>
      all.includes(folded(form))
    )
  ).concat(year.exec(text) ?? [])
}

const person = { entity_type: "person", name: canary.name, dob: canary.dob }

const customer: Session.Customer = { customerId: "leak-customer", customerKey: Redacted.make(canary.key) }

const form = { "content-type": "application/x-www-form-urlencoded" }
const grant = "grant_type=client_credentials"
const credentials = { authorization: basic(`${customer.customerId}:${canary.key}`) }

const ask = (path: string, headers: Record<string, string>, body: string | Uint8Array) =>
  request("POST", path, { headers, body })

const tokenRequests = [
  ask("/oauth/service", { ...form, authorization: basic(canary.key) }, grant),
  ask("/oauth/service", { ...form, authorization: basic(`:${canary.key}`) }, grant),
  ask("/oauth/service", { ...form, authorization: basic(`nobody:${canary.key}`) }, grant),
  ask("/oauth/service", { ...form, authorization: basic(`${customer.customerId}:${canary.key}x`) }, grant),
  ask("/oauth/service", { ...form, authorization: `Basic ${customer.customerId}:${canary.key}` }, grant),
  ask("/oauth/service", { ...form, authorization: `Bearer ${canary.key}` }, grant),
  ask("/oauth/service", { ...form, authorization: canary.key }, grant),
  ask("/oauth/service", { ...form, ...credentials, "x-api-key": canary.key, cookie: `key=${canary.key}` }, grant),
  ask("/oauth/service", { ...form, ...credentials }, `${grant}&client_secret=${canary.key}`),
  ask("/oauth/service", { ...form, ...credentials }, `grant_type=${canary.key}`),
  ask("/oauth/service", { ...form, ...credentials }, canary.key),
  ask("/oauth/service", { ...form, ...credentials }, `${grant}&${encodeURIComponent(canary.name)}=x`),
  ask("/oauth/service", { ...json, ...credentials }, JSON.stringify({ client_secret: canary.key })),
  ask("/oauth/service", { "content-type": "text/plain", ...credentials }, canary.key),
  ask(`/oauth/service?client_secret=${canary.key}`, { ...form, ...credentials }, grant),
  ask(`/oauth/service?${canary.key}`, { ...form, ...credentials }, grant)
]

const bodies: ReadonlyArray<unknown> = [
  { ...person, entity_type: canary.name },
  { ...person, dob: `${canary.dob} ` },
  { ...person, dob: "1873-07-29" },
  { ...person, dob: 1873 },
  { ...person, name: [canary.name, { [canary.name]: canary.dob }] },
  { ...person, [canary.name]: canary.dob },
  { ...person, birthYear: "1873" },
  { Name: canary.name },
  { person },
  [person],
  [canary.name],
  canary.name,
  1873
]

const raw: ReadonlyArray<string | Uint8Array> = [
  JSON.stringify(person).slice(0, -4),
  `{"name":"${canary.name}","name":"${canary.name}"}`,
  Buffer.from(`{"name":"Canarina \xff"}`, "latin1"),
  Buffer.from(JSON.stringify(person), "utf16le"),
  `name=${canary.name}&dob=${canary.dob}`,
  `${canary.name}\n${canary.dob}`,
  `[${"[".repeat(2000)}"${canary.name}"${"]".repeat(2000)}]`,
  JSON.stringify(person).padEnd(70_000, " ")
]

const checks = (issued: string) => {
  const bearer = { ...json, authorization: `Bearer ${issued}` }
  const right = JSON.stringify(person)
  return [
    ...bodies.map((body) => ask("/api/aml", bearer, JSON.stringify(body))),
    ...raw.map((body) => ask("/api/aml", bearer, body)),
    ...["Testecho", "Testunknown", "Testhtml", "Test429", "Testempty"].map((word) =>
      check(issued, `${canary.name} ${word}`)
    ),
    ask("/api/aml", { ...json, authorization: `Bearer ${issued}x` }, right),
    ask("/api/aml", { ...json, authorization: `Token ${issued}` }, right),
    ask("/api/aml", { ...json, authorization: basic(`x:${issued}`) }, right),
    ask("/api/aml", json, right),
    ask("/api/aml", { authorization: `Bearer ${issued}`, "content-type": "text/plain" }, right),
    ask(`/api/aml?access_token=${issued}&name=Canarina`, json, right),
    ask("/api/AML", bearer, right),
    ask(`/${issued}`, bearer, right),
    request("GET", `/api/aml?${encodeURIComponent(canary.name)}`)
  ]
}

const profileIdOf = (answer: Answer): string =>
  /\/aml-profiles\/([\w.-]+)/.exec(answer.text)?.[1] ?? assert.fail(answer.text)

/** The token in any field, and also as a JWT. */
const issuedIn = ({ text }: Answer): Option.Option<string> =>
  Option.fromNullable(/[\w-]+\.[\w-]{20,}(\.[\w-]+)?/.exec(text)?.[0])

const granted = tokenRequest(customer.customerId, canary.key)

/** Sends every kind of request, and returns the tokens and profile ids that it received. */
const drive = Effect.gen(function*() {
  const issued = Option.getOrThrow(issuedIn(yield* granted))
  const answer = yield* check(issued, canary.name)
  const profileId = profileIdOf(answer)
  yield* Effect.forEach(tokenRequests, (request) => request)
  yield* Effect.forEach(checks(issued), (request) => request)
  for (const path of [profileId, `${profileId}0`, `${profileId}/x`, `${profileId}?x=${canary.key}`]) {
    yield* request("GET", `/aml-profiles/${path}`)
  }
  return [issued, issued.split(".")[1] ?? "", profileId, profileId.split(".")[1] ?? ""]
})

const faultValues: Partial<Record<Fault.What["kind"], string>> = {
  latency: "1 millis",
  reset: "body",
  fin: "body",
  drip: "1 millis",
  oversize: "1000",
  quota: "1"
}

/** Each kind that ends. */
const faults = Fault.kinds.filter(({ kind }) => kind !== "hang").map(({ kind }) => {
  const { [kind]: value } = faultValues
  return `aml:${kind}${value === undefined ? "" : `=${value}`}`
})

const variants: ReadonlyArray<Profile.Patch> = Profile.points.flatMap(({ name, variants }) =>
  variants.map(({ value }): Profile.Patch => JSON.parse(JSON.stringify({ [name]: value })))
)

/** Requests a token and a check with each fault and each profile. */
const driveAll = Effect.gen(function*() {
  const handles = [yield* drive]
  const mine = (yield* Control.Control).session(customer.customerId)
  const again = (name: string) =>
    Effect.gen(function*() {
      const issued = Option.getOrUndefined(issuedIn(yield* granted))
      if (issued === undefined) return
      handles.push([issued])
      const answer = yield* Effect.option(check(issued, name))
      if (Option.isSome(answer) && answer.value.text.includes("/aml-profiles/")) {
        handles.push([profileIdOf(answer.value)])
      }
    })
  for (const fault of faults) {
    yield* mine.fault(fault)
    yield* again(canary.name)
    yield* mine.clearFaults
  }
  for (const variant of variants) {
    yield* mine.changeProfile({ preset: "default", ...variant })
    yield* again(canary.name)
    yield* tokenRequest(customer.customerId, `${canary.key}x`)
    yield* ask("/api/aml", { ...json, authorization: `Bearer ${canary.key}` }, JSON.stringify(person))
  }
  yield* mine.changeProfile({ preset: "hostile" })
  handles.push(yield* drive)
  return handles.flat().filter((handle) => handle.length > 8)
})

const seen = (reveal: boolean) => {
  const driving = reveal ? drive : driveAll
  const reported: Array<Journal.Entry> = []
  const logged: Array<string> = []
  const logger = Logger.make(({ annotations, cause, message }) =>
    logged.push([inspect(message), Cause.pretty(cause), inspect(annotations)].join())
  )
  return Effect.gen(function*() {
    const handles = yield* driving
    const { metrics, session, sessions, unmatchedRequests } = yield* Control.Control
    const { dropped, entries } = yield* session(customer.customerId).journal()
    const { verify } = session(customer.customerId)
    const failures = yield* Effect.forEach(
      [{ kind: "nothingUnexpected" }, { kind: "never", pattern: {} }] as const,
      (e) => Effect.flip(verify(e))
    )
    strictEqual(dropped, 0)
    strictEqual(entries.length > (reveal ? 20 : 100), true)
    return {
      handles,
      journal: JSON.stringify(entries),
      unmatched: JSON.stringify(yield* unmatchedRequests()),
      reported: JSON.stringify(reported),
      rest: JSON.stringify([yield* metrics, inspect(yield* sessions, { depth: 9 }), logged, failures.map(String)])
    }
  }).pipe(
    Effect.provide(MockServer.layerHttpClientWith({
      customers: [customer],
      reveal,
      onExchange: (entry) => Effect.sync(() => reported.push(entry))
    })),
    Effect.provide(Logger.replace(Logger.defaultLogger, logger))
  )
}

describe("Names, dates of birth, keys, tokens and profile ids", () => {
  it.live("appear in no journal, page, log or metric, whatever the request", () =>
    Effect.gen(function*() {
      const { handles, journal, reported, rest, unmatched } = yield* seen(false)
      strictEqual(handles.length > 50, true)
      deepStrictEqual(leaks(journal, handles), [])
      deepStrictEqual(leaks(unmatched, handles), [])
      deepStrictEqual(leaks(reported, handles), [])
      deepStrictEqual(leaks(rest, handles), [])
      // What must remain readable.
      for (const word of ["Testecho", "aml.answered", "token.credentials", customer.customerId]) {
        assertInclude(journal, word)
      }
    }))

  it.live("appear in the journal with reveal, and still not in metrics and logs", () =>
    Effect.gen(function*() {
      const { handles, journal, reported, rest } = yield* seen(true)
      for (const text of [journal, reported]) {
        for (const secret of ["Canarina", canary.dob, credentials.authorization, `Bearer ${handles[0]}`]) {
          assertInclude(text, secret)
        }
      }
      for (const text of [journal, reported]) strictEqual(leaks(text, handles).length >= 8, true)
      deepStrictEqual(leaks(rest, handles), [])
    }))
})

describe("The control API", () => {
  const layer = MockServer.layer({ port: 0, controlToken: Redacted.make(canary.control), customers: [customer] })

  it.live("repeats no refused value, also not in its errors", () =>
    Effect.gen(function*() {
      const { url } = yield* MockServer.MockServer
      const authorization = `Bearer ${canary.control}`
      const session = `/sessions/${customer.customerId}`
      const texts = yield* Effect.forEach([
        control("GET", "/sessions", undefined, { authorization: `${authorization}x` }),
        control("GET", "/sessions", undefined, { authorization, host: `${canary.control}.example` }),
        control("GET", "/sessions", undefined, { authorization, origin: `http://${canary.control}` }),
        control("GET", `/${canary.key}`, undefined, { authorization }),
        control("GET", `${session}/journal?status=${canary.key}&rule=`, undefined, { authorization }),
        control("GET", `${session}/journal?status=1873&status=${canary.key}`, undefined, { authorization }),
        control("POST", "/sessions", { customerId: 1, customerKey: `${canary.key}\n` }, { authorization }),
        control("POST", "/sessions", { customerId: customer.customerId, customerKey: canary.key }, { authorization }),
        control("POST", `${session}/clock`, { set: canary.dob, advance: canary.dob, frozen: canary.dob }, {
          authorization
        }),
        control("POST", `${session}/tokens/revoke`, { token: [canary.key] }, { authorization }),
        control("POST", `${session}/faults`, { on: canary.name, what: { kind: canary.name } }, { authorization }),
        control("PATCH", `${session}/profile`, { tokenField: canary.key }, { authorization }),
        control("POST", `${session}/verify`, { kind: "never", pattern: { status: canary.dob } }, { authorization }),
        control("POST", "/sessions", { customerId: "mine", customerKey: canary.key }, { authorization }),
        control("GET", "/sessions", undefined, { authorization }),
        control("GET", "/metrics", undefined, { authorization })
      ], (answer) => answer)
      deepStrictEqual(
        texts.map(({ status }) => status),
        [401, 403, 403, 404, 400, 400, 400, 200, 400, 400, 400, 400, 400, 201, 200, 200]
      )
      for (const { text } of texts) deepStrictEqual(leaks(text, []), [], text)

      const remote = yield* Control.make({ url, token: Redacted.make(`${canary.control}x`) })
      const mine = (yield* Control.make({ url, token: Redacted.make(canary.control) })).session(customer.customerId)
      const failing: ReadonlyArray<Effect.Effect<unknown, Error>> = [
        remote.sessions,
        remote.create({ customerId: "another", customerKey: Redacted.make(canary.key) }),
        remote.create({ customerId: "a:b", customerKey: Redacted.make(`${canary.key}\n`) }),
        mine.setTime(canary.dob),
        mine.revokeTokens(Redacted.make(canary.control.repeat(10_000)))
      ]
      for (const error of yield* Effect.forEach(failing, Effect.flip)) {
        const all = [String(error), JSON.stringify(error), inspect(error, { depth: 9 }), error.message, error.stack]
        // A stack has lines of this file, which contain the values.
        deepStrictEqual(leaks(all.join("\n").replaceAll(/^\s+at .*$/gm, ""), []), [])
      }
    }).pipe(Effect.provide(Layer.merge(layer, NodeHttpClient.layerUndici))))
})

describe("A journal", () => {
  it.live("stays readable whatever headers a request has", () =>
    Effect.gen(function*() {
      const { url } = yield* MockServer.MockServer
      const { unmatchedRequests } = yield* Control.Control
      yield* send(url, "GET / HTTP/1.1\r\nHost: x\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nConnection: close\r\n\r\n")
      const { entries: [entry] } = yield* unmatchedRequests()
      strictEqual(entry?.request.headers["set-cookie"], "a, b")
    }).pipe(Effect.provide(MockServer.layer({ port: 0, reveal: true }))))

  it.live("keeps a thousand of ten thousand exchanges, and counts the others", () =>
    Effect.gen(function*() {
      const { find, list } = yield* Session.Sessions
      const { issueToken, journal } = Option.getOrThrow(yield* find("test-many"))
      const handle = yield* issueToken
      const dataPlane = yield* DataPlane.make
      const source = HttpServerRequest.fromWeb(
        new Request("http://localhost/api/aml", { headers: { authorization: `Bearer ${handle}` } })
      )
      const exchange = dataPlane(PlainRequest.headOf(source), PlainRequest.readBodyOf(source))
      yield* Effect.replicateEffect(exchange, 10_000, { discard: true })
      strictEqual((yield* journal.entries).length, 1000)
      strictEqual(yield* journal.dropped, 9000)
      deepStrictEqual((yield* journal.entries).at(-1)?.id, 10_000)
      strictEqual((yield* list).length, 2)
    }).pipe(Effect.provide(App.layer([Session.demoCustomer], {}))))
})
