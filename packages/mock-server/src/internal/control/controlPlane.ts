/**
 * The control plane as an HTTP app: its operations, its OpenAPI document, and the pages. A test of
 * the data plane never needs it, and neither does the start of a server: it is loaded and made for
 * the first request to it.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as Session from "../../Session.ts"
import * as Request from "../http/request.ts"
import * as Inspector from "../inspector/inspector.ts"
import type * as Metrics from "../journal/metrics.ts"
import type { Recorder } from "../journal/recorder.ts"
import type * as Lifecycle from "../transport/lifecycle.ts"
import * as Controlled from "./controlHandlers.ts"
import * as BrowserRules from "./securityHeaders.ts"
import * as Unrouted from "./unrouted.ts"

export type Services =
  | Session.Sessions
  | Recorder
  | Metrics.Metrics
  | Lifecycle.Lifecycle

/** A page for people: a megabyte of Swagger, for whoever opens it. */
const docs = Effect.gen(function*() {
  const Swagger = yield* Effect.promise(() => import("@effect/platform/HttpApiSwagger"))
  const layer = Layer.provideMerge(Swagger.layer({ path: BrowserRules.docsPath }), HttpApiBuilder.Router.Live)
  return yield* HttpRouter.toHttpApp(yield* Effect.provide(HttpApiBuilder.Router.router, layer))
})

const document = Effect.flatMap(
  HttpApi.Api,
  ({ api }) => Effect.orDie(HttpServerResponse.json(OpenApi.fromApi(api)))
)

/** Each is made when it is first asked for. */
const documents = HttpApiBuilder.Router.use((router) =>
  Effect.gen(function*() {
    const api = yield* Effect.context<HttpApi.Api>()
    const once = <A>(effect: Effect.Effect<A, never, HttpApi.Api>) =>
      Effect.cached(Effect.uninterruptible(Effect.provide(effect, api)))
    yield* router.get("/_mock/openapi.json", yield* once(document))
    yield* router.get(BrowserRules.docsPath, Effect.flatten(yield* once(docs)))
  })
)

/** A path means one thing: with an empty id at its end it is not the path of all ids. */
const routing = {
  caseSensitive: true,
  ignoreDuplicateSlashes: false,
  ignoreTrailingSlash: false,
  maxParamLength: Number.MAX_SAFE_INTEGER
}

class App extends Context.Tag("@effect-idv/mock-server/internal/controlPlane/App")<App, HttpApp.Default>() {}

const layer = Layer.effect(
  App,
  Effect.gen(function*() {
    const app = yield* HttpRouter.withRouterConfig(HttpApiBuilder.httpApp, routing)
    const context = yield* Effect.context<Services | HttpRouter.HttpRouter.DefaultServices>()
    return Effect.updateService(
      Effect.provide(app, context),
      HttpServerRequest.HttpServerRequest,
      (request) => request.modify({ url: Request.targetOf(request.url) })
    )
  })
).pipe(
  Layer.provide([Inspector.layer, documents]),
  Layer.provide(Unrouted.layer),
  Layer.provide(Controlled.layer),
  Layer.provide([HttpApiBuilder.Router.Live, HttpApiBuilder.Middleware.layer, NodeHttpServer.layerContext])
)

/** Everything under `/_mock`, whoever asks. */
export const make: Effect.Effect<HttpApp.Default, never, Services | Scope.Scope> = Effect.map(
  Layer.build(layer),
  Context.get(App)
)
