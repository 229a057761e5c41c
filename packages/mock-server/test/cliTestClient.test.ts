import { describe, it } from "@effect/vitest"
import { strictEqual } from "@effect/vitest/utils"
import { Effect, Predicate } from "effect"
import { XMLParser } from "fast-xml-parser"
import { match } from "node:assert"
import { PassThrough } from "node:stream"
import { fileURLToPath } from "node:url"
import { main } from "../src/internal/command/main.ts"
import { captured } from "./support/captured.ts"

const client = `'${process.execPath}' '${fileURLToPath(new URL("support/checkPerson.mjs", import.meta.url))}' {name} ` +
  "{date_of_birth}"

const run = (...words: ReadonlyArray<string>) =>
  main(["test-client", ...words], { stdout: new PassThrough(), version: "0" }).pipe(
    Effect.match({
      onSuccess: () => ({ exitCode: 0, error: "" }),
      onFailure: (error) => ({
        exitCode: Predicate.hasProperty(error, "exitCode") ? Number(error.exitCode) : 1,
        error: error.message
      })
    }),
    captured,
    Effect.map(({ stderr, stdout, value }) => ({ ...value, stdout: stdout.join("\n"), stderr: stderr.join("\n") }))
  )

describe("idv-mock test-client", () => {
  it.live("reports a command that cannot be tested", () =>
    Effect.forEach(
      [
        ["no-such-program {name}", /^The command does not start: ENOENT/],
        ["sh -c no-such-program", /^The command does not start/],
        ["true", /^No request arrived, and the client prints nothing/],
        ["echo clear", /^No request arrived: it ignores the address/]
      ] as const,
      ([command, expected]) =>
        Effect.gen(function*() {
          const { error, exitCode } = yield* run("--command", command, "--clear", "clear")
          match(error, expected)
          strictEqual(exitCode, 2)
        })
    ))

  it.live("explains what a command says about three persons", () =>
    Effect.gen(function*() {
      const { exitCode, stdout } = yield* run("--command", client, "--explain", "--clear", "^clear", "--review", "^rev")
      strictEqual(exitCode, 0)
      match(stdout, /no match: understood as clear, code 0\n {2}requests: token 200, aml 200\n {2}output:\n {4}clear/)
      match(stdout, /a potential match: understood as review/)
      match(stdout, /status 500: understood as error, code 1/)
      // The client writes its token and the person.
      match(stdout, /the check of \*\*\* failed with \*\*\*/)
    }))

  it.live("reports findings as JUnit, and ends with 1", () =>
    Effect.gen(function*() {
      const words = ["--command", client, "--clear", "^clear", "--review", "^review", "--format", "junit"]
      const { error, exitCode, stdout } = yield* run(...words, "--only", "error-with-result", "--only", "other-year")
      strictEqual(exitCode, 1)
      match(error, /^idv-mock test-client: 2 wrong, 1 risky/)
      const { testsuites } = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: "" }).parse(stdout)
      strictEqual(testsuites.tests, "3")
      strictEqual(testsuites.failures, "1")
      match(stdout, /failure message="The client writes the access token to its error output; /)
    }))

  it.live("asks for what is missing", () =>
    Effect.gen(function*() {
      for (
        const [words, expected] of [
          [[], /^--command or --url is missing/],
          [["--command", "x"], /^--clear is missing/],
          [["--command", "x 'y", "--clear", "x"], /^--command is invalid/],
          [["--command", "x", "--clear", "("], /^--clear is invalid/],
          [["--command", "x", "--clear", "x", "--only", "s3cret"], /^--only is invalid: expected the word of a day/]
        ] as const
      ) {
        const { error, exitCode } = yield* run(...words)
        match(error, expected)
        strictEqual(error.includes("s3cret"), false)
        strictEqual(exitCode, 2)
      }
    }))
})
