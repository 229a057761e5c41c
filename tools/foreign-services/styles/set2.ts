/** The styles of the second author: strict or generous about what the document does not show, with other responses. */
import { Effect } from "effect"
import { createHash, randomBytes, randomInt } from "node:crypto"
import {
  type Change,
  HOUR,
  isObject,
  type Json,
  type JsonObject,
  type Reason,
  type Reply,
  type Style
} from "../service.ts"

const encoded = (value: JsonObject): string => Buffer.from(JSON.stringify(value)).toString("base64url")
const hash = (text: string): string => createHash("sha256").update(text).digest("hex")
const reversed = (value: Json): Json => isObject(value) ? reversedFields(value) : value
const reversedFields = (value: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(value).reverse().map(([name, field]) => [name, reversed(field)]))

/** The steps that all styles of this author share. `loose`: other forms of headers, and dates that do not exist. */
const house = ({ extras, loose }: { readonly extras: boolean; readonly loose: boolean }): Change => (s, was) => ({
  media: (q) => loose ? was.media(q) : q.headers["content-type"] ?? "",
  scheme: (header, word) => {
    if (!loose) return was.scheme(header, word)
    const [, found = "", value] = /^(\S+) +(\S+)\s*$/.exec(header ?? "") ?? []
    return found.toLowerCase() === word.toLowerCase() ? value : undefined
  },
  decode64: (text) => loose ? Buffer.from(text, "base64").toString() : was.decode64(text),
  jsonOk: (q) => extras || /^(application\/json(; ?charset=utf-8)?)?$/i.test(s.media(q)),
  nameOk: (value, q) => was.nameOk(value, q) && (loose || value === String(value).trim()),
  dobOk: (value, q) => {
    const text = typeof value === "string" ? value : ""
    if (loose) return /^(0[1-9]|[12]\d|3[01])-(0[1-9]|1[0-2])-\d{4}$/.test(text)
    const [day, month, year] = [text.slice(0, 2), text.slice(3, 5), text.slice(6)]
    return was.dobOk(value, q) && year >= "1850" &&
      Date.parse(`${year}-${month}-${day}T00:00:00Z`) <= Math.max(q.at, Date.now()) + 24 * HOUR
  },
  lists: () => Effect.yieldNow(),
  listed: (name) => /Testpep|Testsanction|Testmatch/.test(name.trim().split(/\s+/).at(-1) ?? ""),
  profile: ({ dob, name }) => `https://profiles.example.test/aml/${hash(`${name}|${dob}`).slice(0, 24)}`
})
/** The lists without regard to case. */
const folded: Change = () => ({
  listed: (name) => /testpep|testsanction|testmatch/i.test(name.trim().split(/\s+/).at(-1) ?? "")
})

const customer = { id: "Onboarded-Verifier-4711", key: "K3y:p+ssW0rd/Xy=:7q" }
const endpoint = (reason: Reason): "path" | "token" | "check" =>
  /path|method|query|failed/.test(reason) ? "path" : /type|client|grant/.test(reason) ? "token" : "check"
const json = { "Content-Type": "application/json" }

