import { area } from "../define.ts"
import { afterScheme, isListed, isObject, parseJson } from "../hooks.ts"
import { hasCredential, refusesAuthorization } from "../probes.ts"
import { quotes } from "../quotes.ts"
import { basic, defaultPerson } from "../requests.ts"
import type { Client, Context, Hooks, Incoming, Probe } from "../types.ts"

const missing = area("check authorization: absent or elsewhere")
const wrong = area("check authorization: wrong token")

const open = (test: (request: Incoming, context: Context) => boolean) => (): Partial<Hooks> => ({ anonymous: test })

/** Reads the token from another part of the request if the documented header has none. */
const alsoReads = (read: (request: Incoming) => string | undefined) => (base: Hooks): Partial<Hooks> => ({
  bearer: (request, context) => base.bearer(request, context) ?? read(request)
})

/** Accepts a token that corresponds to an issued one, although it differs. */
const matchesIssued = (test: (given: string, issued: string) => boolean) => (base: Hooks): Partial<Hooks> => ({
  find: (token, request, context) =>
    base.find(token, request, context) ??
      (token === undefined ? undefined : [...context.tokens.values()].find((record) => test(token, record.value)))
})

const header = (request: Incoming, name: string): string | undefined => {
  const value = request.headers[name]
  return Array.isArray(value) ? value[0] : value
}

const nameIn = (body: string): string => {
  const value = parseJson(body)
  const name = isObject(value) ? value["name"] : undefined
  return typeof name === "string" ? name : ""
}

const noHeader = refusesAuthorization(() => undefined)
const without = (overrides: Parameters<typeof refusesAuthorization>[1]): Probe =>
  refusesAuthorization(() => undefined, overrides)

const other = (character: string | undefined): string => (character === "x" ? "y" : "x")
const replaceAt = (text: string, index: number): string =>
  text.slice(0, index) + other(text[index]) + text.slice(index + 1)

const anonymousCheck = async (client: Client): Promise<boolean> =>
  hasCredential(await client.check("", defaultPerson, { headers: { "Content-Type": "application/json" } }))

const isWrong = (request: Incoming, context: Context): boolean =>
  !context.tokens.has(afterScheme(request, "Bearer", true) ?? "")

