import { AmlClient, AmlError, Idv, Person, TokenError, TokenProvider } from "@effect-idv/core"
import { HttpClientError, type HttpClientRequest } from "@effect/platform"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Cause, Effect, Exit, Layer, Redacted, SubscriptionRef, TestClock } from "effect"
import { everythingPrinted, renderings, transportIn } from "./support/canary.ts"
import * as Service from "./support/service.ts"

const canaries = {
  customerId: "canaryCustomerId",
  customerKey: "canaryCustomerKey",
  basic: Buffer.from("canaryCustomerId:canaryCustomerKey").toString("base64"),
  token: "canaryAccessToken",
  name: "Canaryfirst Canarylast",
  dateOfBirth: "1931-07-29",
  wireDate: "29-07-1931",
  profile: "https://idv.example.com/canaryProfile",
  body: "canaryBody"
}

const token = Effect.sync(() => Service.json({ access_token: canaries.token }))
const credential = (changes = {}, attributes = {}) =>
  Service.json(Service.credential(changes, {
    name: canaries.name,
    birth_year: "1931",
    aml_profile: canaries.profile,
    ...attributes
  }))
const echo = `{"error":"${canaries.body} ${canaries.token}","message":"${canaries.name} ${canaries.wireDate}"}`
const answers = (status: number) => () => Effect.sync(() => new Response(echo, { status }))

const transportError = (request: HttpClientRequest.HttpClientRequest) =>
  new HttpClientError.RequestError({ request, reason: "Transport", cause: new Error(canaries.body) })

const failures: ReadonlyArray<readonly [string, Parameters<typeof Service.make>[0] & object, string]> = [
  ["a token rejection", { token: answers(401) }, "TokenRejected"],
  ["a token endpoint that is down", { token: answers(503) }, "TokenEndpointUnavailable"],
  ["a token response that is an error in free text", { token: answers(200) }, "TokenRejected"],
  ["a token that is no token", {
    token: () => Effect.sync(() => Service.json({ access_token: `${canaries.token}\n` }))
  }, "TokenResponseInvalid"],
  ["a token timeout", { token: () => Effect.never }, "TokenTimeout"],
  ["a rejected token", { aml: answers(401) }, "AmlUnauthorized"],
  ["403", { aml: answers(403) }, "AmlForbidden"],
  ["422 that repeats the person", { aml: answers(422) }, "AmlRequestRejected"],
  ["429", { aml: answers(429) }, "AmlRateLimited"],
  ["500 that repeats the person", { aml: answers(500) }, "AmlUnavailable"],
  ["a timeout", { aml: () => Effect.never }, "AmlTimeout"],
  [
    "an invalid answer",
    { aml: () => Effect.sync(() => credential({}, { match_found: canaries.body })) },
    "AmlAnswerInvalid"
  ],
  [
    "an answer that is no JSON",
    { aml: () => Effect.sync(() => new Response(`<p>${canaries.name}`)) },
    "AmlAnswerInvalid"
  ],
  [
    "an answer about somebody else",
    { aml: () => Effect.sync(() => credential({}, { name: "Canaryother" })) },
    "AmlAnswerMismatch"
  ],
  ["a media type that repeats the person", {
    aml: () => Effect.sync(() => new Response("{}", { headers: { "content-type": `text/${canaries.token}` } }))
  }, "AmlAnswerInvalid"],
  ["a connection that fails", { aml: (_received, _count, request) => transportError(request) }, "AmlUnavailable"],
  [
    "a token connection that fails",
    { token: (_received, _count, request) => transportError(request) },
    "TokenEndpointUnavailable"
  ],
  [
    "a client that dies of it",
    { aml: (_received, _count, request) => Effect.orDie(transportError(request)) },
    "AmlUnavailable"
  ],
  [
    "a token client that dies of it",
    { token: (_received, _count, request) => Effect.orDie(transportError(request)) },
    "TokenEndpointUnavailable"
  ],
  ["success", { aml: () => Effect.sync(() => credential()) }, "Success"]
]

