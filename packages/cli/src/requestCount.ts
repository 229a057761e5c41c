/** Counts the requests of a run. */
import * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"

/** Counts requests, because a service may bill them. An interrupted run reports the count too. */
export interface RequestCount {
  readonly client: HttpClient.HttpClient
  /** How many requests were started, without those to the control API. */
  readonly requests: () => number
  /** How many checks had a 2xx response. */
  readonly checks: () => number
}

const pathOf = (url: string): string => URL.canParse(url) ? new URL(url).pathname : ""

/** `onRequest` runs for each request. */
export const make = (
  client: HttpClient.HttpClient,
  onRequest: Effect.Effect<void> = Effect.void
): RequestCount => {
  let requests = 0
  let checks = 0
  return {
    client: client.pipe(
      HttpClient.tapRequest(({ url }) =>
        Effect.suspend(() => {
          if (pathOf(url).includes("/_mock/")) return Effect.void
          requests++
          return onRequest
        })
      ),
      HttpClient.tap(({ request: { method, url }, status }) =>
        Effect.sync(() => {
          if (method === "POST" && pathOf(url).endsWith("/api/aml") && status >= 200 && status < 300) checks++
        })
      )
    ),
    requests: () => requests,
    checks: () => checks
  }
}
