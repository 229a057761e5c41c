// Lanthorn screening command.
// Usage: node lanthorn.mjs "<full name>" <YYYY-MM-DD>
// Prints status=clear (exit 0), status=review (exit 4) or status=error (exit 5).

const DEADLINE_MS = 8_000;
const MAX_BYTES = 128 * 1024;

class Failure extends Error {
  constructor(reason) {
    super(reason);
    this.reason = reason;
  }
}

function parseInput([name, dob]) {
  const trimmed = (name ?? "").trim();
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(dob ?? "");
  if (trimmed === "" || !parts) throw new Failure("input");
  const [, year, month, day] = parts;
  const date = new Date(`${dob}T00:00:00Z`);
  // JavaScript moves 31 February to March, so the date must survive the round trip.
  if (Number.isNaN(date.getTime()) || date.toISOString().slice(0, 10) !== dob) throw new Failure("input");
  if (date.getTime() > Date.now()) throw new Failure("input");
  return { name: trimmed, dob: `${day}-${month}-${year}`, year };
}

function configuration() {
  const { IDV_BASE_URL, IDV_CUSTOMER_ID, IDV_API_KEY } = process.env;
  if (!IDV_BASE_URL || !IDV_CUSTOMER_ID || !IDV_API_KEY) throw new Failure("configuration");
  if (IDV_CUSTOMER_ID.includes(":")) throw new Failure("configuration");
  return { base: IDV_BASE_URL.replace(/\/+$/, ""), id: IDV_CUSTOMER_ID, key: IDV_API_KEY };
}

async function readLimited(response) {
  const chunks = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Failure("response-size");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

async function postForJson(step, url, init, signal) {
  let response, text;
  try {
    response = await fetch(url, { ...init, method: "POST", redirect: "manual", signal });
    text = await readLimited(response);
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure(`${step}-${signal.aborted ? "timeout" : "network"}`);
  }
  if (response.status !== 200 && response.status !== 201) throw new Failure(`${step}-http-${response.status}`);
  try {
    return JSON.parse(text);
  } catch {
    throw new Failure(`${step}-body`);
  }
}

const fold = (text) => text.normalize("NFKC").toLowerCase().replace(/\s+/gu, " ").trim();

function interpret(credential, person) {
  const found = credential?.credentials?.attributes;
  if (credential?.credential_type !== "aml" || typeof found !== "object" || found === null) throw new Failure("credential");
  if (typeof found.name !== "string" || fold(found.name) !== fold(person.name)) throw new Failure("identity");
  if (found.birth_year !== person.year) throw new Failure("identity");
  if (typeof found.aml_profile !== "string" || found.aml_profile === "") throw new Failure("credential");
  switch (found.match_found) {
    case "No":
      return "clear";
    case "Potential match":
      return "review";
    default:
      throw new Failure("match-value");
  }
}

async function screen(argv) {
  const person = parseInput(argv);
  const { base, id, key } = configuration();
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const grant = await postForJson("token", `${base}/oauth/service`, {
    headers: {
      authorization: `Basic ${Buffer.from(`${id}:${key}`, "utf8").toString("base64")}`,
      "content-type": "application/x-www-form-urlencoded",
    },
    body: "grant_type=client_credentials",
  }, signal);
  const token = grant?.access_token;
  if (typeof token !== "string" || token === "") throw new Failure("token-body");
  const credential = await postForJson("check", `${base}/api/aml`, {
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ entity_type: "person", name: person.name, dob: person.dob }),
  }, signal);
  return interpret(credential, person);
}

try {
  const outcome = await screen(process.argv.slice(2));
  console.log(`status=${outcome}`);
  process.exit(outcome === "clear" ? 0 : 4);
} catch (error) {
  console.log(`status=error reason=${error instanceof Failure ? error.reason : "internal"}`);
  process.exit(5);
}
