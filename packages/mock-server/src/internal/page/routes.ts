/**
 * The routes of the page at `/_mock/ui`. For each session it shows the exchanges live with the reason for each
 * response, sets faults, moves the clock, changes the profile and sends requests. The HTML is rendered on the server.
 * Without its script the page works too, but is not updated live.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Stream from "effect/Stream"
import * as Session from "../../Session.ts"
import { runOnce } from "../journal/once.ts"
import type * as Operation from "../operations/operation.ts"
import type * as Lifecycle from "../wire/lifecycle.ts"
import * as Request from "../wire/request.ts"
import { type Action, actions } from "./actions.ts"
import * as Assets from "./assets.ts"
import * as Forms from "./forms.ts"
import * as Live from "./liveUpdates.tsx"
import type { Page } from "./pageModel.ts"
import * as PageModel from "./pageModel.ts"
import * as Responses from "./responses.tsx"

type Services = Operation.Services | FileSystem.FileSystem

type Handling = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  never,
  HttpRouter.HttpRouter.Provided | Services
>

/** Handles a request about a page that exists. */
type PageHandler = (page: Page, info: Responses.ServerInfo) => Handling

const query = Effect.map(
  HttpServerRequest.HttpServerRequest,
  ({ url }) => new URLSearchParams(url.split("?")[1] ?? "")
)

const param = (name: string) => Effect.map(HttpRouter.params, (params) => params[name] ?? "")

const ofSession = (handler: PageHandler) => (info: Responses.ServerInfo): Handling =>
  Effect.flatMap(param("customerId"), (customerId) =>
    Effect.flatMap(
      PageModel.find(customerId),
      Option.match({
        onNone: (): Handling => Responses.noSession(info, customerId),
        onSome: (page) => handler(page, info)
      })
    ))

/** Redirects to the page of the session in the query, or of the first customer. */
const redirectHome = (info: Responses.ServerInfo): Handling =>
  Effect.gen(function*() {
    const requestedId = (yield* query).get("session")
    if (requestedId !== null && requestedId !== "") return Responses.redirect(PageModel.pathOf(requestedId))
    const { list } = yield* Session.Sessions
    const [first] = yield* list
    return first === undefined
      ? yield* Responses.noSession(info, Session.demoCustomer.customerId)
      : Responses.redirect(PageModel.pathOf(first.customerId))
  })

const overview: PageHandler = (page, info) => Responses.overview(info, page)

const exchange: PageHandler = (page, info) => Effect.flatMap(param("id"), (id) => Responses.exchange(info, page, id))

const clear: PageHandler = (page) => Effect.zipRight(page.session.journal.clear, Responses.cleared(page))

const events: PageHandler = (page, { run }) =>
  Effect.gen(function*() {
    const { headers } = yield* HttpServerRequest.HttpServerRequest
    const cursor = Live.parseCursor(headers["last-event-id"] ?? (yield* query).get("after") ?? "")
    const context = yield* Effect.context<Session.Sessions | Lifecycle.Lifecycle>()
    return HttpServerResponse.stream(Stream.provideContext(Live.events(run, page, cursor), context), {
      contentType: "text/event-stream; charset=utf-8",
      headers: Responses.securityHeaders
    })
  })

/** The fields of the form in the request. None if it is too long. */
const form = Effect.map(
  Effect.flatMap(HttpServerRequest.HttpServerRequest, Request.read),
  (request) => Request.isTooLong(request) ? Option.none() : Option.some(Forms.parse(request.body))
)

const search: PageHandler = (page, info) =>
  Effect.flatMap(
    form,
    Option.match({
      onNone: (): Handling => Responses.formTooLong(info),
      onSome: (fields) => Responses.exchanges(info, page, fields)
    })
  )

/** The address of a search has no results of its own, because a filter may have the last word of a name. */
const redirectToPage: PageHandler = (page) => Effect.succeed(Responses.redirect(`${page.path}#exchanges`))

const runAction = (action: Action): PageHandler => (page, info) =>
  Effect.gen(function*() {
    const fields = yield* form
    if (Option.isNone(fields)) return yield* Responses.formTooLong(info)
    return yield* Responses.outcome(info, page, yield* action(page.session, fields.value, page.origin))
  })

const openSession = (info: Responses.ServerInfo): Handling =>
  Effect.gen(function*() {
    const fields = yield* form
    if (Option.isNone(fields)) return yield* Responses.formTooLong(info)
    const requestedSession = Forms.decodeSession(fields.value)
    if (Either.isLeft(requestedSession)) return Responses.redirect(PageModel.root)
    const { find } = yield* Session.Sessions
    yield* find(requestedSession.right.session)
    return Responses.redirect(PageModel.pathOf(requestedSession.right.session))
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

    const withServerInfo = (handle: (info: Responses.ServerInfo) => Handling) =>
      Effect.provide(Effect.flatMap(assets, ({ path }) => handle({ assets: path, run })), context)

    for (const path of ["/_mock", "/_mock/", `${PageModel.root}/`] as const) {
      yield* router.get(path, Effect.succeed(Responses.redirect(PageModel.root)))
    }
    yield* router.get("/_mock/assets/:digest/:file", withServerInfo(() => asset(assets)))
    yield* router.get(PageModel.root, withServerInfo(redirectHome))
    yield* router.post(PageModel.root, withServerInfo(openSession))

    const path = `${PageModel.root}/:customerId` as const
    yield* router.get(path, withServerInfo(ofSession(overview)))
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
