/** The two parts of a server: the control API with the page, under `/_mock`, and the data plane, everywhere else. */
import type * as HttpApp from "@effect/platform/HttpApp"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Session from "../../Session.ts"
import type * as Control from "../http/controlApp.ts"
import type * as Guard from "../http/guard.ts"
import { runOnce } from "../journal/once.ts"
import * as Recorder from "../journal/recorder.ts"
import * as DataPlane from "../service/dataPlane.ts"
import * as Lifecycle from "../wire/lifecycle.ts"
import type * as Request from "../wire/request.ts"
import type { InProcessOptions } from "./inProcessOptions.ts"

/** Everything under `/_mock`, without its guard. */
export class ControlPlane extends Context.Tag("@effect-idv/mock-server/internal/ControlPlane")<
  ControlPlane,
  HttpApp.Default
>() {}

const loadControlPlane = Effect.promise(() =>
  Promise.all([import("../http/controlApp.ts"), import("../page/routes.ts")])
)

const layerControlPlane = Layer.scoped(
  ControlPlane,
  Effect.gen(function*() {
    // It is built with the services of the server, because those of the first request would otherwise remain in it.
    const app = yield* runOnce<HttpApp.Default, Control.Services | Scope.Scope>(
      Effect.flatMap(loadControlPlane, ([{ make }, { layer }]) => make(layer))
    )
    return Effect.flatten(app)
  })
)

export type Services = Control.Services | ControlPlane

/** The layers of a server. They are fresh, because two servers of one program must not share state. */
export const layer = (
  customers: ReadonlyArray<Session.Customer>,
  options: InProcessOptions
): Layer.Layer<Services> =>
  layerControlPlane.pipe(
    Layer.provideMerge(Recorder.layer(options)),
    Layer.provideMerge(Session.layer(customers, options, options)),
    Layer.provideMerge(Lifecycle.layer),
    Layer.fresh
  )

export interface App {
  readonly controlPlane: HttpApp.Default
  readonly dataPlane: Request.Handler
}

/** Whether a path belongs to the control plane. */
export const isControl = (path: string): boolean => path === "/_mock" || path.startsWith("/_mock/")

/** The app, with the control API behind a guard. The first request to the control API loads both. */
export const make = (options: Guard.Options): Effect.Effect<App, never, Services> =>
  Effect.gen(function*() {
    const app = yield* ControlPlane
    const context = yield* Effect.context<Services>()
    return {
      controlPlane: Effect.flatMap(
        Effect.promise(() => import("../http/guardedApp.ts")),
        ({ make }) => Effect.flatten(Effect.provide(make(options, app), context))
      ),
      dataPlane: yield* DataPlane.make
    }
  })
