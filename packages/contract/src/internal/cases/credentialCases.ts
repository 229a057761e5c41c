/** Token requests with other credentials than the documented ones, or with them elsewhere (sections 2.1 and 4.1). */
import type { Case } from "../model.ts"
import { elsewhere, form, header, json, noToken, refusals, sequences, token } from "./probes.ts"

/** Basic with this in place of the key. */
const withKey = (title: string, key: string) => header(title, `Basic base64({id}:${key})`)

/** Basic with this in place of the id, and the right key. */
const withId = (title: string, id: string) => header(title, `Basic base64(${id}:{key})`)

const unknownCustomer = noToken("authorization.unknown", "token.request.authorization", [
  header("an unknown customer", "Basic base64({otherId}:{otherKey})"),
  header("an unknown customer with an empty key", "Basic base64({otherId}:)"),
  header("an unknown customer whose key is its id", "Basic base64({otherId}:{otherId})"),
  header("a well-known id and key", "Basic base64(admin:admin)"),
  header("the words undefined as id and key", "Basic base64(undefined:undefined)"),
  header("a quote in an unknown id and key", "Basic base64(' OR '1'='1:' OR '1'='1)"),
  elsewhere("an unknown customer in the body", { body: `${form}&client_id={otherId}&client_secret={otherKey}` })
], { worth: 2 })

