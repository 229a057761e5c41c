/** The cases of the token endpoint (service document, sections 2.2, 4.1 and 5). */
import type { Case } from "../model.ts"
import type { Reading } from "../readings/readings.ts"
import type { TokenStep } from "../steps.ts"
import * as CredentialCases from "./credentialCases.ts"
import {
  check,
  extraParameter,
  form,
  json,
  noToken,
  refusals,
  type Row,
  sequences,
  token,
  traceparent
} from "./probes.ts"

/** Reads something from the response to the documented request. */
const documented = (id: string, claim: string, title: string, reading: Reading): Case =>
  sequences(`token.${id}`, claim, reading, [[title, [token()]]], { worth: 9 })

/** The documented request, written in another way. */
const written = (title: string, step: Omit<TokenStep, "to">): Row<ReadonlyArray<TokenStep>> => [title, [token(step)]]

const otherMethod = noToken("method.put", "token.request.method", [
  ["a token request with PUT", { method: "PUT" }],
  ["a token request with PATCH", { method: "PATCH" }],
  ["a token request with DELETE", { method: "DELETE" }],
  ["a token request with OPTIONS", { method: "OPTIONS" }],
  ["a token request with HEAD", { method: "HEAD" }]
], { worth: 3 })

const asText = noToken("content-type.text", "token.request.content-type", [
  ["the form sent as plain text", { contentType: "text/plain" }],
  ["the form sent as application/octet-stream", { contentType: "application/octet-stream" }],
  ["the form sent as JSON", { contentType: "application/json" }],
  ["the form sent as XML", { contentType: "application/xml" }],
  ["a content type that begins with the right one", { contentType: "application/x-www-form-urlencoded2" }]
], { worth: 3 })

const otherGrantType = noToken("grant-type.other", "token.request.grant-type", [
  ["grant_type=password", { body: "grant_type=password" }],
  ["grant_type=password with a user", { body: "grant_type=password&username=a&password=b" }],
  ["grant_type=authorization_code", { body: "grant_type=authorization_code&code=1" }],
  ["grant_type=refresh_token", { body: "grant_type=refresh_token&refresh_token=1" }],
  ["grant_type=implicit", { body: "grant_type=implicit" }],
  ["the grant type of RFC 7523", { body: "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer" }],
  ["the grant type of RFC 8628", { body: "grant_type=urn:ietf:params:oauth:grant-type:device_code" }],
  ["the grant type of RFC 8693", { body: "grant_type=urn:ietf:params:oauth:grant-type:token-exchange" }],
  ["a grant type that does not exist", { body: "grant_type=anything" }],
  ["grant_type=true", { body: "grant_type=true" }]
], { worth: 5 })

const noGrantType = noToken("grant-type.missing", "token.request.grant-type", [
  ["grant_type in the query and in a header, but not in the body", {
    body: "",
    query: form,
    headers: { grant_type: "client_credentials" }
  }],
  ["no grant_type", { body: "" }],
  ["an empty grant_type", { body: "grant_type=" }],
  ["grant_type without a value", { body: "grant_type" }],
  ["another parameter alone", { body: "scope=aml" }]
], { worth: 5, ...extraParameter })

