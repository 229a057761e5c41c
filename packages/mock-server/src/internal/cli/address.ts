/** An address of a server, as it stands on the command line. */
import * as Violation from "@effect-idv/core/Violation"
import * as Schema from "effect/Schema"

/** Reports and errors show the address, so nothing secret may be in it. */
const isAddress = (text: string) => {
  if (!URL.canParse(text) || /[?#]/.test(text)) return false
  const { password, protocol, username } = new URL(text)
  return /^https?:$/.test(protocol) && username === "" && password === ""
}

export const Address = Schema.String.pipe(Schema.filter(isAddress)).annotations(
  Violation.expecting("an address such as http://127.0.0.1:4010, without a user, a password, a query or a hash")
)

const isLoopback = (hostname: string): boolean => /^(localhost|\[::1\]|127(\.\d{1,3}){3})$/.test(hostname)

/** Whether others can read on the way what is sent there. */
export const isInTheClear = (address: string): boolean => {
  const { hostname, protocol } = new URL(address)
  return protocol === "http:" && !isLoopback(hostname)
}
