import { AccessToken, Violation } from "@effect-idv/core"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Either, Redacted } from "effect"

const decode = Violation.decodeUnknown(AccessToken.Response)
const hour = 3_600_000

describe("AccessToken", () => {
  it.each<[unknown, number]>([
    [undefined, hour],
    [null, hour],
    ["", hour],
    ["abc", hour],
    [Number.NaN, hour],
    [-5, hour],
    [0, hour],
    [1e308, hour],
    [true, hour],
    [[1800], hour],
    [{}, hour],
    [1800, 1_800_000],
    ["1800", 1_800_000],
    [1800.9, 1_800_000],
    [7200, hour],
    [1, 1000]
  ])("with expires_in %o lives for %d ms from the request", (expires_in, lifetime) => {
    const response = Either.getOrThrow(decode({ access_token: "t", expires_in }))
    const token = AccessToken.fromResponse(response, 1000)
    deepStrictEqual([token.requestedAt, token.expiresAt], [1000, 1000 + lifetime])
  })

  it.each<[unknown, boolean]>([
    [{ access_token: "abc.DEF-123_~+/=" }, true],
    [{ access_token: "t", token_type: "bearer" }, true],
    [{ access_token: "t", token_type: "BEARER" }, true],
    [{ access_token: "t", scope: "aml" }, true],
    [{ access_token: "t", token_type: "mac" }, false],
    [{ access_token: "" }, false],
    [{ access_token: " " }, false],
    [{ access_token: "a\r\nb" }, false],
    [{ access_token: "töken" }, false],
    [{ access_token: null }, false],
    [{ access_token: 123 }, false],
    [{}, false],
    [null, false],
    [[], false],
    ["token", false]
  ])("the response %j is a token: %s", (response, expected) => {
    strictEqual(Either.isRight(decode(response)), expected)
  })

  it("is the same token if the service gave the same text, and prints no text", () => {
    const token = (text: string) =>
      new AccessToken.AccessToken({ value: Redacted.make(text), requestedAt: 0, expiresAt: text.length })
    strictEqual(AccessToken.isSame(token("canary"), token("canary")), true)
    strictEqual(AccessToken.isSame(token("canary"), token("other")), false)
    strictEqual([String(token("canary")), JSON.stringify(token("canary"))].join().includes("canary"), false)
  })
})
