/** Calls the operations of a server that runs elsewhere, over HTTP. */
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import type * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpMethod from "@effect/platform/HttpMethod"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { ControlUnavailable } from "./control.ts"
import type * as Operation from "./operation.ts"

const reasonOf = (status: number): ControlUnavailable["reason"] =>
  status === 401 ? "unauthorized" : status === 403 ? "forbidden" : "answer"

/** The address of an operation. The ids of its path may contain any character. */
const addressOf = (path: string, parameters: Operation.Path): string =>
  path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(parameters[name] ?? ""))

const withInput = (
  request: HttpClientRequest.HttpClientRequest,
  input: unknown
): Effect.Effect<HttpClientRequest.HttpClientRequest, HttpBody.HttpBodyError> =>
  input === undefined
    ? Effect.succeed(request)
    : HttpMethod.hasBody(request.method)
    ? HttpClientRequest.bodyJson(request, input)
    : Effect.succeed(HttpClientRequest.setUrlParams(
      request,
      Predicate.isRecord(input) ? Record.map(input, String) : {}
    ))

export const make = ({ token, url }: {
  readonly url: string
  readonly token?: Redacted.Redacted<string> | undefined
}): Effect.Effect<Operation.Call<ControlUnavailable>, never, HttpClient.HttpClient> =>
  Effect.map(
    HttpClient.HttpClient,
    (client) =>
    <A, E>(operation: Operation.Callable<A, E>, path: Operation.Path, input?: unknown, form: Operation.Form = "json") =>
      Effect.gen(function*() {
        const unavailable = (reason: ControlUnavailable["reason"]) => new ControlUnavailable({ url, reason })
        const body = yield* operation.prepare(path, input, form)
        const address = `${url.replace(/\/+$/, "")}/_mock${addressOf(operation.path, path)}`
        const request = yield* Effect.orDie(withInput(HttpClientRequest.make(operation.method)(address), body))
        const { status, text } = yield* client.execute(
          token === undefined ? request : HttpClientRequest.bearerToken(request, token)
        ).pipe(
          Effect.flatMap((response) => Effect.map(response.text, (text) => ({ status: response.status, text }))),
          Effect.scoped,
          Effect.mapError(() => unavailable("transport"))
        )
        const json = text === "" ? Effect.succeed(undefined) : Effect.try({
          try: (): unknown => JSON.parse(text),
          catch: () => unavailable(reasonOf(status))
        })
        const decode = <B>(schema: Schema.Schema<B, unknown>, encoded: unknown) =>
          Effect.mapError(Schema.decodeUnknown(schema)(encoded), () => unavailable(reasonOf(status)))
        if (status < 300) {
          return yield* decode(
            operation.success,
            HttpApiSchema.getEncoding(operation.success.ast).kind === "Text" ? text : yield* json
          )
        }
        return yield* Effect.flatMap(decode(operation.failure, yield* json), (error) => Effect.fail(error))
      })
  )
