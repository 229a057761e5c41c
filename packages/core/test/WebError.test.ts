import { AmlClient, AmlError, type Failure, Person, TokenError, Violation, WebError } from "@effect-idv/core"
import { HttpApp, HttpRouter, HttpServerRespondable, HttpServerResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual, throws } from "@effect/vitest/utils"
import { Duration, Effect, Fiber, Option, Redacted, TestClock } from "effect"
import * as Ada from "./support/ada.ts"

const signUp = (input: Person.Input, options?: WebError.OnlyClearOptions) =>
  Effect.gen(function*() {
    const aml = yield* AmlClient.AmlClient
    return yield* aml.check(yield* Person.make(input))
  }).pipe(WebError.onlyClear(options))

/** Everything in a response that its receiver can see. */
const seen = (error: HttpServerRespondable.Respondable) =>
  Effect.flatMap(HttpServerRespondable.toResponse(error), (response) => {
    const web = HttpServerResponse.toWeb(response)
    return Effect.map(Effect.promise(() => web.text()), (body) => ({
      status: web.status,
      headers: Object.fromEntries(web.headers),
      body
    }))
  })

const failures: ReadonlyArray<Exclude<Failure.Failure, AmlError.AmlInputRejected>> = [
  new TokenError.TokenRejected({ status: 401, code: "invalid_client" }),
  new TokenError.TokenEndpointUnavailable({ reason: "dns", attempts: 3, retryAfter: Duration.minutes(7) }),
  new TokenError.TokenResponseInvalid({ status: 200, length: 0, violations: [] }),
  new TokenError.TokenTimeout({ deadline: Duration.seconds(30) }),
  new TokenError.TokenProviderClosed(),
  new AmlError.AmlUnauthorized({ status: 401, renewal: "replayed" }),
  new AmlError.AmlForbidden({ status: 403 }),
  new AmlError.AmlRequestRejected({ status: 422, code: "pep", detail: Redacted.make("Ada Testclear is listed") }),
  new AmlError.AmlRateLimited({ retryAfter: Duration.minutes(9) }),
  new AmlError.AmlUnavailable({ reason: "status", status: 503, sent: "answered", retryAfter: Duration.hours(1) }),
  new AmlError.AmlTimeout({ sent: "unknown", deadline: Duration.seconds(30) }),
  new AmlError.AmlResponseInvalid({ status: 200, length: 10, violations: Violation.whole("a credential") }),
  new AmlError.AmlResponseMismatch({ fields: ["name"] })
]

describe("WebError", () => {
  it.effect("lets a \"No\" pass", () =>
    Effect.gen(function*() {
      strictEqual((yield* signUp(Ada.input)).result, "No")
    }).pipe(Effect.provide(AmlClient.layerTest("No"))))

  it.effect("a doubtful \"No\", a potential match and every failure have the same response, byte for byte: 503 with Retry-After", () =>
    Effect.gen(function*() {
      const responses = yield* Effect.forEach(
        ["Doubtful No" as const, "Potential match" as const, ...failures],
        (canned) => Effect.provide(Effect.flatMap(Effect.flip(signUp(Ada.input)), seen), AmlClient.layerTest(canned))
      )
      strictEqual(responses.length, 15)
      for (const response of responses) {
        deepStrictEqual(response, {
          status: 503,
          headers: {
            "cache-control": "no-store",
            "content-length": String(response.body.length),
            "content-type": "application/problem+json",
            "retry-after": "60"
          },
          body: "{\"type\":\"about:blank\",\"title\":\"This cannot be completed at the moment\",\"status\":503}"
        })
      }
    }))

  it.effect("responds with 422, the invalid fields and their codes, without values", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(signUp({ name: "Canary\u0000Canary\u200b", dateOfBirth: "1957-02-30" }))
      const { body, status } = yield* seen(error)
      strictEqual(status, 422)
      deepStrictEqual(JSON.parse(body).errors, [
        { field: "name", code: "control_character", index: 6, message: "a control character or line break" },
        { field: "name", code: "invisible_character", index: 13, message: "an invisible character" },
        { field: "dateOfBirth", code: "no_such_date", message: "the date does not exist" }
      ])
      assert(!/canary|1957/i.test(body))
    }).pipe(Effect.provide(AmlClient.layerTest("No"))))

  it.effect("accepts another Retry-After, for every person", () =>
    Effect.gen(function*() {
      const { headers } = yield* seen(yield* Effect.flip(signUp(Ada.input, { retryAfter: "90500 millis" })))
      strictEqual(headers["retry-after"], "91")
    }).pipe(Effect.provide(AmlClient.layerTest("Potential match"))))

  it.each(["Infinity", "-5 seconds", "NaN"])(
    "rejects a Retry-After of %s at once, and not with the first response",
    (text) => {
      const retryAfter = text === "-5 seconds" ? text : Number(text)
      throws(
        () => WebError.onlyClear({ retryAfter }),
        new TypeError(
          "WebError: retryAfter should be a duration of at most 2147483647 ms (24.8 days), such as \"30 seconds\""
        )
      )
    }
  )

  it.effect("responds at the same time to a match, at once, and to an outage, at the deadline", () =>
    Effect.gen(function*() {
      const client = AmlClient.layerTest("Potential match")
      const options = { respondAfter: "3 seconds" } as const
      const match = yield* Effect.fork(Effect.flip(Effect.provide(signUp(Ada.input, options), client)))
      const late = Effect.delay(new AmlError.AmlForbidden({ status: 403 }), "2 seconds")
      const outage = yield* Effect.fork(Effect.flip(WebError.onlyClear(options)(late)))
      yield* TestClock.adjust("2999 millis")
      deepStrictEqual([yield* Fiber.poll(match), yield* Fiber.poll(outage)], [Option.none(), Option.none()])
      yield* TestClock.adjust("1 millis")
      deepStrictEqual(yield* seen(yield* Fiber.join(match)), yield* seen(yield* Fiber.join(outage)))
      throws(
        () => WebError.onlyClear({ respondAfter: "-1 seconds" }),
        new TypeError(
          "WebError: respondAfter should be a duration of at most 2147483647 ms (24.8 days), such as \"30 seconds\""
        )
      )
    }))

  it.effect("is converted to a response in an HttpRouter", () =>
    Effect.gen(function*() {
      const app = HttpRouter.empty.pipe(
        HttpRouter.post("/sign-up", Effect.as(signUp(Ada.input), HttpServerResponse.empty({ status: 201 }))),
        Effect.provide(AmlClient.layerTest("Potential match"))
      )
      const response = yield* Effect.promise(() =>
        HttpApp.toWebHandler(app)(new Request("http://localhost/sign-up", { method: "POST" }))
      )
      deepStrictEqual([response.status, response.headers.get("retry-after")], [503, "60"])
    }))
})