export const cases: ReadonlyArray<Case> = [
  documented("granted", "token.request.path", "the token request of section 4.1", "token outcome"),
  documented("status", "token.success.status", "the status of the token response", "status"),
  documented("content-type", "token.response.content-type", "the content type of the token response", "media type"),
  documented("field", "token.response.fields", "the field that holds the token", "token field"),
  documented("type", "token.response.type", "the token type", "token type"),
  documented("format", "token.response.format", "the format of the token", "token format"),
  documented("lifetime-stated", "token.response.lifetime", "the lifetime in the token response", "stated lifetime"),
  documented("cache-control", "token.response.no-store", "the Cache-Control header of the token response", "caching"),
  documented("redirect", "redirects", "a redirect of the token request", "redirect"),
  sequences("token.written", "token.request.path", "token outcome", [
    written("the token request with percent-encoded letters, Accept, and the headers of a trace", {
      body: "grant%5Ftype=client%5Fcredentials",
      headers: { accept: "application/json", traceparent }
    }),
    written("the token request with a percent-encoded letter", { body: "grant_type=client%5Fcredentials" }),
    written("a percent-encoded letter in the name", { body: "grant%5Ftype=client_credentials" }),
    written("the token request with Accept", { headers: { accept: "application/json" } }),
    written("the token request of another program", { headers: { "user-agent": "Java/21.0.2" } }),
    written("the token request with the headers of a trace", { headers: { traceparent, "x-request-id": "1" } })
  ], { worth: 4 }),

  otherMethod,
  noToken("method.get", "token.request.method", [
    ["a token request with GET and grant_type in the query", { method: "GET", query: form }],
    ["a token request with GET", { method: "GET" }]
  ], { worth: 2 }),
  ...refusals(otherMethod, [[
    "method.status",
    "token.error.method",
    "the status of a token request with PUT",
    "status"
  ]]),
  noToken("content-type.json", "token.request.content-type", [
    ["grant_type in a JSON body", { contentType: "application/json", body: json }],
    ["grant_type in a multipart form", {
      contentType: "multipart/form-data; boundary=b",
      body: "--b\r\ncontent-disposition: form-data; name=\"grant_type\"\r\n\r\nclient_credentials\r\n--b--\r\n"
    }]
  ], { worth: 3 }),
  asText,
  noToken("content-type.missing", "token.request.content-type", [
    ["the form without a content type", { contentType: null }]
  ]),
  ...refusals(asText, [
    ["content-type.status", "token.error.content-type", "the status of a form sent as plain text", "status"]
  ]),
  sequences("token.charset", "token.request.charset", "token outcome", [
    ["the content type with charset=UTF-8", [
      token({ contentType: "application/x-www-form-urlencoded; charset=UTF-8" })
    ]]
  ]),

  ...CredentialCases.cases,

  otherGrantType,
  noGrantType,
  noToken("grant-type.case", "token.request.grant-type", [
    ["grant_type=CLIENT_CREDENTIALS", { body: "grant_type=CLIENT_CREDENTIALS" }],
    ["grant_type=Client_Credentials", { body: "grant_type=Client_Credentials" }],
    ["grant_type=clientCredentials", { body: "grant_type=clientCredentials" }]
  ], { worth: 3 }),
  noToken("grant-type.part", "token.request.grant-type", [
    ["grant_type=client_credentials_2", { body: `${form}_2` }],
    ["a letter before client_credentials", { body: "grant_type=xclient_credentials" }],
    ["grant_type=client", { body: "grant_type=client" }],
    ["grant_type=client_credential", { body: "grant_type=client_credential" }],
    ["grant_type=credentials", { body: "grant_type=credentials" }],
    ["client_credentials, a comma and another grant type", { body: `${form},password` }],
    ["another grant type, a blank and client_credentials", { body: "grant_type=password+client_credentials" }],
    ["two grant types in one value", { body: `${form} password` }],
    ["client_credentials in quotes", { body: "grant_type=%22client_credentials%22" }]
  ], { worth: 4 }),
  noToken("grant-type.spelling", "token.request.grant-type", [
    ["grant_type=client-credentials", { body: "grant_type=client-credentials" }],
    ["grant_type=clientcredentials", { body: "grant_type=clientcredentials" }],
    ["a blank in client credentials", { body: "grant_type=client+credentials" }],
    ["client_credentials with a full-width underscore", { body: "grant_type=client%EF%BC%BFcredentials" }]
  ]),
  noToken("grant-type.blank", "token.request.grant-type", [
    ["a blank after client_credentials", { body: `${form}+` }],
    ["a blank before client_credentials", { body: "grant_type=+client_credentials" }],
    ["client_credentials and a line feed", { body: `${form}%0A` }],
    ["client_credentials and a tab", { body: `${form}%09` }],
    ["client_credentials and a NUL", { body: `${form}%00` }]
  ], { worth: 2 }),
  noToken("grant-type.name", "token.request.grant-type", [
    ["grant_type under other names", {
      body: ["GRANT_TYPE", "grantType", "grant-type", "grant_type[]", "grant", "granttype", "type", "response_type"]
        .map((name) => `${name}=client_credentials`).join("&")
    }],
    ["GRANT_TYPE instead of grant_type", { body: "GRANT_TYPE=client_credentials" }],
    ["grantType instead of grant_type", { body: "grantType=client_credentials" }],
    ["grant-type instead of grant_type", { body: "grant-type=client_credentials" }],
    ["grant_type[] instead of grant_type", { body: "grant_type[]=client_credentials" }],
    ["a name that begins with grant_type", { body: "grant_type2=client_credentials" }],
    ["a blank after the name", { body: "grant_type+=client_credentials" }],
    ["client_credentials without a name", { body: "client_credentials" }],
    ["a colon in place of the equals sign", { body: "grant_type:client_credentials" }]
  ], { worth: 2, ...extraParameter }),
  noToken("grant-type.place", "token.request.grant-type", [
    ["a JSON body with the content type of a form", { body: json }],
    ["grant_type in the query", { body: "", query: form }],
    ["grant_type in a header", { body: "", headers: { "grant_type": "client_credentials" } }]
  ]),
  noToken("grant-type.two", "token.request.grant-type", [
    ["grant_type=password before the right one", { body: `grant_type=password&${form}` }],
    ["grant_type=password after the right one", { body: `${form}&grant_type=password` }],
    ["an empty grant_type before the right one", { body: `grant_type=&${form}` }]
  ], { worth: 3 }),
  ...refusals(otherGrantType, [
    ["grant-type.other-code", "token.error.grant-type", "the error code for grant_type=password", "error code"]
  ]),
  ...refusals({ ...noGrantType, steps: [token({ body: "" })] }, [
    [
      "grant-type.missing-code",
      "token.error.grant-type-missing",
      "the error code for a missing grant_type",
      "error code"
    ]
  ]),
  sequences("token.grant-type.twice", "token.request.grant-type.once", "token outcome", [
    ["grant_type twice", [token({ body: `${form}&${form}` })]]
  ]),
  sequences("token.parameters", "token.request.parameters", "ignored parameter", [
    ["another form parameter beside grant_type", [token({ body: `${form}&audience=aml` })]]
  ], { worth: 6 }),

  sequences("token.revoked", "token.revoked", "credential withheld", [
    ["a revoked token", [token(), { to: "control", path: "/tokens/revoke", body: {} }, check({ token: 0 })]]
  ], { notOnSandbox: "the document shows no way to revoke a token" }),
  sequences("token.renewal", "token.renewal", "renewal", [
    ["a token that was requested at the same time as another one, and before two more", [
      { to: "together", steps: [token(), token()] },
      token(),
      token(),
      check({ token: 0, person: "any listed" })
    ]],
    ["an earlier token after a new one was issued", [token(), token(), check({ token: 0 })]]
  ], { worth: 6 })
]
