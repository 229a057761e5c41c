/** Checks without a valid token, or with the token elsewhere than in the Authorization header. */
import type { Case } from "../model.ts"
import type { AmlStep } from "../steps.ts"
import { check, checkProbes, type Probe } from "./probes.ts"
import * as TestPeople from "./testPeople.ts"

const withHeader = (id: string, title: string, authorization: string | null): Probe<AmlStep> => [
  id,
  title,
  check({ authorization })
]

/** Without an Authorization header, and with these headers. */
const elsewhere = (id: string, title: string, headers: AmlStep["headers"]): Probe<AmlStep> => [
  id,
  title,
  check({ authorization: null, ...(headers !== undefined && { headers }) })
]

const body = TestPeople.bodyOf(TestPeople.clear)

const text = JSON.stringify(body)

const encoded = new URLSearchParams({ entity_type: "person", name: TestPeople.clear.name, dob: TestPeople.clear.dob })

export const cases: ReadonlyArray<Case> = [
  ...checkProbes("aml.request.authorization", "authorization", [
    withHeader("empty", "an empty Authorization header", ""),
    withHeader("scheme-only", "Bearer without a token", "Bearer"),
    withHeader("undefined", "the token undefined", "Bearer undefined"),
    withHeader("null", "the token null", "Bearer null"),
    withHeader("placeholder", "the placeholder of the document", "Bearer <ACCESS_TOKEN>"),
    withHeader("word", "the token access_token", "Bearer access_token"),
    withHeader("test", "the token test", "Bearer test"),
    withHeader("zero", "the token 0", "Bearer 0"),
    withHeader("star", "the token *", "Bearer *"),
    withHeader("random", "a random text without a scheme", "{otherKey}"),
    withHeader("basic-unknown", "an unknown customer after Basic", "Basic base64({otherId}:{otherKey})"),
    withHeader("chop", "the token without its last character", "Bearer {token|chop}"),
    withHeader("chop-first", "the token without its first character", "Bearer {token|chopFirst}"),
    withHeader("half", "the first half of the token", "Bearer {token|half}"),
    withHeader("second-half", "the second half of the token", "Bearer {token|secondHalf}"),
    withHeader("eight", "the first eight characters of the token", "Bearer {token|eight}"),
    withHeader("longer", "the token and one more character", "Bearer {token}x"),
    withHeader("longer-before", "one more character and the token", "Bearer x{token}"),
    withHeader("twice", "the token twice", "Bearer {token}{token}"),
    withHeader("last", "the token with another last character", "Bearer {token|last}"),
    withHeader("first", "the token with another first character", "Bearer {token|first}"),
    withHeader("middle", "the token with another character in its middle", "Bearer {token|middle}"),
    withHeader("same-class", "another token of the same form", "Bearer {token|sameClass}"),
    withHeader("upper", "the token in upper case", "Bearer {token|upper}"),
    withHeader("lower", "the token in lower case", "Bearer {token|lower}"),
    withHeader("swap-case", "the token with its case swapped", "Bearer {token|swapCase}"),
    withHeader("reverse", "the token reversed", "Bearer {token|reverse}"),
    withHeader("encoded", "the token in Base64", "Bearer {token|base64}"),
    withHeader("dot", "the token and a dot", "Bearer {token}."),
    withHeader("payload", "a JWT with a changed payload", "Bearer {token|changedPayload}"),
    withHeader("signature", "a JWT with a changed signature", "Bearer {token|changedSignature}"),
    withHeader("empty-signature", "a JWT with an empty signature", "Bearer {token|emptySignature}"),
    withHeader("no-signature", "a JWT without a signature", "Bearer {token|noSignature}"),
    withHeader("unsigned", "a JWT with the algorithm none", "Bearer {token|unsigned}"),
    withHeader(
      "none-signed",
      "a JWT with the algorithm none and its signature",
      "Bearer {token|unsignedWithSignature}"
    ),
    withHeader("key", "the key as a token", "Bearer {key}"),
    withHeader("id", "the id as a token", "Bearer {id}"),
    withHeader("pair", "id and key as a token", "Bearer {id}:{key}"),
    withHeader("pair-encoded", "id and key in Base64 as a token", "Bearer base64({id}:{key})"),
    elsewhere("local", "no token, from an address of the same host", { "x-forwarded-for": "127.0.0.1" }),
    elsewhere("local-other", "no token, with other headers of a proxy", {
      "x-real-ip": "127.0.0.1",
      "x-forwarded-host": "localhost",
      forwarded: "for=127.0.0.1"
    }),
    elsewhere("debug", "no token, with headers of a test", { "x-debug": "true", "x-test": "1", "x-internal": "true" }),
    elsewhere("override", "no token, with headers that name another request", {
      "x-original-url": "/health",
      "x-rewrite-url": "/health",
      "x-http-method-override": "POST"
    }),
    elsewhere("agent", "no token, from a health check", { "user-agent": "kube-probe/1.30" }),
    elsewhere("origin", "no token, from a page of the same host", {
      origin: "http://localhost",
      "sec-fetch-site": "same-origin"
    }),
    elsewhere("pair-headers", "id and key in headers", {
      "x-client-id": "{id}",
      "x-client-secret": "{key}",
      "x-api-key": "{key}"
    }),
    withHeader("basic-token", "an unknown token after Basic", "Basic {otherKey}"),
    withHeader("bearer-blank", "Bearer with blanks", "Bearer    "),
    withHeader("bearer-quotes", "Bearer with empty quotes", "Bearer \"\""),
    withHeader("bearer-dots", "Bearer with two dots", "Bearer .."),
    withHeader("true", "the token true", "Bearer true"),
    withHeader("false", "the token false", "Bearer false"),
    withHeader("nan", "the token NaN", "Bearer NaN"),
    withHeader("admin", "the token admin", "Bearer admin"),
    withHeader("object", "the token [object Object]", "Bearer [object Object]"),
    withHeader("template", "a placeholder in braces", "Bearer ${ACCESS_TOKEN}"),
    withHeader("unknown-scheme", "an unknown token after Token", "Token {otherKey}"),
    withHeader("sorted", "the characters of the token in another order", "Bearer {token|sorted}"),
    withHeader("four", "the first four characters of the token", "Bearer {token|four}"),
    withHeader("last-eight", "the last eight characters of the token", "Bearer {token|lastEight}"),
    withHeader("sha256", "the SHA-256 digest of the token", "Bearer {token|sha256}"),
    withHeader("letters", "the token without other characters than letters and digits", "Bearer {token|letters}"),
    [
      "query-unknown",
      "an unknown token in the query",
      check({ authorization: null, query: "access_token={otherKey}" })
    ],
    elsewhere("cookie-unknown", "an unknown token in a cookie", {
      cookie: "access_token={otherKey}; token={otherKey}"
    }),
    ...["/api/aml/", "/api//aml", "/api/aml?", "/api/aml.json", "/API/AML", "/api/aml;a=b", "/api/aml%2F"].map((
      path,
      i
    ): Probe<AmlStep> => [
      `path-${i + 1}`,
      "no token, and the path written in another way",
      check({ authorization: null, path })
    ]),
    ["query-any", "no token, with a query", check({ authorization: null, query: "test=1&debug=true" })],
    ["put", "no token, with PUT", check({ authorization: null, method: "PUT" })],
    [
      "get",
      "no token, with GET and the fields in the query",
      check({
        authorization: null,
        method: "GET",
        query: String(encoded)
      })
    ],
    ["text", "no token, with a body of plain text", check({ authorization: null, contentType: "text/plain" })],
    [
      "pair-body",
      "id and key in the body",
      check({
        authorization: null,
        body: `${text.slice(0, -1)},"customer_id":"{id}","customer_key":"{key}"}`
      })
    ],
    [
      "pair-query",
      "id and key in the query",
      check({
        authorization: null,
        query: "customer_id={id|percent}&customer_key={key|percent}"
      })
    ],
    elsewhere("internal", "no token, with a header that names the customer", { "x-customer-id": "{id}" }),
    [
      "unauthorized-listed",
      "a listed person without a token",
      check({
        authorization: null,
        body: TestPeople.bodyOf(TestPeople.exposed)
      })
    ],
    [
      "forged-listed",
      "a listed person with a forged token",
      check({
        authorization: "Bearer {otherKey}",
        body: TestPeople.bodyOf(TestPeople.exposed)
      })
    ]
  ]),
  ...checkProbes("aml.request.token-place", "token", [
    withHeader("no-scheme", "the token without a scheme", "{token}"),
    withHeader("scheme", "the token after Token", "Token {token}"),
    withHeader("oauth", "the token after OAuth", "OAuth {token}"),
    withHeader("jwt", "the token after JWT", "JWT {token}"),
    withHeader("digest", "the token after Digest", "Digest {token}"),
    withHeader("basic-user", "the token as the user of Basic", "Basic base64({token}:)"),
    withHeader("basic-password", "the token as the password of Basic", "Basic base64({id}:{token})"),
    withHeader("colon", "a colon after Bearer", "Bearer:{token}"),
    withHeader("joined", "Bearer and the token without a blank", "Bearer{token}"),
    withHeader("long-scheme", "a scheme that begins with Bearer", "BearerX {token}"),
    withHeader("quoted", "the token in quotes", "Bearer \"{token}\""),
    withHeader("angle", "the token in angle brackets", "Bearer <{token}>"),
    withHeader("bearer-twice", "Bearer twice", "Bearer Bearer {token}"),
    withHeader("second", "the token after another one", "Bearer {otherKey} {token}"),
    withHeader("list", "two tokens with a comma", "Bearer {otherKey}, Bearer {token}"),
    withHeader("list-last", "another token after a comma", "Bearer {token}, Bearer {otherKey}"),
    withHeader("more", "another word after the token", "Bearer {token} more"),
    withHeader("parameter", "the token as a parameter", "Bearer token={token}"),
    ["query", "the token in the query", check({ authorization: null, query: "access_token={token}" })],
    ["query-token", "the token in the query as token", check({ authorization: null, query: "token={token}" })],
    [
      "query-authorization",
      "the header in the query",
      check({
        authorization: null,
        query: "authorization=Bearer%20{token}"
      })
    ],
    [
      "query-other",
      "the token in the query as bearer_token, auth_token and jwt",
      check({
        authorization: null,
        query: "bearer_token={token}&auth_token={token}&jwt={token}&api_key={token}"
      })
    ],
    elsewhere("cookie", "the token in a cookie", { cookie: "access_token={token}; token={token}" }),
    elsewhere("cookie-other", "the token in cookies of other names", {
      cookie: "session={token}; jwt={token}; auth={token}; bearer={token}"
    }),
    elsewhere("forwarded", "the token in headers of a proxy", {
      "x-forwarded-authorization": "Bearer {token}",
      "x-original-authorization": "Bearer {token}"
    }),
    elsewhere("referer", "the token in Referer", { referer: "http://localhost/?access_token={token}" }),
    elsewhere("cookie-header", "the header in a cookie", {
      cookie: "authorization=Bearer {token}; Authorization={token}"
    }),
    elsewhere("access-token", "the token in X-Access-Token", { "x-access-token": "{token}" }),
    elsewhere("auth-token", "the token in X-Auth-Token", { "x-auth-token": "{token}" }),
    elsewhere("x-authorization", "the token in X-Authorization", { "x-authorization": "Bearer {token}" }),
    elsewhere("api-key", "the token in X-API-Key", { "x-api-key": "{token}" }),
    elsewhere("header", "the token in headers of its own", { "access_token": "{token}", token: "{token}" }),
    elsewhere("headers-other", "the token in headers of other names", {
      "x-token": "{token}",
      "x-bearer-token": "{token}",
      "x-jwt": "{token}",
      bearer: "{token}",
      auth: "{token}",
      "x-auth": "{token}",
      "x-id-token": "{token}",
      "x-session": "{token}"
    }),
    elsewhere("websocket", "the token in Sec-WebSocket-Protocol", { "sec-websocket-protocol": "bearer, {token}" }),
    elsewhere("agent", "the token in User-Agent", { "user-agent": "Bearer {token}" }),
    [
      "query-names",
      "the token in the query by other names",
      check({
        authorization: null,
        query: "accessToken={token}&bearer={token}&auth={token}&key={token}&id_token={token}&t={token}&apikey={token}"
      })
    ],
    ["path", "the token in the path", check({ authorization: null, path: "/api/aml/{token}" })],
    [
      "path-parameter",
      "the token as a parameter of the path",
      check({
        authorization: null,
        path: "/api/aml;access_token={token}"
      })
    ],
    [
      "body-other",
      "the token in the body by other names",
      check({
        authorization: null,
        body: `${
          text.slice(0, -1)
        },"authorization":"Bearer {token}","accessToken":"{token}","bearer":"{token}","auth":"{token}","jwt":"{token}","bearer_token":"{token}"}`
      })
    ],
    withHeader("apikey", "the token after ApiKey", "ApiKey {token}"),
    withHeader("session", "the token after Session", "Session {token}"),
    withHeader("basic-pair", "the token as user and as password of Basic", "Basic base64({token}:{token})"),
    withHeader("basic-encoded", "the token in Base64 after Basic", "Basic base64({token})"),
    withHeader("bearer-last", "Bearer after the token", "{token} Bearer"),
    withHeader("equals", "an equals sign after Bearer", "Bearer={token}"),
    withHeader("comma", "a comma after the token", "Bearer {token},"),
    withHeader("semicolon", "a semicolon after the token", "Bearer {token};"),
    withHeader("brackets", "the token in brackets", "Bearer [{token}]"),
    withHeader("percent", "the token percent-encoded", "Bearer {token|percent}"),
    elsewhere("proxy", "the token in Proxy-Authorization", { "proxy-authorization": "Bearer {token}" }),
    elsewhere("authentication", "the token in Authentication", { authentication: "Bearer {token}" }),
    [
      "body",
      "the token in the body",
      check({
        authorization: null,
        body: `${text.slice(0, -1)},"access_token":"{token}","token":"{token}"}`
      })
    ]
  ])
]
