import { MockServer } from "@effect-idv/mock-server"
import { Command } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { assertInclude, strictEqual } from "@effect/vitest/utils"
import { Context, Effect, Layer, Stream } from "effect"
import { fileURLToPath } from "node:url"
import * as Program from "../../mock-server/test/support/program.ts"

const quickstart = new URL("../src/quickstart.ts", import.meta.url)

const bundled = Effect.map(Program.bundled(quickstart), (path) => [path])

/** As `pnpm demo` starts it. */
const withTsx = Effect.succeed(["--import", "tsx/esm", fileURLToPath(quickstart)])

const none = {
  IDV_AUTH_URL: undefined,
  IDV_BASE_URL: undefined,
  IDV_CUSTOMER_ID: undefined,
  IDV_CUSTOMER_KEY: undefined,
  IDV_ALLOW_INSECURE: undefined
}

const text = <E>(stream: Stream.Stream<Uint8Array, E>) => Stream.mkString(Stream.decodeText(stream))

const run = (args: ReadonlyArray<string>, variables: Record<string, string> = {}, program = bundled) =>
  program.pipe(
    Effect.map((program) => Command.env(Command.make("node", ...program, ...args), { ...none, ...variables })),
    Effect.flatMap(Command.start),
    Effect.flatMap((process) =>
      Effect.all({ stdout: text(process.stdout), stderr: text(process.stderr), exitCode: process.exitCode }, {
        concurrency: "unbounded"
      })
    ),
    Effect.scoped,
    Effect.provide(NodeContext.layer)
  )

/** The row of a table in which the name stands, without the lines that draw it. */
const row = (stdout: string, name: string) =>
  stdout.split("\n").find((line) => line.includes(name))?.split("│").map((cell) => cell.trim()).filter((cell) =>
    cell !== ""
  )

describe("quickstart", () => {
  it.live("without arguments and variables screens fictional people with the mock and one token", () =>
    Effect.gen(function*() {
      const { exitCode, stderr, stdout } = yield* run([], {}, withTsx)
      strictEqual(stderr, "")
      assertInclude(stdout, "No IDV_* variable is set: this is the mock server, in this process, at http://127.0.0.1:")
      strictEqual(row(stdout, "Ada Testclear")?.[2], "No")
      strictEqual(row(stdout, "Zoë Testpep")?.[2], "Potential match: a person should review")
      strictEqual(
        row(stdout, "Eve Nosuchday")?.[2],
        "Refused: dateOfBirth: the date does not exist (no_such_date)"
      )
      assertInclude(stdout, "4 asked about, 1 token request.")
      assertInclude(stdout, "Next:")
      strictEqual(exitCode, 0)
    }))

  it.live("screens the people of the arguments", () =>
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
    ["an argument that belongs to none", ["Canary"]]
  ])("%s is one line and a non-zero exit code: nobody is screened", ([, args]) =>
    Effect.gen(function*() {
      const { exitCode, stderr, stdout } = yield* run(args)
      strictEqual(stderr, "Usage: demo [--name \"Zoë Testpep\" --dob 1957-03-14] …, a --dob for each --name\n")
      strictEqual(stdout, "")
      strictEqual(exitCode, 1)
    }))

  it.live("empty arguments are refused, and control characters do not reach the terminal", () =>
    Effect.gen(function*() {
      const { stdout } = yield* run(["--name", "", "--dob", "", "--name", "Mallory\u001b[31m", "--dob", "1990-02-01"])
      assertInclude(stdout, "Refused: name: it is empty (empty)")
      assertInclude(stdout, "Mallory\ufffd[31m")
      assertInclude(stdout, "2 asked about, 0 token requests.")
    }))

  it.scopedLive("uses the service of the variables", () =>
    Effect.gen(function*() {
      const { url } = Context.get(yield* Layer.build(MockServer.layerTest), MockServer.MockServer)
      const variables = {
        IDV_AUTH_URL: url,
        IDV_BASE_URL: url,
        IDV_CUSTOMER_ID: "demo-customer",
        IDV_CUSTOMER_KEY: "demo-key"
      }
      const { exitCode, stdout } = yield* run([], variables)
      strictEqual(stdout.includes("mock server, in this process"), false)
      strictEqual(row(stdout, "Zoë Testpep")?.[2], "Potential match: a person should review")
      strictEqual(exitCode, 0)

      const wrong = yield* run([], { ...variables, IDV_CUSTOMER_KEY: "canary" })
      assertInclude(wrong.stdout, "Not screened: The token endpoint refused the request: status")
      strictEqual(wrong.stderr, "3 of 4 were not screened.\n")
      strictEqual(`${wrong.stdout}${wrong.stderr}`.includes("canary"), false)
      strictEqual(wrong.exitCode, 1)
    }))

  it.live("a service that cannot be reached is a non-zero exit code", () =>
    Effect.gen(function*() {
      const { url } = Context.get(yield* Effect.scoped(Layer.build(MockServer.layerTest)), MockServer.MockServer)
      const { exitCode, stderr, stdout } = yield* run([], {
        IDV_AUTH_URL: url,
        IDV_BASE_URL: url,
        IDV_CUSTOMER_ID: "demo-customer",
        IDV_CUSTOMER_KEY: "demo-key"
      })
      assertInclude(stdout, `Not screened: The token endpoint at ${new URL(url).host} is not`)
      strictEqual(stderr, "3 of 4 were not screened.\n")
      strictEqual(exitCode, 1)
    }))

  it.live("each variable that is missing is a line that names it, also if one is misspelt", () =>
    Effect.gen(function*() {
      const missing = yield* run([], { IDV_AUTH_URL: "https://auth.example.com" })
      strictEqual(
        missing.stderr,
        "IDV_BASE_URL is missing: it should be the address of the API, such as https://api.example.com\n" +
          "IDV_CUSTOMER_ID is missing: it should be the customer id of the onboarding pack\n" +
          "IDV_CUSTOMER_KEY is missing: it should be the customer key of the onboarding pack\n"
      )
      strictEqual(missing.exitCode, 1)
      const malformed = yield* run([], { IDV_AUTHURL: "http://canary.example.com" })
      assertInclude(malformed.stderr, "IDV_AUTH_URL is missing")
      strictEqual(malformed.stderr.includes("canary"), false)
      strictEqual(malformed.exitCode, 1)
    }))
})
