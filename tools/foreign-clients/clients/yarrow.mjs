// yarrow: typed wrapper over fetch. node yarrow.mjs NAME YYYY-MM-DD

/** @typedef {{ credential_type: string, credentials: { attributes: { match_found: "Potential match" | "No", aml_profile: string } } }} AmlCredential */
/** @typedef {{ access_token: string, token_type: string, expires_in: number }} Grant */

/**
 * @template T
 * @param {string} path
 * @param {RequestInit} init
 * @returns {Promise<{ data: T, error?: undefined } | { data?: undefined, error: string }>}
 */
async function POST(path, init) {
  try {
    const response = await fetch(`${process.env.IDV_BASE_URL.replace(/\/$/, "")}${path}`, {
      method: "POST",
      redirect: "error",
      signal,
      ...init,
    });
    if (response.status !== 200) return { error: `HTTP ${response.status}` };
    return { data: await response.json() };
  } catch (e) {
    return { error: e.name };
  }
}

function toServiceDate(iso) {
  const date = new Date(`${iso}T00:00:00Z`);
  if (!/^\d{4}-\d{2}-\d{2}$/.test(iso) || Number.isNaN(+date) || date > new Date() || !date.toISOString().startsWith(iso)) {
    return null;
  }
  return iso.replace(/(\d+)-(\d+)-(\d+)/, "$3-$2-$1");
}

const signal = AbortSignal.timeout(7000);

async function main() {
  const name = process.argv[2]?.trim();
  const dob = toServiceDate(process.argv[3] ?? "");
  const { IDV_BASE_URL, IDV_CUSTOMER_ID, IDV_API_KEY } = process.env;
  if (!name || !dob || !IDV_BASE_URL || !IDV_CUSTOMER_ID || !IDV_API_KEY) return { error: "input" };

  /** @type {{ data?: Grant, error?: string }} */
  const grant = await POST("/oauth/service", {
    headers: {
      Authorization: `Basic ${Buffer.from(`${IDV_CUSTOMER_ID}:${IDV_API_KEY}`).toString("base64")}`,
      "Content-Type": "application/x-www-form-urlencoded",
    },
    body: "grant_type=client_credentials",
  });
  if (grant.error) return { error: `token ${grant.error}` };
  if (!grant.data.access_token) return { error: "token missing" };

  /** @type {{ data?: AmlCredential, error?: string }} */
  const check = await POST("/api/aml", {
    headers: {
      Authorization: `${grant.data.token_type} ${grant.data.access_token}`,
      "Content-Type": "application/json",
    },
    body: JSON.stringify({ entity_type: "person", name, dob }),
  });
  if (check.error) return { error: `check ${check.error}` };
  const attributes = check.data?.credentials?.attributes;
  if (!attributes?.aml_profile) return { error: "check body" };
  switch (attributes.match_found) {
    case "No":
      return { decision: "accept" };
    case "Potential match":
      return { decision: "escalate" };
    default:
      return { error: "check value" };
  }
}

const result = await main();
console.log(result.decision ?? `fault: ${result.error}`);
process.exit({ accept: 0, escalate: 20 }[result.decision] ?? 30);
