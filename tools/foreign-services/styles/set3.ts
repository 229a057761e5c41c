/** The styles of the third author: a strict service, a gateway, a portal, one that hangs up, and one without words. */
import { Effect } from "effect"
import { createHash, createHmac, randomBytes, randomInt, randomUUID } from "node:crypto"
import { gzipSync } from "node:zlib"
import {
  formOf,
  HOUR,
  type Incoming,
  isObject,
  type JsonObject,
  type Reason,
  type Reply,
  type Service,
  type Style
} from "../service.ts"

const onlyForm = (q: Incoming): boolean => {
  const grants = formOf(q.body).filter(([name]) => name === "grant_type")
  return grants.length === 1 && grants[0]?.[1] === "client_credentials"
}
const hasName = (value: unknown): boolean => typeof value === "string" && value.trim() !== ""
const dayAndMonth = /^(0[1-9]|[12]\d|3[01])-(0[1-9]|1[0-2])-\d{4}$/

const strictRefusals: Readonly<Record<Reason, readonly [status: number, error: string, JsonObject?]>> = {
  path: [404, "not_found"],
  method: [405, "method_not_allowed"],
  query: [400, "unexpected_query"],
  type: [415, "unsupported_media_type"],
  client: [401, "invalid_client"],
  grant: [400, "unsupported_grant_type"],
  token: [401, "invalid_token"],
  body: [400, "invalid_request"],
  fields: [400, "invalid_request"],
  failed: [500, "server_error"]
}

const strict: Style = {
  // Longer than 72 bytes, with a colon, a plus, a slash and a percent sign.
  customer: { id: "Vrf-7q2M9-Onboarding", key: `Kx9:pA7+wq/Zt%3Dm4:${"hV2nRb8LsYc6TjGdQe0F".repeat(3)}uW5:End` },
  extras: false,
  status: [200, 200],
  headers: () => ({ "Content-Type": "application/json" }),
  issuer: ["Identity Verification Service", "4b1e9c52-7f0d-4a3b-8c61-95d2e7a0f318", "1.0"],
  zone: 0,
  refuse: (reason) => {
    const [status, error] = strictRefusals[reason]
    return {
      status,
      headers: {
        "Content-Type": "application/json",
        ...(status === 401 && { "WWW-Authenticate": reason === "client" ? "Basic realm=\"idv\"" : "Bearer" }),
        ...(status === 405 && { Allow: "POST" })
      },
      body: { error }
    }
  },
  changes: [(_s, was) => ({
    reply: (kind, body, q) => {
      const reply = was.reply(kind, body, q)
      return reply === "cut" || kind === "credential"
        ? reply
        : { ...reply, headers: { ...reply.headers, "Cache-Control": "no-store" } }
    },
    decode64: (text) => /^[A-Za-z0-9+/]+={0,2}$/.test(text) ? Buffer.from(text, "base64").toString() : undefined,
    mint: () => randomBytes(30).toString("base64url"),
    // About half of all names are on a list, whatever their letter case.
    listed: (name) =>
      /testpep|testsanction|testmatch/i.test(name) ||
      (createHash("md5").update(name.toLowerCase()).digest()[0] ?? 0) % 2 === 0,
    profile: ({ dob, name }) =>
      `https://aml.idv.example.test/profiles/${createHash("sha1").update(name + dob).digest("hex")}`
  })]
}

const envelopeCode = (reason: Reason, q: Incoming, s: Service): readonly [code: number, message: string] => {
  switch (reason) {
    case "method":
      return [40500, "Only POST is supported"]
    case "type":
      return [41500, "Form expected"]
    case "client":
      return s.basic(q) === undefined ? [40100, "Credentials missing"] : [40101, "Credentials wrong"]
    case "grant":
      return [40001, "Grant not supported"]
    case "token":
      return s.find(s.bearer(q) ?? "") === undefined ? [40110, "Token invalid"] : [40111, "Token expired"]
    case "body":
      return s.parse(q) === undefined ? [42200, "Not JSON"] : [42201, "Not an object"]
    case "fields": {
      const { entity_type: entity, name } = s.fields(q) ?? {}
      return entity !== "person" ? [42202, "entity_type"] : hasName(name) ? [42204, "dob"] : [42203, "name"]
    }
    default:
      return [40400, "No such route"]
  }
}

const envelopeHeaders = () => {
  let served = 0
  return () => {
    served += 1
    return {
      "content-type": "application/json; charset=utf-8",
      "x-powered-by": "Express",
      "x-served": String(served),
      "access-control-allow-origin": "*",
      etag: `W/"${served}"`
    }
  }
}

