/** The styles of the first author: each refuses in another way. */
import { Effect } from "effect"
import { createHash, createHmac, randomBytes, randomUUID } from "node:crypto"
import {
  type Change,
  formType,
  isObject,
  type JsonObject,
  parseJson,
  type Person,
  type Reason,
  type Style
} from "../service.ts"

const encoded = (value: JsonObject): string => Buffer.from(JSON.stringify(value)).toString("base64url")
const reference = ({ dob, name }: Person): string =>
  createHash("sha256").update(`${name}|${dob}`).digest("hex").slice(0, 20)
const asciiOnly = (text: string): string =>
  text.replace(/[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** The steps that all styles of this author share. */
const house: Change = (s, was) => ({
  typeOk: () => true,
  grantOk: (q) => s.media(q) === formType && was.grantOk(q),
  scheme: (header, word) => {
    const [, found, value] = /^([^ ]+) +(\S+)$/.exec(header ?? "") ?? []
    return found === word ? value : undefined
  },
  decode64: (text) => {
    const decoded = Buffer.from(text, "base64")
    return decoded.toString("base64").replace(/=+$/, "") === text.replace(/=+$/, "") ? decoded.toString() : undefined
  },
  jsonOk: () => true,
  dobOk: (value, q) => was.dobOk(value, q) && !String(value).endsWith("-0000"),
  lists: () => Effect.sleep(3),
  year: (dob) => /[0-9]{4}/.exec(dob)?.[0] ?? "1900"
})

const customer = { id: "Unseen-Customer-417", key: "kEy:7Qz/Part+Two=xW9aRb" }
const json = { "content-type": "application/json" }

const strictRefusals: Readonly<Record<Reason, readonly [status: number, title: string]>> = {
  path: [404, "No such resource"],
  method: [405, "Method not allowed"],
  query: [400, "A query is not allowed"],
  client: [401, "Client authentication failed"],
  type: [422, "Unsupported grant"],
  grant: [422, "Unsupported grant"],
  token: [403, "Access token not accepted"],
  body: [415, "The body is not a JSON object"],
  fields: [409, "A field has a value that is not allowed"],
  failed: [500, "The service failed"]
}

/** The causes in the refusals of the style ok-false. */
const cause = (reason: Reason): string => reason === "client" ? "credentials" : reason === "fields" ? "person" : reason

export const styles = {
  strict: {
    customer,
    extras: true,
    status: [200, 200],
    headers: () => ({ "Content-TYPE": "application/json; charset=UTF-8", "X-Request-Trace": "7c1e" }),
    pieces: 2,
    issuer: ["Example Verify Ltd", "3f0c9d52-6f0e-4f5e-9a44-0d3c1f6b7a21", "1.0"],
    zone: 0,
    refuse: (reason) => {
      const [status, title] = strictRefusals[reason]
      return {
        status,
        headers: {
          "content-type": "application/problem+json",
          ...(status === 401 && { "WWW-Authenticate": "Basic realm=\"token\", charset=\"UTF-8\"" }),
          ...(status === 405 && { Allow: "POST" })
        },
        body: { type: "about:blank", title, status }
      }
    },
    changes: [house, () => ({
      mint: ({ at }) => {
        const iat = Math.floor(at / 1000)
        const claims = { sub: customer.id, iat, exp: iat + 3600, jti: randomBytes(8).toString("hex") }
        const content = `${encoded({ alg: "HS256", typ: "JWT" })}.${encoded(claims)}`
        return `${content}.${createHmac("sha256", randomBytes(32)).update(content).digest("base64url")}`
      },
      tokenBody: (value) => ({ access_token: value, token_type: "Bearer", expires_in: 3600, scope: "aml" }),
      profile: (person) => `https://profiles.example.com/aml/${reference(person)}`
    })]
  },
  "ok-false": {
    customer,
    extras: true,
    status: [200, 200],
    headers: () => json,
    issuer: ["Prüfstelle AG", "B1F5A6E0-1C2D-4E3F-8A9B-0C1D2E3F4A5B", "2.13"],
    zone: 330,
    refuse: (reason) => ({
      status: 200,
      headers: json,
      body: { success: false, error: { code: cause(reason).length * 100, reason: cause(reason) } }
    }),
    changes: [house, (_s, was) => ({
      mint: () => `${randomUUID().slice(0, 14)}${randomBytes(5).toString("hex")}-Zz`,
      tokenBody: (value) => ({ success: true, token_type: "bearer", expires_in: "3600", access_token: value }),
      profile: (person) => `http://profiles.example.org:8080/p?id=${reference(person)}&lang=en`,
      text: (value) => JSON.stringify(value, null, 2),
      credential: (attributes, check) => ({
        success: true,
        ...was.credential({ reference: "R-1", ...attributes }, check)
      })
    })]
  },
  "five-hundred": {
    customer,
    extras: true,
    status: [201, 201],
    headers: () => ({ "CONTENT-type": "application/vnd.aml+json" }),
    issuer: ["Verifier of Individuals", "00000000-0000-4000-8000-00000000a31c", "10.0"],
    zone: -480,
    refuse: () => ({ status: 500, headers: { "content-type": "text/html" }, body: {} }),
    changes: [house, (_s, was) => ({
      mint: () => `${randomBytes(32).toString("hex").repeat(20)}e`,
      tokenBody: (value) => ({ access_token: value }),
      profile: (person) => `https://profiles.example.net/${reference(person)}.pdf#summary`,
      text: (value) => asciiOnly(JSON.stringify(value)),
      credential: (attributes, check) => ({ ...was.credential(attributes, check), signature: null })
    })]
  },
  "hang-up": {
    customer,
    extras: true,
    status: [200, 200],
    headers: () => ({ "Content-Type": "text/json" }),
    pieces: 2,
    issuer: ["HU", "a0a0a0a0-b1b1-1c2c-9d3d-e4e4e4e4e4e4", "0.9"],
    zone: 780,
    refuse: () => "cut",
    changes: [house, (_s, was) => ({
      mint: () => `v2~${randomBytes(12).toString("base64url")}/+._${randomBytes(18).toString("base64url")}==`,
      tokenBody: (value) => ({ issued: { region: "x" }, access_token: value, token_type: "BEARER" }),
      profile: (person) => `https://127.0.0.1/${reference(person)}`,
      text: (value) => `\r\n ${JSON.stringify(value, null, "\t")}\r\n`,
      credential: (attributes, check) => ({ ...was.credential(attributes, check), warnings: [] })
    })]
  },
  lenient: {
    customer,
    extras: true,
    status: [200, 201],
    headers: () => json,
    issuer: ["Lenient Verify", "c2b7f6d4-9d0c-7a55-bb1e-5a1f0e9d8c7b", "3.4"],
    zone: 120,
    refuse: (reason) => ({
      status: reason === "client" || reason === "token" ? 401 : 400,
      headers: { ...json, "www-authenticate": "Bearer" },
      body: { error: reason === "grant" ? "unsupported_grant_type" : "invalid_request" }
    }),
    changes: [house, (s, was) => ({
      mint: () => randomBytes(15).toString("base64url"),
      tokenBody: (value) => ({ access_token: value, token_type: "Bearer", expires_in: 3600 }),
      profile: (person) => `https://lenient.example.com/profiles/${reference(person)}/`,
      methodOk: ({ method, path }) =>
        method === "POST" || method === "PUT" || (method === "GET" && path === "/oauth/service"),
      scheme: (header, word) =>
        was.scheme(header?.replace(/^[^ ]+/, (found) => found.toLowerCase()), word.toLowerCase()),
      grantOk: (q) => {
        const form = new URLSearchParams(q.method === "GET" ? q.query : q.body)
        const body = parseJson(q.body)
        return q.method !== "GET" && s.media(q) === "application/json"
          ? isObject(body) && body["grant_type"] === "client_credentials"
          : form.getAll("grant_type").join("&") === "client_credentials"
      }
    })]
  }
} satisfies Record<string, Style>
