/** Plain HTTP requests to the mock server of the context. */
import { MockServer } from "@effect-idv/mock-server"
import { HttpClient, HttpClientRequest, type HttpMethod } from "@effect/platform"
import { Effect } from "effect"

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

export const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`

/** Adds no `content-type`: a body is sent without one unless the headers have it. */
export const request = (
  method: HttpMethod.HttpMethod,
  path: string,
  { body, headers = {} }: { readonly body?: string | Uint8Array; readonly headers?: Record<string, string> } = {}
) =>
  Effect.gen(function*() {
    const { url } = yield* MockServer.MockServer
    const { "content-type": contentType = "", ...others } = headers
    const response = yield* HttpClientRequest.make(method)(`${url}${path}`).pipe(
      HttpClientRequest.setHeaders(others),
      body === undefined
        ? HttpClientRequest.setHeaders(headers)
        : HttpClientRequest.bodyUint8Array(Buffer.from(body), contentType),
      HttpClient.execute
    )
    const text = yield* response.text
    return { status: response.status, headers: response.headers, text } satisfies Answer
  }).pipe(Effect.scoped)

export const json = { "content-type": "application/json" }

/** A request to the control API with a JSON body. */
export const control = (method: HttpMethod.HttpMethod, path: string, body?: unknown, headers = {}) =>
  request(method, `/_mock${path}`, {
    headers: { ...(body !== undefined && json), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) })
  })

export const tokenRequest = (customerId: string, customerKey = "test-key") =>
  request("POST", "/oauth/service", {
    headers: {
      "authorization": basic(`${customerId}:${customerKey}`),
      "content-type": "application/x-www-form-urlencoded"
    },
    body: "grant_type=client_credentials"
  })

export const token = (customerId: string, customerKey?: string) =>
  Effect.map(tokenRequest(customerId, customerKey), ({ text }): string => JSON.parse(text).access_token)

export const check = (token: string, name = "Ada Testclear") =>
  request("POST", "/api/aml", {
    headers: { ...json, authorization: `Bearer ${token}` },
    body: JSON.stringify({ entity_type: "person", name, dob: "01-02-1940" })
  })

export const checkStatus = (token: string, name?: string) => Effect.map(check(token, name), ({ status }) => status)
