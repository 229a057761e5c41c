import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Option } from "effect"
import { Readings } from "../src/index.ts"

const person = { name: "Zoë Ana Testclear", dob: "01-02-1990" }

const credential = (attributes: object = {}) => ({
  credential_type: "aml",
  credential_name: "AML",
  issued_by: "Issuer",
  issuer_id: "0b0e7d1c-7d0e-4a8e-9a3a-0f6f5f1f2a3b",
  cred_version: "1.7",
  credentials: {
    attributes: {
      name: "ZOË ANA TESTCLEAR",
      birth_year: "1990",
      searched_on: "2026-05-17 14:00:00",
      match_found: "No",
      aml_profile: "https://example.com/1",
      ...attributes
    }
  }
})

const response = (body: unknown, status = 200, headers: Record<string, string> = {}): Readings.Response => ({
  url: new URL("http://localhost/api/aml"),
  status,
  headers: { "content-type": "application/json", ...headers },
  body: Buffer.from(JSON.stringify(body)),
  receivedAt: Date.UTC(2026, 4, 17, 12),
  millis: 0
})

describe("Readings", () => {
  it("reads a token response in the words of the claims", () => {
    const granted = response({ token: "a.b", token_type: "bearer", expires_in: "3600" }, 201, {
      "cache-control": "no-store"
    })
    const words = Readings.ofTokenResponse(granted)
    deepStrictEqual(
      [words.status, words["token field"], words["token type"], words["stated lifetime"], words.caching],
      ["201", "token", "bearer", "text", "no-store"]
    )
    strictEqual(Option.getOrThrow(Readings.grantOf(granted)).token, "a.b")
    const refused = Readings.ofTokenResponse(response({ error: "invalid_client" }, 401))
    deepStrictEqual([refused["token outcome"], refused["token error"]], ["refused", "401"])
  })

  it("reads a credential about its person", () => {
    const words = Readings.ofCheckResponse(response(credential()), person)
    deepStrictEqual(
      [words.name, words["name echo"], words["time zone"], words.cred_version, words.match_found, words.birth_year],
      ["of the person", "upper", "UTC+02:00", "1.7", "No", "of the person"]
    )
    const wrong = Readings.ofCheckResponse(response(credential({ birth_year: "1991", match_found: "no" })), person)
    deepStrictEqual([wrong.birth_year, wrong.match_found], ["another year", "another text"])
  })

  it.each([
    ["Jörg Größe", "JÖRG GRÖSSE"],
    ["Işıl Ayşe", "IŞIL AYŞE"],
    ["İpek Ilgın", "ipek ılgın"],
    ["Ελένη Νίκος", "ΕΛΈΝΗ ΝΊΚΟΣ"]
  ])("takes %s written as %s for the same name", (name, echoed) => {
    const words = Readings.ofCheckResponse(response(credential({ name: echoed })), { name, dob: "01-02-1990" })
    strictEqual(words.name, "of the person")
    strictEqual(["upper", "folded"].includes(words["name echo"]), true)
  })

  it("has no name and no date in a word", () => {
    const words = JSON.stringify(Readings.ofCheckResponse(response(credential({ match_found: "Zoë" })), person))
    strictEqual(/zoë|1990|testclear/i.test(words), false)
  })
})
