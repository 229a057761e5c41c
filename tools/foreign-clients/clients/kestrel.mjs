#!/usr/bin/env node
// kestrel <name> <YYYY-MM-DD>
// Keeps the access token in a file, so that a batch of runs asks for one token only.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const TOKEN_FILE = path.join(os.tmpdir(), "kestrel-idv-token.json");
const TOKEN_AGE_MS = 55 * 60 * 1000;
const CALL_MS = 6000;
const { IDV_BASE_URL, IDV_CUSTOMER_ID, IDV_API_KEY } = process.env;
const url = (p) => IDV_BASE_URL.replace(/\/$/, "") + p;

class KestrelError extends Error {}

async function post(p, headers, body) {
  for (let attempt = 0; ; attempt++) {
    let res, text;
    try {
      res = await fetch(url(p), { method: "POST", headers, body, redirect: "error", signal: AbortSignal.timeout(CALL_MS) });
      text = await res.text();
    } catch {
      throw new KestrelError("no response");
    }
    if (res.status === 429 && attempt === 0) {
      const seconds = Number(res.headers.get("retry-after")) || 1;
      await sleep(seconds * 1000);
      continue;
    }
    return { status: res.status, text };
  }
}

function cachedToken() {
  try {
    const { token, requestedAt } = JSON.parse(fs.readFileSync(TOKEN_FILE, "utf8"));
    return Date.now() - requestedAt < TOKEN_AGE_MS ? token : undefined;
  } catch {
    return undefined;
  }
}

async function freshToken() {
  const requestedAt = Date.now();
  const { status, text } = await post("/oauth/service", {
    Authorization: "Basic " + Buffer.from(IDV_CUSTOMER_ID + ":" + IDV_API_KEY).toString("base64"),
    "Content-Type": "application/x-www-form-urlencoded",
  }, "grant_type=client_credentials");
  if (status !== 200) throw new KestrelError(`token status ${status}`);
  const token = JSON.parse(text).access_token;
  if (typeof token !== "string" || !token) throw new KestrelError("token missing");
  fs.writeFileSync(TOKEN_FILE, JSON.stringify({ token, requestedAt }));
  return token;
}

async function check(name, iso) {
  const [year, month, day] = iso.split("-");
  const body = JSON.stringify({ entity_type: "person", name, dob: [day, month, year].join("-") });
  const send = (token) => post("/api/aml", { Authorization: `Bearer ${token}`, "Content-Type": "application/json" }, body);
  const cached = cachedToken();
  let reply = await send(cached ?? (await freshToken()));
  // A refused token from the file may simply be old.
  if (reply.status === 401 && cached) reply = await send(await freshToken());
  if (reply.status !== 200) throw new KestrelError(`check status ${reply.status}`);
  const { credential_type: type, credentials } = JSON.parse(reply.text);
  const { name: found, birth_year: born, match_found: match, aml_profile: profile } = credentials.attributes;
  const same = (a, b) => a.normalize("NFC").toLowerCase().trim() === b.normalize("NFC").toLowerCase().trim();
  if (type !== "aml" || !same(found, name) || born !== year || !profile) throw new KestrelError("credential");
  if (match === "No") return "GREEN";
  if (match === "Potential match") return "AMBER";
  throw new KestrelError("match_found");
}

try {
  const [name, iso] = [process.argv[2]?.trim(), process.argv[3] ?? ""];
  const date = new Date(iso + "T00:00:00Z");
  if (!name || !/^\d{4}-\d\d-\d\d$/.test(iso) || isNaN(date) || !date.toJSON().startsWith(iso) || date > Date.now()) {
    throw new KestrelError("input");
  }
  if (!IDV_BASE_URL || !IDV_CUSTOMER_ID || !IDV_API_KEY) throw new KestrelError("configuration");
  const light = await check(name, iso);
  console.log(light);
  process.exit(light === "GREEN" ? 0 : 1);
} catch (error) {
  console.log("RED", error instanceof KestrelError ? error.message : "unexpected");
  process.exit(3);
}
