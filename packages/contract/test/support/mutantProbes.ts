/** Probes: named requests that are sent to mutants and to the mock server. */
import { HttpBody, HttpClient, HttpClientRequest } from "@effect/platform"
import { Effect, Schema } from "effect"
import { Control } from "../../../mock-server/src/index.ts"

export interface ProbeResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

type Headers = Readonly<Record<string, string>>

export const send = (method: "GET" | "POST" | "PUT", target: string, headers: Headers, body: string) =>
  Effect.gen(function*() {
    const url = target.startsWith("http") ? target : `http://localhost${target}`
    const response = yield* HttpClientRequest.make(method)(url).pipe(
      HttpClientRequest.setHeaders(headers),
      HttpClientRequest.setBody(method === "GET" ? HttpBody.empty : HttpBody.raw(body)),
      HttpClient.execute
    )
    // A byte order mark is a difference.
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(yield* response.arrayBuffer)
    // Tokens and the ids of profiles are different each time.
    const probeResponse: ProbeResponse = {
      status: response.status,
      headers: response.headers,
      text: text.replaceAll(/[\w-]+\.[0-9a-f]{32}/g, "<handle>")
    }
    return { response: probeResponse, raw: text }
  })

type Sent = ReturnType<typeof send>

export const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`

export const formType = "application/x-www-form-urlencoded"

/** A token request of the customer, with these changes. */
const token = (
  customer: string,
  changes: { readonly method?: "GET" | "POST" | "PUT"; readonly headers?: Headers; readonly body?: string } = {}
): Sent =>
  send(
    changes.method ?? "POST",
    "/oauth/service",
    changes.headers ?? { "authorization": basic(`${customer}:test-key`), "content-type": formType },
    changes.body ?? "grant_type=client_credentials"
  )

const typed = (type: string) => (customer: string) =>
  token(customer, { headers: { "authorization": basic(`${customer}:test-key`), "content-type": type } })

const as = (authorization: (customer: string) => string) => (customer: string) =>
  token(customer, { headers: { "authorization": authorization(customer), "content-type": formType } })

const form = (body: string) => (customer: string) => token(customer, { body })

export const decodeGrant = Schema.decodeUnknownSync(Schema.parseJson(Schema.Struct({ access_token: Schema.String })))

export const person = { entity_type: "person", name: "Zoë Ana Testclear", dob: "01-02-1990" }

interface Check {
  readonly method?: "GET" | "POST" | "PUT"
  readonly authorization?: (token: string) => string
  readonly type?: string
  readonly body?: unknown
}

const check = (
  token: string,
  { authorization = (token) => `Bearer ${token}`, body = person, method = "POST", type = "application/json" }: Check =
    {}
): Sent =>
  send(
    method,
    "/api/aml",
    { "authorization": authorization(token), "content-type": type },
    typeof body === "string" ? body : JSON.stringify(body)
  )

/** The token of a customer. Mutants that send it in another field are probed by the token response only. */
const accessToken = (customer: string) => Effect.map(token(customer), ({ raw }) => decodeGrant(raw).access_token)

export const checked = (changes: Check = {}) => (customer: string) =>
  Effect.flatMap(accessToken(customer), (token) => check(token, changes))

const about = (fields: object) => checked({ body: { ...person, ...fields } })

export const control = (customer: string) => Effect.map(Control.Control, ({ session }) => session(customer))

const advance = (customer: string, by: `${number} minutes`) =>
  Effect.flatMap(control(customer), ({ advance }) => advance(by))

/** A check when the token has this age. */
const aged = (by: `${number} minutes`) => (customer: string) =>
  Effect.gen(function*() {
    const token = yield* accessToken(customer)
    yield* advance(customer, by)
    return yield* check(token)
  })

/** The probes by name. Each returns the response to its last request. */
export const probes: Record<
  string,
  (customer: string) => Effect.Effect<Effect.Effect.Success<Sent>, unknown, HttpClient.HttpClient | Control.Control>
> = {
  "grant": (customer) => token(customer),
  "get": (customer) => token(customer, { method: "GET" }),
  "put": (customer) => token(customer, { method: "PUT" }),
  "json": (customer) =>
    token(customer, {
      headers: { "authorization": basic(`${customer}:test-key`), "content-type": "application/json" },
      body: "{\"grant_type\":\"client_credentials\"}"
    }),
  "text": typed("text/plain"),
  "no type": (customer) => token(customer, { headers: { authorization: basic(`${customer}:test-key`) } }),
  "charset": typed(`${formType}; charset=UTF-8`),
  "wrong key": as((customer) => basic(`${customer}:wrong`)),
  "empty key": as((customer) => basic(`${customer}:`)),
  "unknown customer": as(() => basic("nobody:secret")),
  "no customer": (customer) => token(customer, { headers: { "content-type": formType } }),
  "scheme": as((customer) => basic(`${customer}:test-key`).replace("Basic", "Bearer")),
  "in the body": (customer) =>
    token(customer, {
      headers: { "content-type": formType },
      body: `grant_type=client_credentials&client_id=${customer}&client_secret=test-key`
    }),
  "form-encoded": as((customer) => basic(`${customer.replace("-", "%2D")}:test%2Dkey`)),
  "no grant_type": form(""),
  "password": form("grant_type=password"),
  "upper case": form("grant_type=CLIENT_CREDENTIALS"),
  "twice": form("grant_type=client_credentials&grant_type=client_credentials"),
  "parameter": form("grant_type=client_credentials&scope=aml"),

  "clear": checked(),
  "pep": about({ name: "Noor Testpep" }),
  "sanc": about({ name: "Max Vale Testsanc" }),
  "leap day": about({ dob: "29-02-2000" }),
  "35 minutes": aged("35 minutes"),
  "60.5 minutes": aged("60.5 minutes"),
  "61 minutes": aged("61 minutes"),
  "130 minutes": aged("130 minutes"),
  "used": (customer) =>
    Effect.gen(function*() {
      const token = yield* accessToken(customer)
      yield* advance(customer, "29 minutes")
      yield* check(token)
      yield* advance(customer, "35 minutes")
      return yield* check(token)
    }),
  "revoked": (customer) =>
    Effect.gen(function*() {
      const token = yield* accessToken(customer)
      yield* Effect.flatMap(control(customer), ({ revokeTokens }) => revokeTokens())
      return yield* check(token)
    }),
  "renewed": (customer) =>
    Effect.gen(function*() {
      const token = yield* accessToken(customer)
      yield* accessToken(customer)
      return yield* check(token)
    }),
  "second person": (customer) =>
    Effect.gen(function*() {
      const token = yield* accessToken(customer)
      yield* check(token)
      return yield* check(token, { body: { entity_type: "person", name: "Noor Testpep", dob: "14-03-1957" } })
    }),
  "again": (customer) =>
    Effect.gen(function*() {
      const token = yield* accessToken(customer)
      yield* check(token)
      return yield* check(token)
    }),
  "later": (customer) =>
    Effect.gen(function*() {
      yield* Effect.flatMap(accessToken(customer), (token) => check(token))
      yield* advance(customer, "50000 minutes")
      return yield* Effect.flatMap(accessToken(customer), (token) => check(token))
    }),
  "aml get": checked({ method: "GET" }),
  "aml put": checked({ method: "PUT" }),
  "no token": checked({ authorization: () => "" }),
  "forged": checked({ authorization: () => "Bearer forged" }),
  "aml scheme": checked({ authorization: (token) => `Token ${token}` }),
  "id and key": (customer) => check("", { authorization: () => basic(`${customer}:test-key`) }),
  "lower case": checked({ authorization: (token) => `bearer ${token}` }),
  "aml text": checked({ type: "text/plain" }),
  "aml charset": checked({ type: "application/json; charset=utf-8" }),
  "array": checked({ body: [person] }),
  "not json": checked({ body: "{" }),
  "empty": checked({ body: "" }),
  "no entity_type": about({ entity_type: undefined }),
  "company": about({ entity_type: "company" }),
  "Person": about({ entity_type: "Person" }),
  "no name": about({ name: undefined }),
  "number": about({ name: 7 }),
  "parts": about({ name: ["Zoë", "Testclear"] }),
  "dob as number": about({ dob: 1021990 }),
  "blank": about({ name: " " }),
  "damaged": about({ name: "Ada\u0000" }),
  "cyrillic": about({ name: "Иван Testclear" }),
  "apostrophe": about({ name: "Sean O'Neil Testclear" }),
  "middle names": about({ name: "Ana Bea Cleo Dora Testclear" }),
  "one word": about({ name: "Testclear" }),
  "old": about({ dob: "02-03-1901" }),
  "no dob": about({ dob: undefined }),
  "iso": about({ dob: "1990-02-01" }),
  "slashes": about({ dob: "01/02/1990" }),
  "short": about({ dob: "1-2-1990" }),
  "no day": about({ dob: "31-02-1990" }),
  "extra": about({ phone: "1" }),
  "long": about({ name: "a".repeat(200 * 1024) }),
  "page": (customer) =>
    Effect.flatMap(
      checked()(customer),
      ({ raw }) => send("GET", /"aml_profile":"([^"]+)"/.exec(raw)?.[1] ?? "/", {}, "")
    ),
  "elsewhere": () => send("GET", "/api/company", {}, ""),
  "limited": (customer) =>
    Effect.gen(function*() {
      const token = yield* accessToken(customer)
      const { fault } = yield* control(customer)
      yield* fault({ on: "aml", what: { kind: "quota", limit: 1, per: "1 minute" } })
      yield* check(token)
      return yield* check(token)
    })
}
