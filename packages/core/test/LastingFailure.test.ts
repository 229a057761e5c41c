import { Failure, type Idv, TokenProvider } from "@effect-idv/core"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Array as Arr, Effect, HashMap, Layer, Logger, Schedule, TestClock } from "effect"
import * as Ada from "./support/ada.ts"
import { asksToWait, good, lost, respondsWith, scripted, untrusted } from "./support/scripted.ts"
import * as Service from "./support/service.ts"

/** The lines at the level ERROR, with their annotations. */
const errorLines = () => {
  const lines: Array<string> = []
  const logger = Logger.make(({ annotations, logLevel, message }) => {
    const texts = [...Arr.ensure(message), ...HashMap.values(annotations)]
    if (logLevel.label === "ERROR") lines.push(texts.map(String).join(" | "))
  })
  return { lines, layer: Logger.replace(Logger.defaultLogger, logger) }
}

/** Checks once in each second, from now to the end. */
const checksFor = (seconds: number) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(Effect.repeat(
      Effect.exit(Ada.check),
      Schedule.intersect(Schedule.spaced("1 second"), Schedule.recurs(seconds))
    ))
    yield* TestClock.adjust(`${seconds} seconds`)
    yield* TestClock.adjust("2 seconds")
    yield* fiber
  })

const aml = (handler: Service.Handler) => scripted([handler])
const token = (handler: Service.Handler) => Service.make({ token: handler })

describe("A failure that concerns everyone", () => {
  it.effect.each<[string, Pick<ReturnType<typeof Service.make>, "layer">, string]>([
    [
      "a rejected key",
      token(respondsWith(401)),
      "The token endpoint refused the request: status 401 (check customerId and customerKey) | auth.example.com:443 | TokenRejected"
    ],
    [
      "an address without a token endpoint",
      token(respondsWith(404)),
      "The token endpoint refused the request: status 404 (check authUrl) | auth.example.com:443 | TokenRejected"
    ],
    [
      "a token of another environment",
      aml(respondsWith(401)),
      "The service rejected the access token (renewal: replayed; check that authUrl and baseUrl belong to the same environment) | api.example.com:443 | AmlUnauthorized"
    ],
    [
      "a customer without the right",
      aml(respondsWith(403)),
      "The service does not allow these credentials to run the check: status 403 (ask it to allow this customer) | api.example.com:443 | AmlForbidden"
    ],
    [
      "an address without a check",
      aml(respondsWith(404)),
      "The service refused the request: status 404 (check baseUrl) | api.example.com:443 | AmlRequestRejected"
    ],
    [
      "a redirect in a browser, which hides its status",
      aml(() => Effect.sync(() => Response.error())),
      "The service at api.example.com:443 responded with a redirect, which is not followed (check baseUrl) | api.example.com:443 | AmlResponseInvalid"
    ],
    [
      "a certificate",
      aml(untrusted),
      "The service at api.example.com:443 is not available: its certificate is not trusted (certificate) (sent: no) | api.example.com:443 | AmlUnavailable"
    ]
  ])("is logged once per cooldown, with the host and what to check: %s", ([, service, expected]) => {
    const { layer, lines } = errorLines()
    return Effect.gen(function*() {
      yield* checksFor(25)
      const line = `Checks fail until this is corrected. ${expected}`
      deepStrictEqual(lines.map((line) => line.replace(/same_token|paused/, "replayed")), [line])
      yield* TestClock.adjust("10 seconds")
      yield* checksFor(3)
      strictEqual(lines.length, 2)
    }).pipe(Ada.provide(service), Effect.provide(layer))
  })

  it.effect("is logged once per cooldown although another one alternates with it", () => {
    const { layer, lines } = errorLines()
    let count = 0
    const service = aml((...request) => respondsWith(++count % 2 === 0 ? 403 : 404)(...request))
    return Effect.gen(function*() {
      yield* checksFor(20)
      strictEqual(lines.length, 2)
    }).pipe(Ada.provide(service), Effect.provide(layer))
  })

  it.effect("is logged by a provider without a caller too", () => {
    const { layer, lines } = errorLines()
    const options: Idv.Options = Service.options
    return Effect.gen(function*() {
      yield* TestClock.adjust("1 minute")
      strictEqual(lines.length > 0, true)
    }).pipe(
      Effect.provide(Layer.provide(TokenProvider.layerBackground(options), token(respondsWith(403)).layer)),
      Effect.provide(layer)
    )
  })

  it.effect.each<[string, Service.Handler]>([
    ["a result", good],
    ["500", respondsWith(500)],
    ["a lost connection", lost],
    ["429", asksToWait(429, "60")],
    ["a refused person", respondsWith(422)],
    ["another person", () => Effect.sync(() => Service.json(Service.credential({}, { birth_year: "1990" })))]
  ])("is not %s", ([, handler]) => {
    const { layer, lines } = errorLines()
    return Effect.gen(function*() {
      yield* checksFor(5)
      deepStrictEqual(lines, [])
    }).pipe(Ada.provide(aml(handler)), Effect.provide(layer))
  })
})

describe("The facts of an error that the client does not have", () => {
  it("say that it may have been sent", () => {
    const { sent } = Failure.facts(Object.assign(new Error(), { _tag: "TimeoutException" }) as never)
    strictEqual(sent, "unknown")
  })
})
