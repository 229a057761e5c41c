/** Checks the configured base addresses, and names their hosts. */
import * as ConfigError from "effect/ConfigError"
import * as Either from "effect/Either"
import * as Option from "effect/Option"

const parsed = Option.liftThrowable((text: string) => new URL(text))

/** Whether a text is a URL. `URL.canParse` of Node 20, once optimised, rejects letters such as "ü". */
export const isUrl = (text: string): boolean => Option.isSome(parsed(text))

/**
 * Returns the URL of the operation at `path` below the base address, or a `ConfigError` for `field`. A trailing slash
 * or a path prefix of the base is joined with one slash. Its query and fragment are dropped.
 *
 * `http:` sends secrets and names in clear text, so only loopback addresses may use it, unless `allowInsecure`.
 */
export const make = (
  field: string,
  base: string | undefined,
  path: string,
  options: { readonly allowInsecure?: boolean | undefined }
): Either.Either<string, ConfigError.ConfigError> => {
  const refuse = (expectation: string) => Either.left(ConfigError.InvalidData([field], expectation))
  // A JavaScript program may omit it despite its type.
  if (typeof base !== "string" || base !== base.trim() || !isUrl(base)) {
    return refuse("should be a URL, such as https://idv.example.com")
  }
  const url = new URL(base)
  if (url.protocol !== "https:" && url.protocol !== "http:") return refuse("should be an https: URL")
  if (url.username !== "" || url.password !== "") return refuse("should be a URL without user name and password")
  const prefix = url.pathname.replace(/\/+$/, "")
  if (prefix.endsWith(path)) return refuse(`should be a URL without ${path}, which is added to it`)
  if (url.protocol === "http:" && !isLoopback(url.hostname) && options.allowInsecure !== true) {
    return refuse(
      "should be an https: URL. Plain http: needs a loopback address, " +
        "or allowInsecure (IDV_ALLOW_INSECURE=true with Idv.layerEnv)"
    )
  }
  return Either.right(url.origin + prefix + path)
}

const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname)

/** Returns the host and port of an address, such as `api.example.com:443`, for errors: without its other parts. */
export const hostOf = (address: string): string => {
  const { hostname, port, protocol } = new URL(address)
  return `${hostname}:${port !== "" ? port : protocol === "https:" ? 443 : 80}`
}
