/**
 * The page behind `aml_profile` (API document, section 2.3), for a person with a browser.
 *
 * @since 0.1.0
 */
import type { AmlCredential } from "@effect-idv/core/AmlCredential"
import type * as Headers from "@effect/platform/Headers"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import escapeHtml from "escape-html"
import type { Answer } from "./internal/answer.ts"
import * as Reply from "./internal/reply.ts"
import type * as Session from "./Session.ts"

const prefix = "/aml-profiles/"

/**
 * The profile id in a path, if it is the path of a profile.
 *
 * @category getters
 * @since 0.1.0
 */
export const idOf = (path: string): Option.Option<string> =>
  path.startsWith(prefix) ? Option.some(path.slice(prefix.length)) : Option.none()

/**
 * The address of a profile as the client that asked can reach it: by the host it asked for, which
 * behind a container's port mapping is not the one the server listens on. A host that is none
 * counts as `localhost`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const url = (headers: Headers.Headers, profileId: string): string => {
  const origin = `http://${headers["host"]}`
  return new URL(`${prefix}${profileId}`, URL.canParse(origin) ? origin : "http://localhost").href
}

/**
 * 200 with the page, or 404 with a page that says so.
 *
 * @category handlers
 * @since 0.1.0
 */
export const answer = (profileId: string, session: Option.Option<Session.Session>): Effect.Effect<Answer> =>
  Effect.map(
    Option.match(session, { onNone: () => Effect.succeedNone, onSome: ({ search }) => search(profileId) }),
    Option.match({
      onNone: () => ({
        ...shown,
        rule: "profile.unknown",
        why: "No search that is kept has this profile",
        reply: page(404, "No such AML profile", "<p>The mock server keeps the last searches only, until it stops.</p>")
      }),
      onSome: ({ credentials: { attributes } }) => ({
        ...shown,
        rule: "profile.shown",
        why: "Somebody opened the profile of a search",
        reply: page(
          200,
          "AML profile",
          `<dl>${rows(attributes)}</dl><p>This person is fictional: so is the result.</p>`
        )
      })
    })
  )

const shown = { claims: ["aml.answer.aml-profile"], unexpected: false }

type Attributes = AmlCredential["credentials"]["attributes"]

const rows = ({ birthYear, matchFound, name, searchedOn }: Attributes): string =>
  [
    ["Name", Redacted.value(name)],
    ["Year of birth", Redacted.value(birthYear)],
    ["Searched on", `${searchedOn} (UTC, by the mock's clock)`],
    ["Match found", matchFound]
  ].map(([term, value]) => `<dt>${term}</dt><dd>${escapeHtml(value)}</dd>`).join("")

/** `body` is HTML; everything in it that came from a request is escaped. */
const page = (status: number, title: string, body: string) =>
  Reply.text(
    status,
    "text/html; charset=utf-8",
    `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>
  :root { color-scheme: light dark }
  body { font: 1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem }
  dt { font-weight: 600 }
  dd { margin: 0 0 1rem; overflow-wrap: anywhere }
</style>
<main><h1>${title}</h1>${body}</main>
</html>
`,
    {
      "cache-control": "no-store",
      "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
      "x-content-type-options": "nosniff"
    }
  )
