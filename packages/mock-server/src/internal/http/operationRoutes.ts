/** The operations as routes of the control API. */
import * as Violation from "@effect-idv/core/Violation"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as HttpMethod from "@effect/platform/HttpMethod"
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { operations } from "../operations/all.ts"
import { ControlRefused } from "../operations/controlErrors.ts"
import type * as Operation from "../operations/operation.ts"
import * as JsonText from "../schema/jsonText.ts"
import * as Request from "../wire/request.ts"

/**
 * Whether the body is JSON, or empty without a content type. This protects against pages of other sites: an HTML form
 * can send only three other content types, and a script needs a CORS permission for JSON, which this server never
 * gives.
 */
const isAllowedContent = (request: Request.Request): boolean => {
  const { parameters, type } = Request.mediaType(request)
  return type === "application/json"
    ? !parameters.some(Request.isOtherCharset)
    : type === "" && request.body.length === 0
}

const refusal = (path: string, problem: Violation.Violation["problem"], expected: string) =>
  new ControlRefused({ violations: [new Violation.Violation({ path, problem, expected })] })

const incomplete = refusal("", "invalid", "a complete body")
const contentType = refusal("Content-Type", "invalid", "application/json in UTF-8, or no header and no body")
const contentEncoding = refusal("Content-Encoding", "unexpected", "a body without a content coding")
const tooLong = refusal("", "invalid", `a body of at most ${Request.maxBodyBytes} bytes`)

/** The JSON of the body. A missing body counts as the empty object. */
const jsonOf = (request: Request.Request): Either.Either<unknown, ControlRefused> => {
  if (!request.isWhole) return Either.left(incomplete)
  if (!isAllowedContent(request)) return Either.left(contentType)
  if (Request.hasCoding(request)) return Either.left(contentEncoding)
  if (Request.isTooLong(request)) return Either.left(tooLong)
  return request.body.length === 0
    ? Either.right({})
    : Either.mapLeft(JsonText.parse(request.body), ({ violations }) => new ControlRefused({ violations }))
}

/** The body, or for a request without one the query. */
const inputOf = (operation: Operation.AnyOperation) =>
  Option.isNone(operation.input) && !HttpMethod.hasBody(operation.method)
    ? Effect.succeed(undefined)
    : HttpMethod.hasBody(operation.method)
    ? Effect.flatMap(HttpServerRequest.HttpServerRequest, (source) => Effect.flatMap(Request.read(source), jsonOf))
    : Effect.map(HttpServerRequest.ParsedSearchParams, (query): unknown => ({ ...query }))

const handler = (operation: Operation.AnyOperation) => {
  const encoding = HttpApiSchema.getEncoding(operation.success.ast)
  return Effect.gen(function*() {
    const path = yield* HttpRouter.params
    const input = yield* inputOf(operation)
    const { status, value } = yield* operation.respond(
      Object.fromEntries(Object.entries(path).map(([name, value = ""]) => [name, value])),
      input
    )
    return value === undefined
      ? HttpServerResponse.empty({ status })
      : encoding.kind === "Text"
      ? HttpServerResponse.text(String(value), { status, contentType: encoding.contentType })
      : yield* HttpServerResponse.json(value, { status })
  }).pipe(
    Effect.catchTag("ControlRefused", (error) => HttpServerResponse.schemaJson(ControlRefused)(error, { status: 400 }))
  )
}

export const layer: Layer.Layer<never, never, HttpApiBuilder.Router | Operation.Services> = HttpApiBuilder.Router.use(
  (router) =>
    Effect.gen(function*() {
      const context = yield* Effect.context<Operation.Services>()
      for (const operation of operations) {
        const handle = Effect.provide(handler(operation), context)
        yield* router.addRoute(HttpRouter.makeRoute(operation.method, `/_mock${operation.path}`, handle))
      }
    })
)
