/** The server as an HTTP app: the control plane under `/_mock`, the service everywhere else. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpApiSwagger from "@effect/platform/HttpApiSwagger"
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import { PCGRandom } from "effect/Utils"
import * as Inspector from "../Inspector.ts"
import type { InProcessOptions } from "../MockServer.ts"
import * as Session from "../Session.ts"
import * as BrowserRules from "./browserRules.ts"
import * as Controlled from "./controlled.ts"
import * as Exchange from "./exchange.ts"
import * as Judgement from "./judgement.ts"
import * as Lifecycle from "./lifecycle.ts"
import * as Metrics from "./metrics.ts"
import { Recorder } from "./recorder.ts"
import * as Request from "./request.ts"
import * as Unrouted from "./unrouted.ts"

type Handling =
  | Session.Sessions
  | Recorder
  | Metrics.Metrics
  | Lifecycle.Lifecycle
  | HttpRouter.HttpRouter.DefaultServices

const layerRecorder = (
  { onExchange = () => Effect.void, reveal = false, unexpected = "ignore" }: InProcessOptions
) =>
  Layer.scoped(
    Recorder,
    Effect.gen(function*() {
      const { count } = yield* Metrics.Metrics
      const judge = unexpected === "fail" ? yield* Judgement.make : () => Effect.void
      const generator = new PCGRandom(yield* Random.nextInt)
      return {
        reveal,
        random: () => generator.number(),
        record: (entry) => Effect.all([count(entry), judge(entry), onExchange(entry)], { discard: true })
      }
    })
  )

/** Everything under `/_mock`, whoever asks. */
export class ControlPlane extends Context.Tag("@effect-idv/mock-server/internal/ControlPlane")<
  ControlPlane,
  HttpApp.Default
>() {}

const routes = Layer.mergeAll(
  Inspector.layer,
  HttpApiSwagger.layer({ path: BrowserRules.docsPath }),
  HttpApiBuilder.middlewareOpenApi({ path: "/_mock/openapi.json" })
)

/** A path means one thing: with an empty id at its end it is not the path of all ids. */
const routing = {
  caseSensitive: true,
  ignoreDuplicateSlashes: false,
  ignoreTrailingSlash: false,
  maxParamLength: Number.MAX_SAFE_INTEGER
}

const layerControlPlane = Layer.effect(
  ControlPlane,
  Effect.gen(function*() {
    const app = yield* HttpRouter.withRouterConfig(HttpApiBuilder.httpApp, routing)
    const context = yield* Effect.context<Handling>()
    return Effect.updateService(
      Effect.provide(app, context),
      HttpServerRequest.HttpServerRequest,
      (request) => request.modify({ url: Request.targetOf(request.url) })
    )
  })
).pipe(
  Layer.provide(routes),
  Layer.provide(Unrouted.layer),
  Layer.provide(Controlled.layer),
  Layer.provide([HttpApiBuilder.Router.Live, HttpApiBuilder.Middleware.layer])
)

export type Services = Handling | ControlPlane

/** Fresh, because two servers of one program share nothing. */
export const layer = (
  customers: ReadonlyArray<Session.Customer>,
  options: InProcessOptions
): Layer.Layer<Services> =>
  layerControlPlane.pipe(
    Layer.provideMerge(layerRecorder(options)),
    Layer.provideMerge(Metrics.layer),
    Layer.provideMerge(Session.layer(customers, options)),
    Layer.provideMerge(Lifecycle.layer),
    Layer.provideMerge(NodeHttpServer.layerContext),
    Layer.fresh
  )

const isControl = (path: string): boolean => path === "/_mock" || path.startsWith("/_mock/")

/** The whole server, with the control plane behind its guard. */
export const make = (
  guard: (app: HttpApp.Default) => HttpApp.Default
): Effect.Effect<HttpApp.Default, never, Services> =>
  Effect.gen(function*() {
    const control = BrowserRules.middleware(guard(yield* ControlPlane))
    const exchange = Effect.provide(Exchange.handle, yield* Effect.context<Session.Sessions | Recorder>())
    return Effect.flatMap(
      HttpServerRequest.HttpServerRequest,
      ({ url }): HttpApp.Default => isControl(Request.pathOf(url)) ? control : exchange
    )
  })
