// Osier sign-up backend: POST /sign-up {"name": "...", "date_of_birth": "YYYY-MM-DD"}
import http from "node:http";

const BASE = process.env.IDV_BASE_URL.replace(/\/$/, "");
const BASIC = Buffer.from(`${process.env.IDV_CUSTOMER_ID}:${process.env.IDV_API_KEY}`).toString("base64");
const TOKEN_LIFETIME = 3600;
const DEADLINE = 10000;

class UpstreamError extends Error {}

let cached = null;
let pending = null;

async function post(url, headers, body, signal) {
  const res = await fetch(url, { method: "POST", headers, body, signal, redirect: "manual" });
  const text = await res.text();
  if (res.status === 401) cached = null;
  if (res.status !== 200) throw new UpstreamError(`status ${res.status}`);
  return JSON.parse(text);
}

async function requestToken() {
  const requestedAt = Date.now();
  const grant = await post(
    `${BASE}/oauth/service`,
    { Authorization: `Basic ${BASIC}`, "Content-Type": "application/x-www-form-urlencoded" },
    "grant_type=client_credentials",
    AbortSignal.timeout(5000),
  );
  if (typeof grant.access_token !== "string" || !grant.access_token) throw new UpstreamError("no token");
  cached = { value: grant.access_token, expiresAt: requestedAt + TOKEN_LIFETIME };
  return cached.value;
}

function token() {
  if (cached && Date.now() < cached.expiresAt) return Promise.resolve(cached.value);
  pending ??= requestToken().finally(() => { pending = null; });
  return pending;
}

const fold = (s) => s.normalize("NFC").toLowerCase().split(/\s+/).join(" ").trim();

async function screen(name, dob) {
  const signal = AbortSignal.timeout(DEADLINE);
  const [year, month, day] = dob.split("-");
  const credential = await post(
    `${BASE}/api/aml`,
    { Authorization: `Bearer ${await token()}`, "Content-Type": "application/json" },
    JSON.stringify({ entity_type: "person", name, dob: `${day}-${month}-${year}` }),
    signal,
  );
  const a = credential.credentials.attributes;
  if (credential.credential_type !== "aml" || fold(a.name) !== fold(name) || a.birth_year !== year || !a.aml_profile) {
    throw new UpstreamError("unexpected credential");
  }
  if (a.match_found === "No") return "clear";
  if (a.match_found === "Potential match") return "match";
  throw new UpstreamError("unexpected match_found");
}

function valid({ name, date_of_birth: dob } = {}) {
  if (typeof name !== "string" || !name.trim() || name.length > 300) return false;
  if (typeof dob !== "string" || !/^\d{4}-\d\d-\d\d$/.test(dob)) return false;
  const date = new Date(dob + "T00:00:00Z");
  return !isNaN(date) && date.toISOString().startsWith(dob) && date < new Date();
}

function send(res, status, body) {
  res.writeHead(status, { "Content-Type": "application/json" });
  res.end(JSON.stringify(body));
}

http.createServer(async (req, res) => {
  if (req.method === "GET" && req.url === "/healthz") return send(res, 200, { up: true });
  if (req.method !== "POST" || req.url !== "/sign-up") return send(res, 404, { status: "not_found" });
  let raw = "";
  try {
    for await (const chunk of req.setEncoding("utf8")) {
      raw += chunk;
      if (raw.length > 10000) return send(res, 413, { status: "too_large" });
    }
  } catch {
    return;
  }
  let applicant;
  try {
    applicant = JSON.parse(raw);
  } catch {
    applicant = undefined;
  }
  if (!applicant || !valid(applicant)) return send(res, 400, { status: "invalid" });
  try {
    const result = await screen(applicant.name.trim(), applicant.date_of_birth);
    if (result === "clear") return send(res, 201, { status: "created" });
    return send(res, 403, {
      status: "declined",
      message: "We cannot open an account: your details matched a sanctions or politically exposed person list.",
    });
  } catch (error) {
    console.error(`screening failed: ${error.name}`);
    return send(res, 503, { status: "try_again_later" });
  }
}).listen(Number(process.env.PORT), "127.0.0.1", () => console.log("osier is listening"));
