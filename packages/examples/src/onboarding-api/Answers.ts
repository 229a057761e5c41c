/**
 * What leaves this server beside what the handlers say: a request that cannot be read is answered
 * with its fields and never with its values, and whatever nobody thought of is the documented 503.
 */
import { WebError } from "@effect-idv/core"
import {
  FileSystem,
  HttpApiBuilder,
  HttpApiError,
  HttpApp,
  HttpIncomingMessage,
  HttpServerError,
  HttpServerResponse
} from "@effect/platform"
import { Cause, Effect, Option, Schema } from "effect"
import { Api, KeyReused } from "./Api.ts"
import { NodeServer } from "./Shutdown.ts"

const retryAfter = 30

/** Nothing of the applicant is in it, nor of the reason: it is the same for all of them. */
export const notAvailable = new WebError.NotAvailable({ retryAfter })

const isDeclared = Schema.is(
  Schema.Union(
    KeyReused,
    WebError.InputNotAccepted,
    WebError.NotAvailable,
    HttpApiError.NotFound,
    HttpApiError.Unauthorized
  )
)

/** In the shape that an `HttpApi` documents by itself, but the messages there repeat what was sent. */
const withoutValues = ({ issues }: HttpApiError.HttpApiDecodeError) =>
  new HttpApiError.HttpApiDecodeError({
    message: "The request cannot be read",
    issues: issues.map(({ _tag, path }) => ({
      _tag,
      path,
      message: _tag === "Missing" ? "is missing" : "is not what the contract says"
    }))
  })

const unreadable = new HttpApiError.HttpApiDecodeError({ message: "The body cannot be read", issues: [] })

const answer = (
  cause: Cause.Cause<never>
): Effect.Effect<never, HttpApiError.HttpApiDecodeError | WebError.NotAvailable> => {
  const error = Cause.squash(cause)
  if (error instanceof HttpApiError.HttpApiDecodeError) return Effect.fail(withoutValues(error))
  if (error instanceof HttpServerError.RequestError) return Effect.fail(unreadable)
  if (Cause.isInterruptedOnly(cause) || isDeclared(error) || error instanceof HttpServerError.RouteNotFound) {
    return Effect.failCause(cause)
  }
  // Its message and its cause may hold anything.
  return Effect.logError("unexpected", { name: error instanceof Error ? error.name : typeof error }).pipe(
    Effect.zipRight(notAvailable)
  )
}

export const layer = HttpApiBuilder.middleware(
  Api,
  Effect.map(NodeServer, ({ server }) => (app) =>
    HttpApp.appendPreResponseHandler((_, response) =>
      Effect.succeed(
        HttpServerResponse.setHeaders(response, {
          "cache-control": "no-store",
          ...(response.status === 503 && { "retry-after": String(retryAfter) }),
          // It stops: a connection that is kept would be waited for.
          ...(!server.listening && { connection: "close" })
        })
      )
    ).pipe(
      Effect.zipRight(Effect.catchAllCause(app, answer)),
      // A sign-up is two lines of text.
      HttpIncomingMessage.withMaxBodySize(Option.some(FileSystem.KiB(16)))
    ))
)
