/**
 * `POST /api/aml` (section 4.2): refuses every request that breaks the service document, and checks the lifetime of the
 * token.
 */
import type { DateOfBirth } from "@effect-idv/core/DateOfBirth"
import * as Person from "@effect-idv/core/Person"
import * as Violation from "@effect-idv/core/Violation"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import type { Profile } from "../../Profile.ts"
import * as Session from "../../Session.ts"
import * as JsonText from "../schema/jsonText.ts"
import * as Violations from "../schema/violations.ts"
import { customerOf } from "../session/tokens.ts"
import * as Request from "../wire/request.ts"
import type { FieldError, Headers } from "../wire/response.ts"
import { checkBody, checkHead, type Decision, redirectDecision, RequestRefused } from "./decision.ts"
import * as ResponseFormat from "./responseFormat.ts"

/**
 * Decides an AML check:
 *
 * - 200 with the credential of section 2.3, whose result `TestPerson` selects.
 * - 405 for another method, 415 for another content type or a content coding, 413 for a body over 64 KiB.
 * - 401 without a token, or with one that is unknown, expired or revoked.
 * - 400 for two `Authorization`, `Content-Type` or `Host` headers, for a token or a field of the person in the query,
 *   and for a body that is not JSON or has a duplicate key.
 * - 422 for a wrong, missing or extra field, with its path and the reason, never its value. The response lists at most
 *   20 fields and counts the others. A date of birth in the future, by the session's time, is a wrong field.
 *
 * The profile changes the form of the responses.
 */
export const decide = (
  request: Request.Request,
  session: Option.Option<Session.Session>,
  { clockSkew, profile }: Session.OptionValues
): Effect.Effect<Decision> =>
  Effect.gen(function*() {
    const refuse = refusal(profile)
    yield* checkHead(request, refuse)
    const { addSearch, clock, testPersons } = yield* authorize(request, session, profile)
    const redirect = ResponseFormat.redirect(profile, request.target)
    if (Option.isSome(redirect)) return redirectDecision("aml", redirect.value)
    if (!isContentTypeRight(request, profile)) {
      return yield* refuse("content-type", 415, "The content type of this operation is application/json")
    }
    const parameterInQuery = Request.inQuery(request, parameterNames)
    if (Option.isSome(parameterInQuery)) {
      return yield* refuse("query", 400, `${parameterInQuery.value} must not be in the query`)
    }
    yield* checkBody(request, refuse)
    const json = yield* Effect.mapError(JsonText.parse(request.body), (problem) =>
      problem._tag === "NotJson"
        ? refuse("body-not-json", 400, "The body is not JSON text in UTF-8")
        : refuse("body-duplicate-key", 400, "The body has a duplicate key", describeViolations(problem.violations)))
    const refuseBody = (violations: Violation.Violations) =>
      refuse("body-invalid", 422, "The body is not the one of this operation", describeViolations(violations, json))
    const body = yield* Effect.mapError(decodeBody(json), refuseBody)
    const now = yield* clock.now
    if (!hasBegun(body.dob, now)) {
      return yield* refuseBody(invalid("dob", "a day that has begun, by the clock of the session"))
    }
    const name = Redacted.value(body.name)
    const { day, month, year } = body.dob
    const nameProblem = profile.damagedName === "refused" ? damageOf(name) : undefined
    if (nameProblem !== undefined) return yield* refuseBody(invalid("name", nameProblem))

    const searchedOn = ResponseFormat.searchedOn(profile, now + clockSkew)
    const { by, fault, matchFound } = yield* testPersons.select(name, body.dob)
    const credential = yield* addSearch(`${name} ${day}-${month}-${year}`, (profileId) => ({
      credential_type: "aml",
      credential_name: "AML",
      issued_by: "Mock Identity Verification Service",
      issuer_id: "7d9f6c52-4b1e-4c39-9a76-2f0e8d1b5a64",
      cred_version: "1.0",
      credentials: {
        attributes: {
          name,
          birth_year: String(year).padStart(4, "0"),
          searched_on: searchedOn,
          match_found: matchFound,
          aml_profile: profileUrl(request, profileId)
        }
      }
    }))
    return {
      rule: "aml.answered",
      facts: { kind: "checked", result: matchFound, by } as const,
      claims: ["aml.success.status", "aml.answer.credential", "aml.answer.match-found", "aml.answer.aml-profile"],
      unexpected: false,
      response: ResponseFormat.credential(profile, credential),
      ...(fault !== undefined && { fault })
    }
  }).pipe(Effect.catchTag("RequestRefused", ({ decision }) => Effect.succeed(decision)))

