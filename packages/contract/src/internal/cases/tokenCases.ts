/** The cases of the token endpoint (service document, sections 2.2, 4.1 and 5). */
import type { Case } from "../model.ts"
import type { AmlStep, TokenStep } from "../steps.ts"
import * as TestPeople from "./testPeople.ts"

/** The request of section 4.1 with these changes. */
const token = (changes: Omit<TokenStep, "to"> = {}): TokenStep => ({ to: "token", ...changes })

const check: AmlStep = { to: "aml", token: 0, body: TestPeople.bodyOf(TestPeople.clear) }

const inBody = "grant_type=client_credentials&client_id={id|percent}&client_secret={key|percent}"

const granted: Pick<Case, "steps"> = { steps: [token()] }

export const cases: ReadonlyArray<Case> = [
  {
    id: "token.granted",
    claim: "token.request.path",
    title: "the token request of section 4.1",
    ...granted,
    reading: "token outcome"
  },
  {
    id: "token.status",
    claim: "token.success.status",
    title: "the status of the token response",
    ...granted,
    reading: "status"
  },
  {
    id: "token.content-type",
    claim: "token.response.content-type",
    title: "the content type of the token response",
    ...granted,
    reading: "media type"
  },
  {
    id: "token.field",
    claim: "token.response.fields",
    title: "the field that holds the token",
    ...granted,
    reading: "token field"
  },
  { id: "token.type", claim: "token.response.type", title: "the token type", ...granted, reading: "token type" },
  {
    id: "token.format",
    claim: "token.response.format",
    title: "the format of the token",
    ...granted,
    reading: "token format"
  },
  {
    id: "token.lifetime-stated",
    claim: "token.response.lifetime",
    title: "the lifetime in the token response",
    ...granted,
    reading: "stated lifetime"
  },
  {
    id: "token.cache-control",
    claim: "token.response.no-store",
    title: "the Cache-Control header of the token response",
    ...granted,
    reading: "caching"
  },
  {
    id: "token.redirect",
    claim: "redirects",
    title: "a redirect of the token request",
    ...granted,
    reading: "redirect"
  },

  ...["GET", "PUT"].map((method): Case => ({
    id: `token.method.${method.toLowerCase()}`,
    claim: "token.request.method",
    title: `a token request with ${method}`,
    steps: [token({ method })],
    reading: "token withheld"
  })),
  {
    id: "token.method.status",
    claim: "token.error.method",
    title: "the status of a token request with PUT",
    steps: [token({ method: "PUT" })],
    reading: "status",
    dependsOn: "token.method.put"
  },
  {
    id: "token.content-type.json",
    claim: "token.request.content-type",
    title: "grant_type in a JSON body",
    steps: [token({ contentType: "application/json", body: "{\"grant_type\":\"client_credentials\"}" })],
    reading: "token withheld"
  },
  {
    id: "token.content-type.text",
    claim: "token.request.content-type",
    title: "the form sent as plain text",
    steps: [token({ contentType: "text/plain" })],
    reading: "token withheld"
  },
  {
    id: "token.content-type.missing",
    claim: "token.request.content-type",
    title: "the form without a content type",
    steps: [token({ contentType: null })],
    reading: "token withheld"
  },
  {
    id: "token.content-type.status",
    claim: "token.error.content-type",
    title: "the status of a form sent as plain text",
    steps: [token({ contentType: "text/plain" })],
    reading: "status",
    dependsOn: "token.content-type.text"
  },
  {
    id: "token.charset",
    claim: "token.request.charset",
    title: "the content type with charset=UTF-8",
    steps: [token({ contentType: "application/x-www-form-urlencoded; charset=UTF-8" })],
    reading: "token outcome"
  },

  {
    id: "token.authorization.missing",
    claim: "token.request.authorization",
    title: "a token request without an Authorization header",
    steps: [token({ authorization: null })],
    reading: "token withheld"
  },
  {
    id: "token.authorization.scheme",
    claim: "token.request.credentials",
    title: "id and key after Bearer instead of Basic",
    steps: [token({ authorization: "Bearer base64({id}:{key})" })],
    reading: "token withheld"
  },
  {
    id: "token.authorization.body",
    claim: "token.request.credentials",
    title: "id and key in the body instead of the header",
    steps: [token({ authorization: null, body: inBody })],
    reading: "token withheld"
  },
  {
    id: "token.authorization.unknown",
    claim: "token.request.authorization",
    title: "an unknown customer",
    steps: [token({ authorization: "Basic base64({otherId}:{otherKey})" })],
    reading: "token withheld"
  },
  {
    id: "token.authorization.wrong-key",
    claim: "token.request.authorization",
    title: "a wrong key",
    steps: [token({ authorization: "Basic base64({id}:{otherKey})" })],
    reading: "token withheld",
    needsWrongKeys: true
  },
  {
    id: "token.authorization.no-key",
    claim: "token.request.authorization",
    title: "an empty key",
    steps: [token({ authorization: "Basic base64({id}:)" })],
    reading: "token withheld",
    needsWrongKeys: true
  },
  {
    id: "token.authorization.encoded",
    claim: "token.request.encoded-credentials",
    title: "id and key form-encoded",
    steps: [token({ authorization: "Basic base64({id|percent}:{key|percent})" })],
    reading: "token outcome",
    needsWrongKeys: true
  },
  {
    id: "token.error",
    claim: "token.error",
    title: "the response to an unknown customer",
    steps: [token({ authorization: "Basic base64({otherId}:{otherKey})" })],
    reading: "token error",
    dependsOn: "token.authorization.unknown"
  },
  {
    id: "token.error.code",
    claim: "token.error.code",
    title: "the error code for an unknown customer",
    steps: [token({ authorization: "Basic base64({otherId}:{otherKey})" })],
    reading: "error code",
    dependsOn: "token.authorization.unknown"
  },
  {
    id: "token.error.challenge",
    claim: "token.error.challenge",
    title: "the challenge to an unknown customer",
    steps: [token({ authorization: "Basic base64({otherId}:{otherKey})" })],
    reading: "challenge",
    dependsOn: "token.authorization.unknown"
  },
  {
    id: "token.error.echo",
    claim: "token.error.echo",
    title: "whether the error for an unknown customer repeats the key",
    steps: [token({ authorization: "Basic base64({otherId}:{otherKey})" })],
    reading: "echo",
    dependsOn: "token.authorization.unknown"
  },

  {
    id: "token.grant-type.missing",
    claim: "token.request.grant-type",
    title: "no grant_type",
    steps: [token({ body: "" })],
    reading: "token withheld"
  },
  {
    id: "token.grant-type.other",
    claim: "token.request.grant-type",
    title: "grant_type=password",
    steps: [token({ body: "grant_type=password" })],
    reading: "token withheld"
  },
  {
    id: "token.grant-type.case",
    claim: "token.request.grant-type",
    title: "grant_type=CLIENT_CREDENTIALS",
    steps: [token({ body: "grant_type=CLIENT_CREDENTIALS" })],
    reading: "token withheld"
  },
  {
    id: "token.grant-type.other-code",
    claim: "token.error.grant-type",
    title: "the error code for grant_type=password",
    steps: [token({ body: "grant_type=password" })],
    reading: "error code",
    dependsOn: "token.grant-type.other"
  },
  {
    id: "token.grant-type.missing-code",
    claim: "token.error.grant-type-missing",
    title: "the error code for a missing grant_type",
    steps: [token({ body: "" })],
    reading: "error code",
    dependsOn: "token.grant-type.missing"
  },
  {
    id: "token.grant-type.twice",
    claim: "token.request.grant-type.once",
    title: "grant_type twice",
    steps: [token({ body: "grant_type=client_credentials&grant_type=client_credentials" })],
    reading: "token outcome"
  },
  {
    id: "token.parameters",
    claim: "token.request.parameters",
    title: "another form parameter beside grant_type",
    steps: [token({ body: "grant_type=client_credentials&audience=aml" })],
    reading: "ignored parameter"
  },

  {
    id: "token.revoked",
    claim: "token.revoked",
    title: "a revoked token",
    steps: [token(), { to: "control", path: "/tokens/revoke", body: {} }, check],
    reading: "credential withheld",
    notOnSandbox: "the document shows no way to revoke a token"
  },
  {
    id: "token.renewal",
    claim: "token.renewal",
    title: "an earlier token after a new one was issued",
    steps: [token(), token(), check],
    reading: "renewal"
  }
]