describe("50. No secret and no person is printed, and 51. no error holds a request or a response", () => {
  it.effect.each(failures)("with %s", ([, handlers, expected]) => {
    const service = Service.make({ token: () => token, ...handlers })
    const layer = Idv.layer({
      ...Service.options,
      customerId: canaries.customerId,
      customerKey: Redacted.make(canaries.customerKey)
    }).pipe(Layer.provide(service.layer))
    const check = Effect.gen(function*() {
      const aml = yield* AmlClient.AmlClient
      const person = yield* Person.make({ name: canaries.name, dateOfBirth: canaries.dateOfBirth })
      return yield* aml.check(person)
    }).pipe(Effect.provide(layer))
    return Effect.gen(function*() {
      yield* TestClock.setTime(Date.parse("2026-11-20"))
      const fiber = yield* Effect.fork(
        everythingPrinted(check, (cause) => Cause.pretty(cause, { renderErrorCause: true }))
      )
      yield* TestClock.adjust("30 seconds")
      const { exit, printed } = yield* fiber
      strictEqual(
        Exit.match(exit, {
          onSuccess: () => "Success",
          onFailure: (cause) => cause._tag === "Fail" ? cause.error._tag : cause._tag
        }),
        expected
      )
      if (Exit.isFailure(exit) && exit.cause._tag === "Fail") {
        const { error } = exit.cause
        deepStrictEqual(
          [TokenError.isTokenError(error), AmlError.isAmlError(error)],
          [expected.startsWith("Token"), expected.startsWith("Aml")]
        )
      }
      deepStrictEqual(Exit.isFailure(exit) ? transportIn(exit.cause) : [], [])
      const found = Object.values(canaries).filter((canary) => printed.includes(canary))
      strictEqual(found.join(), "")
    })
  })

  it.effect("with the provider itself, printed with a token in it", () => {
    const service = Service.make({ token: () => token })
    return Effect.gen(function*() {
      const provider = yield* TokenProvider.make({
        ...Service.options,
        customerId: canaries.customerId,
        customerKey: Redacted.make(canaries.customerKey)
      })
      const got = yield* provider.get
      const status = yield* SubscriptionRef.get(provider.status)
      const printed = [provider, got, status].flatMap(renderings).join("\n")
      strictEqual(Object.values(canaries).filter((canary) => printed.includes(canary)).join(), "")
    }).pipe(Effect.scoped, Effect.provide(service.layer))
  })

  it.effect("with credentials from an effect that fail, or cannot be used", () => {
    const service = Service.make()
    const failing = (credentials: TokenProvider.RotatingOptions["credentials"]) =>
      everythingPrinted(
        TokenProvider.make({ authUrl: Service.options.authUrl, credentials }).pipe(
          Effect.flatMap(({ get }) => get),
          Effect.scoped,
          Effect.provide(service.layer)
        ),
        (cause) => Cause.pretty(cause)
      )
    return Effect.gen(function*() {
      const unusable = { customerId: canaries.customerId, customerKey: Redacted.make(`${canaries.customerKey}\n`) }
      for (const credentials of [Effect.fail(new Error(canaries.customerKey)), Effect.succeed(unusable)]) {
        const { printed } = yield* failing(credentials)
        strictEqual(printed.includes("TokenEndpointUnavailable"), true)
        strictEqual(Object.values(canaries).filter((canary) => printed.includes(canary)).join(), "")
      }
    })
  })

  it.effect("with input that is refused", () =>
    Effect.gen(function*() {
      const refused = Person.make({ name: `${canaries.name}\u0000`, dateOfBirth: canaries.wireDate })
      const { printed } = yield* everythingPrinted(refused, (cause) => Cause.pretty(cause))
      strictEqual(printed.includes("AmlInputRejected"), true)
      strictEqual(Object.values(canaries).filter((canary) => printed.includes(canary)).join(), "")
    }))
})
