/** Servers that refuse otherwise, and those that do at other paths what they should not. */
import * as Predicate from "effect/Predicate"
import * as Breaks from "./breaks.ts"
import * as Parts from "./parts.ts"
import { type Mutant, of, type Request } from "./wire.ts"

const tokens = (statuses: ReadonlyArray<number>, ...changes: ReadonlyArray<Breaks.Change>) =>
  Breaks.changing(Breaks.tokenRefused(...statuses), ...changes)

const checks = (statuses: ReadonlyArray<number>, ...changes: ReadonlyArray<Breaks.Change>) =>
  Breaks.changing(Breaks.amlRefused(...statuses), ...changes)

/** A refused token is another claim. */
const withoutToken = (change: Breaks.Change): Breaks.Change => (answer, request) =>
  Parts.authorizationOf(request) === "" ? change(answer, request) : answer

const code = (from: string, to: string | undefined) =>
  tokens([400, 401], Breaks.field("error", (error) => error === from ? to : error))

const unchallenged = Breaks.header("www-authenticate", undefined)

const problem = Breaks.text(
  "application/problem+json",
  () => JSON.stringify({ type: "about:blank", title: "Unauthorized", status: 401 })
)

const appended = (words: (request: Request) => string) => (text: string, request: Request) =>
  `${text}: ${words(request)}`

const fieldOf = (name: string) => (request: Request): string => {
  const value = Parts.fieldOf(request, name)
  return Predicate.isString(value) ? value : ""
}

