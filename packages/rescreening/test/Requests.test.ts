/** How many requests a check sent, also if it failed after a replay. */
import { Idv, Person } from "@effect-idv/core"
import * as AmlClient from "@effect-idv/core/AmlClient"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect, Layer, Redacted } from "effect"
import * as Requests from "../src/internal/worker/requests.ts"

/** A service that responds to the checks with these statuses. */
const service = (statuses: ReadonlyArray<number>) => {
  let checks = 0
  const client = HttpClient.make((request) => {
    const isToken = request.url.includes("/oauth/")
    const status = isToken ? 200 : statuses[checks++] ?? 500
    const token = { access_token: `token-${checks}`, token_type: "Bearer", expires_in: 3600 }
    return Effect.succeed(HttpClientResponse.fromWeb(
      request,
      new Response(JSON.stringify(isToken ? token : {}), { status, headers: { "content-type": "application/json" } })
    ))
  })
  const layer = Idv.layer({
    authUrl: "https://auth.example.com",
    baseUrl: "https://api.example.com",
    customerId: "customer",
    customerKey: Redacted.make("key")
  }).pipe(Layer.provide(Layer.succeed(HttpClient.HttpClient, client)))
  return { layer, checks: () => checks }
}

describe("The requests of a check", () => {
  it.live.each([
    { statuses: [500], requests: 1, tag: "AmlUnavailable" },
    { statuses: [401, 500], requests: 2, tag: "AmlUnavailable" },
    { statuses: [401, 429], requests: 2, tag: "AmlRateLimited" },
    { statuses: [401, 401], requests: 2, tag: "AmlUnauthorized" }
  ])("are $requests if the service responds with $statuses", ({ requests, statuses, tag }) =>
    Effect.gen(function*() {
      const { checks, layer } = service(statuses)
      const found = yield* Effect.gen(function*() {
        const aml = yield* AmlClient.AmlClient
        const person = yield* Person.make({ name: "Ada Testclear", dateOfBirth: "1990-02-01" })
        return yield* Requests.counted(aml.check(person)).pipe(AmlClient.withPolicy({ retry: "never" }))
      }).pipe(Effect.provide(layer))
      deepStrictEqual(
        [found.requests, checks(), found.result._tag === "Left" && found.result.left._tag],
        [requests, requests, tag]
      )
    }))
})