export const cases: ReadonlyArray<Case> = [
  noToken("authorization.missing", "token.request.authorization", [
    header("a token request without an Authorization header", null),
    header("an empty Authorization header", ""),
    header("Basic without credentials", "Basic"),
    header("Basic with an empty id and an empty key", "Basic base64(:)"),
    header("Basic with a text that is not Base64", "Basic !!!"),
    header("a random text after Bearer", "Bearer {otherKey}"),
    header("an access token after Bearer", "Bearer {token}"),
    header("an access token as id", "Basic base64({token}:)"),
    elsewhere("no credentials, from an address of the same host", {
      headers: { "x-forwarded-for": "127.0.0.1", "x-real-ip": "127.0.0.1" }
    }),
    elsewhere("no credentials, with a scope", { body: `${form}&scope=aml` }),
    elsewhere("no credentials, with GET", { method: "GET", query: form }),
    elsewhere("no credentials, with JSON", { contentType: "application/json", body: json })
  ], { worth: 4 }),
  unknownCustomer,
  noToken("authorization.id-only", "token.request.authorization", [
    elsewhere("the id alone, in the body", { body: `${form}&client_id={id|percent}&customer_id={id|percent}` }),
    elsewhere("the id alone, in the query", { query: "client_id={id|percent}&customer_id={id|percent}" }),
    elsewhere("the id alone, in a header", { headers: { "x-customer-id": "{id}", "x-client-id": "{id}" } })
  ]),
  ...refusals(unknownCustomer, [
    ["error", "token.error", "the response to an unknown customer", "token error"],
    ["error.code", "token.error.code", "the error code for an unknown customer", "error code"],
    ["error.challenge", "token.error.challenge", "the challenge to an unknown customer", "challenge"],
    ["error.echo", "token.error.echo", "whether that error repeats the key", "echo"]
  ]),

  noToken("key.changed", "token.request.authorization", [
    withKey("the key with another last character", "{key|last}"),
    withKey("the key with another first character", "{key|first}"),
    withKey("the key with another character in its middle", "{key|middle}"),
    withKey("a key of the same form", "{key|sameClass}"),
    withKey("the key reversed", "{key|reverse}"),
    withKey("the characters of the key in another order", "{key|sorted}")
  ], { worth: 3 }),
  noToken("key.cut", "token.request.authorization", [
    withKey("the key without its last character", "{key|chop}"),
    withKey("the first half of the key", "{key|half}"),
    withKey("the first eight characters of the key", "{key|eight}"),
    withKey("the first four characters of the key", "{key|four}"),
    withKey("the first character of the key", "{key|one}"),
    withKey("the key without its first character", "{key|chopFirst}"),
    withKey("the second half of the key", "{key|secondHalf}"),
    withKey("the last eight characters of the key", "{key|lastEight}")
  ]),
  noToken("key.longer", "token.request.authorization", [
    withKey("the key and a blank", "{key} "),
    withKey("the key and one more character", "{key}x"),
    withKey("one more character and the key", "x{key}"),
    withKey("the key twice", "{key}{key}"),
    withKey("a blank and the key", " {key}"),
    withKey("the key and a line feed", "{key}\n"),
    withKey("the key and a NUL", "{key}\u0000"),
    withKey("the key in quotes", "\"{key}\"")
  ], { worth: 5 }),
  noToken("key.case", "token.request.authorization", [
    withKey("the key in upper case", "{key|upper}"),
    withKey("the key in lower case", "{key|lower}"),
    withKey("the key with its case swapped", "{key|swapCase}")
  ]),
  noToken("key.colon", "token.request.authorization", [
    withKey("the key, a colon and more", "{key}:more"),
    withKey("the key and a colon", "{key}:"),
    withKey("the key up to its first colon", "{key|beforeColon}"),
    withKey("the key after its first colon", "{key|afterColon}"),
    header("the id without a colon and a key", "Basic base64({id})"),
    header("a comma in place of the colon", "Basic base64({id},{key})"),
    header("id and key swapped", "Basic base64({key}:{id})"),
    header("id and key without a colon", "Basic base64({id}{key})")
  ]),
  noToken("key.encoded", "token.request.authorization", [
    withKey("the key in Base64", "{key|base64}"),
    withKey("the SHA-256 digest of the key", "{key|sha256}"),
    withKey("the MD5 digest of the key", "{key|md5}"),
    withKey("the key with its percent signs decoded", "{key|decoded}"),
    withKey("the key with blanks for its plus signs", "{key|blanks}"),
    withKey("the key without hyphens and underscores", "{key|letters}"),
    withKey("the key with underscores for hyphens", "{key|underscores}")
  ]),
  noToken("key.second-customer", "token.request.authorization", [
    withKey("the key of another customer", "{secondKey}"),
    withId("the id of another customer with the key", "{secondId}")
  ], { notOnSandbox: "the suite has a second customer of a mock server only" }),
  noToken("authorization.no-key", "token.request.authorization", [
    withKey("an empty key", ""),
    withKey("the id in place of the key", "{id}"),
    withKey("an access token in place of the key", "{token}"),
    withKey("a blank in place of the key", " "),
    withKey("an asterisk in place of the key", "*"),
    withKey("a percent sign in place of the key", "%"),
    withKey("a quote in place of the key", "' OR '1'='1"),
    withKey("the word undefined in place of the key", "undefined"),
    withKey("the word null in place of the key", "null"),
    withKey("the word password in place of the key", "password"),
    withKey("a wrong key", "{otherKey}")
  ]),
  noToken("id.other", "token.request.authorization", [
    withId("an unknown id with the key of the customer", "{otherId}"),
    withId("an empty id with the right key", ""),
    withId("the id in upper case", "{id|upper}"),
    withId("the id with its case swapped", "{id|swapCase}"),
    withId("the id with another first character", "{id|first}"),
    withId("the id and a blank", "{id} "),
    withId("a blank and the id", " {id}")
  ]),
  noToken("id.changed", "token.request.authorization", [
    withId("the id without its last character", "{id|chop}"),
    withId("the first half of the id", "{id|half}"),
    withId("the id and one more character", "{id}x"),
    withId("the id with another last character", "{id|last}"),
    withId("the key as id and as key", "{key}")
  ], { needsOwnCustomer: true }),
  sequences("token.authorization.encoded", "token.request.encoded-credentials", "token outcome", [
    ["id and key form-encoded", [token({ authorization: "Basic base64({id|percent}:{key|percent})" })]]
  ]),

  noToken("authorization.scheme", "token.request.credentials", [
    header("id and key after Bearer instead of Basic", "Bearer base64({id}:{key})"),
    header("id and key in Base64 without a scheme", "base64({id}:{key})"),
    header("id and key after Token", "Token base64({id}:{key})"),
    header("id and key after Digest", "Digest base64({id}:{key})"),
    header("id and key after Key", "Key {id}:{key}"),
    header("Basic without a blank after it", "Basicbase64({id}:{key})"),
    header("a colon after Basic", "Basic: base64({id}:{key})"),
    header("a scheme that begins with Basic", "BasicX base64({id}:{key})")
  ]),
  noToken("credentials.form", "token.request.credentials", [
    header("id and key after Basic, not encoded", "Basic {id}:{key}"),
    header("id and key encoded twice", "Basic base64({id|base64}:{key|base64})"),
    header("the credentials in hexadecimal digits", "Basic {id|hex}3a{key|hex}"),
    header("the credentials percent-encoded and not in Base64", "Basic {id|percent}:{key|percent}"),
    header("a character that is not Base64 after the credentials", "Basic base64({id}:{key})!"),
    header("another word after the credentials", "Basic base64({id}:{key}) more"),
    header("the credentials in quotes", "Basic \"base64({id}:{key})\""),
    header("the credentials after others", "Basic base64({otherId}:{otherKey}), Basic base64({id}:{key})"),
    header("the credentials before others", "Basic base64({id}:{key}), Basic base64({otherId}:{otherKey})")
  ]),
  noToken("authorization.body", "token.request.credentials", [
    elsewhere("id and key in the body", { body: `${form}&client_id={id|percent}&client_secret={key|percent}` }),
    elsewhere("customer_id and customer_key in the body", {
      body: `${form}&customer_id={id|percent}&customer_key={key|percent}`
    }),
    elsewhere("username and password in the body", {
      body: `${form}&username={id|percent}&password={key|percent}&id={id|percent}&key={key|percent}`
    }),
    elsewhere("id and key in a JSON body", {
      contentType: "application/json",
      body: "{\"grant_type\":\"client_credentials\",\"client_id\":{id|json},\"client_secret\":{key|json}}"
    }),
    ["the key in the body, and the id in the header", {
      authorization: "Basic base64({id}:)",
      body: `${form}&client_secret={key|percent}`
    }]
  ]),
  noToken("credentials.query", "token.request.credentials", [
    elsewhere("id and key in the query", { query: "client_id={id|percent}&client_secret={key|percent}" }),
    elsewhere("customer_id and customer_key in the query", {
      query: "customer_id={id|percent}&customer_key={key|percent}"
    }),
    elsewhere("id, key, user and password in the query", {
      query: "id={id|percent}&key={key|percent}&username={id|percent}&password={key|percent}"
    }),
    elsewhere("the header in the query", { query: "authorization=Basic%20base64({id}:{key})" })
  ]),
  noToken("credentials.headers", "token.request.credentials", [
    elsewhere("id and key in headers of their own", {
      headers: {
        "customer_id": "{id}",
        "customer_key": "{key}",
        "x-customer-id": "{id}",
        "x-customer-key": "{key}",
        "x-client-id": "{id}",
        "x-client-secret": "{key}",
        "x-auth-user": "{id}",
        "x-auth-key": "{key}",
        "x-username": "{id}",
        "x-password": "{key}",
        "x-api-key": "{key}"
      }
    }),
    elsewhere("Basic in headers of a proxy", {
      headers: {
        "x-forwarded-authorization": "Basic base64({id}:{key})",
        "x-authorization": "Basic base64({id}:{key})",
        "proxy-authorization": "Basic base64({id}:{key})",
        authentication: "Basic base64({id}:{key})"
      }
    }),
    elsewhere("id and key in a cookie", {
      headers: { cookie: "authorization=base64({id}:{key}); customer_id={id}; customer_key={key}" }
    })
  ])
]
