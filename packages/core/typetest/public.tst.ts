import type { Person } from "@effect-idv/core"
import {
  type AccessToken,
  AmlCheck,
  type AmlClient,
  type AmlError,
  Idv,
  Screening,
  type TokenError,
  TokenProvider,
  WebError
} from "@effect-idv/core"
import type { HttpClient, HttpClientError, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import type { ConfigError, Effect, Layer, Stream } from "effect"
import { describe, expect, test } from "tstyche"

declare const options: Idv.Options
declare const rotatingOptions: Idv.RotatingOptions
declare const aml: AmlClient.Service
declare const person: Person.Person
declare const people: Stream.Stream<Screening.Entry<number>, "no file">

type Failure = Effect.Effect.Error<ReturnType<AmlClient.Service["check"]>> | AmlError.AmlInputRejected

describe("the error union", () => {
  test("of TokenProvider.get and refresh is exact", () => {
    type Token = Effect.Effect<
      AccessToken.AccessToken,
      | TokenError.TokenRejected
      | TokenError.TokenEndpointUnavailable
      | TokenError.TokenResponseInvalid
      | TokenError.TokenTimeout
      | TokenError.TokenProviderClosed
    >
    expect<TokenProvider.Service["get"]>().type.toBe<Token>()
    expect<TokenProvider.Service["refresh"]>().type.toBe<Token>()
    expect<ReturnType<TokenProvider.Service["invalidate"]>>().type.toBe<Effect.Effect<void>>()
  })

  test("of AmlClient.check is exact", () => {
    expect<ReturnType<AmlClient.Service["check"]>>().type.toBe<
      Effect.Effect<
        AmlCheck.AmlCheck,
        | TokenError.TokenRejected
        | TokenError.TokenEndpointUnavailable
        | TokenError.TokenResponseInvalid
        | TokenError.TokenTimeout
        | TokenError.TokenProviderClosed
        | AmlError.AmlUnauthorized
        | AmlError.AmlForbidden
        | AmlError.AmlRequestRejected
        | AmlError.AmlRateLimited
        | AmlError.AmlUnavailable
        | AmlError.AmlTimeout
        | AmlError.AmlResponseInvalid
        | AmlError.AmlResponseMismatch
      >
    >()
  })

  test("of a screening is that of the input, of what stops it, and of invalid options", () => {
    expect(Screening.stream(people)).type.toBe<
      Stream.Stream<
        Screening.Outcome<number>,
        | "no file"
        | TokenError.TokenError
        | Exclude<AmlError.AmlError, AmlError.AmlResponseMismatch>
        | ConfigError.ConfigError,
        AmlClient.AmlClient
      >
    >()
  })

  test("of Person.make is AmlInputRejected", () => {
    expect<Effect.Effect.Error<ReturnType<typeof Person.make>>>().type.toBe<AmlError.AmlInputRejected>()
  })

  test("has no field that can hold a request, a response or an error of the HTTP client", () => {
    type Transport =
      | HttpClientRequest.HttpClientRequest
      | HttpClientResponse.HttpClientResponse
      | HttpClientError.HttpClientError
    type Holding<E> = E extends unknown ? {
        [K in Exclude<keyof E, keyof Error>]: Transport extends E[K] ? K
          : Extract<E[K], Transport> extends never ? never
          : K
      }[
        Exclude<keyof E, keyof Error>
      ]
      : never
    expect<Holding<{ readonly request: HttpClientRequest.HttpClientRequest }>>().type.toBe<"request">()
    expect<Holding<{ readonly anything: unknown }>>().type.toBe<"anything">()
    expect<Holding<Failure>>().type.toBe<never>()
  })

  test("has no field named for a request, response, header, body, key or token", () => {
    type FieldsOf<E> = E extends unknown ? keyof E : never
    expect<
      Extract<
        FieldsOf<Failure>,
        "request" | "response" | "headers" | "body" | "token" | "key" | "person" | "dateOfBirth"
      >
    >().type.toBe<never>()
  })
})

describe("an HttpClient", () => {
  test("is required by every layer, and never provided inside", () => {
    type Client = Layer.Layer<Idv.Idv, ConfigError.ConfigError, HttpClient.HttpClient>
    expect(Idv.layer(options)).type.toBe<Client>()
    expect(Idv.layer(rotatingOptions)).type.toBe<Client>()
    expect(Idv.layerEnv()).type.toBe<Client>()
    type Provider = Layer.Layer<TokenProvider.TokenProvider, ConfigError.ConfigError, HttpClient.HttpClient>
    expect(TokenProvider.layer(options)).type.toBe<Provider>()
    expect(TokenProvider.layer(rotatingOptions)).type.toBe<Provider>()
  })
})

describe("a TokenProvider for tests", () => {
  test("requires nothing", () => {
    expect(TokenProvider.layerTest).type.toBe<(value?: string) => Layer.Layer<TokenProvider.TokenProvider>>()
  })
})

describe("a screening result", () => {
  test("is not a boolean, and the three results must be handled", () => {
    expect<AmlCheck.AmlCheck["result"]>().type.toBe<"No" | "Doubtful No" | "Potential match">()
    expect(AmlCheck.match).type.not.toBeCallableWith({ onNo: () => 1, onDoubtfulNo: () => 1 })
    expect(AmlCheck.match).type.not.toBeCallableWith({ onNo: () => 1, onPotentialMatch: () => 1 })
    expect(AmlCheck.match<string, number, number>).type.toBeCallableWith({
      onNo: () => "",
      onDoubtfulNo: () => 1,
      onPotentialMatch: () => 1
    })
  })

  test("requires a person from Person.make", () => {
    expect<AmlClient.Service["check"]>().type.not.toBeCallableWith({ name: "Ada", dateOfBirth: "1990-02-01" })
    expect<AmlClient.Service["check"]>().type.not.toBeCallableWith({ ...person })
  })

  test("of many people is one of five outcomes, none of them a boolean, and all must be handled", () => {
    type Outcome = Screening.Outcome<number>
    expect<Outcome["_tag"]>().type.toBe<"NoMatch" | "DoubtfulNo" | "PotentialMatch" | "NotScreened" | "Unknown">()
    expect<Extract<Outcome[keyof Outcome], boolean>>().type.toBe<never>()
    expect(Screening.Outcome.$match).type.not.toBeCallableWith({
      NoMatch: () => 1,
      DoubtfulNo: () => 1,
      PotentialMatch: () => 1,
      NotScreened: () => 1
    })
  })

  test("reaches a web response as a \"No\" or as one of two errors", () => {
    const check = aml.check(person)
    expect(WebError.onlyClear()(check)).type.toBe<
      Effect.Effect<AmlCheck.AmlCheck, WebError.InputNotAccepted | WebError.NotAvailable>
    >()
  })
})
