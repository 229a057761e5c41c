/** The server as an HTTP app: the control plane under `/_mock`, the service everywhere else. */
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import { PCGRandom } from "effect/Utils"
import type { InProcessOptions } from "../../MockServer.ts"
import * as Session from "../../Session.ts"
import type * as Control from "../control/controlPlane.ts"
import * as BrowserRules from "../control/securityHeaders.ts"
import * as Exchange from "../dataPlane/dataPlane.ts"
import * as Request from "../http/request.ts"
import * as Judgement from "../journal/failOnUnexpected.ts"
import * as Metrics from "../journal/metrics.ts"
import { Recorder } from "../journal/recorder.ts"
import * as Lifecycle from "./lifecycle.ts"

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

const layerControlPlane = Layer.scoped(
  ControlPlane,
  Effect.gen(function*() {
    const context = yield* Effect.context<Control.Services | Scope.Scope>()
    // Whoever comes first may leave before it is made: others wait for it too.
    const app = yield* Effect.promise(() => import("../control/controlPlane.ts")).pipe(
      Effect.flatMap(({ make }) => make),
      // Nothing of the request that comes first: what is made keeps the context that it was made in.
      Effect.mapInputContext<never, Control.Services | Scope.Scope>(() => context),
      Effect.uninterruptible,
      Effect.cached
    )
    return Effect.flatten(app)
  })
)

export type Services = Control.Services | ControlPlane

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
