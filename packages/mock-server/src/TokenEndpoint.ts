/**
 * `POST /oauth/service` (API document, section 4.1): strict, and with the customer key enforced.
 *
 * @since 0.1.0
 */
import * as AccessToken from "@effect-idv/core/AccessToken"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Http from "./internal/http.ts"
import * as Session from "./Session.ts"

/**
 * Answers a token request:
 *
 * - 200 with a token that is valid for one hour of the session's clock.
 * - 405 for another method, 415 for another content type, 413 for a body over 64 KiB.
 * - 401 `invalid_client` for missing or wrong credentials.
 * - 400 `invalid_request` for a missing or repeated `grant_type`, `unsupported_grant_type` for
 *   another one.
 *
 * @category handlers
 * @since 0.1.0
 */
export const handle = Effect.gen(function*() {
  const request = yield* HttpServerRequest.HttpServerRequest
  yield* Http.requirePost(request)
  yield* Http.requireContentType(request, "application/x-www-form-urlencoded")
  const form = new URLSearchParams((yield* Http.readBody(request)).toString())
  const session = yield* authenticate(request)

  const grantTypes = form.getAll("grant_type")
  if (grantTypes.length !== 1 || grantTypes[0] === "") {
    return yield* refuse(400, "invalid_request", "grant_type is required, once")
  }
  if (grantTypes[0] !== "client_credentials") {
    return yield* refuse(400, "unsupported_grant_type", "grant_type must be client_credentials")
  }
  return HttpServerResponse.unsafeJson(
    encodeResponse({
      access_token: Redacted.make(yield* session.issueToken),
      token_type: "Bearer",
      expires_in: Duration.toSeconds(AccessToken.lifetime)
    }),
    { headers: uncacheable }
  )
}).pipe(Effect.catchTag("Refused", ({ response }) => Effect.succeed(response)))

const encodeResponse = Schema.encodeSync(AccessToken.Response)

const uncacheable = { "cache-control": "no-store", pragma: "no-cache" }

const refuse = (status: 400 | 401, error: string, description: string, headers: Record<string, string> = {}) =>
  new Http.Refused({
    response: HttpServerResponse.unsafeJson(
      { error, error_description: description },
      { status, headers: { ...uncacheable, ...headers } }
    )
  })

const authenticate = (request: HttpServerRequest.HttpServerRequest) =>
  Effect.flatMap(Session.Sessions, (sessions) =>
    basicCredentials(request.headers["authorization"]).pipe(
      Option.flatMap(({ customerId, customerKey }) =>
        Option.filter(
          sessions.find(customerId),
          (session) => Redacted.value(session.customerKey) === customerKey
        )
      ),
      Effect.mapError(() =>
        refuse(401, "invalid_client", "the Authorization header must be Basic with a known customer_id and its key", {
          "www-authenticate": "Basic realm=\"idv-mock\", charset=\"UTF-8\""
        })
      )
    ))

const basicCredentials = (authorization: string | undefined) =>
  Option.fromNullable(/^basic +([A-Za-z0-9+/=]+)$/i.exec(authorization ?? "")?.[1]).pipe(
    Option.flatMap((encoded) => Either.getRight(Encoding.decodeBase64String(encoded))),
    Option.filter((decoded) => decoded.includes(":")),
    Option.map((decoded) => ({
      customerId: decoded.slice(0, decoded.indexOf(":")),
      customerKey: decoded.slice(decoded.indexOf(":") + 1)
    }))
  )
