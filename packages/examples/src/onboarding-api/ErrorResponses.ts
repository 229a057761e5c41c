/**
 * Middleware for all responses: reports a request that cannot be decoded by its fields, without values,
 * and turns every unforeseen error into the documented 503.
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
import { Api, CaseChanged, KeyReused } from "./Api.ts"
import { NodeServer } from "./Shutdown.ts"

/** In seconds. */
const retryAfter = 30

/** The same for every applicant and every reason. */
export const notAvailable = new WebError.NotAvailable({ retryAfter })

const isDeclared = Schema.is(
  Schema.Union(
    KeyReused,
    CaseChanged,
    WebError.InputNotAccepted,
    WebError.NotAvailable,
    HttpApiError.NotFound,
    HttpApiError.Unauthorized
  )
)

/** Keeps the documented shape of the error, and replaces its messages, because they repeat the input. */
const withoutValues = ({ issues }: HttpApiError.HttpApiDecodeError) =>
  new HttpApiError.HttpApiDecodeError({
    message: "The request cannot be read",
    issues: issues.map(({ _tag, path }) => ({
      _tag,
      path,
      message: _tag === "Missing" ? "is missing" : "does not match the API definition"
    }))
  })

const unreadable = new HttpApiError.HttpApiDecodeError({ message: "The body cannot be read", issues: [] })

const toDocumentedError = (
  cause: Cause.Cause<never>
): Effect.Effect<never, HttpApiError.HttpApiDecodeError | WebError.NotAvailable> => {
  const error = Cause.squash(cause)
  if (error instanceof HttpApiError.HttpApiDecodeError) return Effect.fail(withoutValues(error))
  if (error instanceof HttpServerError.RequestError) return Effect.fail(unreadable)
  if (Cause.isInterruptedOnly(cause) || isDeclared(error) || error instanceof HttpServerError.RouteNotFound) {
    return Effect.failCause(cause)
  }
  // Logs only the name, because the message and the cause may contain personal data.
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
          // During shutdown the server waits for open connections, so each response closes its own.
          ...(!server.listening && { connection: "close" })
        })
      )
    ).pipe(
      Effect.zipRight(Effect.catchAllCause(app, toDocumentedError)),
      // A sign-up has up to five names and a date.
      HttpIncomingMessage.withMaxBodySize(Option.some(FileSystem.KiB(16)))
    ))
)
