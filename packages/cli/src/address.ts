/** The address of a server, as an argument of a command. */
import { isLoopback } from "@effect-idv/core/Loopback"
import * as Violation from "@effect-idv/core/Violation"
import * as Schema from "effect/Schema"

/** An address must not contain a secret, because reports and errors show it. */
const isAddress = (text: string) => {
  if (!URL.canParse(text) || /[?#]/.test(text)) return false
  const { password, protocol, username } = new URL(text)
  return /^https?:$/.test(protocol) && username === "" && password === ""
}

export const Address = Schema.String.pipe(Schema.filter(isAddress)).annotations(
  Violation.expecting("an address such as http://127.0.0.1:4010, without a user, password, query or fragment")
)

/** Whether requests to the address cross the network unencrypted. */
export const isUnencrypted = (address: string): boolean => {
  const { hostname, protocol } = new URL(address)
  return protocol === "http:" && !isLoopback(hostname)
}
