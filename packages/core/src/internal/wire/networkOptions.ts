/** The options of connections that the environment or a user sets: proxies, certificates and the `User-Agent`. */
import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { X509Certificate } from "node:crypto"
import { readFileSync } from "node:fs"
import { createSecureContext, type SecureContextOptions } from "node:tls"
import type * as Undici from "undici"
import * as Address from "../schema/address.ts"

export const userAgent = Config.option(
  Config.mapOrFail(Config.string("IDV_USER_AGENT"), (text) =>
    /^[!-~]([ -~]{0,198}[!-~])?$/.test(text)
      ? Either.right(text)
      : Either.left(ConfigError.InvalidData([], "should be 1 to 200 characters of ASCII, such as acme-bank/1.0")))
)

const isProxy = (text: string): boolean => {
  if (!Address.isUrl(text)) return false
  const { hash, hostname, password, pathname, protocol, search, username } = new URL(text)
  return /^https?:$/.test(protocol) && hostname !== "" && pathname + search + hash === "/" &&
    (username === "") === (password === "") &&
    Either.isRight(Either.try(() => decodeURIComponent(username + password)))
}

/** In lower case, or else in upper case. */
const eitherCase = (name: string) => {
  const variable = (name: string) => Config.map(Config.string(name), (text) => ({ name, text: text.trim() }))
  return Config.withDefault(Config.orElse(variable(name.toLowerCase()), () => variable(name)), { name, text: "" })
}

const proxy = (name: string) =>
  Config.mapOrFail(
    eitherCase(name),
    ({ name, text }) =>
      text === "" || isProxy(text) ? Either.right(text) : Either.left(ConfigError.InvalidData(
        [name],
        "should be the http: or https: address of a proxy, such as http://proxy.example.com:3128. " +
          "If it has a user, it has a password, both percent-encoded"
      ))
  )

export const proxies = Config.all({
  httpProxy: proxy("HTTP_PROXY"),
  httpsProxy: proxy("HTTPS_PROXY"),
  noProxy: Config.map(eitherCase("NO_PROXY"), ({ text }) => text)
})

type Connect = Exclude<Undici.Agent.Options["connect"], undefined>

/** What Node checks only when it connects. */
export const secureOptions = (connect: Connect): SecureContextOptions =>
  "ca" in connect || "cert" in connect || "key" in connect ? connect : {}

/** The content of the file that a variable names. `mapOrFail` adds the name to the error. */
const file = (name: string) =>
  Config.mapOrFail(Config.string(name), (path) =>
    Either.try({
      try: () => readFileSync(path, "utf8"),
      catch: () => ConfigError.InvalidData([], "should be the path of a file that can be read")
    }))

const optionNames = { cert: "connect.cert", key: "connect.key" }
const variableNames = { cert: "IDV_CLIENT_CERT", key: "IDV_CLIENT_KEY" }
const certificateFiles = Config.all({
  cert: Config.option(file(variableNames.cert)),
  key: Config.option(file(variableNames.key))
})

/** The options of the connections, with the client certificate of the environment if they have none. */
export const withCertificate = (connect: Connect = {}) =>
  Effect.gen(function*() {
    if (secureOptions(connect).cert !== undefined) return yield* checkTls(connect, optionNames)
    const { cert, key } = yield* certificateFiles
    if (typeof connect === "function" && (Option.isSome(cert) || Option.isSome(key))) {
      return yield* Effect.fail(
        ConfigError.InvalidData(["connect"], "should be an object if IDV_CLIENT_CERT or IDV_CLIENT_KEY is set")
      )
    }
    const certificate = { ...Option.isSome(cert) && { cert: cert.value }, ...Option.isSome(key) && { key: key.value } }
    return yield* checkTls(typeof connect === "function" ? connect : { ...connect, ...certificate }, variableNames)
  })

/** Fails if Node cannot use a certificate or key. Otherwise each request would fail, for a reason that names neither. */
export const checkTls = (
  connect: Connect = {},
  names = optionNames
): Either.Either<Connect, ConfigError.ConfigError> => {
  const { ca, cert, key, passphrase } = secureOptions(connect)
  const refuse = (name: string, expectation: string) =>
    Either.left(ConfigError.InvalidData([name], `should be ${expectation}`))
  const missing = (name: string, other: string) =>
    Either.left(ConfigError.MissingData([name], `should be set, because ${other} is`))
  if (ca !== undefined && !areCertificates(ca)) return refuse("connect.ca", "certificates in PEM")
  if (cert !== undefined && !areCertificates(cert)) return refuse(names.cert, "a certificate in PEM")
  if (key !== undefined && (String(key) === "" || isRefused({ key, passphrase }))) {
    return refuse(names.key, "a private key in PEM, with its passphrase if it has one")
  }
  if (cert === undefined && key !== undefined) return missing(names.cert, names.key)
  if (cert !== undefined && key === undefined) return missing(names.key, names.cert)
  return isRefused({ cert, key, passphrase })
    ? refuse(names.key, `the private key of the certificate in ${names.cert}`)
    : Either.right(connect)
}

const isRefused = (options: SecureContextOptions): boolean =>
  Either.isLeft(Either.try(() => createSecureContext(options)))

const areCertificates = (pem: string | Buffer | ReadonlyArray<string | Buffer>): boolean =>
  [pem].flat().every((pem) => Either.isRight(Either.try(() => new X509Certificate(pem))))
