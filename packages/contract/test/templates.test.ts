import { describe, it } from "@effect/vitest"
import { strictEqual } from "@effect/vitest/utils"
import { Option } from "effect"
import { execFileSync } from "node:child_process"
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
