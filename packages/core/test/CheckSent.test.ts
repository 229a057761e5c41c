import type { AmlError } from "@effect-idv/core"
import { Failure } from "@effect-idv/core"
import { assert, describe, it } from "@effect/vitest"
import { strictEqual } from "@effect/vitest/utils"
import { Duration, Effect, Schedule } from "effect"
import {
  asksToWait,
  failsAfter,
  good,
  hangs,
  invalid,
  lost,
  noSuchHost,
  refused,
  respondsWith,
  scripted,
  untrusted
} from "./support/scripted.ts"
import * as Service from "./support/service.ts"
import { status } from "./support/tokens.ts"

describe("The deadline over all attempts", () => {
  it.effect("covers all attempts and the waits", () => {
    const service = scripted([asksToWait(429, "3"), asksToWait(503, "3"), hangs])
    return Effect.gen(function*() {
      const error = yield* failsAfter(service, "8 seconds", { deadline: "8 seconds" })
      assert.deepInclude(error, { _tag: "AmlTimeout", sent: "unknown", deadline: Duration.seconds(8) })
      strictEqual(service.amlRequests.length, 3)
    })
  })

  it.effect("covers the wait for the token", () => {
    const slowToken: Service.Handler = (_, count) =>
      Effect.delay(Effect.sync(() => Service.tokenResponse(count)), "4 seconds")
    const service = scripted([asksToWait(429, "5"), good], slowToken)
    return Effect.gen(function*() {
      const error = yield* failsAfter(service, "4 seconds", { deadline: "8 seconds" })
      assert.deepInclude(error, { _tag: "AmlRateLimited", retryAfter: Duration.seconds(5) })
      strictEqual(service.amlRequests.length, 1)
    })
  })
})

describe("sent, over several attempts", () => {
  const always = { retry: "always", deadline: "10 seconds" } as const

  it.effect.each<[string, ReadonlyArray<Service.Handler>, AmlError.Sent]>([
    ["refused three times", [refused], "no"],
    ["lost, then refused", [lost, refused], "unknown"],
    ["refused, then lost, then refused", [refused, lost, refused], "unknown"],
    ["lost, then an unknown host", [lost, noSuchHost], "unknown"],
    ["lost, then a certificate", [lost, untrusted], "unknown"],
    ["lost, then 500", [lost, respondsWith(500)], "unknown"],
    ["lost, then 429", [lost, asksToWait(429, "0")], "unknown"],
    ["lost, then 422", [lost, respondsWith(422)], "unknown"],
    ["lost, then an invalid response", [lost, invalid], "unknown"],
    ["lost, then 401", [lost, respondsWith(401)], "unknown"],
    ["500, then refused", [respondsWith(500), refused], "answered"],
    ["500, then lost, then 500", [respondsWith(500), lost, respondsWith(500)], "unknown"],
    ["429 with Retry-After, then refused", [asksToWait(429, "0"), refused], "no"],
    ["503 with Retry-After, then refused", [asksToWait(503, "0"), refused], "no"]
  ])("%s", ([, script, sent]) =>
    Effect.gen(function*() {
      strictEqual(Failure.facts(yield* failsAfter(scripted(script), "2 seconds", always)).sent, sent)
    }))

  it.effect.each<[string, ReadonlyArray<Service.Handler>, AmlError.Sent]>([
    ["lost, then nothing", [lost, hangs], "unknown"],
    ["refused, then nothing", [refused, hangs], "unknown"],
    ["500, then nothing", [respondsWith(500), hangs], "unknown"]
  ])("%s until the deadline", ([, script, sent]) =>
    Effect.gen(function*() {
      const error = yield* failsAfter(scripted(script), "10 seconds", always)
      assert.deepInclude(error, { _tag: "AmlTimeout", sent })
    }))

  const firstToken: Service.Handler = (_, count) => Effect.sync(() => Service.tokenResponse(count))
  const thenDown: Service.Handler = (received, count, request) =>
    count === 1 ? firstToken(received, count, request) : refused(received, count, request)
  const thenRejected: Service.Handler = (received, count, request) =>
    count === 1 ? firstToken(received, count, request) : Effect.sync(() => status(401))
  const thenHangs: Service.Handler = (received, count, request) =>
    count === 1 ? firstToken(received, count, request) : Effect.never

  it.effect.each<[string, Service.Handler]>([["is down", thenDown], ["refuses the key", thenRejected]])(
    "lost, then 401 while the token endpoint %s: the error does not claim that nothing was sent",
    ([, token]) =>
      Effect.gen(function*() {
        const error = yield* failsAfter(scripted([lost, respondsWith(401)], token), "5 seconds", always)
        assert.deepInclude(error, { _tag: "AmlUnavailable", reason: "broken", sent: "unknown" })
      })
  )

  it.effect("401 while the token endpoint is down: not performed", () =>
    Effect.gen(function*() {
      const error = yield* failsAfter(scripted([respondsWith(401)], thenDown), "5 seconds", always)
      strictEqual(error._tag, "TokenEndpointUnavailable")
      strictEqual(Failure.facts(error).sent, "no")
    }))

  it.effect("401 whose renewal hangs until the deadline: not performed", () =>
    Effect.gen(function*() {
      const error = yield* failsAfter(scripted([respondsWith(401)], thenHangs), "10 seconds", {
        deadline: "10 seconds"
      })
      assert.deepInclude(error, { _tag: "AmlTimeout", sent: "no" })
    }))

  it.effect("lost, then 401 whose renewal hangs until the deadline: possibly performed", () =>
    Effect.gen(function*() {
      const error = yield* failsAfter(scripted([lost, respondsWith(401)], thenHangs), "10 seconds", always)
      assert.deepInclude(error, { _tag: "AmlTimeout", sent: "unknown" })
    }))

  it.effect("401, and the replay is lost: possibly performed, and not retried", () => {
    const service = scripted([respondsWith(401), lost, good])
    return Effect.gen(function*() {
      assert.deepInclude(yield* failsAfter(service, "2 seconds"), { _tag: "AmlUnavailable", sent: "unknown" })
      strictEqual(service.amlRequests.length, 2)
    })
  })

  it.effect("refused while a schedule delays until the deadline: nothing was sent", () =>
    Effect.gen(function*() {
      const retry = Schedule.modifyDelayEffect(Schedule.recurs(3), () => Effect.never)
      const error = yield* failsAfter(scripted([refused]), "10 seconds", { retry, deadline: "10 seconds" })
      strictEqual(error._tag, "AmlTimeout")
      strictEqual(Failure.facts(error).sent, "no")
    }))
})
