/** Token requests that should receive no token, beyond those that every run sends. */
import type { Case } from "../model.ts"
import { tokenProbes } from "./probes.ts"

const form = "grant_type=client_credentials"

const multipart = "--b\r\ncontent-disposition: form-data; name=\"grant_type\"\r\n\r\nclient_credentials\r\n--b--\r\n"

const withBody = (id: string, title: string, body: string) => [id, title, { body }] as const

const withHeader = (id: string, title: string, authorization: string | null) => [id, title, { authorization }] as const

/** Basic with the id and this in place of the key. */
const withKey = (id: string, title: string, key: string) => withHeader(id, title, `Basic base64({id}:${key})`)

/** Basic with this in place of the id, and the right key. */
const withId = (id: string, title: string, customer: string) => withHeader(id, title, `Basic base64(${customer}:{key})`)

export const cases: ReadonlyArray<Case> = [
  ...tokenProbes("token.request.grant-type", "grant-type", [
    withBody("empty", "an empty grant_type", "grant_type="),
    withBody("prefix", "grant_type=client", "grant_type=client"),
    withBody("suffix", "grant_type=client_credentials_2", `${form}_2`),
    withBody("blank", "a blank after client_credentials", `${form}+`),
    withBody("blank-before", "a blank before client_credentials", "grant_type=+client_credentials"),
    withBody("hyphen", "grant_type=client-credentials", "grant_type=client-credentials"),
    withBody("capitals", "grant_type=Client_Credentials", "grant_type=Client_Credentials"),
    withBody("authorization-code", "grant_type=authorization_code", "grant_type=authorization_code&code=1"),
    withBody("refresh-token", "grant_type=refresh_token", "grant_type=refresh_token&refresh_token=1"),
    withBody("implicit", "grant_type=implicit", "grant_type=implicit"),
    withBody("jwt", "the grant type of RFC 7523", "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer"),
    withBody("unknown", "a grant type that does not exist", "grant_type=anything"),
    withBody("parameter-case", "GRANT_TYPE instead of grant_type", "GRANT_TYPE=client_credentials"),
    withBody("parameter", "grantType instead of grant_type", "grantType=client_credentials"),
    withBody("parameter-hyphen", "grant-type instead of grant_type", "grant-type=client_credentials"),
    withBody("list", "grant_type[] instead of grant_type", "grant_type[]=client_credentials"),
    withBody("other-first", "grant_type=password before the right one", `grant_type=password&${form}`),
    withBody("other-last", "grant_type=password after the right one", `${form}&grant_type=password`),
    withBody("two-values", "two grant types in one value", `${form} password`),
    withBody("other-parameter", "client_credentials in another parameter", "type=client_credentials"),
    withBody("json", "a JSON body with the content type of a form", "{\"grant_type\":\"client_credentials\"}"),
    ["query", "grant_type in the query", { body: "", query: form }],
    ["header", "grant_type in a header", { body: "", headers: { "grant_type": "client_credentials" } }]
  ]),
  ...tokenProbes("token.request.content-type", "content-type", [
    ["multipart", "a multipart form", { contentType: "multipart/form-data; boundary=b", body: multipart }],
    ["other", "the form sent as application/octet-stream", { contentType: "application/octet-stream" }],
    ["json-form", "the form sent as JSON", { contentType: "application/json" }],
    ["xml", "the form sent as XML", { contentType: "application/xml" }],
    ["long", "a content type that begins with the right one", { contentType: "application/x-www-form-urlencoded2" }]
  ]),
  ...tokenProbes(
    "token.request.method",
    "method",
    ["PATCH", "DELETE", "HEAD", "OPTIONS"].map((method) =>
      [method.toLowerCase(), `a token request with ${method}`, { method }] as const
    )
  ),
  ...tokenProbes("token.request.method", "method", [
    ["get-query", "a token request with GET and grant_type in the query", { method: "GET", query: form }]
  ]),
  ...tokenProbes("token.request.authorization", "authorization", [
    withHeader("empty", "an empty Authorization header", ""),
    withHeader("scheme-only", "Basic without credentials", "Basic"),
    withHeader("no-pair", "Basic with an empty id and an empty key", "Basic base64(:)"),
    withHeader("not-base64", "Basic with a text that is not Base64", "Basic !!!"),
    withHeader("unknown-empty", "an unknown customer with an empty key", "Basic base64({otherId}:)"),
    withHeader("same", "an unknown customer whose key is its id", "Basic base64({otherId}:{otherId})"),
    withHeader("admin", "a well-known id and key", "Basic base64(admin:admin)")
  ]),
  ...tokenProbes("token.request.credentials", "credentials", [
    withHeader("no-scheme", "id and key in Base64 without a scheme", "base64({id}:{key})"),
    withHeader("token", "id and key after Token", "Token base64({id}:{key})"),
    withHeader("digest", "id and key after Digest", "Digest base64({id}:{key})"),
    withHeader("plain", "id and key after Basic, not encoded", "Basic {id}:{key}"),
    withHeader("twice-encoded", "id and key encoded twice", "Basic base64({id|base64}:{key|base64})"),
    ["query", "id and key in the query", {
      authorization: null,
      query: "client_id={id|percent}&client_secret={key|percent}"
    }],
    ["query-names", "customer_id and customer_key in the query", {
      authorization: null,
      query: "customer_id={id|percent}&customer_key={key|percent}"
    }],
    ["body-names", "customer_id and customer_key in the body", {
      authorization: null,
      body: `${form}&customer_id={id|percent}&customer_key={key|percent}`
    }],
    ["body-user", "username and password in the body", {
      authorization: null,
      body: `${form}&username={id|percent}&password={key|percent}`
    }],
    ["body-json", "id and key in a JSON body", {
      authorization: null,
      contentType: "application/json",
      body: "{\"grant_type\":\"client_credentials\",\"client_id\":\"{id}\",\"client_secret\":\"{key}\"}"
    }],
    ["headers", "id and key in headers of their own", {
      authorization: null,
      headers: { "customer_id": "{id}", "customer_key": "{key}" }
    }],
    ["headers-x", "id and key in headers that begin with X-", {
      authorization: null,
      headers: { "x-customer-id": "{id}", "x-customer-key": "{key}", "x-client-id": "{id}", "x-client-secret": "{key}" }
    }],
    ["api-key", "the key as X-API-Key", { authorization: null, headers: { "x-api-key": "{key}" } }],
    ["proxy", "Basic in Proxy-Authorization", {
      authorization: null,
      headers: { "proxy-authorization": "Basic base64({id}:{key})" }
    }],
    ["cookie", "id and key in a cookie", {
      authorization: null,
      headers: { cookie: "authorization=base64({id}:{key}); customer_id={id}; customer_key={key}" }
    }]
  ]),
  ...tokenProbes("token.request.authorization", "key", [
    withKey("chop", "the key without its last character", "{key|chop}"),
    withKey("chop-first", "the key without its first character", "{key|chopFirst}"),
    withKey("half", "the first half of the key", "{key|half}"),
    withKey("second-half", "the second half of the key", "{key|secondHalf}"),
    withKey("eight", "the first eight characters of the key", "{key|eight}"),
    withKey("longer", "the key and one more character", "{key}x"),
    withKey("longer-before", "one more character and the key", "x{key}"),
    withKey("twice", "the key twice", "{key}{key}"),
    withKey("last", "the key with another last character", "{key|last}"),
    withKey("first", "the key with another first character", "{key|first}"),
    withKey("middle", "the key with another character in its middle", "{key|middle}"),
    withKey("same-class", "a key of the same form", "{key|sameClass}"),
    withKey("upper", "the key in upper case", "{key|upper}"),
    withKey("lower", "the key in lower case", "{key|lower}"),
    withKey("swap-case", "the key with its case swapped", "{key|swapCase}"),
    withKey("reverse", "the key reversed", "{key|reverse}"),
    withKey("blank", "the key and a blank", "{key} "),
    withKey("blank-before", "a blank and the key", " {key}"),
    withKey("line", "the key and a line feed", "{key}\n"),
    withKey("nul", "the key and a NUL", "{key}\u0000"),
    withKey("colon", "the key and a colon", "{key}:"),
    withKey("more", "the key, a colon and more", "{key}:more"),
    withKey("before-colon", "the key up to its first colon", "{key|beforeColon}"),
    withKey("after-colon", "the key after its first colon", "{key|afterColon}"),
    withKey("encoded", "the key in Base64", "{key|base64}"),
    withKey("is-id", "the id in place of the key", "{id}"),
    withKey("blank-only", "a blank in place of the key", " "),
    withKey("star", "an asterisk in place of the key", "*"),
    withKey("quoted", "the key in quotes", "\"{key}\""),
    withHeader("missing", "the id without a colon and a key", "Basic base64({id})"),
    withHeader("comma", "a comma in place of the colon", "Basic base64({id},{key})"),
    withHeader("swapped", "id and key swapped", "Basic base64({key}:{id})"),
    withHeader("joined", "id and key without a colon", "Basic base64({id}{key})"),
    withHeader("only", "the key alone", "Basic base64({key})"),
    withHeader("two", "two keys", "Basic base64({id}:{otherKey}:{key})")
  ], { needsWrongKeys: true }),
  ...tokenProbes("token.request.authorization", "id", [
    withId("upper", "the id in upper case", "{id|upper}"),
    withId("lower", "the id in lower case", "{id|lower}"),
    withId("swap-case", "the id with its case swapped", "{id|swapCase}"),
    withId("chop-first", "the id without its first character", "{id|chopFirst}"),
    withId("first", "the id with another first character", "{id|first}"),
    withId("blank", "the id and a blank", "{id} "),
    withId("blank-before", "a blank and the id", " {id}"),
    withId("empty", "an empty id with the right key", ""),
    withId("unknown", "an unknown id with the key of the customer", "{otherId}")
  ], { needsWrongKeys: true }),
  ...tokenProbes("token.request.authorization", "id", [
    withId("chop", "the id without its last character", "{id|chop}"),
    withId("half", "the first half of the id", "{id|half}"),
    withId("longer", "the id and one more character", "{id}x"),
    withId("last", "the id with another last character", "{id|last}"),
    withId("is-key", "the key as id and as key", "{key}")
  ], { needsOwnCustomer: true, needsWrongKeys: true })
]
