/** Serves the API, its OpenAPI document at `/openapi.json` and its page at `/docs`. */
import { HttpApiBuilder, HttpApiSwagger, HttpMiddleware } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { Config, Effect, Layer } from "effect"
import { layerOperations, notReady } from "../recipes/operations.ts"
import { Api, Reviewer } from "./Api.ts"
import * as Cases from "./Cases.ts"
import * as Database from "./Database.ts"
import * as ErrorResponses from "./ErrorResponses.ts"
import * as ReviewerAuthentication from "./ReviewerAuthentication.ts"
import * as Screening from "./Screening.ts"
import * as Settings from "./Settings.ts"
import * as Shutdown from "./Shutdown.ts"
import * as SignUp from "./SignUp.ts"
import * as Store from "./Store.ts"
import * as Variable from "./Variable.ts"

/** Turns a database failure into a 503 with `Retry-After`. */
const storeErrorToNotAvailable = <A, E, R>(effect: Effect.Effect<A, E | Store.StoreUnavailable, R>) =>
  Effect.catchIf(effect, (error) => error instanceof Store.StoreUnavailable, () => ErrorResponses.notAvailable)

const asReviewer = <A, E>(act: (reviewer: string) => Effect.Effect<A, E | Store.StoreUnavailable>) =>
  storeErrorToNotAvailable(Effect.flatMap(Reviewer, act))

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
    Effect.map(Cases.Cases, ({ check, conclude, history, list }) =>
      handlers
        .handle("list", ({ urlParams: { after } }) => asReviewer((reviewer) => list(reviewer, after)))
        .handle("history", ({ path: { applicantId } }) => asReviewer((reviewer) => history(reviewer, applicantId)))
        .handle("check", ({ path: { applicantId } }) => asReviewer((reviewer) => check(reviewer, applicantId)))
        .handle(
          "conclude",
          ({ path: { applicantId }, payload }) => asReviewer((reviewer) => conclude(reviewer, applicantId, payload))
        ))
)

const layerApi = HttpApiBuilder.api(Api).pipe(
  Layer.provide([layerSignUps, layerReviews]),
  Layer.provide(ReviewerAuthentication.layer)
)

const host = Config.withDefault(Config.string("HOST"), "127.0.0.1")

const address = Config.all({ host, port: Config.withDefault(Variable.integer("PORT", 0, 65535), 3000) })

const operationsAddress = Config.all({
  host,
  port: Config.withDefault(Variable.integer("OPERATIONS_PORT", 0, 65535), 9000)
})

const layerListening = Layer.unwrapEffect(
  Effect.map(
    Effect.all([address, Shutdown.NodeServer]),
    ([address, { server }]) => NodeHttpServer.layer(() => server, address)
  )
)

const layerOperationsListening = Layer.unwrapEffect(
  Effect.map(Effect.all([operationsAddress, Store.Store]), ([address, { ping }]) =>
    layerOperations({
      ...address,
      whyNotReady: Effect.orElseSucceed(Effect.zipRight(ping, notReady), () => "the database is not available")
    }))
)

// Request spans are disabled, because they contain the complete URL and all headers.
const layerServing = HttpMiddleware.withTracerDisabledWhen(HttpApiBuilder.serve(), () => true).pipe(
  Layer.provide(HttpApiSwagger.layer({ path: "/docs" })),
  Layer.provide(HttpApiBuilder.middlewareOpenApi({ path: "/openapi.json" })),
  Layer.provide(ErrorResponses.layer),
  Layer.provide(layerApi)
)

const layerShutdown = Layer.unwrapEffect(
  Effect.map(Settings.settings, ({ gracePeriod }) => Shutdown.layer(gracePeriod))
)

/**
 * Requires the client. The layer provided last is built first and closed last: the order of building
 * is the database, the store, the sign-ups, the sockets and the shutdown.
 */
export const layer = layerShutdown.pipe(
  Layer.provide(layerServing),
  Layer.provideMerge(Layer.merge(layerListening, layerOperationsListening)),
  Layer.provide(Shutdown.NodeServer.layer),
  Layer.provide(SignUp.layer),
  Layer.provide(Cases.layer),
  Layer.provide(Screening.layer),
  Layer.provide(Store.layer),
  Layer.provide(Database.layer)
)