export const authorizationMutants = [
  missing(
    "check-header-absent",
    quotes.bearerRow,
    "A check without an Authorization header is accepted.",
    open((request) => request.headers.authorization === undefined),
    noHeader
  ),
  missing(
    "check-header-empty",
    quotes.bearerRow,
    "An empty Authorization header is accepted.",
    open((request) => request.headers.authorization === ""),
    refusesAuthorization(() => "")
  ),
  missing(
    "check-bearer-without-token",
    quotes.bearerRow,
    "The word Bearer without a token is accepted.",
    open((request) => request.headers.authorization?.trim() === "Bearer"),
    refusesAuthorization(() => "Bearer")
  ),
  missing(
    "check-token-in-query",
    quotes.stepTwo,
    "The token is accepted in the query parameter access_token, without the header.",
    alsoReads((request) => request.query.get("access_token") ?? undefined),
    without((token) => ({ path: `/api/aml?access_token=${encodeURIComponent(token)}` }))
  ),
  missing(
    "check-token-in-body",
    quotes.stepTwo,
    "The token is accepted in the body field access_token, without the header.",
    alsoReads((request) => {
      const body = parseJson(request.body)
      const token = isObject(body) ? body["access_token"] : undefined
      return typeof token === "string" ? token : undefined
    }),
    without((token) => ({ body: JSON.stringify({ ...defaultPerson, access_token: token }) }))
  ),
  missing(
    "check-token-in-cookie",
    quotes.stepTwo,
    "The token is accepted in the cookie access_token, without the header.",
    alsoReads((request) => /access_token=([^;]+)/.exec(request.headers.cookie ?? "")?.[1]),
    without((token) => ({ headers: { Cookie: `access_token=${token}` } }))
  ),
  missing(
    "check-token-in-other-header",
    quotes.stepTwo,
    "The token is accepted in the header X-Access-Token.",
    alsoReads((request) => header(request, "x-access-token")),
    without((token) => ({ headers: { "X-Access-Token": token } }))
  ),
  missing(
    "check-scheme-absent",
    quotes.bearerRow,
    "The token is accepted in the Authorization header without the word Bearer.",
    alsoReads((request) => request.headers.authorization),
    refusesAuthorization((token) => token)
  ),
  missing(
    "check-scheme-basic",
    quotes.bearerRow,
    "The token is accepted under the scheme Basic.",
    alsoReads((request) => afterScheme(request, "Basic", false)),
    refusesAuthorization((token) => `Basic ${token}`)
  ),
  missing(
    "check-scheme-any",
    quotes.bearerRow,
    "The token is accepted under each scheme.",
    alsoReads((request) => /^\S+ (\S+)$/.exec(request.headers.authorization ?? "")?.[1]),
    refusesAuthorization((token) => `Token ${token}`)
  ),
  missing(
    "check-client-credentials",
    quotes.stepTwo,
    "The Basic header of the token request is accepted instead of a token.",
    open((request, context) => request.headers.authorization === basic(`${context.customerId}:${context.customerKey}`)),
    refusesAuthorization((_token, client) => basic(`${client.id}:${client.key}`))
  ),
  missing("check-put-open", quotes.mandatory, "A PUT request to the check needs no token.", (base) => ({
    method: (request, context) => base.method(request, context) || request.method === "PUT",
    anonymous: (request) => request.method === "PUT"
  }), without(() => ({ method: "PUT" }))),
  missing(
    "check-trailing-slash-open",
    quotes.mandatory,
    "The path /api/aml/ reaches the check without a token.",
    (base) => ({
      path: (request) => base.path(request).replace(/\/$/, ""),
      anonymous: (request) => request.path.endsWith("/")
    }),
    without(() => ({ path: "/api/aml/" }))
  ),
  missing("check-path-case-open", quotes.mandatory, "The path /API/AML reaches the check without a token.", (base) => ({
    path: (request) => base.path(request).toLowerCase(),
    anonymous: (request) => request.path !== request.path.toLowerCase()
  }), without(() => ({ path: "/API/AML" }))),
  missing(
    "check-double-slash-open",
    quotes.mandatory,
    "The path //api/aml reaches the check without a token.",
    (base) => ({
      path: (request) => base.path(request).replace(/^\/+/, "/"),
      anonymous: (request) => request.path.startsWith("//")
    }),
    without(() => ({ path: "//api/aml" }))
  ),
  missing(
    "check-query-open",
    quotes.mandatory,
    "A request with a query string needs no token.",
    open((request) => request.query.size > 0),
    without(() => ({ path: "/api/aml?v=1" }))
  ),
  missing(
    "check-forwarded-local-open",
    quotes.mandatory,
    "A request with X-Forwarded-For: 127.0.0.1 needs no token.",
    open((request) => header(request, "x-forwarded-for") === "127.0.0.1"),
    without(() => ({ headers: { "X-Forwarded-For": "127.0.0.1" } }))
  ),
  missing(
    "check-connection-trusted",
    quotes.stepTwo,
    "After one valid check, later checks on the same connection need no token.",
    (base) => {
      const trusted = new Set<number>()
      return {
        matches: (check) => {
          trusted.add(check.request.connection)
          return base.matches(check)
        },
        anonymous: (request) => trusted.has(request.connection)
      }
    },
    (client) =>
      client.oneConnection(async (kept) => {
        await kept.check(await kept.token())
        return !(await anonymousCheck(kept))
      })
  ),
  missing(
    "check-address-trusted",
    quotes.stepTwo,
    "After one valid check, each later check of the same client address needs no token.",
    (base) => {
      let trusted = false
      return {
        matches: (check) => {
          trusted = true
          return base.matches(check)
        },
        anonymous: () => trusted
      }
    },
    async (client) => {
      await client.check(await client.token())
      return !(await anonymousCheck(client))
    }
  ),
  missing(
    "check-known-person-open",
    quotes.mandatory,
    "A check of a person who was searched before needs no token.",
    (base) => {
      const bodies = new Set<string>()
      return {
        matches: (check) => {
          bodies.add(check.request.body)
          return base.matches(check)
        },
        anonymous: (request) => bodies.has(request.body)
      }
    },
    async (client) => {
      await client.check(await client.token())
      return !(await anonymousCheck(client))
    }
  ),
  missing(
    "check-result-in-refusal",
    quotes.mandatory,
    "The response that refuses a request without a token carries the result.",
    () => ({
      refusalFields: (request) =>
        request.path === "/api/aml" && request.headers.authorization === undefined
          ? {
            credentials: { attributes: { match_found: isListed(nameIn(request.body)) ? "Potential match" : "No" } }
          } :
          undefined
    }),
    noHeader
  ),

  wrong(
    "token-any",
    quotes.tokenNeeded,
    "Each non-empty Bearer token is accepted.",
    open((request) => afterScheme(request, "Bearer", false) !== undefined),
    refusesAuthorization(() => "Bearer invented")
  ),
  wrong(
    "token-undefined",
    quotes.tokenNeeded,
    "The token undefined is accepted.",
    open((request) => afterScheme(request, "Bearer", false) === "undefined"),
    refusesAuthorization(() => "Bearer undefined")
  ),
  wrong(
    "token-placeholder",
    quotes.tokenNeeded,
    "The placeholder <ACCESS_TOKEN> of the document is accepted as a token.",
    open((request) => afterScheme(request, "Bearer", false) === "<ACCESS_TOKEN>"),
    refusesAuthorization(() => "Bearer <ACCESS_TOKEN>")
  ),
  wrong(
    "token-wildcard",
    quotes.tokenNeeded,
    "The token * matches each issued token.",
    matchesIssued((given) => given === "*"),
    refusesAuthorization(() => "Bearer *")
  ),
  wrong(
    "token-is-key",
    quotes.tokenNeeded,
    "The customer_key is accepted as a token.",
    open((request, context) => afterScheme(request, "Bearer", false) === context.customerKey),
    refusesAuthorization((_token, client) => `Bearer ${client.key}`)
  ),
  wrong(
    "token-is-id",
    quotes.tokenNeeded,
    "The customer_id is accepted as a token.",
    open((request, context) => afterScheme(request, "Bearer", false) === context.customerId),
    refusesAuthorization((_token, client) => `Bearer ${client.id}`)
  ),
  wrong(
    "token-is-encoded-login",
    quotes.tokenNeeded,
    "The base64 encoding of the client credentials is accepted as a token.",
    open((request, context) =>
      request.headers.authorization === basic(`${context.customerId}:${context.customerKey}`).replace("Basic", "Bearer")
    ),
    refusesAuthorization((_token, client) => basic(`${client.id}:${client.key}`).replace("Basic", "Bearer"))
  ),
  wrong(
    "token-last-character",
    quotes.stepTwo,
    "The last character of the token is not compared.",
    matchesIssued((given, issued) => given.length === issued.length && given.slice(0, -1) === issued.slice(0, -1)),
    refusesAuthorization((token) => `Bearer ${replaceAt(token, token.length - 1)}`)
  ),
  wrong(
    "token-first-character",
    quotes.stepTwo,
    "The first character of the token is not compared.",
    matchesIssued((given, issued) => given.slice(1) === issued.slice(1)),
    refusesAuthorization((token) => `Bearer ${replaceAt(token, 0)}`)
  ),
  wrong(
    "token-middle-ignored",
    quotes.stepTwo,
    "Only the first and the last six characters of the token are compared.",
    matchesIssued((given, issued) =>
      given.length === issued.length && given.slice(0, 6) === issued.slice(0, 6) && given.slice(-6) === issued.slice(-6)
    ),
    refusesAuthorization((token) => `Bearer ${replaceAt(token, Math.floor(token.length / 2))}`)
  ),
  wrong(
    "token-length-only",
    quotes.stepTwo,
    "A token of the same length as an issued token is accepted.",
    matchesIssued((given, issued) => given.length === issued.length),
    refusesAuthorization((token) => `Bearer ${"x".repeat(token.length)}`)
  ),
  wrong(
    "token-truncated",
    quotes.stepTwo,
    "The first half of a token is accepted.",
    matchesIssued((given, issued) => issued.startsWith(given) && given.length >= issued.length / 2),
    refusesAuthorization((token) => `Bearer ${token.slice(0, Math.ceil(token.length / 2))}`)
  ),
  wrong(
    "token-one-short",
    quotes.stepTwo,
    "A token without its last character is accepted.",
    matchesIssued((given, issued) => given === issued.slice(0, -1)),
    refusesAuthorization((token) => `Bearer ${token.slice(0, -1)}`)
  ),
  wrong(
    "token-suffix-ignored",
    quotes.stepTwo,
    "Characters after the end of a token are ignored.",
    matchesIssued((given, issued) => given.startsWith(issued)),
    refusesAuthorization((token) => `Bearer ${token}x`)
  ),
  wrong(
    "token-prefix-ignored",
    quotes.stepTwo,
    "Characters before the start of a token are ignored.",
    matchesIssued((given, issued) => given.endsWith(issued)),
    refusesAuthorization((token) => `Bearer x${token}`)
  ),
  wrong(
    "token-case",
    quotes.stepTwo,
    "Tokens are compared without regard to case.",
    matchesIssued((given, issued) => given.toLowerCase() === issued.toLowerCase()),
    refusesAuthorization((token) => `Bearer ${/[a-z]/.test(token) ? token.toUpperCase() : token.toLowerCase()}`)
  ),
  wrong(
    "token-doubled",
    quotes.stepTwo,
    "A token that is written twice in a row is accepted.",
    matchesIssued((given, issued) => given === issued + issued),
    refusesAuthorization((token) => `Bearer ${token}${token}`)
  ),
  wrong("token-third-attempt", quotes.tokenNeeded, "The third wrong token in a row is accepted.", () => {
    let attempts = 0
    return {
      anonymous: (request, context) => {
        attempts = isWrong(request, context) ? attempts + 1 : 0
        return attempts === 3
      }
    }
  }, async (client) => {
    const replies = [await client.check("wrong-1"), await client.check("wrong-1"), await client.check("wrong-1")]
    return !replies.some(hasCredential)
  }),
  wrong(
    "token-wrong-repeated",
    quotes.tokenNeeded,
    "A wrong token is refused once and then accepted, because it is stored as known.",
    () => {
      const seen = new Set<string>()
      return {
        anonymous: (request) => {
          const token = afterScheme(request, "Bearer", false) ?? ""
          const known = token !== "" && seen.has(token)
          seen.add(token)
          return known
        }
      }
    },
    async (client) => ![await client.check("wrong-2"), await client.check("wrong-2")].some(hasCredential)
  ),
  wrong(
    "token-wrong-during-check",
    quotes.tokenNeeded,
    "A wrong token is accepted while a valid check is in progress.",
    open((request, context) => context.checksInFlight > 0 && request.headers.authorization !== undefined),
    async (client) => {
      const token = await client.token()
      const valid = Array.from({ length: 6 }, () => client.check(token))
      const invalid = Array.from({ length: 12 }, () => client.check("wrong-3"))
      await Promise.all(valid)
      return !(await Promise.all(invalid)).some(hasCredential)
    }
  )
]
