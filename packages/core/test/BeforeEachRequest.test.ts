/** The effect that runs before each request of a check, also before a request that repeats one after a 401. */
import { AmlClient, Idv, Person } from "@effect-idv/core"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { describe, it } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Exit, Layer, Redacted } from "effect"

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

const check = Effect.gen(function*() {
  const aml = yield* AmlClient.AmlClient
  return yield* aml.check(yield* Person.make({ name: "Ada Testclear", dateOfBirth: "1990-02-01" }))
}).pipe(AmlClient.withPolicy({ retry: "never" }))

describe("AmlClient.beforeEachRequest", () => {
  it.live.each([
    { statuses: [500], tag: "AmlUnavailable" },
    { statuses: [401, 500], tag: "AmlUnavailable" },
    { statuses: [401, 429], tag: "AmlRateLimited" },
    { statuses: [401, 401], tag: "AmlUnauthorized" }
  ])("runs before each request, if the service responds with $statuses", ({ statuses, tag }) =>
    Effect.gen(function*() {
      const { checks, layer } = service(statuses)
      const sentBefore: Array<number> = []
      const result = yield* Effect.either(
        Effect.provide(AmlClient.beforeEachRequest(check, Effect.sync(() => void sentBefore.push(checks()))), layer)
      )
      deepStrictEqual(
        [sentBefore, checks(), result._tag === "Left" && result.left._tag],
        [statuses.map((_, index) => index), statuses.length, tag]
      )
    }))

  it.live("prevents a request by an interruption", () =>
    Effect.gen(function*() {
      const { checks, layer } = service([401, 500])
      const exit = yield* Effect.exit(Effect.provide(
        check.pipe(AmlClient.beforeEachRequest(Effect.suspend(() => checks() > 0 ? Effect.interrupt : Effect.void))),
        layer
      ))
      assertTrue(Exit.isInterrupted(exit))
      strictEqual(checks(), 1)
    }))
})
