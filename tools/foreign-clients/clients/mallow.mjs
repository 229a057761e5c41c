// mallow: screening of one customer.
// node mallow.mjs "Full Name" 1984-11-23
const [, , rawName = "", birthDate = ""] = process.argv;
const { IDV_BASE_URL: base, IDV_CUSTOMER_ID: customer, IDV_API_KEY: key } = process.env;

const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

// Protects the screens that show the name.
const sanitize = (text) => text.trim().replace(/[&<>"']/g, (c) => ENTITIES[c]);

function parseBirthDate(iso) {
  const date = new Date(`${iso}T00:00:00Z`);
  if (!/^\d{4}-\d{2}-\d{2}$/.test(iso) || isNaN(date) || date.toISOString().slice(0, 10) !== iso || date > new Date()) {
    throw new TypeError("birth date");
  }
  return date;
}

const slug = (name, iso) => `${name}-${iso}`.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 60);

async function post(path, headers, body, signal) {
  const response = await fetch(base.replace(/\/$/, "") + path, { method: "POST", headers, body, signal, redirect: "manual" });
  if (response.status !== 200) throw new Error(`${path} status ${response.status}`);
  return response.json();
}

async function main() {
  if (!base || !customer || !key) throw new TypeError("configuration");
  const name = sanitize(rawName);
  if (!name) throw new TypeError("name");
  const date = parseBirthDate(birthDate);
  const signal = AbortSignal.timeout(12_000);
  const trace = { "X-Correlation-Id": slug(rawName, birthDate) };
  const { access_token: token } = await post("/oauth/service", {
    ...trace,
    Authorization: `Basic ${Buffer.from(`${customer}:${key}`).toString("base64")}`,
    "Content-Type": "application/x-www-form-urlencoded",
  }, "grant_type=client_credentials", signal);
  if (!token) throw new Error("token");
  const credential = await post("/api/aml", {
    ...trace,
    Authorization: `Bearer ${token}`,
    "Content-Type": "application/json",
  }, JSON.stringify({
    entity_type: "person",
    name,
    dob: `${date.getUTCDate()}-${date.getUTCMonth() + 1}-${date.getUTCFullYear()}`,
  }), signal);
  const attributes = credential?.credentials?.attributes ?? {};
  const same = String(attributes.name).toLowerCase() === name.toLowerCase()
    && attributes.birth_year === birthDate.slice(0, 4);
  if (credential.credential_type !== "aml" || !same || !attributes.aml_profile) throw new Error("credential");
  if (attributes.match_found === "No") return 0;
  if (attributes.match_found === "Potential match") return 1;
  throw new Error("match_found");
}

main().then(
  (code) => {
    console.log(code === 0 ? "Customer may proceed." : "Customer needs manual review.");
    process.exit(code);
  },
  (error) => {
    console.log("Screening did not finish.");
    console.error(error.name === "Error" ? error.message : error.name);
    process.exit(70);
  },
);
