/** Serves the API, its OpenAPI document at `/openapi.json` and its page at `/docs`. */
import { HttpApiBuilder, HttpApiSwagger, HttpMiddleware } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { Config, DateTime, Effect, Layer } from "effect"
import { Api } from "./Api.ts"
import * as Database from "./Database.ts"
import * as ErrorResponses from "./ErrorResponses.ts"
import * as ReviewerAuthentication from "./ReviewerAuthentication.ts"
import * as Shutdown from "./Shutdown.ts"
import * as SignUp from "./SignUp.ts"
import * as Store from "./Store.ts"
import * as Variable from "./Variable.ts"

/** Turns a database failure into a 503 with `Retry-After`. */
const storeErrorToNotAvailable = <A, E>(effect: Effect.Effect<A, E | Store.StoreUnavailable>) =>
  Effect.catchIf(effect, (error) => error instanceof Store.StoreUnavailable, () => ErrorResponses.notAvailable)

const layerSignUps = HttpApiBuilder.group(
  Api,
  "signUps",
  (handlers) =>
    Effect.map(
      SignUp.SignUp,
      ({ signUp }) => handlers.handle("signUp", ({ headers, payload }) => signUp(headers["idempotency-key"], payload))
    )
)

const layerReviews = HttpApiBuilder.group(
  Api,
  "reviews",
  (handlers) =>
    Effect.map(
      Effect.all([Store.Store, SignUp.settings]),
      ([{ reviews }, { lease }]) =>
        handlers.handle("list", ({ urlParams: { after } }) =>
          DateTime.now.pipe(
            Effect.flatMap((now) => reviews({ after, abandonedBefore: DateTime.subtractDuration(now, lease) })),
            storeErrorToNotAvailable
          ))
    )
)

const layerHealth = HttpApiBuilder.group(
  Api,
  "health",
  (handlers) =>
    Effect.map(
      Store.Store,
      ({ ping }) => handlers.handle("check", () => storeErrorToNotAvailable(Effect.as(ping, { status: "ok" as const })))
    )
)

const layerApi = HttpApiBuilder.api(Api).pipe(
  Layer.provide([layerSignUps, layerReviews, layerHealth]),
  Layer.provide(ReviewerAuthentication.layer)
)

const address = Config.all({
  host: Config.withDefault(Config.string("HOST"), "127.0.0.1"),
  port: Config.withDefault(Variable.integer("PORT", 0, 65535), 3000)
})

const layerListening = Layer.unwrapEffect(
  Effect.map(
    Effect.all([address, Shutdown.NodeServer]),
    ([address, { server }]) => NodeHttpServer.layer(() => server, address)
  )
)

// Request spans are disabled, because they contain the complete URL and all headers.
const layerServing = HttpMiddleware.withTracerDisabledWhen(HttpApiBuilder.serve(), () => true).pipe(
  Layer.provide(HttpApiSwagger.layer({ path: "/docs" })),
  Layer.provide(HttpApiBuilder.middlewareOpenApi({ path: "/openapi.json" })),
  Layer.provide(ErrorResponses.layer),
  Layer.provide(layerApi)
)

const layerShutdown = Layer.unwrapEffect(
  Effect.map(SignUp.settings, ({ gracePeriod }) => Shutdown.layer(gracePeriod))
)

/**
 * Requires the `AmlClient`. The layer provided last is built first and closed last: the order of building
 * is the database, the store, the sign-ups, the socket and the shutdown.
 */
export const layer = layerShutdown.pipe(
  Layer.provide(layerServing),
  Layer.provideMerge(layerListening),
  Layer.provide(Shutdown.NodeServer.layer),
  Layer.provide(SignUp.layer),
  Layer.provide(Store.layer),
  Layer.provide(Database.layer)
)
