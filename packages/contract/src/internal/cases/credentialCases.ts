/** Token requests with other credentials than the documented ones, or with them elsewhere (sections 2.1 and 4.1). */
import type { Case } from "../model.ts"
import type { TokenStep } from "../steps.ts"
import { form, json, noToken, refusal, sequences, token } from "./probes.ts"

/** A request with an Authorization header of these forms. */
const header = (authorization: string | null) => ({ authorization })

/** Basic with this in place of the key. */
const withKey = (key: string) => header(`Basic base64({id}:${key})`)

/** Basic with this in place of the id, and the right key. */
const withId = (id: string) => header(`Basic base64(${id}:{key})`)

/** No Authorization header, but this. */
const elsewhere = (changes: Omit<TokenStep, "to" | "authorization">) => ({ ...changes, authorization: null })

const unknownCustomer = noToken("authorization.unknown", "token.request.authorization", [
  ["an unknown customer", header("Basic base64({otherId}:{otherKey})")],
  ["an unknown customer with an empty key", header("Basic base64({otherId}:)")],
  ["an unknown customer whose key is its id", header("Basic base64({otherId}:{otherId})")],
  ["a well-known id and key", header("Basic base64(admin:admin)")],
  ["the words undefined as id and key", header("Basic base64(undefined:undefined)")],
  ["a quote in an unknown id and key", header("Basic base64(' OR '1'='1:' OR '1'='1)")],
  ["an unknown customer in the body", elsewhere({ body: `${form}&client_id={otherId}&client_secret={otherKey}` })]
], { worth: 2 })

