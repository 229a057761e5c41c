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
import type { HttpClient } from "@effect/platform"
import type { ConfigError, Effect, Layer } from "effect"
import { describe, expect, test } from "tstyche"

describe("the error union", () => {
  test("of TokenProvider.get is exact", () => {
    expect<TokenProvider.Service["get"]>().type.toBe<
      Effect.Effect<
        AccessToken.AccessToken,
        | TokenError.TokenRejected
        | TokenError.TokenEndpointUnavailable
        | TokenError.TokenResponseInvalid
        | TokenError.TokenTimeout
        | TokenError.TokenProviderClosed
      >
    >()
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

  test("holds no request, response, header, body, key or token", () => {
    type Failure = Effect.Effect.Error<ReturnType<AmlClient.Service["check"]>> | AmlError.AmlInputRejected
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
      (options: Idv.Options) => Layer.Layer<Idv.Idv, ConfigError.ConfigError, HttpClient.HttpClient>
    >()
    expect(Idv.layerEnv).type.toBe<Layer.Layer<Idv.Idv, ConfigError.ConfigError, HttpClient.HttpClient>>()
    expect(TokenProvider.layer).type.toBe<
      (
        options: TokenProvider.Options
      ) => Layer.Layer<TokenProvider.TokenProvider, ConfigError.ConfigError, HttpClient.HttpClient>
    >()
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
