/**
 * A sign-up over HTTP. Only a "No" clears the customer. Everything else gets the same response, because a different one would
 * tip off the person. `@effect/platform-node` serves it:
 *
 *     HttpRouter.serve(routes).pipe(
 *       Layer.provide([Idv.layerEnv(), NodeHttpServer.layer(createServer, { port: 3000 })]),
 *       Layer.provide(IdvHttp.layerEnv()),
 *       Layer.launch,
 *       NodeRuntime.runMain
 *     )
 */
import { AmlCheck, AmlClient, Failure, Person } from "@effect-idv/effect-4"
import { Effect, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"

const Input = Schema.Struct({ name: Schema.String, dateOfBirth: Schema.String })

const respond = (status: number, body: object, headers: Record<string, string> = {}) =>
  HttpServerResponse.jsonUnsafe(body, { status, headers: { "cache-control": "no-store", ...headers } })

/** The same for a doubtful "No", a potential match and a failure of the service. */
const later = respond(503, { title: "Please try again later" }, { "retry-after": "3600" })

const signUp = Effect.fn("signUp")(
  function*(aml: AmlClient.Service) {
    const check = yield* aml.check(yield* Person.make(yield* HttpServerRequest.schemaBodyJson(Input)))
    return AmlCheck.match(check, {
      onNo: () => respond(201, { status: "active" }),
      onDoubtfulNo: () => later,
      onPotentialMatch: () => later
    })
  },
  Effect.catch((error) => {
    switch (error._tag) {
      case "AmlInputRejected":
        return Effect.succeed(respond(422, { issues: error.issues.map(({ code, field }) => ({ field, code })) }))
      case "SchemaError":
      case "HttpServerError":
        return Effect.succeed(respond(400, { title: "Expected { name, dateOfBirth }" }))
      default:
        return Effect.as(Effect.logWarning("The check failed", error.message, Failure.facts(error).sent), later)
    }
  })
)

/** The routes take the client once, when the server starts. */
export const routes = HttpRouter.use((router) =>
  Effect.flatMap(AmlClient.AmlClient, (aml) => router.add("POST", "/sign-up", signUp(aml)))
)
