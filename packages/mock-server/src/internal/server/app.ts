/** The two parts of a server: the control API with the page, under `/_mock`, and the data plane, everywhere else. */
import type * as HttpApp from "@effect/platform/HttpApp"
import type * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as Journal from "../../Journal.ts"
import * as Session from "../../Session.ts"
import type * as Guard from "../http/guard.ts"
import * as Recorder from "../journal/recorder.ts"
import type * as Operation from "../operations/operation.ts"
import * as DataPlane from "../service/dataPlane.ts"
import * as Lifecycle from "../wire/lifecycle.ts"
import type * as Request from "../wire/request.ts"
import * as Response from "../wire/response.ts"
import { runOnce } from "../wire/runOnce.ts"
import * as ServerResponse from "../wire/serverResponse.ts"

/**
 * The options of a server in process. Those of `Session.Settings` apply to each new session.
 *
 * @category models
 * @since 0.1.0
 */
export interface InProcessOptions extends Session.Settings {
  /**
   * The customers that can request a token, beside all test customers (`test-*`). Two customers with the same id are a
   * defect.
   *
   * @default [Session.demoCustomer]
   */
  readonly customers?: Arr.NonEmptyReadonlyArray<Session.Customer> | undefined
  /**
   * Whether the journal keeps names and secrets unmasked.
   *
   * @default false
   */
  readonly reveal?: boolean | undefined
  /**
   * Called for each exchange, before the response is sent.
   *
   * @default () => Effect.void
   */
  readonly onExchange?: ((entry: Journal.Entry) => Effect.Effect<void>) | undefined
  /**
   * With `fail`, closing the scope dies if a request broke the service document. The test then fails.
   *
   * @default "ignore"
   */
  readonly unexpected?: "fail" | "ignore" | undefined
}

/** Everything under `/_mock`, without its guard. */
export class ControlPlane extends Context.Tag("@effect-idv/mock-server/internal/ControlPlane")<
  ControlPlane,
  HttpApp.Default
>() {}

const loadControlPlane = Effect.promise(() =>
  Promise.all([import("../http/controlApp.ts"), import("../page/routes.tsx")])
)

const layerControlPlane = Layer.scoped(
  ControlPlane,
  Effect.gen(function*() {
    // It is built with the services of the server, because those of the first request would otherwise remain in it.
    const app = yield* runOnce<HttpApp.Default, Operation.Services | Scope.Scope>(
      Effect.flatMap(loadControlPlane, ([{ make }, { layer }]) => make(layer))
    )
    return Effect.flatten(app)
  })
)

export type Services = Operation.Services | ControlPlane

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

/**
 * The response to a request to the control API after one of its modules could not be loaded. The next request tries
 * again, but Node keeps some failures until it is restarted, such as that of a file that it could not read.
 */
export const loadFailed = (defect: unknown): Effect.Effect<Response.Response> =>
  Effect.as(
    Effect.logError("The control API could not be loaded", Cause.die(defect)),
    Response.problem(
      500,
      "The control API could not be loaded: the log has the reason. Try again, and if this fails too, restart the server"
    )
  )

export interface App extends Pick<Guard.Guarded, "health"> {
  /** Loads the guard, so that the first health check does not wait for it. */
  readonly loadGuard: Effect.Effect<void>
  readonly controlPlane: HttpApp.Default
  readonly dataPlane: Request.Handler
}

/** The app, with the control API behind a guard. The first request to the control API loads it. */
export const make = (options: Guard.Options): Effect.Effect<App, never, Services> =>
  Effect.gen(function*() {
    const app = yield* ControlPlane
    const guarded = yield* runOnce(
      Effect.flatMap(Effect.promise(() => import("../http/guard.ts")), ({ make }) => make(options, app))
    )
    return {
      loadGuard: Effect.asVoid(guarded),
      controlPlane: Effect.catchAllDefect(
        Effect.flatMap(guarded, ({ app }) => app),
        (defect) => Effect.map(loadFailed(defect), ServerResponse.make)
      ),
      health: (path, request) => Effect.flatMap(guarded, ({ health }) => health(path, request)),
      dataPlane: yield* DataPlane.make
    }
  })
