/**
 * `POST /api/aml` (API document, section 4.2): strict, and with the token's lifetime enforced.
 *
 * @since 0.1.0
 */
import { AmlCredential } from "@effect-idv/core/AmlCredential"
import * as Person from "@effect-idv/core/Person"
import * as Violation from "@effect-idv/core/Violation"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Profile from "../../Profile.ts"
import type * as Session from "../../Session.ts"
import * as TestPerson from "../../TestPerson.ts"
import * as JsonText from "../http/jsonText.ts"
import * as Request from "../http/request.ts"
import { listed } from "../schema/truncateViolations.ts"
import type { Status } from "../session/tokens.ts"
import * as DayOfBirth from "./dayOfBirth.ts"
import { type Answer, Refused } from "./decision.ts"
import * as Shaping from "./responseFormat.ts"

/**
 * Answers an AML check:
 *
 * - 200 with the credential of section 2.3; `TestPerson` says what it finds.
 * - 405 for another method, 415 for another content type or a content coding, 413 for a body over
 *   64 KiB.
 * - 401 without a token, or with one that is unknown, expired or revoked.
 * - 400 for two `Authorization`, `Content-Type` or `Host` headers, for a token or a field of the
 *   person in the query, and for a body that is not JSON or has a duplicate key.
 * - 422 for a wrong, missing or extra field, with its path and the reason, never its value. Of more
 *   than 20 it lists the first, and counts the others. A date of birth that is in the future by the
 *   session's clock is wrong.
 *
 * A profile gives all but the conditions another form. `profileUrl` is the address of the page of a
 * profile id.
 *
 * @category handlers
 * @since 0.1.0
 */
export const answer = (
  request: Request.Request,
  found: Option.Option<Session.Session>,
  profile: Profile.Profile,
  profileUrl: (profileId: string) => string
): Effect.Effect<Answer> =>
  Effect.gen(function*() {
    const refuse = refusal(profile)
    if (request.method !== "POST") {
      return yield* refuse("method", 405, "The method of this operation is POST", { headers: { allow: "POST" } })
    }
    if (Option.isSome(request.headersProblem)) {
      return yield* refuse("headers", 400, request.headersProblem.value)
    }
    const session = yield* authorize(request, found, profile)
    const redirected = Shaping.redirect(profile, request.target)
    if (Option.isSome(redirected)) return redirection(redirected.value)
    if (!isContentTypeRight(request, profile)) {
      return yield* refuse("content-type", 415, "The content type of this operation is application/json")
    }
    if (Request.hasCoding(request)) {
      return yield* refuse("content-encoding", 415, "The body may not have a content coding", {
        headers: { "accept-encoding": "identity" }
      })
    }
    const inQuery = Request.inQuery(request, parameterNames)
    if (Option.isSome(inQuery)) {
      return yield* refuse("query", 400, `${inQuery.value} must not be in the query`)
    }
    if (Request.isTooLong(request)) {
      return yield* refuse("body-too-long", 413, `A body has at most ${Request.maxBodyBytes} bytes`)
    }
    const json = yield* Effect.mapError(JsonText.parse(request.body), (problem) =>
      problem._tag === "NotJson"
        ? refuse("body-not-json", 400, "The body is not JSON text in UTF-8")
        : refuse("body-duplicate-key", 400, "The body has a duplicate key", described(problem.violations)))
    const refuseBody = (violations: Violation.Violations) =>
      refuse("body-invalid", 422, "The body is not the one of this operation", described(violations))
    const body = yield* Effect.mapError(decodeBody(json), refuseBody)
    const now = yield* session.clock.now
    if (!DayOfBirth.hasBegun(body.dob, now)) return yield* refuseBody(notBorn)

    const searchedOn = Shaping.searchedOn(profile, now)
    const { description, fault, matchFound } = TestPerson.of(Redacted.value(body.name))
    const credential = yield* session.keepSearch((profileId) => ({
      credentialType: "aml",
      credentialName: "AML",
      issuedBy: "Mock Identity Verification Service",
      issuerId: "7d9f6c52-4b1e-4c39-9a76-2f0e8d1b5a64",
      credVersion: "1.0",
      credentials: {
        attributes: {
          name: body.name,
          birthYear: Redacted.make(String(body.dob.year).padStart(4, "0")),
          searchedOn,
          matchFound,
          amlProfile: Redacted.make(profileUrl(profileId))
        }
      }
    }))
    return {
      rule: "aml.answered",
      why: `The token is valid and the body is right: the person ${description}`,
      claims: ["aml.success.status", "aml.answer.credential", "aml.answer.match-found", "aml.answer.aml-profile"],
      unexpected: false,
      reply: Shaping.credentialReply(profile, encodeCredential(credential)),
      ...(fault !== undefined && { fault })
    }
  }).pipe(Effect.catchTag("Refused", ({ answer }) => Effect.succeed(answer)))

