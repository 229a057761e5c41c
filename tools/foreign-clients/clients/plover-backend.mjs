// Plover: small sign-up service. POST /sign-up {name, date_of_birth}
import { createServer } from "node:http";

const env = process.env;
const base = env.IDV_BASE_URL.replace(/\/+$/, "");

let tokenPromise;
const outcomes = new Map();

async function exchange(path, headers, body, ms) {
  const response = await fetch(base + path, {
    method: "POST", headers, body, redirect: "manual", signal: AbortSignal.timeout(ms),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path} ${response.status}`);
  return JSON.parse(text);
}

function getToken() {
  if (!tokenPromise) {
    const basic = Buffer.from(`${env.IDV_CUSTOMER_ID}:${env.IDV_API_KEY}`).toString("base64");
    tokenPromise = exchange("/oauth/service", {
      authorization: `Basic ${basic}`,
      "content-type": "application/x-www-form-urlencoded",
    }, "grant_type=client_credentials", 4000).then((grant) => {
      if (!grant.access_token) throw new Error("no access token");
      return grant.access_token;
    });
    tokenPromise.catch(() => { tokenPromise = undefined; });
  }
  return tokenPromise;
}

async function screen(name, iso) {
  // Applicants often press the button twice. The second check would be billed again.
  const key = name.toLowerCase();
  if (outcomes.has(key)) return outcomes.get(key);
  const [y, m, d] = iso.split("-");
  const credential = await exchange("/api/aml", {
    authorization: `Bearer ${await getToken()}`,
    "content-type": "application/json",
  }, JSON.stringify({ entity_type: "person", name, dob: `${d}-${m}-${y}` }), 8000);
  const { attributes } = credential.credentials;
  const plain = (s) => s.normalize("NFC").toLowerCase().replace(/\s+/g, " ").trim();
  if (credential.credential_type !== "aml") throw new Error("credential type");
  if (plain(attributes.name) !== plain(name) || attributes.birth_year !== y) throw new Error("other person");
  if (!attributes.aml_profile) throw new Error("no profile");
  const outcome = { No: "clear", "Potential match": "review" }[attributes.match_found];
  if (!outcome) throw new Error("match_found");
  outcomes.set(key, outcome);
  return outcome;
}

function parse(raw) {
  try {
    const { name, date_of_birth: iso } = JSON.parse(raw);
    const date = new Date(`${iso}T00:00:00.000Z`);
    if (typeof name !== "string" || !name.trim() || !/^\d{4}-\d{2}-\d{2}$/.test(iso)) return null;
    if (date.toISOString().slice(0, 10) !== iso || date > new Date()) return null;
    return { name: name.trim(), iso };
  } catch {
    return null;
  }
}

createServer((req, res) => {
  const reply = (status, text) => { res.writeHead(status, { "content-type": "text/plain" }); res.end(text); };
  if (req.url === "/healthz") return reply(200, "ok");
  if (req.url !== "/sign-up" || req.method !== "POST") return reply(404, "not found");
  const chunks = [];
  let size = 0;
  req.on("data", (chunk) => {
    size += chunk.length;
    if (size > 20000) req.destroy();
    else chunks.push(chunk);
  });
  req.on("end", async () => {
    const person = parse(Buffer.concat(chunks).toString("utf8"));
    if (!person) return reply(422, "please correct your details");
    try {
      const outcome = await screen(person.name, person.iso);
      if (outcome === "clear") reply(200, "welcome");
      else reply(200, "thank you, we will write to you");
    } catch {
      console.error("sign-up: the check failed");
      reply(502, "sorry, please try later");
    }
  });
}).listen(+env.PORT, "127.0.0.1", () => console.log("plover up"));
