/**
 * The HTTP app under `/_mock`: the control API, its OpenAPI document and a page. The first request to it loads and
 * builds it, so that neither a test of the data plane nor the start of a server waits for it.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpMethod from "@effect/platform/HttpMethod"
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { ArrayFormatter, isParseError, type ParseError } from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import { ControlApi } from "../../ControlApi.ts"
import { operations } from "../operations/all.ts"
import { ControlRefused, refusal } from "../operations/controlErrors.ts"
import type * as Operation from "../operations/operation.ts"
import * as JsonText from "../schema/jsonText.ts"
import * as Request from "../wire/request.ts"
import { runOnce } from "../wire/runOnce.ts"
import * as ServerResponse from "../wire/serverResponse.ts"
import { docsPath } from "./guard.ts"

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

/** Responds to unknown paths and methods, and to a failure of an operation. */
const respondToErrors = <R>(app: HttpApp.Default<unknown, R>): HttpApp.Default<never, R> =>
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

type Services = Operation.Services

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

const operationRoutes: Layer.Layer<never, never, HttpApiBuilder.Router | Services> = HttpApiBuilder.Router.use(
  (router) =>
    Effect.gen(function*() {
      const context = yield* Effect.context<Services>()
      for (const operation of operations) {
        const handle = Effect.provide(handler(operation), context)
        yield* router.addRoute(HttpRouter.makeRoute(operation.method, `/_mock${operation.path}`, handle))
      }
    })
)

/** The Swagger page. Its code has a size of 1 MB, so it is loaded only when a browser requests it. */
const docs = Effect.gen(function*() {
  const [{ layerHttpLayerRouter }, { toHttpEffect }] = yield* Effect.promise(() =>
    Promise.all([import("@effect/platform/HttpApiSwagger"), import("@effect/platform/HttpLayerRouter")])
  )
  return yield* toHttpEffect(layerHttpLayerRouter({ api: ControlApi, path: docsPath }))
}).pipe(Effect.scoped)

const document = Effect.suspend(() => Effect.orDie(HttpServerResponse.json(OpenApi.fromApi(ControlApi))))

const documents = HttpApiBuilder.Router.use((router) =>
  Effect.gen(function*() {
    yield* router.get("/_mock/openapi.json", yield* runOnce(document))
    yield* router.get(docsPath, Effect.flatten(yield* runOnce(docs)))
  })
)

/** Strict matching: a path that ends with an empty id must not match the path of the list. */
const routing = {
  caseSensitive: true,
  ignoreDuplicateSlashes: false,
  ignoreTrailingSlash: false,
  maxParamLength: Number.MAX_SAFE_INTEGER
}

/** `page` adds its routes to the same router. */
export const make = (
  page: Layer.Layer<never, never, HttpApiBuilder.Router | Services | HttpRouter.HttpRouter.DefaultServices>
): Effect.Effect<HttpApp.Default, never, Services | Scope.Scope> =>
  Effect.gen(function*() {
    const built = yield* Layer.mergeAll(page, documents, operationRoutes).pipe(
      Layer.provideMerge(Layer.merge(HttpApiBuilder.Router.Live, NodeHttpServer.layerContext)),
      Layer.build
    )
    const { router } = Context.get(built, HttpApiBuilder.Router)
    const app = yield* HttpRouter.withRouterConfig(Effect.flatMap(router, HttpRouter.toHttpApp), routing)
    const context = Context.merge(yield* Effect.context<Services>(), built)
    return Effect.updateService(
      Effect.provide(respondToErrors(app), context),
      HttpServerRequest.HttpServerRequest,
      (request) => request.modify({ url: Request.targetOf(request.url) })
    )
  })
