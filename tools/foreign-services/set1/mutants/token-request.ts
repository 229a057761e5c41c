import { area } from "../define.ts"
import { afterScheme, decodeBase64, splitCredentials } from "../hooks.ts"
import { refusesGrant, refusesLogin, refusesTokenRequest, works } from "../probes.ts"
import { quotes } from "../quotes.ts"
import { basic, tokenIn, tokenRequest } from "../requests.ts"
import type { Context, Credentials, Hooks, Incoming, Probe } from "../types.ts"

const login = area("token request: credentials")
const grant = area("token request: grant type")

/** Replaces the comparison of the credentials. */
const accepts = (test: (given: Credentials, context: Context) => boolean) => (base: Hooks): Partial<Hooks> => ({
  customer: (given, context, request) =>
    base.customer(given, context, request) || (given !== undefined && test(given, context))
})

const acceptsRequest = (test: (request: Incoming, context: Context) => boolean) => (base: Hooks): Partial<Hooks> => ({
  customer: (given, context, request) => base.customer(given, context, request) || test(request, context)
})

const swapCase = (text: string): string =>
  text.replace(/[a-z]/gi, (letter) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()))

const wrongKey = (client: { readonly id: string }): string => basic(`${client.id}:not-the-key`)

/** Passes if a wrong key is refused after the given number of token requests with the returned header. */
const wrongKeyAfter =
  (count: number, authorization: (client: { readonly id: string; readonly key: string }) => string): Probe =>
  async (client) => {
    for (let sent = 0; sent < count; sent += 1) await client.send(tokenRequest(authorization(client)))
    const token = tokenIn(await client.send(tokenRequest(wrongKey(client))))
    return token === undefined || !(await works(client, token))
  }

