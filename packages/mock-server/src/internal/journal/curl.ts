/** A recorded request as a curl command. */
import type { Entry } from "./entry.ts"

export const shellQuoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`

/** The request of an entry with curl. What the journal masks is left to the user: the key, the token and the name. */
export const of = (origin: string, { request: { body, headers, method, target } }: Entry): string => {
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
