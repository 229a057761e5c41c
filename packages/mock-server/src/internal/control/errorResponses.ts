/** The responses of the control API to unknown paths and methods, and to a failure of an operation. */
import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import { HttpApiDecodeError } from "@effect/platform/HttpApiError"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { ControlApi } from "../../ControlApi.ts"
import * as Request from "../http/request.ts"
import * as ServerResponse from "../http/serverResponse.ts"

interface Operation {
  readonly method: string
  readonly path: RegExp
}

const operations: Array<Operation> = []

HttpApi.reflect(ControlApi, {
  onGroup: () => {},
  onEndpoint: ({ endpoint: { method, path } }) => {
    operations.push({ method, path: new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`) })
  }
})

/** Neither response repeats the path, because it may contain a secret or a name. */
const unknownPath = (url: string) => {
  const path = Request.pathOf(url)
  const isText = Either.isRight(Encoding.decodeUriComponent(path))
  const methods = operations.filter((operation) => isText && operation.path.test(path)).map(({ method }) => method)
    .join(", ")
  return methods === ""
    ? ServerResponse.problem(
      404,
      "There is no such path: /_mock/docs and /_mock/openapi.json list every path, and /_mock/ui is the page for people"
    )
    : ServerResponse.problem(405, `The method is not allowed: use ${methods}`, { allow: methods })
}

const internalError = ServerResponse.problem(
  500,
  "The mock server failed, not the request: its log has the details"
)

/**
 * The `HttpApi` decodes no request, because its errors repeat values. If it fails to decode or encode anyway, that is a
 * defect of this server: the log names the path and leaves out the value.
 */
export const layer: Layer.Layer<never> = HttpApiBuilder.middleware((app) =>
  Effect.catchAllCause(app, (cause) => {
    if (Cause.isInterruptedOnly(cause)) return Effect.failCause(cause)
    const failure: Option.Option<unknown> = Cause.failureOption(cause)
    if (Option.exists(failure, Predicate.isTagged("RouteNotFound"))) {
      return Effect.map(HttpServerRequest.HttpServerRequest, ({ url }) => unknownPath(url))
    }
    const decoding = Option.filter(failure, (error) => error instanceof HttpApiDecodeError)
    if (Option.isSome(failure) && Option.isNone(decoding)) return Effect.failCause(cause)
    return Effect.as(
      Effect.logError(
        "The control API failed",
        Option.match(decoding, {
          onNone: () => cause,
          onSome: ({ issues }) => `at ${issues.map(({ path }) => path.map(String).join(".")).join(", ")}`
        })
      ),
      internalError
    )
  })
)
