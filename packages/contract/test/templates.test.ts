import { describe, it } from "@effect/vitest"
import { notDeepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Option } from "effect"
import { execFileSync } from "node:child_process"
import * as Conformance from "../src/Conformance.ts"
import * as Curl from "../src/internal/run/curl.ts"
import * as Templates from "../src/internal/templates.ts"

const values = { id: "bank-77:é", key: "k", otherId: "o", otherKey: "p", secondId: "", secondKey: "", token: "aB3-xyz" }
const none = { check: "", name: "", dob: "", day: "", month: "", year: "", form: "" }

describe("A change of a placeholder", () => {
  it.each(["forged", "base64", "chop", "hex", "swapCase"])("%s is the same in a shell", (change) => {
    const expected = Templates.ofValues({ ...values, ...none })("id", change)
    const command = `printf %s "${Templates.shellOf("ID", change)}"`
    const printed = execFileSync("bash", ["-c", command], { encoding: "utf8", env: { ID: values.id, LANG: "C.UTF-8" } })
    strictEqual(printed, Option.getOrThrow(expected))
  })

  it.each(["first", "middle", "last"])("%s changes what a decoder of Base64 reads, in a shell too", (change) => {
    const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    const tokens = [
      ...Array.from(letters, (letter) => `${letter}bc${letter}ef${letter}`),
      "YWJjZA==",
      "YWJjZGU=",
      "a.b~"
    ]
    const printed = execFileSync("bash", [
      "-c",
      `for ID in "$@"; do printf '%s\n' "${Templates.shellOf("ID", change)}"; done`,
      ...["bash", ...tokens]
    ], { encoding: "utf8" }).trimEnd().split("\n")
    const bytesOf = (text: string) => Buffer.from(text, "base64").toString("hex")
    for (const [i, token] of tokens.entries()) {
      const changed = Option.getOrThrow(Templates.ofValues({ ...values, ...none, id: token })("id", change))
      strictEqual(printed[i], changed)
      notDeepStrictEqual(bytesOf(changed), bytesOf(token))
      strictEqual(changed.length, token.length)
    }
  })

  it.each([["short", "08", "8"], ["twoDigits", "1990", "90"]])(
    "%s of a part of a date changes it",
    (change, part, text) => {
      const command = `printf %s "${Templates.shellOfPart("${DOB:0:4}", change)}"`
      const printed = execFileSync("bash", ["-c", command], {
        encoding: "utf8",
        env: { DOB: part }
      })
      strictEqual(printed, text)
    }
  )
})

describe("A command", () => {
  const target = { kind: "sandbox", authUrl: "http://localhost", baseUrl: "http://localhost" } as const
  const keys = Conformance.cases.filter(({ id }) => id.startsWith("token.key")).flatMap(({ more = [], steps, title }) =>
    [{ title, steps }, ...more].flatMap(({ steps, title }) =>
      steps.flatMap((step) =>
        step.to === "token" && step.authorization?.includes("{key}") === true
          ? [[title, step, step.authorization] as const]
          : []
      )
    )
  )

  it.each(keys)("sends in bash the same credentials as the suite: %s", (_, step, authorization) => {
    const known = { ...values, key: "k\u00e4:y", secondId: "second", secondKey: "s" }
    const expected = Option.getOrThrow(Templates.fill(authorization, Templates.ofValues({ ...known, ...none })))
    const command = Curl.of(step, target)
    strictEqual(command.includes("\n"), false)
    const printed = execFileSync("bash", ["-c", `curl() { printf '%s\\0' "$@"; }; ${command}`], {
      encoding: "utf8",
      env: { IDV_CUSTOMER_ID: known.id, IDV_CUSTOMER_KEY: known.key, SECOND_ID: known.secondId, LANG: "C.UTF-8" }
    })
    strictEqual(printed.split("\0").find((word) => /^authorization/i.test(word)), `authorization: ${expected}`)
  })
})
