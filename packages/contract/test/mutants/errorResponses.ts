/** Servers with wrong error responses, and servers that respond wrongly at other paths. */
import * as Predicate from "effect/Predicate"
import * as Changes from "./changes.ts"
import * as Messages from "./messages.ts"
import { type Mutant, of, type Request } from "./model.ts"

const changeTokenRefusal = (statuses: ReadonlyArray<number>, ...changes: ReadonlyArray<Changes.Change>) =>
  Changes.changeResponse(Changes.isTokenRefusal(...statuses), ...changes)

const changeCheckRefusal = (statuses: ReadonlyArray<number>, ...changes: ReadonlyArray<Changes.Change>) =>
  Changes.changeResponse(Changes.isAmlRefusal(...statuses), ...changes)

/** Changes only refusals of a missing token, because refusals of a wrong token belong to another claim. */
const withoutToken = (change: Changes.Change): Changes.Change => (response, request) =>
  Messages.authorizationOf(request) === "" ? change(response, request) : response

const changeCode = (from: string, to: string | undefined) =>
  changeTokenRefusal([400, 401], Changes.field("error", (error) => error === from ? to : error))

const withoutChallenge = Changes.header("www-authenticate", undefined)

const append = (textOf: (request: Request) => string) => (text: string, request: Request) =>
  `${text}: ${textOf(request)}`

const fieldOf = (name: string) => (request: Request): string => {
  const value = Messages.fieldOf(request, name)
  return Predicate.isString(value) ? value : ""
}

