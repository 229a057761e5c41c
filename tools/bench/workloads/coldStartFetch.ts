/**
 * Gets a token and makes a check with `fetch`, without any import: `coldStartFetch.ts <url>` prints the milliseconds.
 */
const startedAt = performance.now()
const [, , url = ""] = process.argv

const authorization = `Basic ${btoa("demo-customer:demo-key")}`
const grant = new URLSearchParams({ grant_type: "client_credentials" })

interface Credential {
  readonly credentials: { readonly attributes: { readonly match_found: unknown } }
}

fetch(`${url}/oauth/service`, { method: "POST", headers: { authorization }, body: grant })
  .then((response) => response.json())
  .then((json) =>
    fetch(`${url}/api/aml`, {
      method: "POST",
      headers: {
        "authorization": `Bearer ${(json as { readonly access_token: string }).access_token}`,
        "content-type": "application/json"
      },
      body: JSON.stringify({ entity_type: "person", name: "Ada Testclear", dob: "01-02-1990" })
    })
  )
  .then((response) => response.json())
  .then((json) => {
    const matchFound = (json as Credential).credentials.attributes.match_found
    if (matchFound !== "No") throw new Error(`returned ${matchFound} instead of No`)
    const first = performance.now() - startedAt
    process.stdout.write(JSON.stringify({ first, last: first }), () => process.exit())
  })

export {}
