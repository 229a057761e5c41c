/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/** The responses of the page: documents, and parts of them for htmx. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import type { VNode } from "preact"
import { render } from "preact-render-to-string"
import * as Session from "../../Session.ts"
import type { Outcome } from "./actions.ts"
import { Exchange } from "./exchangeRow.tsx"
import { ExchangesPanel } from "./exchangesPanel.tsx"
import type { Fields } from "./forms.ts"
import * as JournalView from "./journalView.ts"
import * as Live from "./liveUpdates.tsx"
import { ErrorPage, ExchangePage, type FormStates, NoSession, OverviewPage, panelOf } from "./page.tsx"
import type { Page } from "./pageModel.ts"
import * as PageModel from "./pageModel.ts"

export interface ServerInfo {
  /** The path of the folder with the assets. */
  readonly assets: string
  /** Identifies this run of the server: see `liveUpdates.tsx`. */
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

export const securityHeaders = {
  "cache-control": "no-store",
  "content-security-policy": policy,
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff"
}

const html = (status: number, text: string) =>
  HttpServerResponse.text(text, { status, contentType: "text/html; charset=utf-8", headers: securityHeaders })

const document = (status: number, content: VNode) => html(status, `<!doctype html>${render(content)}`)

/** Whether htmx sent the request, for a part of the page. */
const isPartial = Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) => headers["hx-request"] === "true")

const messagePart = (text: string): string => Live.partial("#message", "textContent", render(<>{text}</>))

export const redirect = (location: string) =>
  HttpServerResponse.empty({ status: 303, headers: { ...securityHeaders, location } })

export const overview = (
  { assets, run }: ServerInfo,
  page: Page,
  { forms = {}, request = JournalView.latest, status = 200 }: {
    readonly forms?: FormStates
    readonly status?: number
    readonly request?: JournalView.Request
  } = {}
) =>
  Effect.map(PageModel.read(page, request), (state) => {
    const cursor = Live.formatCursor(Live.cursorOf(run, state))
    return document(status, <OverviewPage assets={assets} cursor={cursor} state={state} forms={forms} />)
  })

/**
 * The outcome of a form. To htmx, an invalid form is a 200 with the panel and its problems, because browsers write each
 * error status to the console.
 */
export const outcome = (info: ServerInfo, page: Page, { forms, isInvalid, message, panel }: Outcome) =>
  Effect.gen(function*() {
    if (yield* isPartial) {
      const state = yield* PageModel.read(page)
      return html(200, render(panelOf(panel, state, forms)) + messagePart(message))
    }
    return isInvalid
      ? yield* overview(info, page, { forms, status: 422 })
      : Object.keys(forms).length > 0
      ? yield* overview(info, page, { forms })
      : redirect(`${page.path}#${panel}`)
  })

const matchesMessage = ({ matches }: JournalView.View): string =>
  matches === 0 ? "No request matches" : matches === 1 ? "1 request matches" : `${matches} requests match`

/** The exchanges that the user searched, or another page of them. An update by the script has no message. */
export const exchanges = (info: ServerInfo, page: Page, fields: Fields) =>
  Effect.gen(function*() {
    const request = JournalView.parse(fields)
    if (!(yield* isPartial)) return yield* overview(info, page, { request })
    const state = yield* PageModel.read(page, request)
    const message = fields["to"] === undefined && fields["before"] === undefined
      ? messagePart(matchesMessage(state.view))
      : ""
    return html(200, render(<ExchangesPanel {...state} />) + message)
  })

export const cleared = (page: Page) =>
  Effect.gen(function*() {
    if (!(yield* isPartial)) return redirect(`${page.path}#exchanges`)
    return html(200, render(<ExchangesPanel {...yield* PageModel.read(page)} />) + messagePart("Requests cleared"))
  })

const error = (
  { assets }: ServerInfo,
  status: number,
  title: string,
  content: VNode
): Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  never,
  HttpServerRequest.HttpServerRequest | Session.Sessions
> =>
  Effect.gen(function*() {
    if (yield* isPartial) return html(200, messagePart(title))
    const customers = yield* PageModel.customers
    return document(
      status,
      <ErrorPage assets={assets} title={title} customers={customers}>{content}</ErrorPage>
    )
  })

export const noSession = (info: ServerInfo, customerId: string) =>
  error(info, 404, "No such session", <NoSession customerId={customerId} />)

export const formTooLong = (info: ServerInfo) =>
  error(info, 413, "The form is too long", <p>A form may have at most 64 KiB.</p>)

/** The detail of an exchange of the session, or of one that belongs to no session. */
export const exchange = (info: ServerInfo, page: Page, id: string) =>
  Effect.gen(function*() {
    const { unmatched } = yield* Session.Sessions
    const entries = [...yield* page.session.journal.entries, ...yield* unmatched.entries]
    const entry = entries.find((entry) => String(entry.id) === id)
    const isPart = yield* isPartial
    if (entry === undefined) {
      return isPart
        ? html(200, "The journal no longer has this request.")
        : yield* error(
          info,
          404,
          "No such request",
          <p>
            The journal of <a href={page.path}>{page.session.customerId}</a> does not have this request, or no longer
            {" "}
            has it.
          </p>
        )
    }
    return isPart
      ? html(200, render(<Exchange entry={entry} page={page} />))
      : document(
        200,
        <ExchangePage assets={info.assets} customers={yield* PageModel.customers} page={page} entry={entry} />
      )
  })
