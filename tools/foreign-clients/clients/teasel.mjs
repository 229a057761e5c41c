// Teasel: a typed fetch client in the style of openapi-fetch, and the command that uses it.
// Usage: node teasel.mjs NAME YYYY-MM-DD

/**
 * @typedef {{ access_token: string, token_type?: string, expires_in?: number }} TokenResponse
 * @typedef {{ name: string, birth_year: string, searched_on: string,
 *             match_found: "Potential match" | "No", aml_profile: string }} AmlAttributes
 * @typedef {{ credential_type: "aml", credential_name: string, issued_by: string, issuer_id: string,
 *             cred_version: string, credentials: { attributes: AmlAttributes } }} AmlCredential
 * @typedef {{ "/oauth/service": { body: { grant_type: "client_credentials" }, data: TokenResponse },
 *             "/api/aml": { body: { entity_type: "person", name: string, dob: string }, data: AmlCredential } }} paths
 */

/** Creates a client. A call resolves to `{ data }` or to `{ error }`; it does not reject. */
function createClient({ baseUrl, signal }) {
  const middlewares = [];
  const join = (path) => baseUrl.replace(/\/+$/, "") + path;
  return {
    use: (middleware) => middlewares.push(middleware),
    /** @template {keyof paths} P @param {P} path */
    async POST(path, { body, bodySerializer = JSON.stringify, headers = {} }) {
      const request = {
        method: "POST", redirect: "manual", signal,
        headers: { "content-type": "application/json", accept: "application/json", ...headers },
        body: bodySerializer(body),
      };
      for (const middleware of middlewares) middleware(path, request);
      let response, text;
      try {
        response = await fetch(join(path), request);
        text = await response.text();
      } catch {
        return { error: { path, kind: signal.aborted ? "timeout" : "network" } };
      }
      if (response.status < 200 || response.status > 299) return { error: { path, kind: "status", status: response.status } };
      if (text === "") return { error: { path, kind: "empty", status: response.status } };
      try {
        return { data: JSON.parse(text) };
      } catch {
        return { error: { path, kind: "syntax" } };
      }
    },
  };
}

const isText = (value) => typeof value === "string" && value.length > 0;

/** @returns {AmlCredential | undefined} */
function asAmlCredential(value) {
  const attributes = value?.credentials?.attributes;
  const good = value?.credential_type === "aml"
    && /^\d+\.\d+$/.test(value.cred_version)
    && isText(attributes?.name)
    && /^\d{4}$/.test(attributes.birth_year)
    && /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(attributes.searched_on)
    && (attributes.match_found === "No" || attributes.match_found === "Potential match")
    && URL.canParse(attributes.aml_profile);
  return good ? value : undefined;
}

function toDob(iso) {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(iso)) return undefined;
  const time = Date.parse(`${iso}T00:00:00Z`);
  if (Number.isNaN(time) || time > Date.now() || new Date(time).toISOString().slice(0, 10) !== iso) return undefined;
  return iso.split("-").reverse().join("-");
}

function finish(line, code) {
  console.log(JSON.stringify(line));
  process.exit(code);
}

const name = (process.argv[2] ?? "").normalize("NFC").trim();
const iso = process.argv[3] ?? "";
const dob = toDob(iso);
const { IDV_BASE_URL: baseUrl, IDV_CUSTOMER_ID: id, IDV_API_KEY: key } = process.env;
if (!name || !dob) finish({ ok: false, error: { kind: "input" } }, 2);
if (!baseUrl || !id || !key || !URL.canParse(baseUrl)) finish({ ok: false, error: { kind: "configuration" } }, 2);

const client = createClient({ baseUrl, signal: AbortSignal.timeout(6000) });
let authorization = "Basic " + Buffer.from(`${id}:${key}`).toString("base64");
client.use((path, request) => {
  request.headers.authorization = authorization;
});

const grant = await client.POST("/oauth/service", {
  body: { grant_type: "client_credentials" },
  bodySerializer: (body) => new URLSearchParams(body).toString(),
  headers: { "content-type": "application/x-www-form-urlencoded" },
});
if (grant.error) finish({ ok: false, error: grant.error }, 1);
if (!/^[\x21-\x7e]+$/.test(grant.data?.access_token ?? "")) finish({ ok: false, error: { kind: "token" } }, 1);
authorization = `Bearer ${grant.data.access_token}`;

const check = await client.POST("/api/aml", { body: { entity_type: "person", name, dob } });
if (check.error) finish({ ok: false, error: check.error }, 1);
const credential = asAmlCredential(check.data);
if (!credential) finish({ ok: false, error: { kind: "credential" } }, 1);
const { attributes } = credential.credentials;
const fold = (text) => text.normalize("NFKC").toLocaleLowerCase("en").split(/\s+/).filter(Boolean).join(" ");
if (fold(attributes.name) !== fold(name) || attributes.birth_year !== iso.slice(0, 4)) {
  finish({ ok: false, error: { kind: "person" } }, 1);
}
if (attributes.match_found === "No") finish({ ok: true, match: false }, 0);
finish({ ok: true, match: true }, 3);
