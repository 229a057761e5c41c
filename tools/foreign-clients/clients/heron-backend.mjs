// Heron sign-up backend.
//
// POST /sign-up {"name": "...", "date_of_birth": "YYYY-MM-DD"}
//   200 {"next":"account"}  the person is clear
//   200 {"next":"wait"}     staff must look first; the reply does not say why
//   400 {"next":"correct"}  the form is wrong
//   503 {"next":"retry"}    the check failed
//
// Logs hold an event and a reason only: no names, dates, tokens or response bodies.
import { createServer } from "node:http";

const HOUR = 3_600_000;
const TOKEN_MARGIN = 120_000;
const TOKEN_TIMEOUT = 5_000;
const DEADLINE = 11_000;
const MAX_FORM = 16 * 1024;
const MAX_RESPONSE = 256 * 1024;

const required = (name) => {
  const value = process.env[name];
  if (!value) {
    console.error(`missing setting ${name}`);
    process.exit(1);
  }
  return value;
};

class CheckError extends Error {
  constructor(step, reason, status) {
    super(`${step}: ${reason}`);
    Object.assign(this, { step, reason, status });
  }
}

class Upstream {
  #base;
  #basic;
  #token;
  #acquisition;

  constructor(base, id, key) {
    this.#base = base.replace(/\/+$/, "");
    this.#basic = Buffer.from(`${id}:${key}`, "utf8").toString("base64");
  }

  async #post(step, path, headers, body, signal) {
    let status, text;
    try {
      const response = await fetch(this.#base + path, { method: "POST", headers, body, signal, redirect: "manual" });
      status = response.status;
      let size = 0;
      const chunks = [];
      for await (const chunk of response.body ?? []) {
        size += chunk.length;
        if (size > MAX_RESPONSE) throw new CheckError(step, "response too large");
        chunks.push(chunk);
      }
      text = Buffer.concat(chunks).toString("utf8");
    } catch (error) {
      if (error instanceof CheckError) throw error;
      throw new CheckError(step, signal.aborted ? "timeout" : "network");
    }
    if (status !== 200 && status !== 201) throw new CheckError(step, `status ${status}`, status);
    try {
      return JSON.parse(text);
    } catch {
      throw new CheckError(step, "not JSON");
    }
  }

  async #acquire() {
    // The hour starts at the request, not at the response.
    const requestedAt = performance.now();
    const grant = await this.#post("token", "/oauth/service", {
      authorization: `Basic ${this.#basic}`,
      "content-type": "application/x-www-form-urlencoded",
    }, "grant_type=client_credentials", AbortSignal.timeout(TOKEN_TIMEOUT));
    const value = grant?.access_token;
    if (typeof value !== "string" || !/^[\x21-\x7e]+$/.test(value)) throw new CheckError("token", "no access token");
    // A shorter lifetime in the response is respected, a longer one is not.
    const stated = Number(grant.expires_in) * 1000;
    const life = stated > 0 && stated < HOUR ? stated : HOUR;
    this.#token = { value, usableUntil: requestedAt + Math.max(life - TOKEN_MARGIN, life / 2) };
    return this.#token;
  }

  #currentToken() {
    if (this.#token && performance.now() < this.#token.usableUntil) return Promise.resolve(this.#token);
    this.#acquisition ??= this.#acquire().finally(() => {
      this.#acquisition = undefined;
    });
    return this.#acquisition;
  }

  async check({ name, dob, year }) {
    const signal = AbortSignal.timeout(DEADLINE);
    const body = JSON.stringify({ entity_type: "person", name, dob });
    const send = (token) => this.#post("check", "/api/aml", {
      authorization: `Bearer ${token.value}`,
      "content-type": "application/json",
    }, body, signal);
    const token = await this.#currentToken();
    let credential;
    try {
      credential = await send(token);
    } catch (error) {
      if (error.status !== 401) throw error;
      // The service refused the token and therefore did no check. One new token, one new request.
      if (this.#token === token) this.#token = undefined;
      const renewed = await this.#currentToken();
      if (signal.aborted) throw new CheckError("check", "timeout");
      try {
        credential = await send(renewed);
      } catch (second) {
        if (second.status === 401 && this.#token === renewed) this.#token = undefined;
        throw second;
      }
    }
    return outcomeOf(credential, name, year);
  }
}

const fold = (text) => text.normalize("NFC").toLowerCase().trim().replace(/\s+/g, " ");

function outcomeOf(credential, name, year) {
  const found = credential?.credentials?.attributes;
  if (credential?.credential_type !== "aml" || found === null || typeof found !== "object") {
    throw new CheckError("check", "not an AML credential");
  }
  if (found.match_found === "Potential match") return "review";
  if (found.match_found !== "No") throw new CheckError("check", "unexpected match_found");
  if (typeof found.aml_profile !== "string" || !found.aml_profile) throw new CheckError("check", "no aml_profile");
  if (found.birth_year !== year || typeof found.name !== "string" || fold(found.name) !== fold(name)) {
    throw new CheckError("check", "another person");
  }
  return "clear";
}

function parseForm(raw) {
  let form;
  try {
    form = JSON.parse(raw);
  } catch {
    return undefined;
  }
  const { name, date_of_birth: iso } = form ?? {};
  if (typeof name !== "string" || !name.trim() || name.length > 400 || /\p{Cc}/u.test(name)) return undefined;
  if (typeof iso !== "string" || !/^\d{4}-\d{2}-\d{2}$/.test(iso)) return undefined;
  const time = Date.parse(`${iso}T00:00:00Z`);
  if (Number.isNaN(time) || time > Date.now() || new Date(time).toISOString().slice(0, 10) !== iso) return undefined;
  const [year, month, day] = iso.split("-");
  return { name: name.trim(), dob: `${day}-${month}-${year}`, year };
}

async function readBody(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MAX_FORM) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

const upstream = new Upstream(required("IDV_BASE_URL"), required("IDV_CUSTOMER_ID"), required("IDV_API_KEY"));

const server = createServer(async (request, response) => {
  const reply = (status, body) => {
    response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
    response.end(JSON.stringify(body));
  };
  if (request.method === "GET" && request.url === "/healthz") return reply(200, { up: true });
  if (request.method !== "POST" || request.url !== "/sign-up") return reply(404, {});
  let person;
  try {
    person = parseForm((await readBody(request)) ?? "");
  } catch {
    return undefined;
  }
  if (!person) return reply(400, { next: "correct" });
  try {
    const outcome = await upstream.check(person);
    return reply(200, { next: outcome === "clear" ? "account" : "wait" });
  } catch (error) {
    console.error(JSON.stringify({ event: "check_failed", reason: error instanceof CheckError ? error.message : "internal" }));
    return reply(503, { next: "retry" });
  }
});

server.listen(Number(required("PORT")), "127.0.0.1", () => console.log("heron listens"));
