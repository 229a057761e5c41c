/** The commands that the page shows: requests with curl, and the environment of an app. */
import * as AccessToken from "@effect-idv/core/AccessToken"
import * as AmlCredential from "@effect-idv/core/AmlCredential"
import * as Redacted from "effect/Redacted"
import type * as Profile from "../../Profile.ts"
import * as Session from "../../Session.ts"
import type { Entry } from "../journal/entry.ts"

const shellQuoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`

const publicKeys = [Session.demoCustomer.customerKey, Session.testKey].map(Redacted.value)

/** The key of a customer if it is a well-known one. The page shows no other key. */
export const publicKey = ({ customerKey }: Session.Customer): string | undefined =>
  publicKeys.find((key) => key === Redacted.value(customerKey))

/** The filter that extracts the token from the response, by where the profile has it. */
const extraction: Readonly<Record<Profile.Profile["tokenField"], string>> = {
  "access_token": "access_token",
  "accessToken": "accessToken",
  "token": "token",
  "data.access_token": "access_token",
  "text": ""
}

const extract = (field: string): string => field === "" ? "" : ` | sed 's/.*"${field}":"//; s/".*//'`

/**
 * A token request and a check, for a POSIX shell. Without a well-known key, curl asks for it. The second command ends
 * its output with a line break, because the response does not.
 */
export const curl = (
  origin: string,
  customer: Session.Customer,
  { tokenField }: Pick<Profile.Profile, "tokenField">
): string => {
  const key = publicKey(customer)
  const user = shellQuoted(key === undefined ? customer.customerId : `${customer.customerId}:${key}`)
  return `token=$(curl -s -u ${user} -d grant_type=client_credentials ${origin}${AccessToken.path}` +
    `${extract(extraction[tokenField])})\n` +
    `curl -s -w '\\n' -H "Authorization: Bearer $token" -H 'Content-Type: application/json' ` +
    `-d '{"entity_type":"person","name":"Ada Testpep","dob":"01-02-1990"}' ${origin}${AmlCredential.path}`
}

/** The variables that `Idv.layerEnv` reads. */
export const environment = (origin: string, customer: Session.Customer): string =>
  [
    ["IDV_AUTH_URL", origin],
    ["IDV_BASE_URL", origin],
    ["IDV_CUSTOMER_ID", shellQuoted(customer.customerId)],
    ["IDV_CUSTOMER_KEY", publicKey(customer) ?? "'the key that you set'"]
  ].map(([name, value]) => `export ${name}=${value}`).join("\n")

/** The request of an entry with curl. What the journal masks is left to the user: the key, the token and the name. */
export const again = (origin: string, { request: { body, headers, method, target } }: Entry): string => {
  const { authorization = "", "content-type": contentType } = headers
  return [
    `curl -i -X ${shellQuoted(method)}`,
    ...(contentType === undefined ? [] : [`-H ${shellQuoted(`Content-Type: ${contentType}`)}`]),
    ...(authorization.startsWith("Basic")
      ? [`-u "$customer_id:$customer_key"`]
      : authorization === ""
      ? []
      : [`-H "Authorization: Bearer $token"`]),
    ...(body === "" ? [] : [`-d ${shellQuoted(body)}`]),
    shellQuoted(`${origin}${target}`)
  ].join(" ")
}