const html = { "cOntent-tYpe": "text/html", "Cache-Control": "no-store" }
const generous: Change = (_s, was) => ({
  alive: (token, at) => at - token.at <= HOUR,
  mint: () => {
    const claims = encoded({ jti: randomBytes(9).toString("hex") })
    return `${encoded({ alg: "HS256", typ: "JWT" })}.${claims}.${randomBytes(32).toString("base64url")}`
  },
  tokenBody: (value) => ({
    scope: "",
    issued: { by: "sso" },
    token_type: "bearer",
    expires_in: "3600",
    access_token: value,
    refresh_expires_in: 0
  }),
  text: (value) => `${JSON.stringify(value, null, 2)}\n`,
  credential: (attributes, check) => ({
    id: randomBytes(6).toString("hex"),
    success: true,
    ...was.credential(attributes, check),
    credentials: { proof: null, attributes: { ...attributes, lists: ["PEP", "Sanctions"], score: 0 } }
  }),
  profile: ({ dob, name }) => `https://app.example.test:8443/profile?name=${encodeURIComponent(name)}&dob=${dob}#aml`
})
const abrupt: Change = (_s, was) => ({
  mint: () => randomBytes(150).toString("base64"),
  tokenBody: (value) => ({ expires: "soon", access_token: value }),
  credential: (attributes, check) => reversedFields(was.credential(attributes, check)),
  profile: () => `http://aml.example.test/${randomBytes(8).toString("hex")}`
})
const grumpySteps: Change = (_s, was) => ({
  mint: () => String(randomInt(1e14)).padStart(15, "7"),
  tokenBody: (value) => ({ token_type: "BEARER", access_token: value, error: null }),
  text: (value) =>
    JSON.stringify(value)
      .replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
  credential: (attributes, check) => ({ ...reversedFields(was.credential(attributes, check)), warnings: [] }),
  profile: ({ dob, name }) => `HTTPS://profiles.example.test/${hash(dob + name)}`
})

const grumpy: Style = {
  customer,
  extras: true,
  status: [203, 200],
  headers: () => ({ "cOntent-tYpe": "application/vnd.idv+json", "Cache-Control": "no-store" }),
  pieces: 1,
  issuer: ["身元確認", "123e4567-e89b-12d3-a456-426614174000", "0.9"],
  zone: -210,
  refuse: (reason): Reply => ({
    status: endpoint(reason) === "token" ? 500 : 503,
    headers: html,
    body: "<html><body>Something went wrong</body></html>",
    pieces: 1
  }),
  changes: [house({ extras: true, loose: false }), folded, grumpySteps]
}

export const styles = {
  strict: {
    customer,
    extras: false,
    status: [200, 200],
    headers: () => json,
    issuer: ["Identity Verification Service", "6f1c2b8e-3d4a-4c57-9e10-0a2b4c6d8e0f", "1.0"],
    zone: 0,
    refuse: (reason) => {
      const at = endpoint(reason)
      if (at === "path") return { status: 404, headers: json, body: { error: "not_found" } }
      return at === "token"
        ? { status: 401, headers: json, body: { error: "invalid_client" } }
        : { status: 400, headers: json, body: { error: "invalid_request" } }
    },
    changes: [house({ extras: false, loose: false })]
  },
  generous: {
    customer,
    extras: true,
    status: [201, 201],
    headers: () => ({
      "CONTENT-TYPE": "application/json; charset=utf-8",
      "X-REQUEST-ID": randomBytes(4).toString("hex")
    }),
    issuer: ["IDV d.o.o. – Überprüfung", "A0B1C2D3-E4F5-1678-8ABC-DEF012345678", "2.13"],
    zone: 120,
    refuse: () => ({
      status: 200,
      headers: {
        "CONTENT-TYPE": "application/json; charset=utf-8",
        "X-REQUEST-ID": randomBytes(4).toString("hex")
      },
      body: { success: false, message: "refused" }
    }),
    changes: [house({ extras: true, loose: true }), folded, generous]
  },
  abrupt: {
    customer,
    extras: false,
    status: [200, 202],
    headers: () => ({ "content-type": "text/plain", connection: "close" }),
    pieces: 1,
    issuer: ["x", "00000000-0000-4000-8000-000000000001", "10.0"],
    zone: 345,
    refuse: () => "cut",
    changes: [house({ extras: false, loose: true }), abrupt]
  },
  grumpy
} satisfies Record<string, Style>

/** Correct to the letter, because the document shows no field of the token response: it has the token in `data`. */
export const foreign: Style = {
  ...grumpy,
  zone: 0,
  refuse: () => ({
    status: 403,
    headers: { "cOntent-tYpe": "text/plain", "Cache-Control": "no-store" },
    body: "",
    pieces: 1
  }),
  changes: [...grumpy.changes, () => ({ tokenBody: (value) => ({ data: { type: "service", token: value } }) })]
}
