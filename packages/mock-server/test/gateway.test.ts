import { Control, MockServer } from "@effect-idv/mock-server"
import { layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { check, decisionOf, type Expected, issuedToken, reset, send } from "./support/decisions.ts"

layer(MockServer.layerHttpClient)("The decision about", (it) => {
  it.effect("a fault that responds in place of the service says so", () =>
    Effect.gen(function*() {
      yield* reset
      const session = (yield* Control.Control).session("demo-customer")
      const token = yield* issuedToken
      yield* session.fault({ id: "down", on: "aml", what: { kind: "status", status: 503 } })
      deepStrictEqual(yield* decisionOf(check(token)), [
        503,
        "fault.status",
        "Returned status 503 instead of the service's response: fault down, at its request 1",
        [],
        false
      ])
    }))

  it.effect("a check whose token a fault expires is the one of the service", () =>
    Effect.gen(function*() {
      yield* reset
      const session = (yield* Control.Control).session("demo-customer")
      const token = yield* issuedToken
      yield* session.fault({ id: "gone", on: "aml", what: { kind: "tokenExpiry" } })
      deepStrictEqual(yield* decisionOf(check(token)), [
        401,
        "aml.token-expired",
        "The token is expired, by this session's clock; made the token expire: fault gone, at its request 1",
        ["token.lifetime", "token.expired"],
        false
      ])
    }))

  it.effect("a request beyond a quota names the quota", () =>
    Effect.gen(function*() {
      yield* reset
      const session = (yield* Control.Control).session("demo-customer")
      const token = yield* issuedToken
      yield* session.fault({ id: "few", on: "aml", what: { kind: "quota", limit: 1, per: "1 minute" } })
      yield* send(check(token))
      deepStrictEqual(yield* decisionOf(check(token)), [
        429,
        "fault.quota",
        "The quota of 1 requests per 1m is exceeded; returned status 429: fault few, at its request 2",
        ["limits.rate.retry-after"],
        false
      ])
    }))

  it.effect.each<readonly [string, Expected]>([
    ["/elsewhere", [
      404,
      "path.unknown",
      "There are POST /oauth/service and POST /api/aml, and for people /_mock/ui",
      ["paths.other"],
      true
    ]],
    ["/favicon.ico", [404, "path.icon", "A browser requested an icon, and there is none", ["paths.other"], false]]
  ])("the path %s is the one of a path that does not exist", ([target, expected]) =>
    Effect.gen(function*() {
      yield* reset
      deepStrictEqual(yield* decisionOf({ method: "GET", target }), expected)
    }))
})
