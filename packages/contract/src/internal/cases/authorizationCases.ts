/** Checks without a valid token, or with the token elsewhere than in the Authorization header (section 5). */
import type { Case } from "../model.ts"
import type { AmlStep } from "../steps.ts"
import { check, elsewhere, extraField, header, noCredential, refusals, type Rows, sequences } from "./probes.ts"

type Changes = Omit<AmlStep, "to">

const withoutToken = noCredential("authorization.missing", "aml.request.authorization", [
  elsewhere("a check without an Authorization header", {}),
  elsewhere("a listed person without a token", { person: "listed" }),
  elsewhere("no token, from an address of the same host", {
    headers: { "x-forwarded-for": "127.0.0.1", "x-real-ip": "127.0.0.1", forwarded: "for=127.0.0.1" }
  }),
  elsewhere("no token, from a page of the same host", {
    headers: { origin: "http://localhost", "sec-fetch-site": "same-origin" }
  }),
  elsewhere("no token, with headers of a test", {
    headers: { "x-debug": "true", "x-test": "1", "x-internal": "true" }
  }),
  elsewhere("no token, with headers that name another request", {
    headers: { "x-original-url": "/health", "x-rewrite-url": "/health", "x-http-method-override": "POST" }
  }),
  elsewhere("no token, from a health check", { headers: { "user-agent": "kube-probe/1.30" } }),
  elsewhere("no token, with a header that names the customer", { headers: { "x-customer-id": "{id}" } }),
  ...["/api/aml/", "/api//aml", "/api/aml?", "/api/aml.json", "/API/AML", "/api/aml;a=b", "/api/aml%2F"].map((path) =>
    elsewhere(`no token, and the path ${path}`, { path })
  ),
  elsewhere("no token, with a query", { query: "test=1&debug=true" }),
  elsewhere("no token, with PUT", { method: "PUT" }),
  elsewhere("no token, with GET and the fields in the query", { method: "GET", query: "{form}" }),
  elsewhere("no token, with a body of plain text", { contentType: "text/plain" })
], { worth: 8 })

/** Names under which services read a token elsewhere than in the Authorization header. */
const names = [
  ...["access_token", "token", "bearer_token", "auth_token", "jwt", "api_key", "accessToken", "bearer", "auth", "key"],
  ...["id_token", "t", "apikey", "session", "sid"]
]

const inQuery = names.map((name) => `${name}={token}`).join("&")

const inCookie = `${names.map((name) => `${name}={token}`).join("; ")}; authorization=Bearer {token}`

const inHeaders: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      ...names,
      ...["access", "auth", "api-key", "bearer", "jwt", "id", "session"].flatMap((name) => [
        `x-${name}`,
        `x-${name}-token`
      ]),
      "x-token"
    ].map((name) => [name, "{token}"])
  ),
  "x-authorization": "Bearer {token}",
  authentication: "Bearer {token}"
}

const inBody = `{check|cut},${names.map((name) => `"${name}":"{token}"`).join(",")},"authorization":"Bearer {token}"}`

const place = (id: string, rows: Rows<Changes>, worth: number, options = {}): Case =>
  noCredential(`token.${id}`, "aml.request.token-place", rows, { worth, ...options })

