import { createHmac } from "node:crypto"
import type { Json, JsonObject, Style } from "./types.ts"

/** The causes for which the service refuses a request. */
export type Refusal = "path" | "method" | "credentials" | "grant" | "token" | "body" | "person"

export interface RefusalResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: JsonObject
}

export interface Presentation {
  readonly tokenStatus: number
  readonly checkStatus: number
  readonly chunked: boolean
  readonly headers: Readonly<Record<string, string>>
  /** Offset of searched_on from UTC. The document does not state the time zone. */
  readonly zoneMinutes: number
  readonly tokenResponse: (token: string) => JsonObject
  readonly credential: (attributes: JsonObject) => JsonObject
  readonly stringify: (value: Json) => string
  readonly profile: (reference: string) => string
  /** Returns undefined if the service closes the connection. */
  readonly refuse: (refusal: Refusal, extra: JsonObject) => RefusalResponse | undefined
}

const json = { "content-type": "application/json" }

const strictRefusals: Readonly<Record<Refusal, readonly [status: number, title: string]>> = {
  path: [404, "No such resource"],
  method: [405, "Method not allowed"],
  credentials: [401, "Client authentication failed"],
  grant: [422, "Unsupported grant"],
  token: [403, "Access token not accepted"],
  body: [415, "The body is not a JSON object"],
  person: [409, "A field has a value that is not allowed"]
}

const escapeNonAscii = (text: string): string =>
  text.replace(/[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)

const credentialOf = (attributes: JsonObject, issuer: string, id: string, version: string): JsonObject => ({
  credential_type: "aml",
  credential_name: "AML",
  issued_by: issuer,
  issuer_id: id,
  cred_version: version,
  credentials: { attributes }
})

export const presentation: Readonly<Record<Style, Presentation>> = {
  strict: {
    tokenStatus: 200,
    checkStatus: 200,
    chunked: true,
    headers: { "Content-TYPE": "application/json; charset=UTF-8", "X-Request-Trace": "7c1e" },
    zoneMinutes: 0,
    tokenResponse: (token) => ({ access_token: token, token_type: "Bearer", expires_in: 3600, scope: "aml" }),
    credential: (attributes) =>
      credentialOf(attributes, "Example Verify Ltd", "3f0c9d52-6f0e-4f5e-9a44-0d3c1f6b7a21", "1.0"),
    stringify: (value) => JSON.stringify(value),
    profile: (reference) => `https://profiles.example.com/aml/${reference}`,
    refuse: (refusal, extra) => {
      const [status, title] = strictRefusals[refusal]
      const headers: Record<string, string> = { "content-type": "application/problem+json" }
      if (status === 401) headers["WWW-Authenticate"] = "Basic realm=\"token\", charset=\"UTF-8\""
      if (status === 405) headers["Allow"] = "POST"
      return { status, headers, body: { type: "about:blank", title, status, ...extra } }
    }
  },
  "ok-false": {
    tokenStatus: 200,
    checkStatus: 200,
    chunked: false,
    headers: json,
    zoneMinutes: 330,
    tokenResponse: (token) => ({ success: true, token_type: "bearer", expires_in: "3600", access_token: token }),
    credential: (attributes) => ({
      success: true,
      ...credentialOf(
        { reference: "R-1", ...attributes },
        "Prüfstelle AG",
        "B1F5A6E0-1C2D-4E3F-8A9B-0C1D2E3F4A5B",
        "2.13"
      )
    }),
    stringify: (value) => JSON.stringify(value, null, 2),
    profile: (reference) => `http://profiles.example.org:8080/p?id=${reference}&lang=en`,
    refuse: (refusal, extra) => ({
      status: 200,
      headers: json,
      body: { success: false, error: { code: refusal.length * 100, reason: refusal }, ...extra }
    })
  },
  "five-hundred": {
    tokenStatus: 201,
    checkStatus: 201,
    chunked: false,
    headers: { "CONTENT-type": "application/vnd.aml+json" },
    zoneMinutes: -480,
    tokenResponse: (token) => ({ access_token: token }),
    credential: (attributes) => ({
      ...credentialOf(attributes, "Verifier of Individuals", "00000000-0000-4000-8000-00000000a31c", "10.0"),
      signature: null
    }),
    stringify: (value) => escapeNonAscii(JSON.stringify(value)),
    profile: (reference) => `https://profiles.example.net/${reference}.pdf#summary`,
    refuse: (_refusal, extra) => ({ status: 500, headers: { "content-type": "text/html" }, body: extra })
  },
  "hang-up": {
    tokenStatus: 200,
    checkStatus: 200,
    chunked: true,
    headers: { "Content-Type": "text/json" },
    zoneMinutes: 780,
    tokenResponse: (token) => ({ issued: { region: "x" }, access_token: token, token_type: "BEARER" }),
    credential: (attributes) => ({
      ...credentialOf(attributes, "HU", "a0a0a0a0-b1b1-1c2c-9d3d-e4e4e4e4e4e4", "0.9"),
      warnings: []
    }),
    stringify: (value) => `\r\n ${JSON.stringify(value, null, "\t")}\r\n`,
    profile: (reference) => `https://127.0.0.1/${reference}`,
    refuse: () => undefined
  },
  lenient: {
    tokenStatus: 200,
    checkStatus: 201,
    chunked: false,
    headers: json,
    zoneMinutes: 120,
    tokenResponse: (token) => ({ access_token: token, token_type: "Bearer", expires_in: 3600 }),
    credential: (attributes) =>
      credentialOf(attributes, "Lenient Verify", "c2b7f6d4-9d0c-7a55-bb1e-5a1f0e9d8c7b", "3.4"),
    stringify: (value) => JSON.stringify(value),
    profile: (reference) => `https://lenient.example.com/profiles/${reference}/`,
    refuse: (refusal, extra) => ({
      status: refusal === "credentials" || refusal === "token" ? 401 : 400,
      headers: { ...json, "www-authenticate": "Bearer" },
      body: { error: refusal === "grant" ? "unsupported_grant_type" : "invalid_request", ...extra }
    })
  }
}

/** Creates an access token. Each style uses another opaque format. */
export const mintToken = (style: Style, subject: string, at: number, random: Buffer): string => {
  const part = (value: JsonObject): string => Buffer.from(JSON.stringify(value)).toString("base64url")
  switch (style) {
    case "strict": {
      const claims = {
        sub: subject,
        iat: Math.floor(at / 1000),
        exp: Math.floor(at / 1000) + 3600,
        jti: random.toString("hex", 0, 8)
      }
      const content = `${part({ alg: "HS256", typ: "JWT" })}.${part(claims)}`
      return `${content}.${createHmac("sha256", random).update(content).digest("base64url")}`
    }
    case "ok-false":
      return `${random.toString("hex", 0, 4)}-${random.toString("hex", 4, 6)}-${random.toString("hex", 6, 12)}-Zz`
    case "five-hundred":
      return `${random.toString("hex").repeat(20)}e`
    case "hang-up":
      return `v2~${random.toString("base64url", 0, 12)}/+._${random.toString("base64url", 12, 30)}==`
    case "lenient":
      return random.toString("base64url", 0, 15)
  }
}