const inAscii = (bytes: Uint8Array): Uint8Array =>
  Parts.utf8(
    Parts.textOf({ body: bytes }).replaceAll(
      /[^\x00-\x7f]/g,
      (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`
    )
  )

const inHtml = (text: string): string => text.replaceAll(/[^\x00-\x7f]/gu, (char) => `&#${char.codePointAt(0)};`)

const isExpired = (request: Request, answer: { readonly status: number; readonly body: Uint8Array }): boolean =>
  Parts.isAml(request) && answer.status === 401 && Parts.textOf(answer).includes("expired")

const limited = (retryAfter: string | undefined) =>
  Breaks.changing((_request, { status }) => status === 429, Breaks.header("retry-after", retryAfter))

const isElsewhere = (request: Request): boolean =>
  !Parts.isToken(request) && !Parts.isAml(request) && !Parts.isProfile(request)

const isFirst = ({ target }: Request): boolean => !target.includes("?redirected")

const redirecting = (where: typeof Breaks.granted, location: (target: string) => string) =>
  Breaks.changing(
    (request, answer) => where(request, answer) && isFirst(request),
    Breaks.status(307),
    (answer, { target }) => Parts.withHeader(answer, "location", location(target)),
    Breaks.empty
  )

const sameOrigin = (target: string) => `${target}?redirected`

export const mutants: ReadonlyArray<Mutant> = [
  of("token.error", [
    ["400", "refuses a customer with 400", tokens([401], Breaks.status(400), unchallenged)],
    ["403", "refuses a customer with 403", tokens([401], Breaks.status(403), unchallenged)],
    ["200", "refuses a customer with 200 and an error in the body", tokens([401], Breaks.status(200), unchallenged)],
    ["html", "refuses a customer with a page", tokens([401], Breaks.page)],
    ["empty", "refuses a customer with an empty body", tokens([401], Breaks.empty)],
    ["problem", "refuses a customer with problem details", tokens([401], problem)]
  ]),
  of("token.error.code", [
    ["other", "says invalid_request for a customer that is not known", code("invalid_client", "invalid_request")],
    ["missing", "gives no code for a customer that is not known", code("invalid_client", undefined)]
  ]),
  of("token.error.challenge", [
    ["missing", "asks a customer that it refuses for nothing", tokens([401], unchallenged)],
    ["bearer", "asks a customer for Bearer", tokens([401], Breaks.header("www-authenticate", "Bearer"))]
  ]),
  of("token.error.method", [
    ["404", "has nothing for another method of a token request", tokens([405], Breaks.status(404))],
    ["409", "refuses another method of a token request with 409", tokens([405], Breaks.status(409))]
  ]),
  of("token.error.content-type", [
    ["400", "refuses another content type of a token request with 400", tokens([415], Breaks.status(400))],
    ["409", "refuses another content type of a token request with 409", tokens([415], Breaks.status(409))]
  ]),
  of("token.error.grant-type", [
    ["other", "says invalid_request for another grant_type", code("unsupported_grant_type", "invalid_request")],
    ["missing", "gives no code for another grant_type", code("unsupported_grant_type", undefined)]
  ]),
  of("token.error.grant-type-missing", [
    ["other", "says unsupported_grant_type for no grant_type", code("invalid_request", "unsupported_grant_type")]
  ]),
  of("token.error.echo", [
    [
      "key",
      "repeats the key in a refusal",
      tokens([401], Breaks.fieldText("error_description", appended((request) => Parts.basicOf(request)[1])))
    ],
    [
      "header",
      "repeats the Authorization header in a refusal",
      tokens([401], Breaks.fieldText("error_description", appended(Parts.authorizationOf)))
    ]
  ]),
  of("aml.error", [
    ["empty", "refuses a check with an empty body", checks([], Breaks.empty)],
    ["html", "refuses a check with a page", checks([], Breaks.page)],
    [
      "oauth",
      "refuses a check with an OAuth error",
      checks([], Breaks.text("application/json", () => "{\"error\":\"invalid_request\"}"))
    ],
    ["text", "refuses a check with plain text", checks([], Breaks.text("text/plain", () => "That is wrong"))],
    [
      "nested",
      "refuses a check with a list of errors",
      checks([], Breaks.text("application/json", () => "{\"errors\":[{\"code\":\"invalid\"}]}"))
    ]
  ]),
  of("aml.error.method", [
    ["404", "has nothing for another method of a check", checks([405], Breaks.status(404))],
    ["409", "refuses another method of a check with 409", checks([405], Breaks.status(409))]
  ]),
  of("aml.error.unauthorized", [
    ["403", "refuses a request without a token with 403", checks([401], withoutToken(Breaks.status(403)))],
    ["400", "refuses a request without a token with 400", checks([401], withoutToken(Breaks.status(400)))]
  ]),
  of("aml.error.challenge", [
    ["missing", "asks whoever has no token for nothing", checks([401], withoutToken(unchallenged))],
    [
      "basic",
      "asks whoever has no token for Basic",
      checks([401], withoutToken(Breaks.header("www-authenticate", "Basic")))
    ]
  ]),
  of("token.expired", [
    ["bare", "refuses a token that expired without a challenge", Breaks.changing(isExpired, unchallenged)],
    [
      "forbidden",
      "refuses a token that expired with 403",
      Breaks.changing(isExpired, Breaks.status(403), unchallenged)
    ],
    ["500", "breaks at a token that expired", Breaks.changing(isExpired, Breaks.status(500))]
  ]),
  of("aml.error.content-type", [
    ["400", "refuses another content type of a check with 400", checks([415], Breaks.status(400))],
    ["409", "refuses another content type of a check with 409", checks([415], Breaks.status(409))]
  ]),
  of("aml.error.json", [
    ["422", "refuses a body that is not JSON with 422", checks([400], Breaks.status(422))],
    ["409", "refuses a body that is not JSON with 409", checks([400], Breaks.status(409))]
  ]),
  of("aml.error.fields", [
    ["400", "refuses a wrong field with 400", checks([422], Breaks.status(400))],
    ["200", "answers a wrong field with 200 and an error", checks([422], Breaks.status(200), Breaks.error)],
    ["409", "refuses a wrong field with 409", checks([422], Breaks.status(409))]
  ]),
  of("aml.error.echo", [
    [
      "name",
      "repeats the name in a refusal",
      checks([400, 422], Breaks.fieldText("detail", appended(fieldOf("name"))))
    ],
    [
      "dob",
      "repeats the date of birth in a refusal",
      checks([400, 422], Breaks.fieldText("detail", appended(fieldOf("dob"))))
    ],
    [
      "escaped",
      "repeats the name in a refusal, with what is not ASCII escaped",
      checks([400, 422], Breaks.fieldText("detail", appended(fieldOf("name"))), Breaks.bytes(inAscii))
    ],
    [
      "percent",
      "repeats the name in a refusal as in a URL",
      checks(
        [400, 422],
        Breaks.fieldText("detail", appended((request) => encodeURIComponent(fieldOf("name")(request))))
      )
    ],
    [
      "html",
      "repeats the name in a refusal as in HTML",
      checks([400, 422], Breaks.fieldText("detail", appended((request) => inHtml(fieldOf("name")(request)))))
    ]
  ]),
  of("paths.other", [
    [
      "answered",
      "answers at every other path",
      Breaks.changing(isElsewhere, Breaks.status(200), Breaks.text("application/json", () => "{}"))
    ],
    ["500", "breaks at every other path", Breaks.changing(isElsewhere, Breaks.status(500))]
  ]),
  of("redirects", [
    ["token", "sends a token request on to another path", redirecting(Breaks.granted, sameOrigin)],
    ["aml", "sends a check on to another path", redirecting(Breaks.answered, sameOrigin)],
    [
      "elsewhere",
      "sends a check on to another host",
      redirecting(Breaks.answered, (target) => `http://elsewhere.invalid${target}`)
    ]
  ]),
  of("limits.rate.retry-after", [
    ["missing", "does not say when to come back", limited(undefined)],
    ["garbage", "says in a word when to come back", limited("soon")],
    ["date", "says as a date when to come back", limited("Thu, 01 Jan 2099 00:00:00 GMT")]
  ])
].flat()
