// Five correct ways of doing what the document says; they differ only where it is silent.
import { randomBytes, randomInt, createHash } from "node:crypto";

export type Refusal = { status: number; type: string; body: string } | "close";
export type Style = {
  name: string;
  extras: boolean; // unknown form parameters, JSON fields and query parameters are ignored (else refused)
  loose: boolean; // header values: scheme in any case, media type parameters, several spaces; dates off the calendar
  zone: number; // minutes that searched_on is ahead of UTC (the document names no zone)
  life: (ageMs: number) => boolean; // the exact end of the hour is left open by less than a second
  ok: { token: number; aml: number };
  token: () => string;
  tokenBody: (token: string) => object;
  refuse: (kind: "token" | "aml" | "path") => Refusal;
  headers: (type: string, length: number) => Record<string, string | number>;
  type: string;
  dress: (credential: any) => any;
  text: (value: unknown) => string;
  issuer: { name: string; id: string; version: string };
  profile: (name: string, dob: string) => string;
  fold: boolean; // list search ignores letter case
};
const HOUR = 3_600_000;
const b64 = (v: unknown) => Buffer.from(JSON.stringify(v)).toString("base64url");
const hash = (s: string) => createHash("sha256").update(s).digest("hex");
const reversed = (v: any): any =>
  v && typeof v === "object" && !Array.isArray(v)
    ? Object.fromEntries(Object.entries(v).reverse().map(([k, x]) => [k, reversed(x)]))
    : v;

const strict: Style = {
  name: "strict", extras: false, loose: false, zone: 0, life: (a) => a < HOUR,
  ok: { token: 200, aml: 200 },
  token: () => randomBytes(20).toString("hex"),
  tokenBody: (t) => ({ access_token: t, token_type: "Bearer", expires_in: 3600 }),
  refuse: (k) =>
    k === "path" ? { status: 404, type: "application/json", body: '{"error":"not_found"}' }
    : k === "token" ? { status: 401, type: "application/json", body: '{"error":"invalid_client"}' }
    : { status: 400, type: "application/json", body: '{"error":"invalid_request"}' },
  headers: (type, length) => ({ "Content-Type": type, "Content-Length": length }),
  type: "application/json", dress: (c) => c, text: (v) => JSON.stringify(v),
  issuer: { name: "Identity Verification Service", id: "6f1c2b8e-3d4a-4c57-9e10-0a2b4c6d8e0f", version: "1.0" },
  profile: (n, d) => `https://profiles.example.test/aml/${hash(n + "|" + d).slice(0, 24)}`,
  fold: false,
};
const generous: Style = {
  name: "generous", extras: true, loose: true, zone: 120, life: (a) => a <= HOUR,
  ok: { token: 201, aml: 201 },
  token: () => `${b64({ alg: "HS256", typ: "JWT" })}.${b64({ jti: randomBytes(9).toString("hex") })}.${randomBytes(32).toString("base64url")}`,
  tokenBody: (t) => ({ scope: "", issued: { by: "sso" }, token_type: "bearer", expires_in: "3600", access_token: t, refresh_expires_in: 0 }),
  refuse: () => ({ status: 200, type: "application/json; charset=utf-8", body: '{"success":false,"message":"refused"}' }),
  headers: (type, length) => ({ "CONTENT-TYPE": type, "CONTENT-LENGTH": length, "X-REQUEST-ID": randomBytes(4).toString("hex") }),
  type: "application/json; charset=utf-8",
  dress: (c) => ({
    id: randomBytes(6).toString("hex"), success: true, ...c,
    credentials: { proof: null, attributes: { ...c.credentials.attributes, lists: ["PEP", "Sanctions"], score: 0 } },
  }),
  text: (v) => JSON.stringify(v, null, 2) + "\n",
  issuer: { name: "IDV d.o.o. – Überprüfung", id: "A0B1C2D3-E4F5-1678-8ABC-DEF012345678", version: "2.13" },
  profile: (n, d) => `https://app.example.test:8443/profile?name=${encodeURIComponent(n)}&dob=${d}#aml`,
  fold: true,
};
const abrupt: Style = {
  ...strict, name: "abrupt", loose: true, zone: 345, ok: { token: 200, aml: 202 },
  token: () => randomBytes(150).toString("base64"),
  tokenBody: (t) => ({ expires: "soon", access_token: t }),
  refuse: () => "close",
  headers: (type) => ({ "content-type": type, connection: "close" }),
  type: "text/plain", dress: reversed, text: (v) => JSON.stringify(v),
  issuer: { name: "x", id: "00000000-0000-4000-8000-000000000001", version: "10.0" },
  profile: () => `http://aml.example.test/${randomBytes(8).toString("hex")}`,
};
const grumpy: Style = {
  ...strict, name: "grumpy", extras: true, zone: -210, ok: { token: 203, aml: 200 },
  life: (a) => Math.floor(a / 1000) <= 3600 - 1,
  token: () => String(randomInt(1e14)).padStart(15, "7"),
  tokenBody: (t) => ({ token_type: "BEARER", access_token: t, error: null }),
  refuse: (k) => ({ status: k === "token" ? 500 : 503, type: "text/html", body: "<html><body>Something went wrong</body></html>" }),
  headers: (type) => ({ "cOntent-tYpe": type, "Cache-Control": "no-store" }), // chunked
  type: "application/vnd.idv+json", dress: (c) => ({ ...reversed(c), warnings: [] }),
  text: (v) => JSON.stringify(v).replace(/[\u0080-\uffff]/g, (x) => "\\u" + x.charCodeAt(0).toString(16).padStart(4, "0")),
  issuer: { name: "身元確認", id: "123e4567-e89b-12d3-a456-426614174000", version: "0.9" },
  profile: (n, d) => `HTTPS://profiles.example.test/${hash(d + n)}`, fold: true,
};
// The document shows no field of the token response, so not even access_token: correct to the letter.
const foreign: Style = {
  ...grumpy, name: "foreign", zone: 0, tokenBody: (t) => ({ data: { type: "service", token: t } }),
  refuse: () => ({ status: 403, type: "text/plain", body: "" }),
};
export const all: Style[] = [strict, generous, abrupt, grumpy, foreign];
