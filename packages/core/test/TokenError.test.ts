import { AmlError, Person, TokenError, Violation } from "@effect-idv/core"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Duration } from "effect"

const { TokenEndpointUnavailable, TokenProviderClosed, TokenRejected, TokenResponseInvalid, TokenTimeout } = TokenError

const tokenErrors: ReadonlyArray<readonly [TokenError.TokenError, boolean, string]> = [
  [
    new TokenRejected({ status: 401, code: "invalid_client" }),
    false,
    "The token endpoint refused the request: status 401, code invalid_client (check customerId and customerKey)"
  ],
  [new TokenRejected({ status: 404 }), false, "The token endpoint refused the request: status 404 (check authUrl)"],
  [
    new TokenEndpointUnavailable({ reason: "unreachable", attempts: 3 }),
    true,
    "The token endpoint is not available: it does not accept the connection (unreachable) (requests: 3)"
  ],
  [
    new TokenEndpointUnavailable({
      reason: "status",
      status: 429,
      attempts: 0,
      retryAfter: Duration.millis(3_599_987.6)
    }),
    true,
    "The token endpoint is not available: it responded with status 429 (no request sent; try again in 1h)"
  ],
  [
    new TokenEndpointUnavailable({ reason: "certificate", attempts: 1 }),
    false,
    "The token endpoint is not available: its certificate is not trusted (certificate) (requests: 1)"
  ],
  [
    new TokenEndpointUnavailable({ reason: "tls", attempts: 3 }),
    true,
    "The token endpoint is not available: the TLS connection failed: check that it supports TLS 1.2 or 1.3 and HTTP/1.1, " +
    "and whether it requires a client certificate (tls) (requests: 3)"
  ],
  [
    new TokenEndpointUnavailable({ reason: "dns", attempts: 3 }),
    true,
    "The token endpoint is not available: its host name cannot be resolved (dns) (requests: 3)"
  ],
  [
    new TokenEndpointUnavailable({ reason: "broken", attempts: 3 }),
    true,
    "The token endpoint is not available: the connection was lost before a response: if this repeats, " +
    "check whether it requires a client certificate (broken) (requests: 3)"
  ],
  [
    new TokenEndpointUnavailable({ reason: "credentials", attempts: 0 }),
    true,
    "The credentials for the token endpoint are not available"
  ],
  [
    new TokenResponseInvalid({
      status: 200,
      contentType: "text/html",
      length: 25,
      violations: Violation.whole("JSON text in UTF-8")
    }),
    false,
    "The token endpoint responded with 200 (text/html, 25 bytes), which is not a token response: " +
    "the value is invalid: expected JSON text in UTF-8"
  ],
  [
    new TokenResponseInvalid({ status: 200, length: 0, violations: Violation.whole("JSON text in UTF-8") }),
    false,
    "The token endpoint responded with 200 (no content type, 0 bytes), which is not a token response: " +
    "the value is invalid: expected JSON text in UTF-8"
  ],
  [
    new TokenResponseInvalid({ status: 302, length: 0, violations: Violation.whole("a token response") }),
    false,
    "The token endpoint responded with 302, which is not followed (check authUrl)"
  ],
  [new TokenTimeout({ deadline: Duration.seconds(30) }), true, "No token within 30s"],
  [new TokenProviderClosed(), false, "The token provider is closed"]
]

describe("A token error", () => {
  it.each(tokenErrors)("%s: whether it is retryable, and its message", (error, isRetryable, message) => {
    strictEqual(error.message, message)
    strictEqual(error.isRetryable, isRetryable)
    deepStrictEqual([TokenError.isTokenError(error), AmlError.isAmlError(error)], [true, false])
    strictEqual(JSON.stringify(error).includes("~@effect-idv"), false)
  })
})

const amlErrors: ReadonlyArray<readonly [AmlError.AmlError | AmlError.AmlInputRejected, boolean]> = [
  [new AmlError.AmlInputRejected({ issues: [new Person.Issue({ field: "name", code: "empty" })] }), false],
  [new AmlError.AmlUnauthorized({ status: 401, renewal: "replayed" }), false],
  [new AmlError.AmlForbidden({ status: 403 }), false],
  [new AmlError.AmlRequestRejected({ status: 422 }), false],
  [new AmlError.AmlRateLimited({}), true],
  [new AmlError.AmlUnavailable({ reason: "broken", sent: "unknown" }), true],
  [new AmlError.AmlTimeout({ sent: "unknown", deadline: Duration.seconds(30) }), true],
  [new AmlError.AmlResponseInvalid({ status: 200, length: 0, violations: Violation.whole("a credential") }), false],
  [new AmlError.AmlResponseMismatch({ fields: ["name"] }), false]
]

describe("An AML error", () => {
  it.each(amlErrors)("%s: whether it is retryable", (error, isRetryable) => {
    strictEqual(error.isRetryable, isRetryable)
    deepStrictEqual([TokenError.isTokenError(error), AmlError.isAmlError(error)], [false, true])
    strictEqual(error.message.length > 10, true)
  })
})
