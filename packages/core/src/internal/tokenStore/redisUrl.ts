/** Checks the URL of a Redis server, and reads from it what the client needs. */
import * as ConfigError from "effect/ConfigError"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"

export interface RedisAddress {
  readonly host: string
  readonly port: number
  readonly db: number
  readonly tls?: object
  readonly username?: string
  readonly password?: string
}

const form = "should be a URL such as redis://host:6379/0, or rediss:// for TLS, without a query or a fragment"

const invalid = (message: string) => Either.left(ConfigError.InvalidData(["url"], message))

const parse = (text: string) =>
  Either.try(() => {
    const { hash, hostname, password, pathname, port, protocol, search, username } = new URL(text)
    return {
      host: hostname.replace(/^\[(.*)\]$/, "$1"),
      port: port === "" ? 6379 : Number(port),
      path: `${pathname}${search}${hash}`,
      protocol,
      // Fails if a percent sign starts no escape.
      username: decodeURIComponent(username),
      password: decodeURIComponent(password)
    }
  })

/** A text that is not redacted must not contain credentials, because it may be printed. */
export const check = (url: unknown): Either.Either<RedisAddress, ConfigError.ConfigError> => {
  const text = Redacted.isRedacted(url) ? Redacted.value(url) : url
  if (typeof text !== "string") return invalid(form)
  const parsed = parse(text)
  if (Either.isLeft(parsed)) return invalid(form)
  const { host, password, path, port, protocol, username } = parsed.right
  const [, db] = /^\/?(\d{0,4})$/.exec(path) ?? []
  if (!/^rediss?:$/.test(protocol) || host === "" || db === undefined) return invalid(form)
  if (!Redacted.isRedacted(url) && (username !== "" || password !== "")) {
    return invalid("contains credentials, so it should be Redacted: read it with Config.redacted")
  }
  return Either.right({
    host,
    port,
    db: Number(db),
    ...(protocol === "rediss:" && { tls: {} }),
    ...(username !== "" && { username }),
    ...(password !== "" && { password })
  })
}
