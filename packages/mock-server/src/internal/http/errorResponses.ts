/** The responses of the control API to unknown paths and methods, and to a failure of an operation. */
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import { ArrayFormatter, isParseError, type ParseError } from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import { operations } from "../operations/all.ts"
import * as Request from "../wire/request.ts"
import * as ServerResponse from "../wire/serverResponse.ts"

const routes = operations.map(({ method, path }) => ({
  method,
  path: new RegExp(`^/_mock${path.replaceAll(/:\w+/g, "[^/]+")}$`)
}))

/** Neither response repeats the path, because it may contain a secret or a name. */
const unknownPath = (url: string) => {
  const path = Request.pathOf(url)
  const isText = Either.isRight(Encoding.decodeUriComponent(path))
  const methods = routes.filter((route) => isText && route.path.test(path)).map(({ method }) => method)
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

/** A response that cannot be encoded is a defect of this server: the log names the path and leaves out the value. */
const pathsOf = (error: ParseError): string =>
  `at ${ArrayFormatter.formatErrorSync(error).map(({ path }) => path.map(String).join(".")).join(", ")}`

export const middleware = <R>(app: HttpApp.Default<unknown, R>): HttpApp.Default<never, R> =>
  Effect.catchAllCause(app, (cause) => {
    if (Cause.isInterruptedOnly(cause)) return Effect.interrupt
    const failure: Option.Option<unknown> = Cause.failureOption(cause)
    if (Option.exists(failure, Predicate.isTagged("RouteNotFound"))) {
      return Effect.map(HttpServerRequest.HttpServerRequest, ({ url }) => unknownPath(url))
    }
    const encoding = Option.filter(failure, isParseError)
    return Effect.as(
      Effect.logError(
        "The control API failed",
        Option.match(encoding, { onNone: () => cause, onSome: pathsOf })
      ),
      internalError
    )
  })