export const cases: ReadonlyArray<Case> = [
  noToken("authorization.missing", "token.request.authorization", [
    ["a token request without an Authorization header", header(null)],
    ["an empty Authorization header", header("")],
    ["Basic without credentials", header("Basic")],
    ["Basic with an empty id and an empty key", header("Basic base64(:)")],
    ["Basic with a text that is not Base64", header("Basic !!!")],
    ["a random text after Bearer", header("Bearer {otherKey}")],
    ["an access token after Bearer", header("Bearer {token}")],
    ["an access token as id", header("Basic base64({token}:)")],
    [
      "no credentials, from an address of the same host",
      elsewhere({
        headers: { "x-forwarded-for": "127.0.0.1", "x-real-ip": "127.0.0.1" }
      })
    ],
    ["no credentials, with a scope", elsewhere({ body: `${form}&scope=aml` })],
    ["no credentials, with GET", elsewhere({ method: "GET", query: form })],
    ["no credentials, with JSON", elsewhere({ contentType: "application/json", body: json })]
  ], { worth: 4 }),
  unknownCustomer,
  noToken("authorization.id-only", "token.request.authorization", [
    ["the id alone, in the body", elsewhere({ body: `${form}&client_id={id|percent}&customer_id={id|percent}` })],
    ["the id alone, in the query", elsewhere({ query: "client_id={id|percent}&customer_id={id|percent}" })],
    ["the id alone, in a header", elsewhere({ headers: { "x-customer-id": "{id}", "x-client-id": "{id}" } })]
  ]),
  refusal("error", "token.error", "the response to an unknown customer", "token error", unknownCustomer),
  refusal("error.code", "token.error.code", "the error code for an unknown customer", "error code", unknownCustomer),
  refusal(
    "error.challenge",
    "token.error.challenge",
    "the challenge to an unknown customer",
    "challenge",
    unknownCustomer
  ),
  refusal("error.echo", "token.error.echo", "whether that error repeats the key", "echo", unknownCustomer),

  noToken("key.changed", "token.request.authorization", [
    ["the key with another last character", withKey("{key|last}")],
    ["the key with another first character", withKey("{key|first}")],
    ["the key with another character in its middle", withKey("{key|middle}")],
    ["a key of the same form", withKey("{key|sameClass}")],
    ["the key reversed", withKey("{key|reverse}")],
    ["the characters of the key in another order", withKey("{key|sorted}")]
  ], { worth: 3 }),
  noToken("key.cut", "token.request.authorization", [
    ["the key without its last character", withKey("{key|chop}")],
    ["the first half of the key", withKey("{key|half}")],
    ["the first eight characters of the key", withKey("{key|eight}")],
    ["the first four characters of the key", withKey("{key|four}")],
    ["the first character of the key", withKey("{key|one}")],
    ["the key without its first character", withKey("{key|chopFirst}")],
    ["the second half of the key", withKey("{key|secondHalf}")],
    ["the last eight characters of the key", withKey("{key|lastEight}")]
  ]),
  noToken("key.longer", "token.request.authorization", [
    ["the key and a blank", withKey("{key} ")],
    ["the key and one more character", withKey("{key}x")],
    ["one more character and the key", withKey("x{key}")],
    ["the key twice", withKey("{key}{key}")],
    ["a blank and the key", withKey(" {key}")],
    ["the key and a line feed", withKey("{key}\n")],
    ["the key and a NUL", withKey("{key}\u0000")],
    ["the key in quotes", withKey("\"{key}\"")]
  ], { worth: 5 }),
  noToken("key.case", "token.request.authorization", [
    ["the key in upper case", withKey("{key|upper}")],
    ["the key in lower case", withKey("{key|lower}")],
    ["the key with its case swapped", withKey("{key|swapCase}")]
  ]),
  noToken("key.colon", "token.request.authorization", [
    ["the key, a colon and more", withKey("{key}:more")],
    ["the key and a colon", withKey("{key}:")],
    ["the key up to its first colon", withKey("{key|beforeColon}")],
    ["the key after its first colon", withKey("{key|afterColon}")],
    ["the id without a colon and a key", header("Basic base64({id})")],
    ["a comma in place of the colon", header("Basic base64({id},{key})")],
    ["id and key swapped", header("Basic base64({key}:{id})")],
    ["id and key without a colon", header("Basic base64({id}{key})")]
  ]),
  noToken("key.encoded", "token.request.authorization", [
    ["the key in Base64", withKey("{key|base64}")],
    ["the SHA-256 digest of the key", withKey("{key|sha256}")],
    ["the MD5 digest of the key", withKey("{key|md5}")],
    ["the key with its percent signs decoded", withKey("{key|decoded}")],
    ["the key with blanks for its plus signs", withKey("{key|blanks}")],
    ["the key without hyphens and underscores", withKey("{key|letters}")],
    ["the key with underscores for hyphens", withKey("{key|underscores}")]
  ]),
  noToken("key.second-customer", "token.request.authorization", [
    ["the key of another customer", withKey("{secondKey}")],
    ["the id of another customer with the key", withId("{secondId}")]
  ], { notOnSandbox: "the suite has a second customer of a mock server only" }),
  noToken("authorization.no-key", "token.request.authorization", [
    ["an empty key", withKey("")],
    ["the id in place of the key", withKey("{id}")],
    ["an access token in place of the key", withKey("{token}")],
    ["a blank in place of the key", withKey(" ")],
    ["an asterisk in place of the key", withKey("*")],
    ["a percent sign in place of the key", withKey("%")],
    ["a quote in place of the key", withKey("' OR '1'='1")],
    ["the word undefined in place of the key", withKey("undefined")],
    ["the word null in place of the key", withKey("null")],
    ["the word password in place of the key", withKey("password")],
    ["a wrong key", withKey("{otherKey}")]
  ]),
  noToken("id.other", "token.request.authorization", [
    ["an unknown id with the key of the customer", withId("{otherId}")],
    ["an empty id with the right key", withId("")],
    ["the id in upper case", withId("{id|upper}")],
    ["the id with its case swapped", withId("{id|swapCase}")],
    ["the id with another first character", withId("{id|first}")],
    ["the id and a blank", withId("{id} ")],
    ["a blank and the id", withId(" {id}")]
  ]),
  noToken("id.changed", "token.request.authorization", [
    ["the id without its last character", withId("{id|chop}")],
    ["the first half of the id", withId("{id|half}")],
    ["the id and one more character", withId("{id}x")],
    ["the id with another last character", withId("{id|last}")],
    ["the key as id and as key", withId("{key}")]
  ], { needsOwnCustomer: true }),
  sequences("token.authorization.encoded", "token.request.encoded-credentials", "token outcome", [
    ["id and key form-encoded", [token(header("Basic base64({id|percent}:{key|percent})"))]]
  ]),

  noToken("authorization.scheme", "token.request.credentials", [
    ["id and key after Bearer instead of Basic", header("Bearer base64({id}:{key})")],
    ["id and key in Base64 without a scheme", header("base64({id}:{key})")],
    ["id and key after Token", header("Token base64({id}:{key})")],
    ["id and key after Digest", header("Digest base64({id}:{key})")],
    ["id and key after Key", header("Key {id}:{key}")],
    ["Basic without a blank after it", header("Basicbase64({id}:{key})")],
    ["a colon after Basic", header("Basic: base64({id}:{key})")],
    ["a scheme that begins with Basic", header("BasicX base64({id}:{key})")]
  ]),
  noToken("credentials.form", "token.request.credentials", [
    ["id and key after Basic, not encoded", header("Basic {id}:{key}")],
    ["id and key encoded twice", header("Basic base64({id|base64}:{key|base64})")],
    ["the credentials in hexadecimal digits", header("Basic {id|hex}3a{key|hex}")],
    ["the credentials percent-encoded and not in Base64", header("Basic {id|percent}:{key|percent}")],
    ["a character that is not Base64 after the credentials", header("Basic base64({id}:{key})!")],
    ["another word after the credentials", header("Basic base64({id}:{key}) more")],
    ["the credentials in quotes", header("Basic \"base64({id}:{key})\"")],
    ["the credentials after others", header("Basic base64({otherId}:{otherKey}), Basic base64({id}:{key})")],
    ["the credentials before others", header("Basic base64({id}:{key}), Basic base64({otherId}:{otherKey})")]
  ]),
  noToken("authorization.body", "token.request.credentials", [
    ["id and key in the body", elsewhere({ body: `${form}&client_id={id|percent}&client_secret={key|percent}` })],
    [
      "customer_id and customer_key in the body",
      elsewhere({
        body: `${form}&customer_id={id|percent}&customer_key={key|percent}`
      })
    ],
    [
      "username and password in the body",
      elsewhere({
        body: `${form}&username={id|percent}&password={key|percent}&id={id|percent}&key={key|percent}`
      })
    ],
    [
      "id and key in a JSON body",
      elsewhere({
        contentType: "application/json",
        body: "{\"grant_type\":\"client_credentials\",\"client_id\":\"{id}\",\"client_secret\":\"{key}\"}"
      })
    ],
    ["the key in the body, and the id in the header", {
      ...header("Basic base64({id}:)"),
      body: `${form}&client_secret={key|percent}`
    }]
  ]),
  noToken("credentials.query", "token.request.credentials", [
    ["id and key in the query", elsewhere({ query: "client_id={id|percent}&client_secret={key|percent}" })],
    [
      "customer_id and customer_key in the query",
      elsewhere({
        query: "customer_id={id|percent}&customer_key={key|percent}"
      })
    ],
    [
      "id, key, user and password in the query",
      elsewhere({
        query: "id={id|percent}&key={key|percent}&username={id|percent}&password={key|percent}"
      })
    ],
    ["the header in the query", elsewhere({ query: "authorization=Basic%20base64({id}:{key})" })]
  ]),
  noToken("credentials.headers", "token.request.credentials", [
    [
      "id and key in headers of their own",
      elsewhere({
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
      })
    ],
    [
      "Basic in headers of a proxy",
      elsewhere({
        headers: {
          "x-forwarded-authorization": "Basic base64({id}:{key})",
          "x-authorization": "Basic base64({id}:{key})",
          "proxy-authorization": "Basic base64({id}:{key})",
          authentication: "Basic base64({id}:{key})"
        }
      })
    ],
    [
      "id and key in a cookie",
      elsewhere({
        headers: { cookie: "authorization=base64({id}:{key}); customer_id={id}; customer_key={key}" }
      })
    ]
  ])
]