/** The path of the pages of `aml_profile`, without the id. */
export const profilesPath = "/aml-profiles/"

/**
 * Returns the address of a profile on the host in the `Host` header, because the port mapping of a container can make
 * it differ from the server's own. A request of HTTP/1.0 without a host has `localhost`.
 */
export const profileUrl = (
  { headers, isSecure }: Pick<Request.Request, "headers" | "isSecure">,
  profileId: string
): string => {
  const host = headers["host"] ?? "localhost"
  return new URL(`${profilesPath}${profileId}`, `${isSecure ? "https" : "http"}://${host}`).href
}

const decodeBody = Violation.decodeUnknown(Person.RequestBody, { onExcessProperty: "error" })

const ordinal = ({ day, month, year }: Readonly<Record<"day" | "month" | "year", number>>): number =>
  year * 10_000 + month * 100 + day

/** Whether a day has begun anywhere on earth. Days begin first at UTC+14. `now` is in milliseconds since 1970. */
const hasBegun = (dateOfBirth: DateOfBirth, now: number): boolean =>
  ordinal(dateOfBirth) <= ordinal(DateTime.toPartsUtc(DateTime.add(DateTime.unsafeMake(now), { hours: 14 })))

/** What a name must be instead of a damaged one, which no person can have. */
export const damageOf = (name: string): string | undefined =>
  Array.from(name).length > 255
    ? "a name of at most 255 characters"
    : /\p{Cs}/u.test(name)
    ? "a name without half of a surrogate pair"
    : /\p{Cc}/u.test(name)
    ? "a name without control characters"
    : /(?!\p{Default_Ignorable_Code_Point})\p{L}/u.test(name)
    ? undefined
    : "a name with a visible letter"

const invalid = (path: string, expected: string): Violation.Violations => [
  new Violation.Violation({ path, problem: "invalid", expected })
]

const fields: ReadonlyArray<string> = Object.keys(Person.RequestBody.fields)

/** Replaces the name of an unknown field, because it may be the name of a person. */
const hiddenField = "another field"

/** A violation for the client, with its path, and for the journal, without the name of an unknown field. */
const describeViolations = (all: Violation.Violations, json?: unknown) => {
  const violations = Violations.truncate(all).map(({ expected, path, problem }) => ({
    path,
    expected: expected === "a string" && Record.has(texts, path) ? texts[path] ?? "" : expected,
    problem: Predicate.hasProperty(json, path) && json[path] === null ? "null" : problem
  }))
  return {
    violations: violations.map((violation) =>
      fields.includes(violation.path) || violation.path === "" ? violation : { ...violation, path: hiddenField }
    ),
    errors: violations.map(({ expected, path, problem }) => ({ path, reason: `${problem}: expected ${expected}` }))
  }
}

/** What a field must be if its value is not even a text. */
const texts: Readonly<Record<string, string>> = { name: "a text", dob: "a text such as 14-03-1957" }

/** Parameters that must not be in an address, because proxies and servers log addresses. */
const parameterNames = [...fields, "access_token"]

const isContentTypeRight = (request: Request.Request, { amlRequestType }: Profile): boolean => {
  const { parameters, type } = Request.mediaType(request)
  return amlRequestType === "any" || type === "application/json" &&
      (amlRequestType === "exact" ? parameters.length === 0 : !parameters.some(Request.isOtherCharset))
}

