/**
 * `POST /oauth/service` (section 4.1): refuses every request that breaks the service document, and checks the customer
 * key.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { Profile } from "../../Profile.ts"
import type * as Session from "../../Session.ts"
import { tokenLifetimeSeconds } from "../session/choices.ts"
import * as Request from "../wire/request.ts"
import type { Headers } from "../wire/response.ts"
import { checkBody, checkHead, type Decision, redirectDecision, refused, RequestRefused } from "./decision.ts"
import * as ResponseFormat from "./responseFormat.ts"

/**
 * Decides a token request:
 *
 * - 200 with a token that is valid for one hour of the session's clock.
 * - 405 for another method, 415 for another content type or a content coding, 413 for a body over 64 KiB.
 * - 401 `invalid_client` for missing or wrong credentials.
 * - 400 `invalid_request` for two `Authorization`, `Content-Type` or `Host` headers, for an OAuth parameter in the
 *   query, for a missing `grant_type`, a repeated parameter, broken percent-encoding, and for credentials in the header
 *   and in the body at once.
 * - 400 `unsupported_grant_type` for a `grant_type` other than `client_credentials`.
 *
 * The profile changes the form of the responses. Credentials that match no customer are form-decoded (RFC 6749, section
 * 2.3.1) and compared again, because many OAuth clients encode them.
 */
export const decide = (
  request: Request.Request,
  session: Option.Option<Session.Session>,
  profile: Profile
): Effect.Effect<Decision> =>
  Effect.gen(function*() {
    const refuse = refusal(profile)
    yield* checkHead(request, refuse)
    const { parameters, type } = Request.mediaType(request)
    if (type !== formType || parameters.some(Request.isOtherCharset)) {
      return yield* refuse("content-type", 415, `The content type of this operation is ${formType}`)
    }
    yield* checkBody(request, refuse)
    const { customer, isEncoded } = yield* authenticate(request, session, refuse)
    const redirect = ResponseFormat.redirect(profile, request.target)
    if (Option.isSome(redirect)) return redirectDecision("token", redirect.value)

    const parameterInQuery = Request.inQuery(request, parameterNames)
    if (Option.isSome(parameterInQuery)) {
      return yield* refuse("query", 400, `${parameterInQuery.value} must be in the body, and not in the query`)
    }
    const body = Buffer.from(request.body).toString()
    if (Either.isLeft(Encoding.decodeUriComponent(body))) {
      return yield* refuse("parameters", 400, "The percent-encoding of the body is invalid")
    }
    const form = Request.parametersOf(body)
    const grantTypes = form.getAll("grant_type")
    if (grantTypes.length !== 1 || grantTypes[0] === "") {
      return yield* refuse("grant-type", 400, "grant_type is required, once")
    }
    if (grantTypes[0] !== "client_credentials") {
      return yield* refuse("grant-type", 400, "grant_type must be client_credentials", {
        error: "unsupported_grant_type"
      })
    }
    const names = Array.from(form.keys())
    if (new Set(names).size < names.length) {
      return yield* refuse("parameters", 400, "A parameter occurs more than once")
    }
    if (secretNames.some((name) => form.has(name))) {
      const why = "The credentials came twice: send them in the Authorization header only"
      return yield* refuse("parameters", 400, why)
    }
    if (form.size > 1 && profile.tokenParameters === "refused") {
      return yield* refuse("parameters", 400, "grant_type is the only parameter that is allowed")
    }
    return yield* grant(
      {
        rule: "token.granted",
        facts: { kind: "granted", seconds: tokenLifetimeSeconds(profile), isFormEncoded: isEncoded },
        claims: ["token.success.status", "token.response.fields", "token.lifetime", "token.response.lifetime"],
        unexpected: false
      },
      customer,
      profile
    )
  }).pipe(Effect.catchTag("RequestRefused", ({ decision }) => Effect.succeed(decision)))

/** Issues a token, which becomes the response of a decision. */
export const grant = (
  decision: Omit<Decision, "response" | "issuedToken">,
  customer: Session.Session,
  profile: Profile
): Effect.Effect<Decision> =>
  Effect.map(customer.issueToken, (token) => ({
    ...decision,
    response: ResponseFormat.tokenResponse(profile, token),
    issuedToken: token
  }))

const formType = "application/x-www-form-urlencoded"

/** Parameters of a token request, and those that may identify the client (RFC 6749, sections 2.3.1 and 4.4.2). */
const parameterNames = [
  "grant_type",
  "scope",
  "client_id",
  "client_secret",
  "client_assertion",
  "client_assertion_type"
]

/** Two ways to authenticate in one request are an error (RFC 6749, section 2.3). */
const secretNames = ["client_secret", "client_assertion"]

const claims = {
  "method": ["token.request.method", "token.error.method"],
  "content-type": ["token.request.content-type", "token.error.content-type"],
  "headers": ["token.error"],
  "content-encoding": ["token.error"],
  "body-too-long": ["limits.body"],
  "query": ["token.request.grant-type", "token.error"],
  "credentials": ["token.request.authorization", "token.error", "token.error.code", "token.error.challenge"],
  "grant-type": ["token.request.grant-type", "token.error", "token.error.grant-type"],
  "parameters": ["token.request.parameters", "token.error"]
} as const

type Refuse = ReturnType<typeof refusal>

const refusal = (profile: Profile) =>
(
  rule: keyof typeof claims,
  status: 400 | 401 | 405 | 413 | 415,
  description: string,
  { error = "invalid_request", headers = {} }: { readonly error?: string; readonly headers?: Headers } = {}
) =>
  new RequestRefused({
    decision: {
      rule: `token.${rule}`,
      facts: refused(description),
      claims: claims[rule],
      unexpected: true,
      response: ResponseFormat.tokenError(profile, { status, error, description, headers })
    }
  })

/** Why a header has no Basic credentials, in the words of its author. */
const whyNotBasic = (request: Request.Request): string =>
  Option.match(Request.schemeOf(request), {
    onNone: () => "it is missing",
    onSome: (scheme) =>
      scheme === "Basic"
        ? "the Basic credentials are not Base64: send base64(id:key)"
        : `an Authorization header came, but ${scheme === "" ? "without the scheme Basic" : `with ${scheme}`}`
  })

/** Compares id and key as they are, and then form-decoded. `isEncoded` is true if only the decoded ones match. */
const authenticate = (request: Request.Request, session: Option.Option<Session.Session>, refuse: Refuse) => {
  const credentials = Request.basic(request)
  const matches = ({ customerId, customerKey }: Session.Session) => (basic: Request.Basic) =>
    basic.customerId === customerId && basic.customerKey === Redacted.value(customerKey)
  return Option.flatMap(session, (customer) =>
    Option.exists(credentials, matches(customer))
      ? Option.some({ customer, isEncoded: false })
      : Option.exists(Request.formBasic(request), matches(customer))
      ? Option.some({ customer, isEncoded: true })
      : Option.none()).pipe(Effect.mapError(() =>
        refuse(
          "credentials",
          401,
          "The Authorization header must be Basic with a known customer_id and its key" +
            Option.match(credentials, {
              onNone: () => `: ${whyNotBasic(request)}`,
              onSome: () =>
                Option.isNone(session) ? ": the customer_id is not known, or its key is wrong" : ": the key is wrong"
            }),
          { error: "invalid_client" }
        )
      ))
}
