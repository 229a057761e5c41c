/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/**
 * The routes of the page at `/_mock/ui`. For each session it shows the exchanges live with the reason for each
 * response, sets faults, moves the clock, changes the profile and sends requests. The HTML is rendered on the server:
 * documents, and parts of them for htmx. Without its script the page works too, but is not updated live.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Stream from "effect/Stream"
import type { VNode } from "preact"
import { render } from "preact-render-to-string"
import * as Session from "../../Session.ts"
import type * as Operation from "../operations/operation.ts"
import type * as Lifecycle from "../wire/lifecycle.ts"
import * as Request from "../wire/request.ts"
import { runOnce } from "../wire/runOnce.ts"
import { type Action, actions, type Outcome } from "./actions.ts"
import * as Assets from "./assets.ts"
import { Exchange } from "./exchangeRow.tsx"
import { ExchangesPanel } from "./exchangesPanel.tsx"
import * as Forms from "./forms.ts"
import * as JournalView from "./journalView.ts"
import * as Live from "./liveUpdates.tsx"
import { ErrorPage, ExchangePage, NoSession, OverviewPage, PanelOf, type Sent } from "./page.tsx"
import type { Page } from "./pageModel.ts"
import * as PageModel from "./pageModel.ts"

type Services = Operation.Services | FileSystem.FileSystem

type Handling = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  never,
  HttpRouter.HttpRouter.Provided | Services
>

interface ServerInfo {
  /** The path of the folder with the assets. */
  readonly assets: string
  /** Identifies this run of the server: see `liveUpdates.tsx`. */
  readonly run: string
}

/** Handles a request about a page that exists. */
type PageHandler = (page: Page, info: ServerInfo) => Handling

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

const securityHeaders = {
  "cache-control": "no-store",
  "content-security-policy": policy,
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff"
}

const html = (status: number, text: string) =>
  HttpServerResponse.text(text, { status, contentType: "text/html; charset=utf-8", headers: securityHeaders })

const document = (status: number, content: VNode) => html(status, `<!doctype html>${render(content)}`)

const redirect = (location: string) =>
  HttpServerResponse.empty({ status: 303, headers: { ...securityHeaders, location } })

/** Whether htmx sent the request, for a part of the page. */
const isPartial = Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) => headers["hx-request"] === "true")

/**
 * A part of the page, and a message. The status is 200 for an invalid form too, because browsers write each error status
 * to the console.
 */
const part = (content: VNode, message = "") =>
  html(200, render(content) + (message === "" ? "" : Live.partial("#message", "textContent", render(<>{message}</>))))

const overview = (
  page: Page,
  { assets, run }: ServerInfo,
  { request = JournalView.latest, sent }: {
    readonly request?: JournalView.Request
    readonly sent?: Sent
  } = {}
) =>
  Effect.map(PageModel.read(page, request), (state) => {
    const cursor = Live.formatCursor(Live.cursorOf(run, state))
    const isInvalid = sent !== undefined && sent.form.problems.length > 0
    return document(
      isInvalid ? 422 : 200,
      <OverviewPage assets={assets} cursor={cursor} state={state} sent={sent} />
    )
  })

const error = ({ assets }: ServerInfo, status: number, title: string, content: VNode): Handling =>
  Effect.gen(function*() {
    if (yield* isPartial) return part(<></>, title)
    return document(
      status,
      <ErrorPage assets={assets} title={title} customers={yield* PageModel.customers}>{content}</ErrorPage>
    )
  })

const noSession = (info: ServerInfo, customerId: string) =>
  error(info, 404, "No such session", <NoSession customerId={customerId} />)

const query = Effect.map(
  HttpServerRequest.HttpServerRequest,
  ({ url }) => new URLSearchParams(url.split("?")[1] ?? "")
)

const param = (name: string) => Effect.map(HttpRouter.params, (params) => params[name] ?? "")

const ofSession = (handler: PageHandler) => (info: ServerInfo): Handling =>
  Effect.flatMap(param("customerId"), (customerId) =>
    Effect.flatMap(
      PageModel.find(customerId),
      Option.match({ onNone: () => noSession(info, customerId), onSome: (page) => handler(page, info) })
    ))

/** Handles the form in the request, unless it is too long. */
const withForm = (info: ServerInfo, handle: (fields: Forms.Fields) => Handling): Handling =>
  Effect.flatMap(
    Effect.flatMap(HttpServerRequest.HttpServerRequest, Request.read),
    (request) =>
      Request.isTooLong(request)
        ? error(info, 413, "The form is too long", <p>A form may have at most 64 KiB.</p>)
        : handle(Forms.parse(request.body))
  )

/** Redirects to the page of the session in the query, or of the first customer. */
const redirectHome = (info: ServerInfo): Handling =>
  Effect.gen(function*() {
    const requestedId = (yield* query).get("session")
    if (requestedId !== null && requestedId !== "") return redirect(PageModel.pathOf(requestedId))
    const [first] = yield* PageModel.customers
    return first === undefined
      ? yield* noSession(info, Session.demoCustomer.customerId)
      : redirect(PageModel.pathOf(first))
  })

const openSession = (info: ServerInfo): Handling =>
  withForm(info, ({ session = "" }) =>
    Effect.gen(function*() {
      if (session === "") return redirect(PageModel.root)
      const { find } = yield* Session.Sessions
      yield* find(session)
      return redirect(PageModel.pathOf(session))
    }))