export const cases: ReadonlyArray<Case> = [
  withoutToken,
  ...refusals(withoutToken, [
    [
      "unauthorized.status",
      "aml.error.unauthorized",
      "the status of a check without an Authorization header",
      "status"
    ],
    [
      "unauthorized.challenge",
      "aml.error.challenge",
      "the challenge to a check without an Authorization header",
      "challenge"
    ]
  ]),
  noCredential("authorization.unknown", "aml.request.authorization", [
    header("a forged token", "Bearer {otherKey}"),
    ["a listed person with a forged token", { person: "listed", authorization: "Bearer {otherKey}" }],
    header("an unknown customer after Basic", "Basic base64({otherId}:{otherKey})"),
    header("an unknown token after Basic", "Basic {otherKey}"),
    header("an unknown token after Token", "Token {otherKey}"),
    header("a random text without a scheme", "{otherKey}"),
    elsewhere("an unknown token in the query", { query: "access_token={otherKey}" }),
    elsewhere("an unknown token in a cookie", { headers: { cookie: "access_token={otherKey}; token={otherKey}" } })
  ]),
  noCredential("authorization.changed", "aml.request.authorization", [
    header("the token with another last character", "Bearer {token|last}"),
    header("the token with another character in its middle", "Bearer {token|middle}"),
    header("the token with another first character", "Bearer {token|first}"),
    header("another token of the same form", "Bearer {token|sameClass}"),
    header("the token reversed", "Bearer {token|reverse}"),
    header("the characters of the token in another order", "Bearer {token|sorted}"),
    header("the token without other characters than letters and digits", "Bearer {token|letters}")
  ], { worth: 8 }),
  noCredential("authorization.cut", "aml.request.authorization", [
    header("the first half of the token", "Bearer {token|half}"),
    header("the token without its last character", "Bearer {token|chop}"),
    header("the token without its first character", "Bearer {token|chopFirst}"),
    header("the second half of the token", "Bearer {token|secondHalf}"),
    header("the first eight characters of the token", "Bearer {token|eight}"),
    header("the first four characters of the token", "Bearer {token|four}"),
    header("the last eight characters of the token", "Bearer {token|lastEight}")
  ], { worth: 6 }),
  noCredential("authorization.longer", "aml.request.authorization", [
    header("the token and one more character", "Bearer {token}x"),
    header("one more character and the token", "Bearer x{token}"),
    header("the token twice", "Bearer {token}{token}"),
    header("the token and a dot", "Bearer {token}.")
  ], { worth: 7 }),
  noCredential("authorization.letters", "aml.request.authorization", [
    header("the token with its case swapped", "Bearer {token|swapCase}"),
    header("the token in upper case", "Bearer {token|upper}"),
    header("the token in lower case", "Bearer {token|lower}")
  ], { worth: 6 }),
  noCredential("authorization.unsigned", "aml.request.authorization", [
    header("a JWT with the algorithm none", "Bearer {token|unsigned}"),
    header("a JWT with the algorithm none that no service issued", "Bearer {otherId|forged}"),
    header("a JWT with a changed payload", "Bearer {token|changedPayload}"),
    header("a JWT with a changed signature", "Bearer {token|changedSignature}"),
    header("a JWT with an empty signature", "Bearer {token|emptySignature}"),
    header("a JWT without a signature", "Bearer {token|noSignature}"),
    header("a JWT with the algorithm none and its signature", "Bearer {token|unsignedWithSignature}"),
    header("a JWT with the algorithm none and the id of the customer", "Bearer {id|forged}")
  ], { worth: 7 }),
  noCredential("authorization.empty", "aml.request.authorization", [
    header("Bearer without a token", "Bearer"),
    header("an empty Authorization header", ""),
    header("Bearer with blanks", "Bearer    "),
    header("a percent sign as token", "Bearer %"),
    header("Bearer with empty quotes", "Bearer \"\""),
    header("Bearer with two dots", "Bearer ..")
  ], { worth: 7 }),
  noCredential("authorization.word", "aml.request.authorization", [
    header("the token undefined", "Bearer undefined"),
    header("the token null", "Bearer null"),
    header("the placeholder of the document", "Bearer <ACCESS_TOKEN>"),
    ...["access_token", "test", "admin", "0", "*", "true", "false", "NaN", "[object Object]", "${ACCESS_TOKEN}"].map((
      word
    ) => header(`the token ${word}`, `Bearer ${word}`))
  ], { worth: 6 }),
  noCredential("authorization.derived", "aml.request.authorization", [
    header("the token in Base64", "Bearer {token|base64}"),
    header("the SHA-256 digest of the token", "Bearer {token|sha256}")
  ]),
  noCredential("authorization.customer", "aml.request.authorization", [
    header("customer id and key instead of a token", "Basic base64({id}:{key})"),
    header("the key as a token", "Bearer {key}"),
    header("the id as a token", "Bearer {id}"),
    header("id and key as a token", "Bearer {id}:{key}"),
    header("id and key in Base64 as a token", "Bearer base64({id}:{key})"),
    elsewhere("id and key in headers", {
      headers: { "x-client-id": "{id}", "x-client-secret": "{key}", "x-api-key": "{key}" }
    }),
    elsewhere("id and key in the body", { body: "{check|cut},\"customer_id\":{id|json},\"customer_key\":{key|json}}" }),
    elsewhere("id and key in the query", { query: "customer_id={id|percent}&customer_key={key|percent}" })
  ], { worth: 3 }),

  sequences("aml.authorization.case", "aml.request.scheme-case", "check outcome", [
    ["the scheme in lower case", [check({ authorization: "bearer {token}" })]]
  ]),
  place("scheme", [
    header("the token after Basic instead of Bearer", "Basic {token}"),
    header("the token after Token", "Token {token}"),
    ...["OAuth", "JWT", "Digest", "ApiKey", "Session", "BearerX"].map((scheme) =>
      header(`the token after ${scheme}`, `${scheme} {token}`)
    ),
    header("the token as the user of Basic", "Basic base64({token}:)"),
    header("the token as the password of Basic", "Basic base64({id}:{token})"),
    header("the token as user and as password of Basic", "Basic base64({token}:{token})"),
    header("the token in Base64 after Basic", "Basic base64({token})")
  ], 6),
  place("bare", [header("the token without a scheme", "{token}")], 6),
  place("joined", [
    header("Bearer and the token without a blank", "Bearer{token}"),
    header("a colon after Bearer", "Bearer:{token}"),
    header("an equals sign after Bearer", "Bearer={token}"),
    header("the token as a parameter", "Bearer token={token}"),
    header("Bearer after the token", "{token} Bearer")
  ], 3),
  place("quoted", [
    header("the token in quotes", "Bearer \"{token}\""),
    header("the token in angle brackets", "Bearer <{token}>"),
    header("the token in brackets", "Bearer [{token}]"),
    header("the token percent-encoded", "Bearer {token|percent}")
  ], 4),
  place("second", [
    header("another word after the token", "Bearer {token} more"),
    header("the token after another one", "Bearer {otherKey} {token}"),
    header("Bearer twice", "Bearer Bearer {token}"),
    header("two tokens with a comma", "Bearer {otherKey}, Bearer {token}"),
    header("another token after a comma", "Bearer {token}, Bearer {otherKey}"),
    header("a comma after the token", "Bearer {token},"),
    header("a semicolon after the token", "Bearer {token};")
  ], 4),
  place(
    "elsewhere",
    [
      elsewhere("the token in the query, in headers, in a cookie and in the body", {
        query: inQuery,
        headers: { ...inHeaders, cookie: inCookie },
        body: inBody
      }),
      elsewhere("the token in headers and in a cookie", { headers: { ...inHeaders, cookie: inCookie } }),
      elsewhere("the token in the query", { query: inQuery }),
      elsewhere("the header in the query", { query: "authorization=Bearer%20{token}" }),
      elsewhere("the token in a cookie", { headers: { cookie: inCookie } }),
      elsewhere("the token in headers of other names", { headers: inHeaders }),
      elsewhere("the token in headers of a proxy", {
        headers: {
          "proxy-authorization": "Bearer {token}",
          "x-forwarded-authorization": "Bearer {token}",
          "x-original-authorization": "Bearer {token}"
        }
      }),
      elsewhere("the token in Sec-WebSocket-Protocol", { headers: { "sec-websocket-protocol": "bearer, {token}" } }),
      elsewhere("the token in Referer", { headers: { referer: "http://localhost/?access_token={token}" } }),
      elsewhere("the token in User-Agent", { headers: { "user-agent": "Bearer {token}" } }),
      elsewhere("the token in the body", { body: inBody }),
      elsewhere("the token in the path", { path: "/api/aml/{token}" }),
      elsewhere("the token as a parameter of the path", { path: "/api/aml;access_token={token}" })
    ],
    8,
    extraField
  )
]
