/** A sign-up endpoint as an `HttpApi`. `onboarding-api` is the complete program, with a database and a fixed time. */
import { AmlClient, Person, WebError } from "@effect-idv/core"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "@effect/platform"
import { Effect, Layer, Schema } from "effect"
import { notReady } from "../operations.ts"

const people = HttpApiGroup.make("people").add(
  HttpApiEndpoint.post("signUp", "/sign-up").setPayload(Person.FromInput).addSuccess(HttpApiSchema.Created)
)

const Api = HttpApi.make("bank").add(people)
  .addError(WebError.InputNotAccepted)
  .addError(WebError.NotAvailable)

class NotReady extends Schema.TaggedError<NotReady>()(
  "NotReady",
  { reason: Schema.String },
  HttpApiSchema.annotations({ status: 503 })
) {}

const health = HttpApiGroup.make("health")
  .add(HttpApiEndpoint.get("live", "/live").addSuccess(HttpApiSchema.NoContent))
  .add(HttpApiEndpoint.get("ready", "/ready").addSuccess(HttpApiSchema.NoContent).addError(NotReady))

const Operations = HttpApi.make("operations").add(health)

const layerPeople = HttpApiBuilder.group(
  Api,
  "people",
  (handlers) =>
    Effect.map(AmlClient.AmlClient, (aml) =>
      handlers.handle("signUp", ({ payload }) =>
        aml.check(payload).pipe(
          AmlClient.withPolicy({ deadline: "3 seconds" }),
          // Store the outcome here, before the response hides the difference between a match and an outage.
          Effect.tapBoth({
            onFailure: ({ _tag }) => Effect.logWarning("not screened", { reason: _tag }),
            onSuccess: () => Effect.logInfo("screened")
          }),
          // Later than the deadline, so that the time does not reveal the reason.
          WebError.onlyClear({ respondAfter: "3500 millis" }),
          Effect.asVoid
        )))
)

const layerHealth = HttpApiBuilder.group(Operations, "health", (handlers) =>
  handlers
    .handle("live", () => Effect.void)
    .handle("ready", () =>
      Effect.flatMap(notReady, (reason) => reason === undefined ? Effect.void : new NotReady({ reason }))))

/** Requires an `HttpServer` and the client. */
export const layer = HttpApiBuilder.serve().pipe(
  Layer.provide(HttpApiBuilder.api(Api)),
  Layer.provide(layerPeople),
  Layer.provide(HttpApiBuilder.middleware(Api, WebError.middleware))
)

/** For a port that applicants cannot reach, because it reveals an outage. Requires another `HttpServer`, and the client. */
export const layerOperations = Layer.fresh(
  HttpApiBuilder.serve().pipe(
    Layer.provide(HttpApiBuilder.api(Operations)),
    Layer.provide(layerHealth)
  )
)
