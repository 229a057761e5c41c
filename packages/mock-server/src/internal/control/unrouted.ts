/** What the control plane says where none of its operations answers, or where one of them breaks. */
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
import * as Problem from "../http/problem.ts"
import * as Request from "../http/request.ts"

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

/** Neither says what was asked for: that may be anything. */
const nothingThere = (url: string) => {
  const path = Request.pathOf(url)
  const isText = Either.isRight(Encoding.decodeUriComponent(path))
  const methods = operations.filter((operation) => isText && operation.path.test(path)).map(({ method }) => method)
    .join(", ")
  return methods === ""
    ? Problem.serverResponse(
      404,
      "There is no such path: every path is at /_mock/openapi.json and, to read, at /_mock/docs; for people there is /_mock/ui"
    )
    : Problem.serverResponse(405, `The methods of this path are ${methods}`, { allow: methods })
}

const broken = Problem.serverResponse(
  500,
  "This is a fault of the mock server, and not of the request: its log says more"
)

/**
 * No request can fail to be decoded by the `HttpApi` itself, which would repeat the value: whatever
 * it cannot decode or encode is a defect here.
 */
export const layer: Layer.Layer<never> = HttpApiBuilder.middleware((app) =>
  Effect.catchAllCause(app, (cause) => {
    if (Cause.isInterruptedOnly(cause)) return Effect.failCause(cause)
    const failure: Option.Option<unknown> = Cause.failureOption(cause)
    if (Option.exists(failure, Predicate.isTagged("RouteNotFound"))) {
      return Effect.map(HttpServerRequest.HttpServerRequest, ({ url }) => nothingThere(url))
    }
    const decoding = Option.filter(failure, (error) => error instanceof HttpApiDecodeError)
    if (Option.isSome(failure) && Option.isNone(decoding)) return Effect.failCause(cause)
    return Effect.as(
      Effect.logError(
        "The control plane failed",
        Option.match(decoding, {
          onNone: () => cause,
          onSome: ({ issues }) => `at ${issues.map(({ path }) => path.map(String).join(".")).join(", ")}`
        })
      ),
      broken
    )
  })
)
