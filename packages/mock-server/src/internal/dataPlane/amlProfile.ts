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
import type * as Session from "../../Session.ts"
import * as Reply from "../http/response.ts"
import type { Answer } from "./decision.ts"

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
 * behind a container's port mapping is not the one the server listens on. No host, or one
 * that is none, counts as `localhost`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const url = (headers: Headers.Headers, profileId: string): string => {
  const origin = `http://${headers["host"] ?? "localhost"}`
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
          `<p class="${outcomes[attributes.matchFound]}">${attributes.matchFound}</p><dl>${
            rows(attributes)
          }</dl><p class="note">This person is fictional: so is the result.</p>`
        )
      })
    })
  )

const shown = { claims: ["aml.profile.page"], unexpected: false }

type Attributes = AmlCredential["credentials"]["attributes"]

const rows = ({ birthYear, name, searchedOn }: Attributes): string =>
  [
    ["Name", Redacted.value(name)],
    ["Year of birth", Redacted.value(birthYear)],
    ["Searched on", `${searchedOn} (by the mock's clock)`]
  ].map(([term, value]) => `<dt>${term}</dt><dd>${escapeHtml(value)}</dd>`).join("")

const outcomes = { "No": "clear", "Potential match": "potential" }

/** `body` is HTML; everything in it that came from a request is escaped. */
const page = (status: number, title: string, body: string) =>
  Reply.text(
    status,
    "text/html; charset=utf-8",
    `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>
  :root {
    color-scheme: light dark;
    --ground: light-dark(#f4f5f8, #101319);
    --panel: light-dark(#fff, #171b23);
    --line: light-dark(#dfe3ea, #2a303c);
    --text: light-dark(#1a1f29, #e3e7ee);
    --muted: light-dark(#566071, #9ba5b6);
    --good: light-dark(#14602f, #7fd79d);
    --good-ground: light-dark(#e2f4e8, #14301f);
    --warn: light-dark(#7a4a00, #f0c06a);
    --warn-ground: light-dark(#fcf0d6, #382a0d);
  }
  * { box-sizing: border-box; margin: 0 }
  body { padding: 3rem 1rem; background: var(--ground); color: var(--text); font: 0.9375rem/1.5 system-ui, sans-serif }
  main { max-width: 34rem; margin: 0 auto; padding: 1.25rem 1.5rem 1.5rem; background: var(--panel); border: 1px solid var(--line); border-radius: 8px }
  h1 { font-size: 1.125rem; letter-spacing: -0.01em }
  dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); margin-top: 1rem }
  dt, dd { padding: 0.5rem 0; border-top: 1px solid var(--line) }
  dt { padding-right: 1.5rem; color: var(--muted) }
  dd { overflow-wrap: anywhere }
  .clear, .potential { margin-top: 0.75rem; padding: 0.5rem 0.75rem; border-left: 3px solid; border-radius: 5px; font-weight: 600 }
  .clear { color: var(--good); background: var(--good-ground) }
  .potential { color: var(--warn); background: var(--warn-ground) }
  .note { margin-top: 0.75rem; color: var(--muted); font-size: 0.8125rem }
</style>
<main><h1>${title}</h1>${body}</main>
</html>
`,
    {
      "cache-control": "no-store",
      "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:",
      "x-content-type-options": "nosniff"
    }
  )
