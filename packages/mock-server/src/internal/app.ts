/** The server as an HTTP app: the control plane under `/_mock`, the service everywhere else. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpApiSwagger from "@effect/platform/HttpApiSwagger"
import type * as HttpApp from "@effect/platform/HttpApp"
import type * as HttpRouter from "@effect/platform/HttpRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import { PCGRandom } from "effect/Utils"
import type { InProcessOptions } from "../MockServer.ts"
import * as Session from "../Session.ts"
import * as Controlled from "./controlled.ts"
import * as Exchange from "./exchange.ts"
import * as Lifecycle from "./lifecycle.ts"
import * as Metrics from "./metrics.ts"
import { Recorder } from "./recorder.ts"
import * as Request from "./request.ts"

type Handling =
  | Session.Sessions
  | Recorder
  | Metrics.Metrics
  | Lifecycle.Lifecycle
  | HttpRouter.HttpRouter.DefaultServices

const layerRecorder = ({ onExchange, reveal = false }: InProcessOptions) =>
  Layer.effect(
    Recorder,
    Effect.gen(function*() {
      const { count } = yield* Metrics.Metrics
      const generator = new PCGRandom(yield* Random.nextInt)
      return {
        reveal,
        random: () => generator.number(),
        record: (entry) => onExchange === undefined ? count(entry) : Effect.zipRight(count(entry), onExchange(entry))
      }
    })
  )

/** Dies, if it was asked to, when the scope closes and the API document was broken by a request. */
const layerJudgement = ({ unexpected = "ignore" }: InProcessOptions) =>
  unexpected === "ignore" ? Layer.empty : Layer.scopedDiscard(
    Effect.flatMap(
      Session.Sessions,
      ({ list, strangers }) =>
        Effect.addFinalizer(() =>
          Effect.flatMap(list, (sessions) =>
            Effect.forEach(
              [strangers, ...sessions.map(({ journal }) => journal)],
              (journal) => journal.verify({ kind: "nothingUnexpected" }),
              { discard: true }
            )).pipe(Effect.catchTag("VerificationFailed", Effect.die))
        )
    )
  )

/** Everything under `/_mock`, whoever asks. */
export class ControlPlane extends Context.Tag("@effect-idv/mock-server/internal/ControlPlane")<
  ControlPlane,
  HttpApp.Default
>() {}

const routes = Layer.mergeAll(
  HttpApiSwagger.layer({ path: "/_mock/docs" }),
  HttpApiBuilder.middlewareOpenApi({ path: "/_mock/openapi.json" })
)

const nothingThere = HttpServerResponse.unsafeJson({
  type: "about:blank",
  title: "Not Found",
  status: 404,
  detail: "The control plane is described at /_mock/docs, and for people there is /_mock/ui"
}, { status: 404, contentType: "application/problem+json" })

const layerControlPlane = Layer.effect(
  ControlPlane,
  Effect.gen(function*() {
    const app = yield* HttpApiBuilder.httpApp
    const context = yield* Effect.context<Handling>()
    return app.pipe(
      Effect.provide(context),
      Effect.catchAllCause(() => Effect.succeed(nothingThere))
    )
  })
).pipe(
  Layer.provide(routes),
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
    Layer.merge(layerJudgement(options)),
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
    const control = guard(yield* ControlPlane)
    const exchange = Effect.provide(Exchange.handle, yield* Effect.context<Session.Sessions | Recorder>())
    return Effect.flatMap(
      HttpServerRequest.HttpServerRequest,
      ({ url }): HttpApp.Default => isControl(Request.pathOf(url)) ? control : exchange
    )
  })
