/**
 * `POST /api/aml` (API document, section 4.2): strict, and with the token's lifetime enforced.
 *
 * @since 0.1.0
 */
import { AmlCredential } from "@effect-idv/core/AmlCredential"
import * as Person from "@effect-idv/core/Person"
import * as Violation from "@effect-idv/core/Violation"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as AmlProfile from "./AmlProfile.ts"
import * as Http from "./internal/http.ts"
import * as Session from "./Session.ts"
import * as Subject from "./Subject.ts"

/**
 * Answers an AML check:
 *
 * - 200 with the credential of section 2.3; `Subject` says what it finds.
 * - 405 for another method, 415 for another content type, 413 for a body over 64 KiB.
 * - 401 without a token, or with one that is unknown or expired.
 * - 400 for a body that is not JSON, 422 for a wrong, missing or extra field, with its path and the
 *   reason, never its value.
 *
 * @category handlers
 * @since 0.1.0
 */
export const handle = Effect.gen(function*() {
  const request = yield* HttpServerRequest.HttpServerRequest
  yield* Http.requirePost(request)
  const session = yield* authorize(request)
  yield* Http.requireContentType(request, "application/json")
  const json = yield* Effect.mapError(
    parseJson(yield* Http.readBody(request)),
    () => Http.problem(400, "The body is not JSON text in UTF-8")
  )
  const body = yield* Effect.mapError(
    decodeBody(json),
    (violations) =>
      Http.problem(422, "The body is not the one of this operation", {
        errors: violations.map(({ expected, path, problem }) => ({ path, reason: `${problem}: expected ${expected}` }))
      })
  )
  const searchedOn = DateTime.formatIso(DateTime.unsafeMake(yield* session.now)).slice(0, 19).replace("T", " ")
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
        matchFound: Subject.matchFound(Redacted.value(body.name)),
        amlProfile: Redacted.make(AmlProfile.url(request, profileId))
      }
    }
  }))
  return HttpServerResponse.unsafeJson(encodeCredential(credential))
}).pipe(Effect.catchTag("Refused", ({ response }) => Effect.succeed(response)))

const parseJson = Violation.decodeJson(Schema.Unknown)
const decodeBody = Violation.decodeUnknown(Person.RequestBody, { onExcessProperty: "error" })
const encodeCredential = Schema.encodeSync(AmlCredential)

const challenge = (parameters = "") => ({ headers: { "www-authenticate": `Bearer realm="idv-mock"${parameters}` } })

const authorize = Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest) {
  const sessions = yield* Session.Sessions
  const token = /^bearer +(\S+)$/i.exec(request.headers["authorization"] ?? "")?.[1]
  if (token === undefined) return yield* Http.problem(401, "A bearer token is required", challenge())
  const session = sessions.findCarried(token)
  const status = Option.isSome(session) ? yield* session.value.statusOf(token) : "unknown"
  if (Option.isSome(session) && status === "valid") return session.value
  return yield* Http.problem(401, `The token is ${status}`, challenge(", error=\"invalid_token\""))
})