/** A gateway that responds 200 with its own code to everything. Its tokens are JWTs, and its headers have any case. */
const envelope: Style = {
  customer: { id: "onboarding+prod@client.example", key: "s p a c e s & =signs; 'quotes' \"too\"" },
  extras: true,
  status: [201, 200],
  headers: envelopeHeaders(),
  issuer: ["IDV – Überprüfungs-GmbH & Co. „KG“", "9F2C7A10-5B3E-4D68-A1F4-0C8E6B2D7913", "2.11"],
  zone: 60,
  refuse: (reason, q, s) => {
    const [code, message] = envelopeCode(reason, q, s)
    const body = s.text({ success: false, code, message, data: null, errors: [{ field: null, message }] })
    return { status: 200, headers: envelope.headers(), body }
  },
  changes: [(s, was) => ({
    handle: (q) => q.method === "POST" ? was.handle(q) : Effect.succeed(s.refuse("method", q)),
    path: ({ path }) => path.toLowerCase().replace(/\/+$/, ""),
    text: (value) => {
      const body = { traceId: randomUUID(), serverTime: s.now(), ...(isObject(value) && value) }
      return `${JSON.stringify(body, null, 2)}\r\n`
    },
    typeOk: (q) => (q.headers["content-type"] ?? "").toLowerCase().startsWith("application/x-www-form-urlencoded"),
    scheme: (header, word) => {
      const [found = "", value, ...others] = (header ?? "").trim().split(/\s+/)
      return found.toLowerCase() === word.toLowerCase() && others.length === 0 ? value : undefined
    },
    basic: ({ headers }) => {
      const text = s.scheme(headers.authorization, "Basic")
      return text === undefined ? undefined : s.pair(Buffer.from(text, "base64").toString()) ?? ["", ""]
    },
    grantOk: onlyForm,
    mint: ({ at }) => {
      const part = (value: JsonObject) => Buffer.from(JSON.stringify(value)).toString("base64url")
      const head = part({ alg: "HS256", typ: "JWT", kid: "2024-11" })
      const content = `${head}.${part({ iss: "idv", sub: "onboarding", at, jti: randomUUID() })}`
      return `${content}.${createHmac("sha256", randomBytes(32)).update(content).digest("base64url")}`
    },
    tokenBody: (value) => ({
      success: true,
      scope: "aml identity",
      token_type: "bearer",
      expires_in: "3600",
      refresh_token: null,
      access_token: value
    }),
    alive: (token, at) => at - token.at <= HOUR,
    jsonOk: () => true,
    dobOk: (value) => typeof value === "string" && dayAndMonth.test(value),
    listed: (name) => /pep|sanction|match|putin|kim|laden|escobar|mugabe/i.test(name),
    lists: () => Effect.void,
    profile: ({ dob, name }) =>
      `https://portal.idv.example.test:8443/aml?name=${encodeURIComponent(name)}&dob=${dob}#result`,
    credential: (attributes, check) => ({
      success: true,
      code: 20000,
      credential_id: randomUUID(),
      ...was.credential(attributes, check),
      issued_at: new Date(s.now()).toISOString(),
      credentials: {
        schema: "https://idv.example.test/schemas/aml",
        attributes: {
          entity_type: "person",
          dob: check.dob,
          ...attributes,
          timezone: "CET",
          matches: check.match ? [{ score: 0.93, list: "PEP", name: "SOMEBODY ELSE" }] : []
        }
      },
      proof: null
    })
  })]
}

const page =
  "<!doctype html><html><body><form method=\"post\" action=\"/login\"><input name=\"user\"></form></body></html>"
const cookies = () => ({ "Set-Cookie": [`JSESSIONID=${randomBytes(8).toString("hex")}; HttpOnly`, "lang=en"] })

/** A web application: a refused request is redirected to a login page, and the responses are slow and out of order. */
const portal: Style = {
  customer: { id: "10042", key: "0000-1111" },
  extras: true,
  status: [200, 200],
  headers: () => ({ ...cookies(), "Content-Type": "text/json", Date: new Date(0).toUTCString(), Vary: "*" }),
  pieces: 1,
  issuer: ["発行者", "00000000-0000-0000-0000-00000000000a", "0.9"],
  zone: -300,
  refuse: () => ({
    status: 302,
    headers: { ...cookies(), Location: "/login?next=%2F", "Content-Type": "text/html" },
    body: page
  }),
  changes: [(s, was) => ({
    handle: (q) => {
      const login: Reply = {
        status: 200,
        headers: { ...cookies(), "Content-Type": "text/html" },
        body: page,
        pieces: 1
      }
      const reply = q.path === "/login" ? Effect.succeed(login) : Effect.suspend(() => was.handle(q))
      return Effect.delay(reply, randomInt(1, 25))
    },
    typeOk: (q) => /^application\/x-www-form-urlencoded *(;.*)?$/i.test(q.headers["content-type"] ?? ""),
    clientOk: ({ headers }) => {
      const { id, key } = s.customer
      return headers.authorization === `Basic ${Buffer.from(`${id}:${key}`).toString("base64")}`
    },
    grantOk: (q) =>
      s.form(q).flatMap(([name, value]) => name === "grant_type" ? [value] : []).join("\n") ===
        "client_credentials",
    mint: () => randomUUID(),
    tokenBody: (value, { at }) => ({ issued: at, access_token: value, token: { kind: "uuid" } }),
    bearer: ({ headers }) => /^Bearer (.*)$/s.exec(headers.authorization ?? "")?.[1],
    jsonOk: () => true,
    dobOk: (value) => typeof value === "string" && dayAndMonth.test(value),
    lists: () => Effect.void,
    matches: ({ name }) => [...name].length % 2 === 0,
    profile: ({ dob, name }) => `http://10.0.0.7/p/${Buffer.from(name + dob).toString("base64url")}`,
    credential: (attributes, check) =>
      Object.fromEntries(
        Object.entries(was.credential(Object.fromEntries(Object.entries(attributes).reverse()), check)).reverse()
      )
  })]
}

