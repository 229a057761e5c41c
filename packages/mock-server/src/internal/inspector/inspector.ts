/**
 * The page that a person opens: `/_mock/ui`. It shows the exchanges of a session as they come, and
 * why each was answered so, sets its faults, moves its clock, changes its profile, and runs a check.
 * It is made on the server, and works without its script, only not live.
 *
 * @since 0.1.0
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
import * as Request from "../http/request.ts"
import type { Recorder } from "../journal/recorder.ts"
import type * as Lifecycle from "../transport/lifecycle.ts"
import { type Action, actions } from "./actions.ts"
import * as Assets from "./assets.ts"
import * as Forms from "./forms.ts"
import * as Live from "./liveUpdates.tsx"
import type { Place } from "./pageModel.ts"
import * as Places from "./pageModel.ts"
import * as Answers from "./routes.tsx"

/**
 * Where the page is: that of the first customer, and below it one for each.
 *
 * @category models
 * @since 0.1.0
 */
export const path: "/_mock/ui" = Places.root

type Services = Session.Sessions | Recorder | Lifecycle.Lifecycle | FileSystem.FileSystem

type Handling = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  never,
  HttpRouter.HttpRouter.Provided | Services
>

/** What is done with the place that a request is about, if there is such a place. */
type Use = (place: Place, setting: Answers.Setting) => Handling

const query = Effect.map(
  HttpServerRequest.HttpServerRequest,
  ({ url }) => new URLSearchParams(url.split("?")[1] ?? "")
)

const param = (name: string) => Effect.map(HttpRouter.params, (params) => params[name] ?? "")

const ofSession = (use: Use) => (setting: Answers.Setting): Handling =>
  Effect.flatMap(param("customerId"), (customerId) =>
    Effect.flatMap(
      Places.find(customerId),
      Option.match({
        onNone: (): Handling => Answers.noSession(setting, customerId),
        onSome: (place) => use(place, setting)
      })
    ))

const ofStrangers = (use: Use) => (setting: Answers.Setting): Handling =>
  Effect.flatMap(Places.strangers, (place) => use(place, setting))

/** With a session in the query, that one's page; without, that of the first customer. */
const home: Handling = Effect.gen(function*() {
  const wanted = (yield* query).get("session")
  if (wanted !== null && wanted !== "") return Answers.redirect(Places.pathOf(wanted))
  const { list } = yield* Session.Sessions
  const [first] = yield* list
  return Answers.redirect(first === undefined ? Places.strangersPath : Places.pathOf(first.customerId))
})

const page: Use = (place, setting) => Answers.page(setting, place)

const exchange: Use = (place, setting) => Effect.flatMap(param("id"), (id) => Answers.exchange(setting, place, id))

const clear: Use = (place) => Effect.zipRight(place.journal.clear, Answers.cleared(place))

const events: Use = (place, { run }) =>
  Effect.gen(function*() {
    const { headers } = yield* HttpServerRequest.HttpServerRequest
    const cursor = Live.parseCursor(headers["last-event-id"] ?? (yield* query).get("after") ?? "")
    const context = yield* Effect.context<Session.Sessions | Lifecycle.Lifecycle>()
    return HttpServerResponse.stream(Stream.provideContext(Live.events(run, place, cursor), context), {
      contentType: "text/event-stream; charset=utf-8",
      headers: Answers.safe
    })
  })

/** The fields of the form that came, unless it is too long. */
const form = Effect.map(
  Effect.flatMap(HttpServerRequest.HttpServerRequest, Request.read),
  (request) => Request.isTooLong(request) ? Option.none() : Option.some(Forms.parse(request.body))
)

/** Where the page itself was asked for: that is where the server can be reached. */
const origin = Effect.map(
  HttpServerRequest.HttpServerRequest,
  ({ headers: { host } }) => `http://${host ?? "localhost"}`
)

const act = (action: Action): Use => (place, setting) =>
  Effect.gen(function*() {
    const fields = yield* form
    if (Option.isNone(fields)) return yield* Answers.formTooLong(setting)
    if (Option.isNone(place.session)) return Answers.redirect(place.path)
    return yield* Answers.outcome(
      setting,
      place,
      yield* action(place.session.value, fields.value, yield* origin)
    )
  })

const begin = (setting: Answers.Setting): Handling =>
  Effect.gen(function*() {
    const fields = yield* form
    if (Option.isNone(fields)) return yield* Answers.formTooLong(setting)
    const wanted = Forms.decodeSession(fields.value)
    if (Either.isLeft(wanted)) return Answers.redirect(path)
    const { find } = yield* Session.Sessions
    yield* find(wanted.right.session)
    return Answers.redirect(Places.pathOf(wanted.right.session))
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

/**
 * The routes of the page, on the router of the control plane.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<never, never, HttpApiBuilder.Router | Services> = HttpApiBuilder.Router.use((router) =>
  Effect.gen(function*() {
    const context = yield* Effect.context<Services>()
    const assets = yield* Effect.cached(Effect.provide(Assets.read, context))
    const run = (yield* Clock.currentTimeMillis).toString(36)

    const provided = (handle: (setting: Answers.Setting) => Handling) =>
      Effect.provide(Effect.flatMap(assets, ({ path }) => handle({ assets: path, run })), context)

    for (const path of ["/_mock", "/_mock/", `${Places.root}/`] as const) {
      yield* router.get(path, Effect.succeed(Answers.redirect(Places.root)))
    }
    yield* router.get("/_mock/assets/:digest/:file", provided(() => asset(assets)))
    yield* router.get(Places.root, provided(() => home))
    yield* router.post(Places.root, provided(begin))

    const places = [[`${Places.root}/:customerId`, ofSession], [Places.strangersPath, ofStrangers]] as const
    for (const [path, of] of places) {
      yield* router.get(path, provided(of(page)))
      yield* router.get(`${path}/events`, provided(of(events)))
      yield* router.get(`${path}/exchanges/:id`, provided(of(exchange)))
      yield* router.post(`${path}/exchanges/clear`, provided(of(clear)))
    }
    for (const [name, action] of Record.toEntries(actions)) {
      yield* router.post(`${Places.root}/:customerId/${name}`, provided(ofSession(act(action))))
    }
  })
)