const decodeBody = Violation.decodeUnknown(Person.RequestBody, { onExcessProperty: "error" })

const notBorn: Violation.Violations = [
  new Violation.Violation({
    path: "dob",
    problem: "invalid",
    expected: "a day that has begun, by the clock of the session"
  })
]

const fields: ReadonlyArray<string> = Object.keys(Person.RequestBody.fields)

/** A field that does not exist may be named after whoever was to be checked. */
const withoutNames = (violation: Violation.Violation) =>
  fields.includes(violation.path) || violation.path === ""
    ? violation
    : new Violation.Violation({ ...violation, path: "another field" })

/** Violations for the client, with every path, and for the journal. */
const described = (all: Violation.Violations) => {
  const violations = listed(all)
  return {
    why: Violation.format(violations.map(withoutNames)),
    errors: violations.map(({ expected, path, problem }) => ({ path, reason: `${problem}: expected ${expected}` }))
  }
}

const encodeCredential = Schema.encodeSync(AmlCredential)

/** A name, a date of birth or a token in an address ends up in the logs of everything on the way. */
const parameterNames = [...fields, "access_token"]

const isContentTypeRight = (request: Request.Request, { amlRequestType }: Profile.Profile): boolean => {
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

const refusal = (profile: Profile.Profile) =>
(
  rule: keyof typeof claims,
  status: 400 | 401 | 403 | 405 | 413 | 415 | 422,
  detail: string,
  options: {
    readonly why?: string
    readonly errors?: ReadonlyArray<{ readonly path: string; readonly reason: string }>
    readonly headers?: Record<string, string>
    /** That a token is over is nothing that a client does wrong. */
    readonly isExpected?: boolean
  } = {}
) =>
  new Refused({
    answer: {
      rule: `aml.${rule}`,
      why: options.why ?? detail,
      claims: claims[rule],
      unexpected: options.isExpected !== true,
      reply: Shaping.amlRefusal(profile, {
        status,
        code: rule.replaceAll("-", "_"),
        detail,
        ...(options.errors && { errors: options.errors }),
        ...(options.headers && { headers: options.headers })
      })
    }
  })

const challenge = (parameters = "") => ({ "www-authenticate": `Bearer realm="idv-mock"${parameters}` })

const authorize = (
  request: Request.Request,
  found: Option.Option<Session.Session>,
  profile: Profile.Profile
) =>
  Effect.gen(function*() {
    const refuse = refusal(profile)
    const token = yield* Effect.mapError(
      Request.bearer(request),
      () => refuse("token-missing", 401, "A bearer token is required", { headers: challenge() })
    )
    const status: Status | "unknown" = Option.isSome(found) ? yield* found.value.tokens.statusOf(token) : "unknown"
    if (Option.isSome(found) && status === "valid") return found.value
    if (status === "unknown" || status === "valid") {
      return yield* refuse("token-unknown", 401, "The token is unknown", {
        headers: challenge(", error=\"invalid_token\"")
      })
    }
    return yield* refuse(
      `token-${status}`,
      profile.expiredToken === "forbidden" ? 403 : 401,
      `The token is ${status}`,
      {
        why: `The token is ${status}, by this session's clock`,
        isExpected: true,
        ...(profile.expiredToken === "challenge" && { headers: challenge(", error=\"invalid_token\"") })
      }
    )
  })

const redirection = (reply: Answer["reply"]): Answer => ({
  rule: "aml.redirected",
  why: "The profile redirects: a client may not follow with its token",
  claims: ["redirects"],
  unexpected: false,
  reply
})
