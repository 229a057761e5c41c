/** The cases of the token endpoint (API document, sections 2.2, 4.1 and 5). */
import type { Case } from "../../Conformance.ts"
import type { ToAml, ToControl, ToToken } from "./requestSpec.ts"
import * as People from "./testPeople.ts"

/** The request of section 4.1, but for what is given. */
const token = (changes: Omit<ToToken, "to"> = {}): ToToken => ({ to: "token", ...changes })

const check: ToAml = { to: "aml", as: "this token", body: People.about(People.clear) }

const advance = (by: string): ToControl => ({ to: "control", path: "/clock", body: { advance: by } })

const lockout = "a service may lock out a customer whose key is wrong"
const noClock = "the clock of a service cannot be moved"

const granted: Pick<Case, "sends"> = { sends: [token()] }

export const cases: ReadonlyArray<Case> = [
  {
    id: "token.granted",
    claim: "token.request.path",
    title: "the token request of section 4.1",
    ...granted,
    reads: "grant"
  },
  {
    id: "token.status",
    claim: "token.success.status",
    title: "the status of the token response",
    ...granted,
    reads: "status"
  },
  {
    id: "token.content-type",
    claim: "token.response.content-type",
    title: "the content type of the token response",
    ...granted,
    reads: "media type"
  },
  {
    id: "token.field",
    claim: "token.response.fields",
    title: "which field holds the token",
    ...granted,
    reads: "token field"
  },
  { id: "token.type", claim: "token.response.type", title: "the type of the token", ...granted, reads: "token type" },
  {
    id: "token.format",
    claim: "token.response.format",
    title: "what the token looks like",
    ...granted,
    reads: "token format"
  },
  {
    id: "token.lifetime-stated",
    claim: "token.response.lifetime",
    title: "the lifetime that the token response states",
    ...granted,
    reads: "stated lifetime"
  },
  {
    id: "token.cache-control",
    claim: "token.response.no-store",
    title: "what the token response says to caches",
    ...granted,
    reads: "caching"
  },
  {
    id: "token.redirect",
    claim: "redirects",
    title: "where the token request is sent on to",
    ...granted,
    reads: "redirect"
  },

  ...["GET", "PUT"].map((method): Case => ({
    id: `token.method.${method.toLowerCase()}`,
    claim: "token.request.method",
    title: `a token request by ${method}`,
    sends: [token({ method })],
    reads: "grant"
  })),
  {
    id: "token.method.status",
    claim: "token.error.method",
    title: "the status of a token request by PUT",
    sends: [token({ method: "PUT" })],
    reads: "status",
    standsOn: "token.method.put"
  },
  {
    id: "token.content-type.json",
    claim: "token.request.content-type",
    title: "grant_type in a body of JSON",
    sends: [token({ contentType: "application/json", body: "{\"grant_type\":\"client_credentials\"}" })],
    reads: "grant"
  },
  {
    id: "token.content-type.text",
    claim: "token.request.content-type",
    title: "the form as plain text",
    sends: [token({ contentType: "text/plain" })],
    reads: "grant"
  },
  {
    id: "token.content-type.missing",
    claim: "token.request.content-type",
    title: "the form without a content type",
    sends: [token({ contentType: null })],
    reads: "grant"
  },
  {
    id: "token.content-type.status",
    claim: "token.error.content-type",
    title: "the status of the form as plain text",
    sends: [token({ contentType: "text/plain" })],
    reads: "status",
    standsOn: "token.content-type.text"
  },
  {
    id: "token.charset",
    claim: "token.request.charset",
    title: "the content type with charset=UTF-8",
    sends: [token({ contentType: "application/x-www-form-urlencoded; charset=UTF-8" })],
    reads: "grant"
  },

  {
    id: "token.authorization.missing",
    claim: "token.request.authorization",
    title: "a token request without Authorization header",
    sends: [token({ as: "nothing" })],
    reads: "grant"
  },
  {
    id: "token.authorization.scheme",
    claim: "token.request.authorization",
    title: "id and key after Bearer instead of Basic",
    sends: [token({ as: "another scheme" })],
    reads: "grant"
  },
  {
    id: "token.authorization.body",
    claim: "token.request.authorization",
    title: "id and key in the body instead of the header",
    sends: [token({ as: "in the body" })],
    reads: "grant"
  },
  {
    id: "token.authorization.unknown",
    claim: "token.request.authorization",
    title: "a customer that is not known",
    sends: [token({ as: "unknown customer" })],
    reads: "grant"
  },
  {
    id: "token.authorization.wrong-key",
    claim: "token.request.authorization",
    title: "a wrong key",
    sends: [token({ as: "wrong key" })],
    reads: "grant",
    notOnSandbox: lockout
  },
  {
    id: "token.authorization.no-key",
    claim: "token.request.authorization",
    title: "an empty key",
    sends: [token({ as: "no key" })],
    reads: "grant",
    notOnSandbox: lockout
  },
  {
    id: "token.authorization.encoded",
    claim: "token.request.encoded-credentials",
    title: "id and key form-encoded",
    sends: [token({ as: "form-encoded" })],
    reads: "grant",
    notOnSandbox: lockout
  },
  {
    id: "token.error",
    claim: "token.error",
    title: "the answer to a customer that is not known",
    sends: [token({ as: "unknown customer" })],
    reads: "token error",
    standsOn: "token.authorization.unknown"
  },
  {
    id: "token.error.code",
    claim: "token.error.code",
    title: "the error code for a customer that is not known",
    sends: [token({ as: "unknown customer" })],
    reads: "error code",
    standsOn: "token.authorization.unknown"
  },
  {
    id: "token.error.challenge",
    claim: "token.error.challenge",
    title: "what the refusal of a customer asks for",
    sends: [token({ as: "unknown customer" })],
    reads: "challenge",
    standsOn: "token.authorization.unknown"
  },
  {
    id: "token.error.echo",
    claim: "token.error.echo",
    title: "what the refusal of a customer repeats",
    sends: [token({ as: "unknown customer" })],
    reads: "echo",
    standsOn: "token.authorization.unknown"
  },

  {
    id: "token.grant-type.missing",
    claim: "token.request.grant-type",
    title: "no grant_type",
    sends: [token({ body: "" })],
    reads: "grant"
  },
  {
    id: "token.grant-type.other",
    claim: "token.request.grant-type",
    title: "grant_type=password",
    sends: [token({ body: "grant_type=password" })],
    reads: "grant"
  },
  {
    id: "token.grant-type.case",
    claim: "token.request.grant-type",
    title: "grant_type=CLIENT_CREDENTIALS",
    sends: [token({ body: "grant_type=CLIENT_CREDENTIALS" })],
    reads: "grant"
  },
  {
    id: "token.grant-type.other-code",
    claim: "token.error.grant-type",
    title: "the error code for grant_type=password",
    sends: [token({ body: "grant_type=password" })],
    reads: "error code",
    standsOn: "token.grant-type.other"
  },
  {
    id: "token.grant-type.missing-code",
    claim: "token.error.grant-type-missing",
    title: "the error code for no grant_type",
    sends: [token({ body: "" })],
    reads: "error code",
    standsOn: "token.grant-type.missing"
  },
  {
    id: "token.grant-type.twice",
    claim: "token.request.grant-type.once",
    title: "grant_type twice",
    sends: [token({ body: "grant_type=client_credentials&grant_type=client_credentials" })],
    reads: "grant"
  },
  {
    id: "token.parameters",
    claim: "token.request.parameters",
    title: "a parameter beside grant_type",
    sends: [token({ body: "grant_type=client_credentials&audience=aml" })],
    reads: "ignored parameter"
  },

  {
    id: "token.lifetime",
    claim: "token.lifetime",
    title: "a token 10 seconds before its hour is over, and 10 seconds after",
    sends: [token(), advance("3590 seconds"), check, advance("20 seconds"), check],
    reads: "lifetime",
    notOnSandbox: noClock
  },
  {
    id: "token.lifetime.used",
    claim: "token.lifetime",
    title: "a token that is used does not live longer",
    sends: [token(), advance("30 minutes"), check, advance("3590 seconds"), check],
    reads: "lifetime",
    notOnSandbox: noClock
  },
  {
    id: "token.lifetime.again",
    claim: "token.lifetime",
    title: "a token that is used twice",
    sends: [token(), check, check],
    reads: "lifetime begun"
  },
  {
    id: "token.expired",
    claim: "token.expired",
    title: "how a token of 61 minutes is refused",
    sends: [token(), advance("61 minutes"), check],
    reads: "expiry",
    notOnSandbox: noClock
  },
  {
    id: "token.revoked",
    claim: "token.revoked",
    title: "a token that was revoked",
    sends: [token(), { to: "control", path: "/tokens/revoke", body: {} }, check],
    reads: "answer",
    notOnSandbox: "the document shows no way to revoke a token"
  },
  {
    id: "token.renewal",
    claim: "token.renewal",
    title: "a token after the next one was given",
    sends: [token(), token(), check],
    reads: "renewal"
  }
]

/** What can be told at the end. */
export const last: ReadonlyArray<Case> = [
  {
    id: "token.lifetime.kept",
    claim: "token.lifetime",
    title: "the token that the cases share, to the end of the run",
    sends: [],
    reads: "token deaths"
  }
]
