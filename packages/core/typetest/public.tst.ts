import type { Person } from "@effect-idv/core"
import {
  type AccessToken,
  type AmlClient,
  AmlCredential,
  type AmlError,
  Idv,
  type TokenError,
  TokenProvider
} from "@effect-idv/core"
import type { HttpClient, HttpClientError, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import type { ConfigError, Effect, Layer } from "effect"
import { describe, expect, test } from "tstyche"

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
        AmlCredential.AmlCredential,
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
        | AmlError.AmlAnswerInvalid
        | AmlError.AmlAnswerMismatch
      >
    >()
  })

  test("of Person.make is refused input", () => {
    expect<Effect.Effect.Error<ReturnType<typeof Person.make>>>().type.toBe<AmlError.AmlInputRejected>()
  })

  test("51. has no field that can hold a request, a response or an error of the HTTP client", () => {
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
    expect(Idv.layer).type.toBe<
      (
        options: Idv.Options | Idv.RotatingOptions
      ) => Layer.Layer<Idv.Idv, ConfigError.ConfigError, HttpClient.HttpClient>
    >()
    expect(Idv.layerEnv).type.toBe<Layer.Layer<Idv.Idv, ConfigError.ConfigError, HttpClient.HttpClient>>()
    expect(TokenProvider.layer).type.toBe<
      (
        options: TokenProvider.Options | TokenProvider.RotatingOptions
      ) => Layer.Layer<TokenProvider.TokenProvider, ConfigError.ConfigError, HttpClient.HttpClient>
    >()
  })
})

describe("a TokenProvider for tests", () => {
  test("needs nothing", () => {
    expect(TokenProvider.layerTest).type.toBe<(value?: string) => Layer.Layer<TokenProvider.TokenProvider>>()
  })
})

describe("a screening result", () => {
  test("is not a boolean, and both answers must be handled", () => {
    expect<AmlCredential.Attributes["matchFound"]>().type.toBe<"Potential match" | "No">()
    expect(AmlCredential.match).type.not.toBeCallableWith({ onNo: () => 1 })
    expect(AmlCredential.match).type.not.toBeCallableWith({ onPotentialMatch: () => 1 })
    expect(AmlCredential.match<string, number>).type.toBeCallableWith({ onNo: () => "", onPotentialMatch: () => 1 })
  })

  test("needs a person from Person.make", () => {
    expect<AmlClient.Service["check"]>().type.not.toBeCallableWith({ name: "Ada", dateOfBirth: "1990-02-01" })
  })
})