/** Cases that run after all others. */
export const finalCases: ReadonlyArray<Case> = [
  {
    id: "token.lifetime.kept",
    claim: "token.lifetime",
    title: "the shared token until the end of the run",
    steps: [],
    reading: "early refusals"
  },
  {
    id: "aml.every-response",
    claim: "aml.answer.every",
    title: "every field of every response of the run",
    steps: [],
    reading: "every field"
  },
  {
    id: "aml.again.run",
    claim: "aml.match.again",
    title: "the results of each person in the run",
    steps: [],
    reading: "same result"
  },
  {
    id: "aml.name.echo.run",
    claim: "aml.name.echo",
    title: "how all credentials of the run write the names",
    steps: [],
    reading: "every name echo"
  },
  {
    id: "aml.issuer",
    claim: "aml.answer.issuer",
    title: "issuer and version in all responses of the run",
    steps: [],
    reading: "same issuer"
  },
  {
    id: "aml.profile.own",
    claim: "aml.profile.own",
    title: "the profiles in all responses of the run",
    steps: [],
    reading: "own profile"
  },
  {
    id: "aml.searched-on.run",
    claim: "aml.answer.searched-on.time",
    title: "searched_on from the first to the last response of the run",
    steps: [],
    reading: "time of search"
  }
]
