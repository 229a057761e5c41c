/** The host of a request, for errors: `host:port` of the configured address, without its other parts. */
import * as Schema from "effect/Schema"

/** The field `host` of an error. */
export const Host = Schema.optionalWith(Schema.String, { exact: true })

/** Returns the host and port of an address, such as `api.example.com:443`. */
export const of = (address: string): string => {
  const { hostname, port, protocol } = new URL(address)
  return `${hostname}:${port !== "" ? port : protocol === "https:" ? 443 : 80}`
}

/** Whether the status is that of a redirect. A browser hides the status of a redirect that is not followed: it is 0. */
export const isRedirect = (status: number): boolean => status === 0 || (status >= 300 && status < 400)

/** For example `The token endpoint at auth.example.com:443`. */
export const withHost = (name: string, host: string | undefined): string =>
  host === undefined ? name : `${name} at ${host}`
