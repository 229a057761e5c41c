/** Answers in the form that a profile gives them. What is answered is decided before. */
import type { AmlCredential } from "@effect-idv/core/AmlCredential"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import type { Profile } from "../../Profile.ts"
import * as Reply from "../http/response.ts"
import * as SessionClock from "../session/sessionClock.ts"

type Headers = Readonly<Record<string, string>>

const titles = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Content",
  429: "Too Many Requests"
}

interface FieldError {
  readonly path: string
  readonly reason: string
}

const problem = (
  status: keyof typeof titles,
  detail: string,
  { errors, headers }: { readonly errors?: ReadonlyArray<FieldError> | undefined; readonly headers?: Headers }
): Reply.Reply =>
  Reply.json(
    status,
    { type: "about:blank", title: titles[status], status, detail, ...(errors && { errors }) },
    headers,
    "application/problem+json"
  )

/** What stands in front of a service answers for it, and knows the status only. */
const gatewayPage = (status: keyof typeof titles, headers?: Headers): Reply.Reply => {
  const title = `${status} ${titles[status]}`
  return Reply.text(
    status,
    "text/html; charset=utf-8",
    `<!doctype html>\n<html lang="en">\n<head><title>${title}</title></head>\n` +
      `<body><center><h1>${title}</h1></center><hr><center>gateway</center></body>\n</html>\n`,
    headers
  )
}

const uncacheable = { "cache-control": "no-store", pragma: "no-cache" }

/** For how many seconds a token is valid, whatever its response says. */
export const lifetimeSeconds = ({ tokenLifetime }: Profile): number => tokenLifetime === "shorter" ? 60 : 3600

/**
 * A token response. The names of the type and of the lifetime go with that of the token; as plain
 * text it has neither.
 */
export const grantReply = (
  profile: Profile,
  token: string
): Reply.Reply => {
  const status = Number(profile.tokenStatus)
  const fields = (token_type: string, expires_in: string) => ({
    ...optional(token_type, statedType(profile)),
    ...optional(expires_in, statedLifetime(profile))
  })
  const json = (body: object) => Reply.json(status, body, uncacheable)
  switch (profile.tokenField) {
    case "access_token":
      return json({ access_token: token, ...fields("token_type", "expires_in") })
    case "accessToken":
      return json({ accessToken: token, ...fields("tokenType", "expiresIn") })
    case "token":
      return json({ token, ...fields("token_type", "expires_in") })
    case "data.access_token":
      return json({ data: { access_token: token, ...fields("token_type", "expires_in") } })
    case "text":
      return Reply.text(status, "text/plain; charset=utf-8", token, uncacheable)
  }
}

const optional = (name: string, value: unknown) => value === undefined ? {} : { [name]: value }

const statedType = ({ tokenType }: Profile): string | undefined => {
  switch (tokenType) {
    case "Bearer":
    case "bearer":
      return tokenType
    case "absent":
      return undefined
    case "other":
      return "mac"
  }
}

const statedLifetime = ({ tokenLifetime }: Profile): number | string | null | undefined => {
  switch (tokenLifetime) {
    case "3600":
      return 3600
    case "absent":
      return undefined
    case "text":
      return "3600"
    case "longer":
      return 86_400
    case "shorter":
      return 60
    case "null":
      return null
    case "zero":
      return 0
    case "garbage":
      return "soon"
  }
}

const basicChallenge = { "www-authenticate": "Basic realm=\"idv-mock\", charset=\"UTF-8\"" }

/**
 * A refusal by the token endpoint. 405, 413 and 415 come from before OAuth, so they are problem
 * details unless the profile has an empty body or a page.
 *
 * A 401 has a challenge for Basic, but not in the variant `html`, whose gateway drops it. In the
 * variants `400` and `200` there is no 401.
 */
export const tokenRefusal = (
  { tokenError }: Profile,
  { description, error, headers, status }: {
    readonly status: 400 | 401 | 405 | 413 | 415
    readonly error: string
    readonly description: string
    readonly headers?: Headers
  }
): Reply.Reply => {
  const isOAuth = status === 400 || status === 401
  const unchallenged = { ...(isOAuth && uncacheable), ...headers }
  const challenged = { ...unchallenged, ...(status === 401 && basicChallenge) }
  if (tokenError === "empty") return Reply.empty(status, challenged)
  if (tokenError === "html") return gatewayPage(status, unchallenged)
  if (tokenError === "problem" || !isOAuth) return problem(status, description, { headers: challenged })
  const body = { error, error_description: description }
  switch (tokenError) {
    case "401":
      return Reply.json(status, body, challenged)
    case "400":
      return Reply.json(400, body, unchallenged)
    case "200":
      return Reply.json(200, body, unchallenged)
  }
}

