/** The configured base addresses, and the names of their hosts. */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { isLoopback } from "../../Loopback.ts"

const parsed = Option.liftThrowable((text: string) => new URL(text))

/** Whether a text is a URL. `URL.canParse` of Node 20, once optimised, rejects letters such as "ü". */
export const isUrl = (text: string): boolean => Option.isSome(parsed(text))

const isWeb = ({ protocol }: URL): boolean => protocol === "https:" || protocol === "http:"

const prefixOf = ({ pathname }: URL): string => pathname.replace(/\/+$/, "")

/**
 * The base address of an operation at `path`. `http:` sends secrets and names in clear text, so only loopback addresses
 * may use it, unless `allowInsecure`.
 */
export const Base = (
  description: string,
  path: string,
  { allowInsecure = false }: { readonly allowInsecure?: unknown }
): Schema.Schema<string> => {
  const urlThat = (is: (url: URL) => boolean, description: string) => (base: Schema.Schema<string>) =>
    Schema.filter<Schema.Schema<string>>((text) => is(new URL(text)), { description })(base)
  return Schema.String.annotations({ description }).pipe(
    Schema.filter((text) => text === text.trim() && isUrl(text), { description }),
    urlThat(isWeb, "an https: URL"),
    urlThat(({ password, username }) => username === "" && password === "", "a URL without user name and password"),
    urlThat((url) => !prefixOf(url).endsWith(path), `a URL without ${path}, which is added to it`),
    // An `allowInsecure` that is neither true nor false has an error of its own.
    urlThat(
      (url) => url.protocol === "https:" || isLoopback(url.hostname) || allowInsecure !== false,
      "an https: URL. Plain http: needs a loopback address, " +
        "or allowInsecure (IDV_ALLOW_INSECURE=true with Idv.layerEnv)"
    )
  )
}

/**
 * Returns the URL of the operation at `path` below the base address. A trailing slash or a path prefix of the base is
 * joined with one slash. Its query and fragment are dropped.
 */
export const join = (base: string, path: string): string => {
  const url = new URL(base)
  return url.origin + prefixOf(url) + path
}

/** Returns the host and port of an address, such as `api.example.com:443`, for errors: without its other parts. */
export const hostOf = (address: string): string => {
  const { hostname, port, protocol } = new URL(address)
  return `${hostname}:${port !== "" ? port : protocol === "https:" ? 443 : 80}`
}