const claims = {
  "method": ["aml.request.method", "aml.error.method"],
  "token-missing": ["aml.request.authorization", "aml.error.unauthorized", "aml.error.challenge"],
  "token-unknown": ["aml.request.authorization", "aml.error.challenge"],
  "token-expired": ["token.lifetime", "token.expired"],
  "token-revoked": ["token.revoked", "token.expired"],
  "content-type": ["aml.request.content-type", "aml.error.content-type"],
  "body-too-long": ["limits.body"],
  "headers": ["aml.error"],
  "content-encoding": ["aml.error"],
  "query": ["aml.error"],
  "body-duplicate-key": ["aml.request.body", "aml.error", "aml.error.json"],
  "body-not-json": ["aml.request.body", "aml.error", "aml.error.json"],
  "body-invalid": ["aml.request.body", "aml.error", "aml.error.fields"]
} as const

const refusal = (profile: Profile) =>
(
  rule: keyof typeof claims,
  status: 400 | 401 | 403 | 405 | 413 | 415 | 422,
  detail: string,
  options: {
    /** The problem for the journal, if it differs from that of the response. */
    readonly problem?: string
    readonly violations?: ReadonlyArray<Readonly<Record<"path" | "problem" | "expected", string>>>
    readonly errors?: ReadonlyArray<FieldError>
    readonly headers?: Headers
    /** Whether a correct client can send this request, for example with an expired token. */
    readonly isExpected?: boolean
  } = {}
) =>
  new RequestRefused({
    decision: {
      rule: `aml.${rule}`,
      facts: { kind: "refused", problem: options.problem ?? detail, violations: options.violations ?? [] },
      claims: claims[rule],
      unexpected: options.isExpected !== true,
      response: ResponseFormat.amlError(profile, {
        status,
        code: rule.replaceAll("-", "_"),
        detail,
        ...(options.errors && { errors: options.errors }),
        ...(options.headers && { headers: options.headers })
      })
    }
  })

const challenge = (parameters = "") => ({ "www-authenticate": `Bearer realm="idv-mock"${parameters}` })

const invalidToken = challenge(", error=\"invalid_token\"")

const whyNoToken = (request: Request.Request): string =>
  Option.match(Request.schemeOf(request), {
    onNone: () => "A bearer token is required",
    onSome: (scheme) =>
      scheme === ""
        ? "An Authorization header came, but without the scheme Bearer: send Bearer and the token"
        : scheme === "Bearer"
        ? "The Bearer token is empty, or more than one word"
        : `An Authorization header came, but with ${scheme}: send the token as Bearer`
  })

/** Whether a token names a customer as those of this server do. */
const mayBeIssued = (token: string): boolean => /\.[\da-f]{32}$/.test(token) && Option.isSome(customerOf(token))

const forgotten = "The token is unknown: the customer in it has no session. Its session was removed, or " +
  `${Session.maxTestSessions} other test customers have used the server since`

const authorize = (request: Request.Request, session: Option.Option<Session.Session>, profile: Profile) =>
  Effect.gen(function*() {
    const refuse = refusal(profile)
    const token = yield* Effect.mapError(
      Request.bearer(request),
      () => refuse("token-missing", 401, whyNoToken(request), { headers: challenge() })
    )
    const unknown = () =>
      refuse("token-unknown", 401, Option.isNone(session) && mayBeIssued(token) ? forgotten : "The token is unknown", {
        headers: invalidToken
      })
    const customer = yield* Effect.mapError(session, unknown)
    const status = yield* customer.tokens.statusOf(token)
    if (status === "valid") return customer
    if (status === "unknown") return yield* unknown()
    return yield* refuse(
      `token-${status}`,
      profile.expiredToken === "forbidden" ? 403 : 401,
      `The token is ${status}`,
      {
        problem: `The token is ${status}, by this session's clock`,
        isExpected: true,
        ...(profile.expiredToken === "challenge" && { headers: invalidToken })
      }
    )
  })
