import { Evidence } from "@effect-idv/core"
import { describe, it } from "@effect/vitest"
import { strictEqual } from "@effect/vitest/utils"
import { FastCheck } from "effect"
import { createHash } from "node:crypto"

const expected = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

describe("The SHA-256 of the evidence", () => {
  it.each([
    ["", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
    ["abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
    [
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ]
  ])("of %j is the one of the standard", (text, digest) => {
    strictEqual(Evidence.digest(new TextEncoder().encode(text)), digest)
  })

  it("of every length around the blocks, and of 1 MiB, is the one of Node", () => {
    for (let length = 0; length < 300; length++) {
      const bytes = Uint8Array.from({ length }, (_, index) => 255 - index * 7)
      strictEqual(Evidence.digest(bytes), expected(bytes))
    }
    const long = Uint8Array.from({ length: 1024 * 1024 }, (_, index) => index * 31)
    strictEqual(Evidence.digest(long), expected(long))
  })

  it("of any bytes, also of a part of a buffer, is the one of Node", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.uint8Array({ maxLength: 1000 }), FastCheck.nat(20), (bytes, from) => {
        strictEqual(Evidence.digest(bytes.subarray(from)), expected(bytes.subarray(from)))
      }),
      { numRuns: 2000 }
    )
  })
})
