/** Token requests that should receive no token, beyond those that every run sends. */
import type { Case } from "../model.ts"
import type { TokenStep } from "../steps.ts"
import { tokenProbes } from "./probes.ts"

const form = "grant_type=client_credentials"

const multipart = "--b\r\ncontent-disposition: form-data; name=\"grant_type\"\r\n\r\nclient_credentials\r\n--b--\r\n"

const withBody = (id: string, title: string, body: string) => [id, title, { body }] as const

const withHeader = (id: string, title: string, authorization: string | null) => [id, title, { authorization }] as const

/** Basic with the id and this in place of the key. */
const withKey = (id: string, title: string, key: string) => withHeader(id, title, `Basic base64({id}:${key})`)

/** Basic with this in place of the id, and the right key. */
const withId = (id: string, title: string, customer: string) => withHeader(id, title, `Basic base64(${customer}:{key})`)

/** The documented request, written in another way. */
const written = (id: string, title: string, step: Omit<TokenStep, "to">): Case => ({
  id: `token.written.${id}`,
  claim: "token.request.path",
  title,
  steps: [{ to: "token", ...step }],
  reading: "token outcome"
})

export const cases: ReadonlyArray<Case> = [
  written("percent", "a percent-encoded letter in the value", { body: "grant_type=client%5Fcredentials" }),
  written("percent-name", "a percent-encoded letter in the name", { body: "grant%5Ftype=client_credentials" }),
  written("accept", "the token request with Accept", { headers: { accept: "application/json" } }),
  written("agent", "the token request of another program", { headers: { "user-agent": "Java/21.0.2" } }),
  written("trace", "the token request with the headers of a trace", {
    headers: { traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "x-request-id": "1" }
  }),
  ...tokenProbes("token.request.grant-type", "grant-type", [
    withBody("empty", "an empty grant_type", "grant_type="),
    withBody("prefix", "grant_type=client", "grant_type=client"),
    withBody("suffix", "grant_type=client_credentials_2", `${form}_2`),
    withBody("before", "a letter before client_credentials", "grant_type=xclient_credentials"),
    withBody("singular", "grant_type=client_credential", "grant_type=client_credential"),
    withBody("camel", "grant_type=clientCredentials", "grant_type=clientCredentials"),
    withBody("joined", "grant_type=clientcredentials", "grant_type=clientcredentials"),
    withBody("words", "a blank in client credentials", "grant_type=client+credentials"),
    withBody("last-word", "grant_type=credentials", "grant_type=credentials"),
    withBody("comma", "client_credentials, a comma and another grant type", `${form},password`),
    withBody("second", "another grant type, a blank and client_credentials", "grant_type=password+client_credentials"),
    withBody("quoted", "client_credentials in quotes", "grant_type=%22client_credentials%22"),
    withBody("nul", "client_credentials and a NUL", `${form}%00`),
    withBody("line", "client_credentials and a line feed", `${form}%0A`),
    withBody("tab", "client_credentials and a tab", `${form}%09`),
    withBody("fullwidth", "client_credentials with a full-width underscore", "grant_type=client%EF%BC%BFcredentials"),
    withBody("device", "the grant type of RFC 8628", "grant_type=urn:ietf:params:oauth:grant-type:device_code"),
    withBody("exchange", "the grant type of RFC 8693", "grant_type=urn:ietf:params:oauth:grant-type:token-exchange"),
    withBody("password-full", "the grant type password with a user", "grant_type=password&username=a&password=b"),
    withBody("true", "grant_type=true", "grant_type=true"),
    withBody("null", "grant_type=null", "grant_type=null"),
    withBody("value-only", "client_credentials without a name", "client_credentials"),
    withBody("name-only", "grant_type without a value", "grant_type"),
    withBody("colon", "a colon in place of the equals sign", "grant_type:client_credentials"),
    withBody("name-blank", "a blank after the name", "grant_type+=client_credentials"),
    withBody("name-longer", "a name that begins with grant_type", "grant_type2=client_credentials"),
    withBody("name-prefix", "the name grant", "grant=client_credentials"),
    withBody("name-joined", "the name granttype", "granttype=client_credentials"),
    withBody("nested", "grant_type inside another parameter", "oauth[grant_type]=client_credentials"),
    withBody("response-type", "response_type in place of grant_type", "response_type=client_credentials"),
    withBody("scope", "another parameter alone", "scope=aml"),
    withBody("empty-first", "an empty grant_type before the right one", `grant_type=&${form}`),
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
    withHeader("admin", "a well-known id and key", "Basic base64(admin:admin)"),
    withHeader("access-token", "an access token after Bearer", "Bearer {token}"),
    withHeader("access-token-basic", "an access token as id", "Basic base64({token}:)"),
    withHeader("random-bearer", "a random text after Bearer", "Bearer {otherKey}"),
    withHeader("words", "the words undefined as id and key", "Basic base64(undefined:undefined)"),
    withHeader("null", "the words null as id and key", "Basic base64(null:null)"),
    withHeader("quote", "a quote in an unknown id and key", "Basic base64(' OR '1'='1:' OR '1'='1)"),
    ["body-id", "the id alone, in the body", { authorization: null, body: `${form}&client_id={id|percent}` }],
    ["body-customer-id", "the customer_id alone, in the body", {
      authorization: null,
      body: `${form}&customer_id={id|percent}`
    }],
    ["query-id", "the id alone, in the query", {
      authorization: null,
      query: "client_id={id|percent}&customer_id={id|percent}"
    }],
    ["header-id", "the id alone, in a header", {
      authorization: null,
      headers: { "x-customer-id": "{id}", "x-client-id": "{id}" }
    }],
    ["local", "no credentials, from an address of the same host", {
      authorization: null,
      headers: { "x-forwarded-for": "127.0.0.1", "x-real-ip": "127.0.0.1" }
    }],
    ["body-unknown", "an unknown customer in the body", {
      authorization: null,
      body: `${form}&client_id={otherId}&client_secret={otherKey}`
    }],
    ["scope", "no credentials, with a scope", { authorization: null, body: `${form}&scope=aml` }],
    ["get", "no credentials, with GET and grant_type in the query", {
      authorization: null,
      method: "GET",
      query: form
    }],
    ["json", "no credentials, with JSON", {
      authorization: null,
      contentType: "application/json",
      body: "{\"grant_type\":\"client_credentials\"}"
    }]
  ]),
  ...tokenProbes("token.request.credentials", "credentials", [
    withHeader("no-scheme", "id and key in Base64 without a scheme", "base64({id}:{key})"),
    withHeader("token", "id and key after Token", "Token base64({id}:{key})"),
    withHeader("digest", "id and key after Digest", "Digest base64({id}:{key})"),
    withHeader("plain", "id and key after Basic, not encoded", "Basic {id}:{key}"),
    withHeader("no-blank", "Basic without a blank after it", "Basicbase64({id}:{key})"),
    withHeader("colon-scheme", "a colon after Basic", "Basic: base64({id}:{key})"),
    withHeader("long-scheme", "a scheme that begins with Basic", "BasicX base64({id}:{key})"),
    withHeader("garbage", "a character that is not Base64 after the credentials", "Basic base64({id}:{key})!"),
    withHeader("more", "another word after the credentials", "Basic base64({id}:{key}) more"),
    withHeader(
      "list",
      "the credentials after others and a comma",
      "Basic base64({otherId}:{otherKey}), Basic base64({id}:{key})"
    ),
    withHeader(
      "list-first",
      "the credentials before others and a comma",
      "Basic base64({id}:{key}), Basic base64({otherId}:{otherKey})"
    ),
    withHeader("quoted", "the credentials in quotes", "Basic \"base64({id}:{key})\""),
    withHeader("hex", "the credentials in hexadecimal digits", "Basic {id|hex}3a{key|hex}"),
    withHeader("url", "the credentials percent-encoded and not in Base64", "Basic {id|percent}:{key|percent}"),
    withHeader("scheme-key", "id and key after Key", "Key {id}:{key}"),
    withHeader("hmac", "id and key after HMAC", "HMAC base64({id}:{key})"),
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
    ["body-key", "the key in the body, and the id in the header", {
      authorization: "Basic base64({id}:)",
      body: `${form}&client_secret={key|percent}`
    }],
    ["body-short", "id and key in the body, by these names", {
      authorization: null,
      body: `${form}&id={id|percent}&key={key|percent}`
    }],
    ["query-short", "id, key, user and password in the query", {
      authorization: null,
      query: "id={id|percent}&key={key|percent}&username={id|percent}&password={key|percent}"
    }],
    ["query-basic", "the header in the query", {
      authorization: null,
      query: "authorization=Basic%20base64({id}:{key})"
    }],
    ["forwarded", "Basic in headers of a proxy", {
      authorization: null,
      headers: {
        "x-forwarded-authorization": "Basic base64({id}:{key})",
        "x-authorization": "Basic base64({id}:{key})"
      }
    }],
    ["authentication", "Basic in Authentication", {
      authorization: null,
      headers: { authentication: "Basic base64({id}:{key})" }
    }],
    ["headers-auth", "id and key in X-Auth headers", {
      authorization: null,
      headers: { "x-auth-user": "{id}", "x-auth-key": "{key}", "x-username": "{id}", "x-password": "{key}" }
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
  ], { needsWrongKeys: true }),
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
    withKey("four", "the first four characters of the key", "{key|four}"),
    withKey("one", "the first character of the key", "{key|one}"),
    withKey("last-eight", "the last eight characters of the key", "{key|lastEight}"),
    withKey("sorted", "the characters of the key in another order", "{key|sorted}"),
    withKey("trimmed", "the key without hyphens and underscores", "{key|letters}"),
    withKey("underscores", "the key with underscores for hyphens", "{key|underscores}"),
    withKey("undefined", "the word undefined in place of the key", "undefined"),
    withKey("null", "the word null in place of the key", "null"),
    withKey("quote", "a quote in place of the key", "' OR '1'='1"),
    withKey("percent", "a percent sign in place of the key", "%"),
    withKey("password", "the word password in place of the key", "password"),
    withKey("hash", "the SHA-256 digest of the key", "{key|sha256}"),
    withKey("md5", "the MD5 digest of the key", "{key|md5}"),
    withKey("access-token", "an access token in place of the key", "{token}"),
    withKey("reverse", "the key reversed", "{key|reverse}"),
    withKey("plus", "the key with blanks for its plus signs", "{key|blanks}"),
    withKey("decoded", "the key with its percent signs decoded", "{key|decoded}"),
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
