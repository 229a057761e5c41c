import { MockServer } from "@effect-idv/mock-server"
import { describe, it } from "@effect/vitest"
import { assertInclude, strictEqual } from "@effect/vitest/utils"
import { Context, Effect, Layer } from "effect"
import * as ExampleProcess from "./support/exampleProcess.ts"

const quickstart = new URL("../src/quickstart.ts", import.meta.url)

const run = (args: ReadonlyArray<string>, variables: ExampleProcess.Variables = {}) =>
  Effect.flatMap(ExampleProcess.command(quickstart, args, variables), ExampleProcess.run)

/** The cells of the table row that contains the name. */
const row = (stdout: string, name: string) =>
  stdout.split("\n").find((line) => line.includes(name))?.split("│").map((cell) => cell.trim()).filter((cell) =>
    cell !== ""
  )

describe("quickstart", () => {
  it.live("without arguments and variables it screens the test persons with the mock server and one token", () =>
    Effect.gen(function*() {
      const { exitCode, stderr, stdout } = yield* run([])
      strictEqual(stderr, "")
      assertInclude(stdout, "No IDV_* variable is set: the mock server runs in this process at http://127.0.0.1:")
      strictEqual(row(stdout, "Ada Testclear")?.[2], "No")
      strictEqual(row(stdout, "Zoë Testpep")?.[2], "Potential match: a person should review")
      strictEqual(
        row(stdout, "Eve Nosuchday")?.[2],
        "Rejected: dateOfBirth: the date does not exist (no_such_date)"
      )
      assertInclude(stdout, "4 people, 1 token request.")
      assertInclude(stdout, "Next:")
      strictEqual(exitCode, 0)
    }))

  it.live("screens the people in the arguments", () =>
    Effect.gen(function*() {
      const { exitCode, stdout } = yield* run([
        ..."--name|Bob Testsanc|--dob|1957-03-14|--name|王 Testclear|--dob|1990-02-01".split("|")
      ])
      strictEqual(row(stdout, "Bob Testsanc")?.[2], "Potential match: a person should review")
      strictEqual(row(stdout, "王 Testclear")?.[2], "No")
      strictEqual(exitCode, 0)
    }))

  it.live.each<[string, ReadonlyArray<string>]>([
    ["a name without a date", ["--name", "Ada"]],
    ["an option without a value", ["--name", "Ada", "--dob", "1990-02-01", "--name"]],
    ["an unknown option", ["--nmae", "Canary"]],
    ["an argument that is not an option", ["Canary"]]
  ])("%s prints the usage, exits with 1 and screens nobody", ([, args]) =>
    Effect.gen(function*() {
      const { exitCode, stderr, stdout } = yield* run(args)
      strictEqual(stderr, "Usage: demo [--name \"Zoë Testpep\" --dob 1957-03-14] …, with one --dob for each --name\n")
      strictEqual(stdout, "")
      strictEqual(exitCode, 1)
    }))

  it.live("rejects empty arguments, and replaces control characters in the output", () =>
    Effect.gen(function*() {
      const { stdout } = yield* run(["--name", "", "--dob", "", "--name", "Mallory\u001b[31m", "--dob", "1990-02-01"])
      assertInclude(stdout, "Rejected: name: it is empty (empty)")
      assertInclude(stdout, "Mallory\ufffd[31m")
      assertInclude(stdout, "2 people, 0 token requests.")
    }))

  it.scopedLive("uses the service that the variables configure", () =>
    Effect.gen(function*() {
      const mock = Context.get(yield* Layer.build(MockServer.layerTest), MockServer.MockServer)
      const variables = ExampleProcess.mockVariables(mock)
      const { exitCode, stdout } = yield* run([], variables)
      strictEqual(stdout.includes("the mock server runs in this process"), false)
      strictEqual(row(stdout, "Zoë Testpep")?.[2], "Potential match: a person should review")
      strictEqual(exitCode, 0)

      const wrongKey = yield* run([], { ...variables, IDV_CUSTOMER_KEY: "canary" })
      assertInclude(wrongKey.stdout, "Not screened: The token endpoint refused the request: status")
      strictEqual(wrongKey.stderr, "3 of 4 were not screened.\n")
      strictEqual(`${wrongKey.stdout}${wrongKey.stderr}`.includes("canary"), false)
      strictEqual(wrongKey.exitCode, 1)
    }))

  it.live("exits with 1 if the service cannot be reached", () =>
    Effect.gen(function*() {
      const stopped = Context.get(yield* Effect.scoped(Layer.build(MockServer.layerTest)), MockServer.MockServer)
      const { exitCode, stderr, stdout } = yield* run([], ExampleProcess.mockVariables(stopped))
      assertInclude(stdout, `Not screened: The token endpoint at ${new URL(stopped.url).host} is not`)
      strictEqual(stderr, "3 of 4 were not screened.\n")
      strictEqual(exitCode, 1)
    }))

  it.live("names each missing variable on its own line, also if one is misspelt", () =>
    Effect.gen(function*() {
      const missing = yield* run([], { IDV_AUTH_URL: "https://auth.example.com" })
      strictEqual(
        missing.stderr,
        "IDV_CUSTOMER_ID is missing: it should be the customer id of the onboarding pack: not empty, without a colon, " +
          "leading or trailing spaces or line breaks\n" +
          "IDV_CUSTOMER_KEY is missing: it should be the customer key of the onboarding pack: not empty, without " +
          "leading or trailing spaces or line breaks\n" +
          "IDV_BASE_URL is missing: it should be the address of the API, such as https://api.example.com\n"
      )
      strictEqual(missing.exitCode, 1)
      const misspelt = yield* run([], { IDV_AUTHURL: "http://canary.example.com" })
      assertInclude(misspelt.stderr, "IDV_AUTH_URL is missing")
      strictEqual(misspelt.stderr.includes("canary"), false)
      strictEqual(misspelt.exitCode, 1)
    }))
})
