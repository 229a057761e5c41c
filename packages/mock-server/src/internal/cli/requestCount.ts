/** How much was asked: also of a run that was interrupted, or whose checks may be billed. */
import * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"

/**
 * - `requests`: how many were begun, but for those to a control plane.
 * - `checks`: how many checks were answered with 2xx.
 */
export interface Counted {
  readonly client: HttpClient.HttpClient
  readonly requests: () => number
  readonly checks: () => number
}

const pathOf = (url: string): string => URL.canParse(url) ? new URL(url).pathname : ""

export const make = (client: HttpClient.HttpClient): Counted => {
  let requests = 0
  let checks = 0
  return {
    client: client.pipe(
      HttpClient.tapRequest(({ url }) =>
        Effect.sync(() => {
          if (!pathOf(url).includes("/_mock/")) requests++
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
