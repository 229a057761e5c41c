/** A server for the tests of the page, with functions that send requests as an app does. */
import { MockServer, Session } from "@effect-idv/mock-server"
import { FetchHttpClient, HttpBody, HttpClient, HttpClientRequest, type HttpClientResponse } from "@effect/platform"
import { Context, Effect, Layer, Redacted } from "effect"

/**
 * Starts the server. `token` returns the body of a token response. `check` returns the status of a check, or 0 if the
 * connection breaks, and `profileOf` the address in its `aml_profile`.
 */
export const start = Effect.gen(function*() {
  const context = yield* Layer.build(MockServer.layer({ port: 0 }))
  const { url } = Context.get(context, MockServer.MockServer)

  const post = (
    path: string,
    change: (request: HttpClientRequest.HttpClientRequest) => HttpClientRequest.HttpClientRequest
  ) =>
    HttpClient.HttpClient.pipe(
      Effect.map(HttpClient.withTracerPropagation(false)),
      Effect.flatMap((client) => client.execute(change(HttpClientRequest.post(`${url}${path}`)))),
      Effect.provide(FetchHttpClient.layer)
    )

  const token = ({ customerId, customerKey }: Session.Customer = Session.demoCustomer) =>
    post("/oauth/service", (request) =>
      request.pipe(
        HttpClientRequest.basicAuth(customerId, Redacted.value(customerKey)),
        HttpClientRequest.setBody(
          HttpBody.text("grant_type=client_credentials", "application/x-www-form-urlencoded")
        )
      )).pipe(
        Effect.flatMap(({ json }) => json),
        Effect.orDie
      )

  const sendCheck = (token: string, name: string) =>
    post("/api/aml", (request) =>
      request.pipe(
        HttpClientRequest.bearerToken(token),
        HttpClientRequest.bodyUnsafeJson({ entity_type: "person", name, dob: "01-02-1990" })
      ))

  const check = (token: string, name: string) =>
    sendCheck(token, name).pipe(
      Effect.map(({ status }: HttpClientResponse.HttpClientResponse) => status),
      Effect.orElseSucceed(() => 0)
    )

  const profileOf = (token: string, name: string) =>
    sendCheck(token, name).pipe(
      Effect.flatMap(({ text }) => text),
      Effect.orDie,
      Effect.map((text) => /"aml_profile":"([^"]+)"/.exec(text)?.[1] ?? "")
    )

  return { control: context, page: `${url}/_mock/ui`, url, token, check, profileOf }
})

/** The token in the field `access_token`. */
export const accessToken = (response: unknown): string =>
  /"access_token":"([^"]+)"/.exec(JSON.stringify(response))?.[1] ?? ""
