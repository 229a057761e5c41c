/** Where a request went, for errors: `host:port` of the configured address, and nothing else of it. */
import * as Schema from "effect/Schema"

/** The field of an error. */
export const Host = Schema.optionalWith(Schema.String, { exact: true })

/** `api.example.com:443` */
export const of = (address: string): string => {
  const { hostname, port, protocol } = new URL(address)
  return `${hostname}:${port !== "" ? port : protocol === "https:" ? 443 : 80}`
}

/** How a redirect that was not followed shows: by its status, or in a browser, which hides that, by 0. */
export const isRedirect = (status: number): boolean => status === 0 || (status >= 300 && status < 400)

/** `The token endpoint at auth.example.com:443` */
export const located = (who: string, host: string | undefined): string => host === undefined ? who : `${who} at ${host}`
