/** Formats responses as the profile selects. The endpoints decide the content of a response. */
import type { AmlCredential } from "@effect-idv/core/AmlCredential"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import type * as Fault from "../../Fault.ts"
import type { Profile } from "../../Profile.ts"
import * as RetryAfter from "../faults/retryAfter.ts"
import { clamp } from "../session/sessionClock.ts"
import * as Response from "../wire/response.ts"

/** The page of a gateway in front of the service. It shows only the status. */
const gatewayPage = (status: Response.ProblemStatus, headers?: Response.Headers): Response.Response => {
  const title = `${status} ${Response.titles[status]}`
  return Response.html(
    status,
    `<!doctype html>\n<html lang="en">\n<head><title>${title}</title></head>\n` +
      `<body><center><h1>${title}</h1></center><hr><center>gateway</center></body>\n</html>\n`,
    headers
  )
}

const noStoreHeaders = { "cache-control": "no-store", pragma: "no-cache" }

/**
 * Formats a token response. The fields for type and lifetime have names in the style of the token's field. A plain text
 * contains neither type nor lifetime.
 */
export const tokenResponse = (profile: Profile, token: string): Response.Response => {
  const status = Number(profile.tokenStatus)
  const fields = (token_type: string, expires_in: string) => ({
    [token_type]: tokenTypes[profile.tokenType],
    [expires_in]: lifetimes[profile.tokenLifetime]
  })
  const json = (body: object) => Response.json(status, body, noStoreHeaders)
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
      return Response.text(status, "text/plain; charset=utf-8", token, noStoreHeaders)
  }
}

/** JSON omits a field that is `undefined`. */
const tokenTypes: Readonly<Record<Profile["tokenType"], string | undefined>> = {
  Bearer: "Bearer",
  bearer: "bearer",
  absent: undefined,
  other: "mac"
}

const lifetimes: Readonly<Record<Profile["tokenLifetime"], number | string | null | undefined>> = {
  "3600": 3600,
  "absent": undefined,
  "text": "3600",
  "longer": 86_400,
  "shorter": 60,
  "null": null,
  "zero": 0,
  "garbage": "soon"
}

const basicChallenge = { "www-authenticate": "Basic realm=\"idv-mock\", charset=\"UTF-8\"" }

/**
 * Formats an error of the token endpoint. 405, 413 and 415 are not OAuth errors, so they are problem details, unless
 * the profile selects an empty body or a page.
 *
 * A 401 has a challenge for Basic, except for the variant `html`, whose gateway removes it. The variants `400` and
 * `200` have no 401.
 */
export const tokenError = (
  { tokenError }: Profile,
  { description, error, headers, status }: {
    readonly status: 400 | 401 | 405 | 413 | 415
    readonly error: string
    readonly description: string
    readonly headers?: Response.Headers
  }
): Response.Response => {
  const isOAuth = status === 400 || status === 401
  const withoutChallenge = { ...(isOAuth && noStoreHeaders), ...headers }
  const withChallenge = { ...withoutChallenge, ...(status === 401 && basicChallenge) }
  if (tokenError === "empty") return Response.empty(status, withChallenge)
  if (tokenError === "html") return gatewayPage(status, withoutChallenge)
  if (tokenError === "problem" || !isOAuth) return Response.problem(status, description, withChallenge)
  const body = { error, error_description: description }
  switch (tokenError) {
    case "401":
      return Response.json(status, body, withChallenge)
    case "400":
      return Response.json(400, body, withoutChallenge)
    case "200":
      return Response.json(200, body, withoutChallenge)
  }
}

/**
 * Formats an error of the API. `code`, such as `token_expired`, is in the variants `oauth` and `nested` only. `errors`,
 * which name the invalid fields, are in `problem` and `nested` only.
 */
export const amlError = (
  { amlError }: Profile,
  { code, detail, errors, headers, status }: {
    readonly status: Response.ProblemStatus
    readonly code: string
    readonly detail: string
    readonly errors?: ReadonlyArray<Response.FieldError>
    readonly headers?: Response.Headers
  }
): Response.Response => {
  switch (amlError) {
    case "problem":
      return Response.problem(status, detail, headers, errors)
    case "empty":
      return Response.empty(status, headers)
    case "html":
      return gatewayPage(status, headers)
    case "oauth":
      return Response.json(status, { error: code, error_description: detail }, headers)
    case "text":
      return Response.text(status, "text/plain; charset=utf-8", detail, headers)
    case "nested":
      return Response.json(
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

/**
 * Formats a 429. `retryIn` is the time until the client may retry, `now` is the session's time in milliseconds since
 * 1970, and `form` is the form of `Retry-After`.
 */
export const rateLimited = (
  profile: Profile,
  retryIn: Duration.Duration,
  now: number,
  form: Fault.RetryAfter | "profile" = "profile"
): Response.Response =>
  amlError(profile, {
    status: 429,
    code: "rate_limited",
    detail: "There are too many requests",
    headers: RetryAfter.headers(form === "profile" ? RetryAfter.ofProfile(profile, retryIn) : form, now)
  })

/** Formats a credential, with the name, the version and the extra fields that the profile selects. */
export const credential = (profile: Profile, encoded: typeof AmlCredential.Encoded): Response.Response => {
  const { attributes } = encoded.credentials
  const extra = profile.extraFields === "some" ? extraFields : undefined
  return Response.json(Number(profile.amlStatus), {
    ...encoded,
    cred_version: profile.credVersion,
    credentials: {
      ...encoded.credentials,
      attributes: { ...attributes, name: echoName(profile, attributes.name), ...extra?.attributes },
      ...extra?.credentials
    },
    ...extra?.top
  })
}

/** A field of each JSON type, none of which describes the person. */
const extraFields = {
  top: { valid_until: null, links: { self: "https://example.com/credentials/1" } },
  credentials: { format: "json", revision: 3 },
  attributes: { lists: ["pep", "sanctions"], is_final: true }
}

/** Repeats the name as the profile selects. A name of one word cannot be reordered, and becomes upper case. */
export const echoName = ({ nameEcho }: Pick<Profile, "nameEcho">, name: string): string => {
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
      const last = words.slice(-1).join().toUpperCase()
      const others = words.slice(0, -1)
      return others.length === 0 ? last : `${last}, ${others.join(" ")}`
    }
  }
}

const wordsOf = (name: string): ReadonlyArray<string> => name.trim().split(/\s+/)

const offsets = { utc: 0, ahead: 14, behind: -12 }

/**
 * Formats `now`, in milliseconds since 1970, as `YYYY-MM-DD HH:MM:SS` in the time zone of the profile. It stays in the
 * years 1 to 9999, because other years have another length.
 */
export const searchedOn = (profile: Profile, now: number): string => {
  const zonedMillis = now + Duration.toMillis("1 hour") * offsets[profile.searchedOn]
  return new Date(clamp(zonedMillis)).toISOString().slice(0, 19).replace("T", " ")
}

/**
 * Returns the redirect of a request for `target`, if the profile selects one. A redirect on the same server adds the
 * query `redirected` to the target. Such a target is not redirected again.
 */
export const redirect = ({ redirects }: Profile, target: string): Option.Option<Response.Response> => {
  if (redirects === "none" || target.includes("?redirected")) return Option.none()
  const location = redirects === "same-origin" ? `${target}?redirected` : `http://elsewhere.invalid${target}`
  return Option.some(Response.empty(307, { location }))
}