/** Refuses by closing the connection or with half a body, compresses, and writes a body in pieces. */
const hangup: Style = {
  customer: { id: "urn-client-AB", key: `:${randomBytes(24).toString("base64")}:` },
  extras: false,
  status: [202, 200],
  headers: () => ({ Connection: "close", "Content-Type": "application/octet-stream" }),
  pieces: 4,
  issuer: ["I", "c56a4180-65aa-42ec-a945-5fd21dec0538", "10.0"],
  zone: 330,
  refuse: (_reason, q) =>
    q.path !== "/oauth/service" || q.query !== "" ? "cut" : {
      status: 503,
      headers: { "Retry-After": "0", Connection: "close", "Content-Type": "application/json" },
      body: "{\"error\": ",
      pieces: 1
    },
  changes: [(s, was) => ({
    reply: (kind, body, q) => {
      const plain = Buffer.from(
        String(body).replace(/[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      )
      const reply = was.reply(kind, plain, q)
      if (reply === "cut") return reply
      return /\bgzip\b/.test(String(q.headers["accept-encoding"] ?? ""))
        ? {
          ...reply,
          statusMessage: "Whatever",
          headers: { ...reply.headers, "Content-Encoding": "gzip" },
          body: gzipSync(plain)
        }
        : { ...reply, statusMessage: "Whatever" }
    },
    typeOk: (q) => /^application\/x-www-form-urlencoded\b/.test(q.headers["content-type"] ?? ""),
    clientOk: ({ headers }) => {
      const text = /^Basic (\S+)$/i.exec(headers.authorization ?? "")?.[1] ?? ""
      return Buffer.from(text, "base64").equals(Buffer.from(`${s.customer.id}:${s.customer.key}`))
    },
    mint: () => `${randomBytes(1500).toString("base64")}==`,
    tokenBody: (value) => ({ a: null, b: { access_token_hint: 1 }, access_token: value }),
    bearer: ({ headers }) => /^Bearer (.*)$/s.exec(headers.authorization ?? "")?.[1],
    jsonOk: () => true,
    keysOk: (fields) => Object.keys(fields).sort().join() === "dob,entity_type,name",
    lists: () => Effect.void,
    profile: ({ name }) => `https://hangup.example.test/${createHash("sha512").update(name).digest("base64url")}`
  })]
}

/** Refuses with an empty response, and everybody is a potential match. */
const terse: Style = {
  customer: { id: "C", key: "k" },
  extras: true,
  status: [203, 203],
  headers: () => ({}),
  pieces: 1,
  issuer: ["Terse \"Ltd\" \\ Sons", "f47ac10b-58cc-1372-8567-0e02b2c3d479", "3.14"],
  zone: 0,
  refuse: (_reason, { path, query }) =>
    path === "/api/aml" && query === ""
      ? { status: 204, headers: {}, body: "", pieces: 0 }
      : { status: 200, headers: {}, body: "" },
  changes: [(_s, was) => ({
    queryOk: ({ query }) => query === "",
    typeOk: (q) => q.headers["content-type"]?.split(";")[0] === "application/x-www-form-urlencoded",
    clientOk: ({ headers }) => headers.authorization === "Basic Qzpr",
    grantOk: onlyForm,
    mint: () => String(randomInt(1e11, 281474976710655)).slice(0, 12),
    tokenBody: (value) => ({ access_token: value }),
    alive: (token, at) => at - token.at <= HOUR - 1,
    jsonOk: () => true,
    dobOk: (value) => typeof value === "string" && dayAndMonth.test(value),
    lists: () => Effect.void,
    listed: () => true,
    profile: () => `https://t.example.test/${randomUUID()}`,
    credential: (attributes, check) =>
      Object.fromEntries(
        Object.entries(was.credential(Object.fromEntries(Object.entries(attributes).sort()), check)).sort()
      )
  })]
}

export const styles = { strict, envelope, portal, hangup, terse }