export const tokenRequestMutants = [
  login(
    "login-absent",
    quotes.basicRow,
    "A token request without an Authorization header receives a token.",
    acceptsRequest((request) => request.headers.authorization === undefined),
    refusesTokenRequest((_client, documented) => ({
      headers: { "Content-Type": documented.headers["Content-Type"] ?? "" }
    }))
  ),
  login(
    "login-any-key",
    quotes.keyRow,
    "Only customer_id is compared; each key is accepted.",
    accepts((given, context) => given.id === context.customerId),
    refusesLogin((client) => `${client.id}:not-the-key`)
  ),
  login(
    "login-any-id",
    quotes.idRow,
    "Only customer_key is compared; each customer_id is accepted.",
    accepts((given, context) => given.key === context.customerKey),
    refusesLogin((client) => `nobody:${client.key}`)
  ),
  login(
    "login-empty-key",
    quotes.keyRow,
    "An empty key is accepted.",
    accepts((given, context) => given.id === context.customerId && given.key === ""),
    refusesLogin((client) => `${client.id}:`)
  ),
  login(
    "login-empty-pair",
    quotes.credentialsIssued,
    "A Basic header with an empty customer_id and an empty key is accepted.",
    accepts((given) => given.id === "" && given.key === ""),
    refusesLogin(() => ":")
  ),
  login(
    "login-key-prefix",
    quotes.keyRow,
    "The key is accepted if the issued key starts with it and it has eight or more characters.",
    accepts((given, context) =>
      given.id === context.customerId && given.key.length >= 8 && context.customerKey.startsWith(given.key)
    ),
    refusesLogin((client) => `${client.id}:${client.key.slice(0, -1)}`)
  ),
  login(
    "login-key-suffix-ignored",
    quotes.keyRow,
    "Characters after the end of the correct key are ignored.",
    accepts((given, context) => given.id === context.customerId && given.key.startsWith(context.customerKey)),
    refusesLogin((client) => `${client.id}:${client.key}x`)
  ),
  login(
    "login-key-case",
    quotes.keyRow,
    "The key is compared without regard to case.",
    accepts((given, context) =>
      given.id === context.customerId && given.key.toLowerCase() === context.customerKey.toLowerCase()
    ),
    refusesLogin((client) => `${client.id}:${swapCase(client.key)}`)
  ),
  login(
    "login-key-length-only",
    quotes.keyRow,
    "A key of the correct length is accepted.",
    accepts((given, context) => given.id === context.customerId && given.key.length === context.customerKey.length),
    refusesLogin((client) => `${client.id}:${"x".repeat(client.key.length)}`)
  ),
  login(
    "login-key-last-character",
    quotes.keyRow,
    "The last character of the key is not compared.",
    accepts((given, context) =>
      given.id === context.customerId && given.key.length === context.customerKey.length &&
      given.key.slice(0, -1) === context.customerKey.slice(0, -1)
    ),
    refusesLogin((client) => `${client.id}:${client.key.slice(0, -1)}#`)
  ),
  login(
    "login-key-trimmed",
    quotes.keyRow,
    "Spaces around the key are removed before the comparison.",
    accepts((given, context) => given.id === context.customerId && given.key.trim() === context.customerKey),
    refusesLogin((client) => `${client.id}:${client.key} `)
  ),
  login(
    "login-id-prefix",
    quotes.idRow,
    "A customer_id that starts with the correct one is accepted.",
    accepts((given, context) => given.id.startsWith(context.customerId) && given.key === context.customerKey),
    refusesLogin((client) => `${client.id}2:${client.key}`)
  ),
  login(
    "login-swapped",
    quotes.basicRow,
    "The customer_key as username and the customer_id as password are accepted.",
    acceptsRequest((request, context) =>
      decodeBase64(afterScheme(request, "Basic", false) ?? "") === `${context.customerKey}:${context.customerId}`
    ),
    refusesLogin((client) => `${client.key}:${client.id}`)
  ),
  login(
    "login-key-is-id",
    quotes.keyRow,
    "The customer_id is accepted as the key.",
    accepts((given, context) => given.id === context.customerId && given.key === context.customerId),
    refusesLogin((client) => `${client.id}:${client.id}`)
  ),
  login(
    "login-id-alone",
    quotes.basicRow,
    "The base64 encoding of customer_id without a colon and a key is accepted.",
    acceptsRequest((request, context) =>
      decodeBase64(afterScheme(request, "Basic", false) ?? "") === context.customerId
    ),
    refusesLogin((client) => client.id)
  ),
  login(
    "login-colon-absent",
    quotes.basicRow,
    "customer_id and customer_key without a colon between them are accepted.",
    acceptsRequest((request, context) =>
      decodeBase64(afterScheme(request, "Basic", false) ?? "") === context.customerId + context.customerKey
    ),
    refusesLogin((client) => client.id + client.key)
  ),
  login(
    "login-not-encoded",
    quotes.basicRow,
    "Basic followed by the plain text of the credentials is accepted.",
    (base) => ({
      credentials: (request, context) =>
        base.credentials(request, context) ?? splitCredentials(afterScheme(request, "Basic", false))
    }),
    refusesTokenRequest((client, documented) => ({
      headers: { ...documented.headers, Authorization: `Basic ${client.id}:${client.key}` }
    }))
  ),
  login(
    "login-bearer-scheme",
    quotes.stepOne,
    "The encoded credentials are accepted under the Bearer scheme.",
    (base) => ({
      credentials: (request, context) =>
        base.credentials(request, context) ??
          splitCredentials(decodeBase64(afterScheme(request, "Bearer", false) ?? ""))
    }),
    refusesTokenRequest((_client, documented) => ({
      headers: {
        ...documented.headers,
        Authorization: (documented.headers["Authorization"] ?? "").replace("Basic", "Bearer")
      }
    }))
  ),
  login(
    "login-in-body",
    quotes.stepOne,
    "client_id and client_secret in the form body replace the Authorization header.",
    (base) => ({
      credentials: (request, context) => {
        const form = new URLSearchParams(request.body)
        return base.credentials(request, context) ??
          { id: form.get("client_id") ?? "", key: form.get("client_secret") ?? "" }
      }
    }),
    refusesTokenRequest((client, documented) => ({
      headers: { "Content-Type": documented.headers["Content-Type"] ?? "" },
      body: new URLSearchParams({ grant_type: "client_credentials", client_id: client.id, client_secret: client.key })
        .toString()
    }))
  ),
  login(
    "login-in-query",
    quotes.stepOne,
    "customer_id and customer_key in the query replace the Authorization header.",
    (base) => ({
      credentials: (request, context) =>
        base.credentials(request, context) ??
          { id: request.query.get("customer_id") ?? "", key: request.query.get("customer_key") ?? "" }
    }),
    refusesTokenRequest((client, documented) => ({
      headers: { "Content-Type": documented.headers["Content-Type"] ?? "" },
      path: `/oauth/service?${new URLSearchParams({ customer_id: client.id, customer_key: client.key }).toString()}`
    }))
  ),
  login(
    "login-token-renewal",
    quotes.credentialsIssued,
    "A valid access token as Bearer credential receives another token.",
    acceptsRequest((request, context) => context.tokens.has(afterScheme(request, "Bearer", false) ?? "")),
    async (client) => {
      const token = await client.token()
      const renewed = tokenIn(await client.send(tokenRequest(`Bearer ${token}`)))
      return renewed === undefined || !(await works(client, renewed))
    }
  ),
  login(
    "login-key-cached",
    quotes.keyRow,
    "After one successful request, each key is accepted for the customer_id.",
    (base) => {
      const known = new Set<string>()
      return {
        customer: (given, context, request) => {
          const correct = base.customer(given, context, request)
          if (correct && given !== undefined) known.add(given.id)
          return correct || (given !== undefined && known.has(given.id))
        }
      }
    },
    wrongKeyAfter(1, (client) => basic(`${client.id}:${client.key}`))
  ),
  login("login-third-attempt", quotes.keyRow, "The third consecutive wrong key is accepted.", (base) => {
    let failures = 0
    return {
      customer: (given, context, request) => {
        failures = base.customer(given, context, request) ? 0 : failures + 1
        return failures === 0 || failures === 3
      }
    }
  }, wrongKeyAfter(2, wrongKey)),
  login(
    "login-put-open",
    quotes.mandatory,
    "A PUT request to the token endpoint skips the comparison of the credentials.",
    (base) => ({
      method: (request, context) => base.method(request, context) || request.method === "PUT",
      customer: (given, context, request) => base.customer(given, context, request) || request.method === "PUT"
    }),
    refusesTokenRequest((client, documented) => ({
      method: "PUT",
      headers: { ...documented.headers, Authorization: wrongKey(client) }
    }))
  ),
  login(
    "login-token-in-refusal",
    quotes.credentialsIssued,
    "The response that refuses a wrong key carries a working token.",
    (base) => ({
      refusalFields: (request, context) =>
        request.path === "/oauth/service" ? { access_token: base.issue(request, context).value } : undefined
    }),
    refusesLogin((client) => `${client.id}:not-the-key`)
  ),

  ...([
    ["grant-absent", "An empty body is accepted.", ""],
    ["grant-empty", "An empty grant_type is accepted.", "grant_type="],
    ["grant-password", "The grant type password is accepted.", "grant_type=password&username=a&password=b"],
    [
      "grant-authorization-code",
      "The grant type authorization_code is accepted.",
      "grant_type=authorization_code&code=1"
    ],
    ["grant-refresh-token", "The grant type refresh_token is accepted.", "grant_type=refresh_token&refresh_token=1"],
    ["grant-upper-case", "The grant type is compared without regard to case.", "grant_type=CLIENT_CREDENTIALS"],
    [
      "grant-prefix",
      "A grant type that starts with client_credentials is accepted.",
      "grant_type=client_credentials_2"
    ],
    ["grant-hyphen", "A hyphen instead of the underscore is accepted.", "grant_type=client-credentials"],
    ["grant-other-name", "The parameter is accepted under the name grantType.", "grantType=client_credentials"]
  ] as const).map(([id, explanation, body]) =>
    grant(
      id,
      quotes.grantRow,
      explanation,
      (base) => ({ grant: (request, context) => base.grant(request, context) || request.body === body }),
      refusesGrant(body)
    )
  ),
  grant("grant-any", quotes.grantRow, "Each non-empty grant type is accepted.", (base) => ({
    grant: (request, context) =>
      base.grant(request, context) || (new URLSearchParams(request.body).get("grant_type") ?? "") !== ""
  }), refusesGrant("grant_type=something"))
]