/**
 * A refusal by the API. `code` is one word, such as `token_expired`. The forms `oauth` and `nested`
 * have it, and only `problem` and `nested` have `errors`: which fields are wrong.
 */
export const amlRefusal = (
  { amlError }: Profile,
  { code, detail, errors, headers, status }: {
    readonly status: keyof typeof titles
    readonly code: string
    readonly detail: string
    readonly errors?: ReadonlyArray<FieldError>
    readonly headers?: Headers
  }
): Reply.Reply => {
  switch (amlError) {
    case "problem":
      return problem(status, detail, { errors, ...(headers && { headers }) })
    case "empty":
      return Reply.empty(status, headers)
    case "html":
      return gatewayPage(status, headers)
    case "oauth":
      return Reply.json(status, { error: code, error_description: detail }, headers)
    case "text":
      return Reply.text(status, "text/plain; charset=utf-8", detail, headers)
    case "nested":
      return Reply.json(
        status,
        {
          errors: errors === undefined || errors.length === 0
            ? [{ code, message: detail }]
            : errors.map(({ path, reason }) => ({ code, message: reason, field: path }))
        },
        headers
      )
  }
}

/** A credential: with the name, the version and the fields that the profile gives it. */
export const credentialReply = (profile: Profile, encoded: typeof AmlCredential.Encoded): Reply.Reply => {
  const { attributes } = encoded.credentials
  const extra = profile.extraFields === "some" ? extraFields : undefined
  return Reply.json(Number(profile.amlStatus), {
    ...encoded,
    cred_version: profile.credVersion,
    credentials: {
      ...encoded.credentials,
      attributes: { ...attributes, name: echo(profile, attributes.name), ...extra?.attributes },
      ...extra?.credentials
    },
    ...extra?.top
  })
}

/** One of each type of JSON, and none that says anything of a person. */
const extraFields = {
  top: { valid_until: null, links: { self: "https://example.com/credentials/1" } },
  credentials: { format: "json", revision: 3 },
  attributes: { lists: ["pep", "sanctions"], is_final: true }
}

/** Of a name of one word, the last word is all of it, so `reordered` only puts it in upper case. */
const echo = ({ nameEcho }: Profile, name: string): string => {
  switch (nameEcho) {
    case "exact":
      return name
    case "upper":
      return name.toUpperCase()
    case "nfd":
      return name.normalize("NFD")
    case "blanks":
      return ` ${wordsOf(name).join("  ")} `
    case "reordered": {
      const words = wordsOf(name)
      const last = words.slice(-1).map((word) => word.toUpperCase())
      const others = words.slice(0, -1)
      return others.length === 0 ? last.join(" ") : `${last.join(" ")}, ${others.join(" ")}`
    }
  }
}

const wordsOf = (name: string): ReadonlyArray<string> => name.trim().split(/\s+/)

const offsets = { utc: 0, ahead: 14, behind: -12 }

/**
 * `now`, in milliseconds since 1970, as `YYYY-MM-DD HH:MM:SS` in the time zone of the profile. At an
 * edge of the years 0001 to 9999 it stays: beyond it, a year has another form.
 */
export const searchedOn = (profile: Profile, now: number): string => {
  const zoned = now + Duration.toMillis("1 hour") * offsets[profile.searchedOn]
  const { first, last } = SessionClock.range
  return new Date(Math.min(Math.max(zoned, first), last)).toISOString().slice(0, 19).replace("T", " ")
}

/** A 429. `now` is in milliseconds since 1970. Whoever comes back when it says, is not too early. */
export const rateLimited = (profile: Profile, retryIn: Duration.Duration, now: number): Reply.Reply =>
  amlRefusal(profile, {
    status: 429,
    code: "rate_limited",
    detail: "There are too many requests",
    headers: retryAfter(profile, retryIn, now)
  })

const retryAfter = ({ rateLimit }: Profile, retryIn: Duration.Duration, now: number): Headers => {
  switch (rateLimit) {
    case "seconds":
      return { "retry-after": String(Math.ceil(Duration.toSeconds(retryIn))) }
    case "date":
      return { "retry-after": new Date(Math.ceil((now + Duration.toMillis(retryIn)) / 1000) * 1000).toUTCString() }
    case "none":
      return {}
    case "garbage":
      return { "retry-after": "soon" }
  }
}

/**
 * A redirect of a request for `target`, if the profile has one: on the same server to the same path
 * with the query `redirected`, where it ends. Of a request that comes with it, the client followed.
 */
export const redirect = ({ redirects }: Profile, target: string): Option.Option<Reply.Reply> => {
  if (redirects === "none" || target.includes("?redirected")) return Option.none()
  const location = redirects === "same-origin" ? `${target}?redirected` : `http://elsewhere.invalid${target}`
  return Option.some(Reply.empty(307, { location }))
}
