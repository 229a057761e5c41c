/**
 * The HTTP app under `/_mock`: the control API, its OpenAPI document and a page. The first request to it loads and
 * builds it, so that neither a test of the data plane nor the start of a server waits for it.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
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
import { ControlApi } from "../../ControlApi.ts"
import type * as Session from "../../Session.ts"
import { runOnce } from "../journal/once.ts"
import type { Recorder } from "../journal/recorder.ts"
import type * as Lifecycle from "../wire/lifecycle.ts"
import * as Request from "../wire/request.ts"
import * as ErrorResponses from "./errorResponses.ts"
import { docsPath } from "./guardedApp.ts"
import * as OperationRoutes from "./operationRoutes.ts"

export type Services =
  | Session.Sessions
  | Recorder
  | Lifecycle.Lifecycle

/** The Swagger page. Its code has a size of 1 MB, so it is loaded only when a browser requests it. */
const docs = Effect.gen(function*() {
  const [{ layerHttpLayerRouter }, { toHttpEffect }] = yield* Effect.promise(() =>
    Promise.all([import("@effect/platform/HttpApiSwagger"), import("@effect/platform/HttpLayerRouter")])
  )
  return yield* toHttpEffect(layerHttpLayerRouter({ api: ControlApi, path: docsPath }))
}).pipe(Effect.scoped)

const document = Effect.suspend(() => Effect.orDie(HttpServerResponse.json(OpenApi.fromApi(ControlApi))))

const documents = HttpApiBuilder.Router.use((router) =>
  Effect.gen(function*() {
    yield* router.get("/_mock/openapi.json", yield* runOnce(document))
    yield* router.get(docsPath, Effect.flatten(yield* runOnce(docs)))
  })
)

/** Strict matching: a path that ends with an empty id must not match the path of the list. */
const routing = {
  caseSensitive: true,
  ignoreDuplicateSlashes: false,
  ignoreTrailingSlash: false,
  maxParamLength: Number.MAX_SAFE_INTEGER
}

class App extends Context.Tag("@effect-idv/mock-server/internal/controlApp/App")<App, HttpApp.Default>() {}

const app = Layer.effect(
  App,
  Effect.gen(function*() {
    const { router } = yield* HttpApiBuilder.Router
    const app = yield* HttpRouter.withRouterConfig(Effect.flatMap(router, HttpRouter.toHttpApp), routing)
    const context = yield* Effect.context<Services | HttpRouter.HttpRouter.DefaultServices>()
    return Effect.updateService(
      Effect.provide(ErrorResponses.middleware(app), context),
      HttpServerRequest.HttpServerRequest,
      (request) => request.modify({ url: Request.targetOf(request.url) })
    )
  })
)

/** `page` adds its routes to the same router. */
export const make = (
  page: Layer.Layer<never, never, HttpApiBuilder.Router | Services | HttpRouter.HttpRouter.DefaultServices>
): Effect.Effect<HttpApp.Default, never, Services | Scope.Scope> =>
  app.pipe(
    Layer.provide([page, documents, OperationRoutes.layer]),
    Layer.provide([HttpApiBuilder.Router.Live, NodeHttpServer.layerContext]),
    Layer.build,
    Effect.map(Context.get(App))
  )
