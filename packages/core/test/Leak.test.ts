import { AmlClient, AmlError, Idv, Person, Screening, TokenError, TokenProvider, WebError } from "@effect-idv/core"
import { HttpClient, HttpClientError, HttpClientRequest } from "@effect/platform"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import {
  Cause,
  Context,
  Effect,
  Exit,
  identity,
  Layer,
  Redacted,
  Schema,
  Stream,
  SubscriptionRef,
  TestClock
} from "effect"
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
const respondsWith = (status: number) => () => Effect.sync(() => new Response(echo, { status }))

const transportError = (request: HttpClientRequest.HttpClientRequest) =>
  new HttpClientError.RequestError({ request, reason: "Transport", cause: new Error(canaries.body) })

const failures: ReadonlyArray<readonly [string, Parameters<typeof Service.make>[0] & object, string]> = [
  ["a token rejection", { token: respondsWith(401) }, "TokenRejected"],
  ["a token endpoint that is down", { token: respondsWith(503) }, "TokenEndpointUnavailable"],
  ["a token response that is an error in free text", { token: respondsWith(200) }, "TokenRejected"],
  ["an invalid token", {
    token: () => Effect.sync(() => Service.json({ access_token: `${canaries.token}\n` }))
  }, "TokenResponseInvalid"],
  ["a token timeout", { token: () => Effect.never }, "TokenTimeout"],
  ["a rejected token", { aml: respondsWith(401) }, "AmlUnauthorized"],
  ["403", { aml: respondsWith(403) }, "AmlForbidden"],
  ["422 that repeats the person", { aml: respondsWith(422) }, "AmlRequestRejected"],
  ["429", { aml: respondsWith(429) }, "AmlRateLimited"],
  ["500 that repeats the person", { aml: respondsWith(500) }, "AmlUnavailable"],
  ["a timeout", { aml: () => Effect.never }, "AmlTimeout"],
  [
    "an invalid response",
    { aml: () => Effect.sync(() => credential({}, { match_found: canaries.body })) },
    "AmlResponseInvalid"
  ],
  [
    "a response that is not JSON",
    { aml: () => Effect.sync(() => new Response(`<p>${canaries.name}`)) },
    "AmlResponseInvalid"
  ],
  [
    "a response about another person",
    { aml: () => Effect.sync(() => credential({}, { name: "Canaryother" })) },
    "AmlResponseMismatch"
  ],
  ["a media type that repeats the person", {
    aml: () => Effect.sync(() => new Response("{}", { headers: { "content-type": `text/${canaries.token}` } }))
  }, "AmlResponseInvalid"],
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

const AnyAmlError = Schema.Union(
  AmlError.AmlUnauthorized,
  AmlError.AmlForbidden,
  AmlError.AmlRequestRejected,
  AmlError.AmlRateLimited,
  AmlError.AmlUnavailable
)

/** As a user decorates an HTTP client. A span around it would record the request as its result, which is the user's choice. */
type DecorateClient = (layer: Layer.Layer<HttpClient.HttpClient>) => Layer.Layer<HttpClient.HttpClient>

const decoratedClient: DecorateClient = (layer) =>
  Layer.provide(
    Layer.effect(
      HttpClient.HttpClient,
      Effect.map(HttpClient.HttpClient, (client) =>
        client.pipe(
          HttpClient.mapRequest(HttpClientRequest.setHeader("x-proxy", "1")),
          HttpClient.tapError(({ reason }) => Effect.logDebug("request failed", reason))
        ))
    ),
    layer
  )

type DecorateCheck = <E>(layer: Layer.Layer<Idv.Idv, E>) => Layer.Layer<Idv.Idv, E>

/** The client of the check, decorated in the same way. */
const decoratedCheck: DecorateCheck = Layer.map((context: Context.Context<Idv.Idv>) => {
  const { check } = Context.get(context, AmlClient.AmlClient)
  return Context.add(context, AmlClient.AmlClient, {
    check: (person) =>
      check(person).pipe(
        Effect.tapError((error) => Effect.logInfo("check failed", error)),
        Effect.withSpan("decorated")
      )
  })
})

const ways: ReadonlyArray<readonly [string, DecorateClient, DecorateCheck]> = [
  ["as they are", identity, identity],
  ["decorated", decoratedClient, decoratedCheck]
]

describe("No secret and no person is printed, and no error contains a request or a response", () => {
  it.effect.each(
    ways.flatMap((way) => failures.map(([name, handlers, expected]) => [name, expected, ...way, handlers] as const))
  )("with %s, which ends as %s, with clients %s", ([, expected, , decorateClient, decorateCheck, handlers]) => {
    const service = Service.make({ token: () => token, ...handlers })
    const layer = decorateCheck(
      Idv.layer({
        ...Service.options,
        customerId: canaries.customerId,
        customerKey: Redacted.make(canaries.customerKey)
      }).pipe(Layer.provide(decorateClient(service.layer)))
    )
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

  it.effect("with many people and every outcome", () => {
    const ofOne = failures.filter(([, , tag]) => tag !== "AmlUnauthorized" && tag !== "AmlForbidden")
    const handlers = ofOne.map(([, { aml }]) => aml).filter((aml) => aml !== undefined)
    const service = Service.make({
      token: () => token,
      aml: (received, count, request) => handlers[count % handlers.length]?.(received, count, request) ?? Effect.never
    })
    const layer = Idv.layer({ ...Service.options, customerKey: Redacted.make(canaries.customerKey) }).pipe(
      Layer.provide(service.layer)
    )
    const outcomes: Array<Screening.Outcome<number>> = []
    const person = Person.make({ name: canaries.name, dateOfBirth: canaries.dateOfBirth })
    const summary = Screening.summary(Stream.map(Stream.range(1, 40), (key) => ({ key, person })), {
      concurrency: 4,
      onOutcome: (outcome) => Effect.sync(() => void outcomes.push(outcome))
    })
    return Effect.gen(function*() {
      yield* TestClock.setTime(Date.parse("2026-11-20"))
      const fiber = yield* Effect.fork(
        everythingPrinted(Effect.provide(summary, layer), (cause) => Cause.pretty(cause))
      )
      yield* TestClock.adjust("1 hour")
      const { printed } = yield* fiber
      const tags = new Set(outcomes.map((outcome) => "error" in outcome ? outcome.error._tag : outcome._tag))
      strictEqual(tags.size > 4, true, [...tags].join())
      const everything = [printed, ...outcomes.flatMap(renderings)].join("\n")
      strictEqual(Object.values(canaries).filter((canary) => everything.includes(canary)).join(), "")
      deepStrictEqual(outcomes.flatMap(transportIn), [])
    })
  })

  it.effect("with an error that repeats the person in its code and its text, also when it is encoded", () => {
    const body = {
      code: `${canaries.name.replace(" ", "_")}`,
      error: { code: canaries.wireDate, message: canaries.name },
      type: `https://idv.example.com/${canaries.token}`,
      title: canaries.body
    }
    return Effect.forEach([401, 403, 422, 429, 503], (status) => {
      const service = Service.make({ token: () => token, aml: () => Effect.sync(() => Service.json(body, { status })) })
      return Effect.gen(function*() {
        yield* TestClock.setTime(Date.parse("2026-11-20"))
        const aml = yield* AmlClient.AmlClient
        const person = yield* Person.make({ name: canaries.name, dateOfBirth: canaries.dateOfBirth })
        const error = yield* Effect.flip(aml.check(person))
        strictEqual("detail" in error && Redacted.isRedacted(error.detail), true)
        const encoded = yield* Schema.encode(AnyAmlError)(yield* Schema.validate(AnyAmlError)(error))
        const everything = [error, encoded, WebError.fromFailure(error)].flatMap(renderings).join("\n")
        strictEqual(Object.values(canaries).filter((canary) => everything.includes(canary)).join(), "")
      }).pipe(Effect.provide(Layer.provide(Idv.layer(Service.options), service.layer)))
    })
  })

  it.effect("with the printed provider, which has a token", () => {
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

  it.effect("with an effect for the credentials that fails or returns invalid ones", () => {
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

  it.effect("with rejected input", () =>
    Effect.gen(function*() {
      const refused = Person.make({ name: `${canaries.name}\u0000`, dateOfBirth: canaries.wireDate })
      const { printed } = yield* everythingPrinted(refused, (cause) => Cause.pretty(cause))
      strictEqual(printed.includes("AmlInputRejected"), true)
      strictEqual(Object.values(canaries).filter((canary) => printed.includes(canary)).join(), "")
    }))
})
