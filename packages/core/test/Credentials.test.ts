import { describe, it } from "@effect/vitest"
import { strictEqual } from "@effect/vitest/utils"
import { Either, Redacted } from "effect"
import { Buffer } from "node:buffer"
import { inspect } from "node:util"
import * as Credentials from "../src/internal/token/credentials.ts"

const make = (customerId: string, customerKey: string) =>
  Credentials.make({ customerId, customerKey: Redacted.make(customerKey) })

describe("Credentials", () => {
  it.each(["demo-key", ":+/=%& ", "schlüssel", "🔑", "a b"].map((key) => key.trim()))(
    "are sent as the base64 of the UTF-8 bytes of id, colon and key: %o",
    (key) => {
      const header = Redacted.value(Credentials.toBasicHeader(Either.getOrThrow(make("demo-customer", key))))
      strictEqual(Buffer.from(header.replace(/^Basic /, ""), "base64").toString(), `demo-customer:${key}`)
    }
  )

  it.each([
    ["", "key", "customerId"],
    ["id:x", "key", "customerId"],
    [" id", "key", "customerId"],
    ["id", "", "customerKey"],
    ["id", "canary\n", "customerKey"],
    ["id", "can\nary", "customerKey"],
    ["id", " canary", "customerKey"]
  ])("reject the id %o with the key %o and name %s", (id, key, field) => {
    const error = Either.getOrThrow(Either.flip(make(id, key)))
    strictEqual(error._op === "InvalidData" && error.path.join(), field)
    strictEqual([String(error), JSON.stringify(error), inspect(error)].join().includes("canary"), false)
  })

  it.each(["acme-bank1", "s3cret-key", "YWNtZS1iYW5rMTpzM2NyZXQta2V5", "xYWNtZS1iYW5rMTpzM2NyZXQta2V5x"])(
    "are revealed by %s",
    (text) => {
      const credentials = Either.getOrThrow(make("acme-bank1", "s3cret-key"))
      strictEqual(Credentials.isRevealedBy(credentials, text), true)
      strictEqual(Credentials.isRevealedBy(credentials, "invalid_client"), false)
    }
  )

  it("are redacted when printed", () => {
    const credentials = Either.getOrThrow(make("canary-id", "canary-key"))
    const printed = [JSON.stringify(credentials), inspect(credentials, { showHidden: true, customInspect: false })]
    strictEqual(printed.join().includes("canary"), false)
  })
})
