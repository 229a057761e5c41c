/** A service in memory for the tests of the client: handlers for its requests, and a record of these. */
import type * as Idv from "@effect-idv/core/Idv"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"

export interface Received {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export type Handler = (
  received: Received,
  count: number,
  request: HttpClientRequest.HttpClientRequest
) => Effect.Effect<Response, HttpClientError.HttpClientError>

/** Fails with this cause, as Undici and fetch do. */
export const failing = (cause: unknown): Handler => (_received, _count, request) =>
  new HttpClientError.RequestError({ request, reason: "Transport", cause })

export const json = (body: unknown, init?: ResponseInit): Response =>
  new Response(JSON.stringify(body), { headers: { "content-type": "application/json" }, ...init })

export const tokenResponse = (count: number, fields: Record<string, unknown> = {}, status = 200): Response =>
  json({ access_token: `token-${count}`, token_type: "Bearer", expires_in: 3600, ...fields }, {
    status,
    headers: { "content-type": "application/json" }
  })

export const attributes = {
  name: "Ada Testclear",
  birth_year: "1957",
  searched_on: "2026-11-20 09:30:00",
  match_found: "No",
  aml_profile: "https://idv.example.com/profiles/1"
}

export const credential = (changes: Record<string, unknown> = {}, attributeChanges: Record<string, unknown> = {}) => ({
  credential_type: "aml",
  credential_name: "AML",
  issued_by: "Issuer",
  issuer_id: "7d9f6c52-4b1e-4c39-9a76-2f0e8d1b5a64",
  cred_version: "1.0",
  credentials: { attributes: { ...attributes, ...attributeChanges } },
  ...changes
})

export const make = (handlers: { readonly token?: Handler; readonly aml?: Handler } = {}) => {
  const tokenRequests: Array<Received> = []
  const amlRequests: Array<Received> = []
  const token = handlers.token ?? ((_, count) => Effect.succeed(tokenResponse(count)))
  const aml = handlers.aml ?? (() => Effect.succeed(json(credential())))
  const client = HttpClient.make((request, url) => {
    const received: Received = {
      url: url.href,
      method: request.method,
      headers: { ...request.headers },
      body: request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : ""
    }
    const [record, handler] = url.pathname.endsWith("/oauth/service") ? [tokenRequests, token] : [amlRequests, aml]
    return Effect.suspend(() => handler(received, record.push(received), request)).pipe(
      Effect.map((response) => HttpClientResponse.fromWeb(request, response))
    )
  })
  return { tokenRequests, amlRequests, layer: Layer.succeed(HttpClient.HttpClient, client) }
}

/** The tolerance accepts the `searched_on` of {@link attributes} at any time. */
export const options: Idv.Options = {
  authUrl: "https://auth.example.com",
  baseUrl: "https://api.example.com",
  customerId: "acme-bank",
  customerKey: Redacted.make("s3cret-key"),
  searchedOnTolerance: "4000000 days"
}