/** The detail of an exchange of the session, or of one that belongs to no session. */
const exchange: PageHandler = (page, info) =>
  Effect.gen(function*() {
    const id = yield* param("id")
    const { unmatched } = yield* Session.Sessions
    const entries = [...yield* page.session.journal.entries, ...yield* unmatched.entries]
    const entry = entries.find((entry) => String(entry.id) === id)
    const isPart = yield* isPartial
    if (entry === undefined) {
      return isPart ? part(<>The journal no longer has this request.</>) : yield* error(
        info,
        404,
        "No such request",
        <p>
          The journal of <a href={page.path}>{page.session.customerId}</a> does not have this request, or no longer has
          {" "}
          it.
        </p>
      )
    }
    return isPart ? part(<Exchange entry={entry} page={page} />) : document(
      200,
      <ExchangePage assets={info.assets} customers={yield* PageModel.customers} page={page} entry={entry} />
    )
  })

const matchesMessage = ({ matches }: JournalView.View): string =>
  matches === 0 ? "No request matches" : matches === 1 ? "1 request matches" : `${matches} requests match`

/** The exchanges that the user searched, or another page of them. An update by the script has no message. */
const search: PageHandler = (page, info) =>
  withForm(info, (fields) =>
    Effect.gen(function*() {
      const request = JournalView.parse(fields)
      if (!(yield* isPartial)) return yield* overview(page, info, { request })
      const state = yield* PageModel.read(page, request)
      const isSearch = fields["to"] === undefined && fields["before"] === undefined
      return part(<ExchangesPanel {...state} />, isSearch ? matchesMessage(state.view) : "")
    }))

/** The address of a search has no results of its own, because a filter may have the last word of a name. */
const redirectToPage: PageHandler = ({ path }) => Effect.succeed(redirect(`${path}#exchanges`))

const clear: PageHandler = (page) =>
  Effect.gen(function*() {
    yield* page.session.journal.clear
    return (yield* isPartial)
      ? part(<ExchangesPanel {...yield* PageModel.read(page)} />, "Requests cleared")
      : redirect(`${page.path}#exchanges`)
  })

const showOutcome = (page: Page, info: ServerInfo, { message, panel, sent }: Outcome) =>
  Effect.gen(function*() {
    if (yield* isPartial) {
      return part(<PanelOf id={panel} state={yield* PageModel.read(page)} sent={sent} />, message)
    }
    return sent === undefined
      ? redirect(`${page.path}#${panel}`)
      : yield* overview(page, info, { sent: { panel, form: sent, message } })
  })

const runAction = (action: Action): PageHandler => (page, info) =>
  withForm(
    info,
    (fields) => Effect.flatMap(action(page.session, fields, page.origin), (outcome) => showOutcome(page, info, outcome))
  )

const events: PageHandler = (page, { run }) =>
  Effect.gen(function*() {
    const { headers } = yield* HttpServerRequest.HttpServerRequest
    const cursor = Live.parseCursor(headers["last-event-id"] ?? (yield* query).get("after") ?? "")
    const context = yield* Effect.context<Session.Sessions | Lifecycle.Lifecycle>()
    return HttpServerResponse.stream(Stream.provideContext(Live.events(run, page, cursor), context), {
      contentType: "text/event-stream; charset=utf-8",
      headers: securityHeaders
    })
  })

const asset = (assets: Effect.Effect<Assets.Assets>): Handling =>
  Effect.gen(function*() {
    const { files, path } = yield* assets
    const { url } = yield* HttpServerRequest.HttpServerRequest
    const file = url.startsWith(`${path}/`) ? files.get(yield* param("file")) : undefined
    return file === undefined
      ? HttpServerResponse.empty({ status: 404 })
      : HttpServerResponse.text(file.text, {
        contentType: file.contentType,
        headers: { "cache-control": "public, max-age=31536000, immutable", "x-content-type-options": "nosniff" }
      })
  })

/** Adds the routes to the router of the control API. */
export const layer: Layer.Layer<never, never, HttpApiBuilder.Router | Services> = HttpApiBuilder.Router.use((router) =>
  Effect.gen(function*() {
    const context = yield* Effect.context<Services>()
    const assets = yield* runOnce(Effect.provide(Assets.read, context))
    const run = (yield* Clock.currentTimeMillis).toString(36)

    const withServerInfo = (handle: (info: ServerInfo) => Handling) =>
      Effect.provide(Effect.flatMap(assets, ({ path }) => handle({ assets: path, run })), context)

    for (const path of ["/_mock", "/_mock/", `${PageModel.root}/`] as const) {
      yield* router.get(path, Effect.succeed(redirect(PageModel.root)))
    }
    yield* router.get("/_mock/assets/:digest/:file", withServerInfo(() => asset(assets)))
    yield* router.get(PageModel.root, withServerInfo(redirectHome))
    yield* router.post(PageModel.root, withServerInfo(openSession))

    const path = `${PageModel.root}/:customerId` as const
    yield* router.get(path, withServerInfo(ofSession((page, info) => overview(page, info))))
    yield* router.get(`${path}/events`, withServerInfo(ofSession(events)))
    yield* router.get(`${path}/exchanges/:id`, withServerInfo(ofSession(exchange)))
    yield* router.get(`${path}/exchanges`, withServerInfo(ofSession(redirectToPage)))
    yield* router.post(`${path}/exchanges`, withServerInfo(ofSession(search)))
    yield* router.post(`${path}/exchanges/clear`, withServerInfo(ofSession(clear)))
    for (const [name, action] of Record.toEntries(actions)) {
      yield* router.post(`${path}/${name}`, withServerInfo(ofSession(runAction(action))))
    }
  })
)
