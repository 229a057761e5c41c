/** A sign-up endpoint as an `HttpApi`. `onboarding-api` is the complete program, with a database and a fixed time. */
import { AmlClient, Person, WebError } from "@effect-idv/core"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "@effect/platform"
import { Effect, Layer } from "effect"

const people = HttpApiGroup.make("people").add(
  HttpApiEndpoint.post("signUp", "/sign-up").setPayload(Person.FromInput).addSuccess(HttpApiSchema.Created)
)

const Api = HttpApi.make("bank").add(people)
  .addError(WebError.InputNotAccepted)
  .addError(WebError.NotAvailable)

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

/** Requires an `HttpServer` and the client. */
export const layer = HttpApiBuilder.serve().pipe(
  Layer.provide(HttpApiBuilder.api(Api)),
  Layer.provide(layerPeople),
  Layer.provide(HttpApiBuilder.middleware(Api, WebError.middleware))
)
