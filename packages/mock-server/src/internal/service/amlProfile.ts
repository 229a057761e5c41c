/** The page at the address in `aml_profile` (section 2.3), for a person with a browser. */
import type { AmlCredential } from "@effect-idv/core/AmlCredential"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import escapeHtml from "escape-html"
import type * as Session from "../../Session.ts"
import * as Response from "../wire/response.ts"
import { profilesPath } from "./amlEndpoint.ts"
import { type Decision, refused } from "./decision.ts"

/** Returns the profile id in a path, if it is the path of a profile. */
export const idOf = (path: string): Option.Option<string> =>
  path.startsWith(profilesPath) ? Option.some(path.slice(profilesPath.length)) : Option.none()

/** Decides a request for a profile: 200 with the page, or 404 with a page for an unknown profile. */
export const decide = (profileId: string, session: Option.Option<Session.Session>): Effect.Effect<Decision> =>
  Effect.map(
    Option.match(session, { onNone: () => Effect.succeedNone, onSome: ({ search }) => search(profileId) }),
    Option.match({
      onNone: () => ({
        ...pageDecision,
        rule: "profile.unknown",
        facts: refused("No search of the session has this profile"),
        response: page(
          404,
          "No such AML profile",
          "<p>The mock server keeps only the last searches, until it stops.</p>"
        )
      }),
      onSome: ({ credentials: { attributes } }) => ({
        ...pageDecision,
        rule: "profile.shown",
        facts: { kind: "other", what: "The profile of a search was opened" } as const,
        response: page(
          200,
          "AML profile",
          `<p class="${outcomes[attributes.matchFound]}">${attributes.matchFound}</p><dl>${
            rows(attributes)
          }</dl><p class="note">The person and the result are fictional.</p>`
        )
      })
    })
  )

const pageDecision = { claims: ["aml.profile.page"], unexpected: false }

type Attributes = AmlCredential["credentials"]["attributes"]

const rows = ({ birthYear, name, searchedOn }: Attributes): string =>
  [
    ["Name", Redacted.value(name)],
    ["Year of birth", Redacted.value(birthYear)],
    ["Searched on", `${searchedOn} (by the mock's clock)`]
  ].map(([term, value]) => `<dt>${term}</dt><dd>${escapeHtml(value)}</dd>`).join("")

const outcomes = { "No": "clear", "Potential match": "potential" }

/** The colours of the pages, for a light and a dark screen. */
export const palette = `
  --ground: light-dark(#f4f5f8, #101319);
  --panel: light-dark(#fff, #171b23);
  --line: light-dark(#dfe3ea, #2a303c);
  --text: light-dark(#1a1f29, #e3e7ee);
  --muted: light-dark(#566071, #9ba5b6);
  --good: light-dark(#14602f, #7fd79d);
  --good-ground: light-dark(#e2f4e8, #14301f);
  --warn: light-dark(#7a4a00, #f0c06a);
  --warn-ground: light-dark(#fcf0d6, #382a0d);
`

/** Makes a page. The caller escapes text that comes from a request. */
const page = (status: number, title: string, body: string) =>
  Response.html(
    status,
    `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>
  :root {
    color-scheme: light dark;
    ${palette}
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
