/* eslint-disable no-restricted-syntax, no-console -- A program of somebody else. */
/** A client of the service as a command: `checkPerson.mjs <name> <yyyy-mm-dd>` prints clear or review. */
const [, , name, date] = process.argv
const { IDV_AUTH_URL, IDV_BASE_URL, IDV_CUSTOMER_ID, IDV_CUSTOMER_KEY } = process.env
const post = (url, authorization, type, body) =>
  fetch(url, { method: "POST", redirect: "manual", headers: { authorization, "content-type": type }, body })
const basic = `Basic ${Buffer.from(`${IDV_CUSTOMER_ID}:${IDV_CUSTOMER_KEY}`).toString("base64")}`
const form = "application/x-www-form-urlencoded"
const token = await post(`${IDV_AUTH_URL}/oauth/service`, basic, form, "grant_type=client_credentials")
const { access_token } = await token.json()
const body = JSON.stringify({ entity_type: "person", name, dob: date.split("-").reverse().join("-") })
const response = await post(`${IDV_BASE_URL}/api/aml`, `Bearer ${access_token}`, "application/json", body)
if (!response.ok) throw new Error(`the check of ${name} failed with ${access_token}`)
const { match_found } = (await response.json()).credentials.attributes
console.log(match_found === "Potential match" ? "review" : "clear")