const escapeJson = (bytes: Uint8Array): Uint8Array =>
  Messages.utf8(
    Messages.textOf({ body: bytes }).replaceAll(
      /[^\x00-\x7f]/g,
      (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`
    )
  )

const escapeHtml = (text: string): string => text.replaceAll(/[^\x00-\x7f]/gu, (char) => `&#${char.codePointAt(0)};`)

const isExpired = (request: Request, response: { readonly status: number; readonly body: Uint8Array }): boolean =>
  Messages.isAml(request) && response.status === 401 && Messages.textOf(response).includes("expired")

const isOtherPath = (request: Request): boolean =>
  !Messages.isToken(request) && !Messages.isAml(request) && !Messages.isProfile(request)

const isNotRedirected = ({ target }: Request): boolean => !target.includes("?redirected")

const redirect = (where: Changes.Where, location: (target: string) => string) =>
  Changes.changeResponse(
    (request, response) => where(request, response) && isNotRedirected(request),
    Changes.status(307),
    (response, { target }) => Messages.withHeader(response, "location", location(target)),
    Changes.empty
  )

const sameOrigin = (target: string) => `${target}?redirected`

export const mutants: ReadonlyArray<Mutant> = [
  of("token.error", [
    ["403", "refuses a customer with 403", changeTokenRefusal([401], Changes.status(403), withoutChallenge)]
  ]),
  of("token.error.code", [
    [
      "other",
      "sends the error invalid_request for an unknown customer",
      changeCode("invalid_client", "invalid_request")
    ],
    ["missing", "sends no error code for an unknown customer", changeCode("invalid_client", undefined)]
  ]),
  of("token.error.challenge", [
    ["missing", "sends no challenge to an unknown customer", changeTokenRefusal([401], withoutChallenge)],
    [
      "bearer",
      "sends a Bearer challenge to an unknown customer",
      changeTokenRefusal([401], Changes.header("www-authenticate", "Bearer"))
    ]
  ]),
  of("token.error.method", [
    ["404", "responds with 404 to another method of a token request", changeTokenRefusal([405], Changes.status(404))],
    ["409", "refuses another method of a token request with 409", changeTokenRefusal([405], Changes.status(409))]
  ]),
  of("token.error.content-type", [
    ["400", "refuses another content type of a token request with 400", changeTokenRefusal([415], Changes.status(400))],
    ["409", "refuses another content type of a token request with 409", changeTokenRefusal([415], Changes.status(409))]
  ]),
  of("token.error.grant-type", [
    [
      "other",
      "sends the error invalid_request for another grant_type",
      changeCode("unsupported_grant_type", "invalid_request")
    ],
    ["missing", "sends no error code for another grant_type", changeCode("unsupported_grant_type", undefined)]
  ]),
  of("token.error.grant-type-missing", [
    [
      "other",
      "sends the error unsupported_grant_type for a missing grant_type",
      changeCode("invalid_request", "unsupported_grant_type")
    ]
  ]),
  of("token.error.echo", [
    [
      "key",
      "repeats the key in a refusal",
      changeTokenRefusal(
        [401],
        Changes.fieldText("error_description", append((request) => Messages.basicOf(request)[1]))
      )
    ],
    [
      "header",
      "repeats the Authorization header in a refusal",
      changeTokenRefusal([401], Changes.fieldText("error_description", append(Messages.authorizationOf)))
    ]
  ]),
  of("aml.error.method", [
    ["404", "responds with 404 to another method of a check", changeCheckRefusal([405], Changes.status(404))],
    ["409", "refuses another method of a check with 409", changeCheckRefusal([405], Changes.status(409))]
  ]),
  of("aml.error.unauthorized", [
    ["403", "refuses a request without a token with 403", changeCheckRefusal([401], withoutToken(Changes.status(403)))],
    ["400", "refuses a request without a token with 400", changeCheckRefusal([401], withoutToken(Changes.status(400)))]
  ]),
  of("aml.error.challenge", [
    [
      "missing",
      "sends no challenge for a check without a token",
      changeCheckRefusal([401], withoutToken(withoutChallenge))
    ],
    [
      "basic",
      "sends a Basic challenge for a check without a token",
      changeCheckRefusal([401], withoutToken(Changes.header("www-authenticate", "Basic")))
    ]
  ]),
  of("token.expired", [
    ["500", "fails with 500 for an expired token", Changes.changeResponse(isExpired, Changes.status(500))]
  ]),
  of("aml.error.content-type", [
    ["400", "refuses another content type of a check with 400", changeCheckRefusal([415], Changes.status(400))],
    ["409", "refuses another content type of a check with 409", changeCheckRefusal([415], Changes.status(409))]
  ]),
  of("aml.error.json", [
    ["422", "refuses a body that is not JSON with 422", changeCheckRefusal([400], Changes.status(422))],
    ["409", "refuses a body that is not JSON with 409", changeCheckRefusal([400], Changes.status(409))]
  ]),
  of("aml.error.fields", [
    ["400", "refuses a wrong field with 400", changeCheckRefusal([422], Changes.status(400))],
    [
      "200",
      "responds to a wrong field with 200 and an error",
      changeCheckRefusal([422], Changes.status(200), Changes.error)
    ],
    ["409", "refuses a wrong field with 409", changeCheckRefusal([422], Changes.status(409))]
  ]),
  of("aml.error.echo", [
    [
      "name",
      "repeats the name in a refusal",
      changeCheckRefusal([400, 422], Changes.fieldText("detail", append(fieldOf("name"))))
    ],
    [
      "dob",
      "repeats the date of birth in a refusal",
      changeCheckRefusal([400, 422], Changes.fieldText("detail", append(fieldOf("dob"))))
    ],
    [
      "escaped",
      "repeats the name in a refusal, with non-ASCII characters escaped",
      changeCheckRefusal([400, 422], Changes.fieldText("detail", append(fieldOf("name"))), Changes.bytes(escapeJson))
    ],
    [
      "percent",
      "repeats the name percent-encoded in a refusal",
      changeCheckRefusal(
        [400, 422],
        Changes.fieldText("detail", append((request) => encodeURIComponent(fieldOf("name")(request))))
      )
    ],
    [
      "html",
      "repeats the name HTML-encoded in a refusal",
      changeCheckRefusal(
        [400, 422],
        Changes.fieldText("detail", append((request) => escapeHtml(fieldOf("name")(request))))
      )
    ]
  ]),
  of("paths.other", [
    [
      "answered",
      "responds with 200 at every other path",
      Changes.changeResponse(isOtherPath, Changes.status(200), Changes.text("application/json", () => "{}"))
    ],
    ["500", "fails with 500 at every other path", Changes.changeResponse(isOtherPath, Changes.status(500))]
  ]),
  of("redirects", [
    ["aml", "redirects a check to another path", redirect(Changes.isCredential, sameOrigin)],
    [
      "elsewhere",
      "redirects a check to another host",
      redirect(Changes.isCredential, (target) => `http://elsewhere.invalid${target}`)
    ]
  ])
].flat()
