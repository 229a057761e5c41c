/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/** What the page answers with: documents, and parts of them for htmx. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { VNode } from "preact"
import { render } from "preact-render-to-string"
import type * as Session from "../../Session.ts"
import type { Outcome } from "./actions.ts"
import { Exchange, ExchangesPanel } from "./exchangesPanel.tsx"
import * as Live from "./liveUpdates.tsx"
import { ExchangePage, type Forms, NoSession, Page, panelOf, Trouble } from "./page.tsx"
import type { Place } from "./pageModel.ts"
import * as Places from "./pageModel.ts"

/** - `assets`: where they are. `run`: of the server. */
export interface Setting {
  readonly assets: string
  readonly run: string
}

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'"
].join("; ")

export const safe = {
  "cache-control": "no-store",
  "content-security-policy": policy,
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff"
}

const html = (status: number, text: string) =>
  HttpServerResponse.text(text, { status, contentType: "text/html; charset=utf-8", headers: safe })

const document = (status: number, content: VNode) => html(status, `<!doctype html>${render(content)}`)

/** Whether the script asks, for a part of the page. */
const isPartial = Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) => headers["hx-request"] === "true")

const say = (text: string): string => Live.partial("#said", "textContent", render(<>{text}</>))

export const redirect = (location: string) => HttpServerResponse.empty({ status: 303, headers: { ...safe, location } })

export const page = ({ assets, run }: Setting, place: Place, forms: Forms = {}, status = 200) =>
  Effect.map(Places.read(place), (state) => {
    const cursor = Live.formatCursor(Live.cursorOf(run, state))
    return document(status, <Page assets={assets} cursor={cursor} state={state} forms={forms} />)
  })

/**
 * What a form did. To the script a refusal is the panel as it is to be shown, and no error: for an
 * error the browser would write to its console.
 */
export const outcome = (setting: Setting, place: Place, { forms, isRefused, panel, said }: Outcome) =>
  Effect.gen(function*() {
    if (yield* isPartial) {
      const state = yield* Places.read(place)
      const content = Option.match(state.session, {
        onNone: () => "",
        onSome: (session) => render(panelOf(panel, state, session, forms))
      })
      return html(200, content + say(said))
    }
    return isRefused
      ? yield* page(setting, place, forms, 422)
      : Object.keys(forms).length > 0
      ? yield* page(setting, place, forms)
      : redirect(`${place.path}#${panel}`)
  })

export const cleared = (place: Place) =>
  Effect.gen(function*() {
    if (!(yield* isPartial)) return redirect(`${place.path}#exchanges`)
    return html(200, render(<ExchangesPanel {...yield* Places.read(place)} />) + say("The exchanges are cleared"))
  })

const trouble = (
  { assets }: Setting,
  status: number,
  title: string,
  content: (customers: ReadonlyArray<string>) => VNode
): Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  never,
  HttpServerRequest.HttpServerRequest | Session.Sessions
> =>
  Effect.gen(function*() {
    if (yield* isPartial) return html(200, say(title))
    const state = yield* Effect.flatMap(Places.strangers, Places.read)
    return document(
      status,
      <Trouble assets={assets} title={title} customers={state.customers} strangers={state.strangers}>
        {content(state.customers)}
      </Trouble>
    )
  })

export const noSession = (setting: Setting, customerId: string) =>
  trouble(
    setting,
    404,
    "No such session",
    (customers) => <NoSession customerId={customerId} customers={customers} />
  )

export const formTooLong = (setting: Setting) =>
  trouble(setting, 413, "The form is too long", () => <p>A form has at most 64 KiB.</p>)

export const exchange = (setting: Setting, place: Place, id: string) =>
  Effect.gen(function*() {
    const state = yield* Places.read(place)
    const entry = state.entries.find((entry) => String(entry.id) === id)
    const isPart = yield* isPartial
    if (entry === undefined) {
      return isPart
        ? html(200, "This exchange is not kept any more.")
        : yield* trouble(setting, 404, "No such exchange", () => (
          <p>
            The journal of <a href={place.path}>{place.title}</a> does not have it, or not any more.
          </p>
        ))
    }
    return isPart
      ? html(200, render(<Exchange entry={entry} path={place.path} />))
      : document(200, <ExchangePage assets={setting.assets} state={state} entry={entry} />)
  })
