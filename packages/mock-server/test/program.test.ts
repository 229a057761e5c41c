import { describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Either } from "effect"
import * as Program from "../src/internal/cli/program.ts"

const read = (line: string) => Program.read("1.2.3", line === "" ? [] : line.split(" "))

const asked = (line: string) => Either.getOrThrow(read(line))

const refusal = (line: string) => Either.match(read(line), { onLeft: ({ message }) => message, onRight: () => "" })

const ofSession = "--customer, --url, --control-token, --help"

describe("The command line", () => {
  it.each<[string, string, Readonly<Record<string, ReadonlyArray<string>>>, string]>([
    ["serve", "serve", {}, ""],
    ["serve --port 0 --reveal", "serve", { "port": ["0"], "reveal": ["true"] }, ""],
    ["serve --port=0 --grace-period=2", "serve", { "port": ["0"], "grace-period": ["2"] }, ""],
    ["serve --fault aml:hang --fault token:empty", "serve", { fault: ["aml:hang", "token:empty"] }, ""],
    ["serve --port -1", "serve", { port: ["-1"] }, ""],
    ["journal --json --status 401", "journal", { json: ["true"], status: ["401"] }, ""],
    ["fault set aml:hang --customer test-a", "fault set", { customer: ["test-a"] }, "aml:hang"],
    ["clock advance 61 minutes", "clock advance", {}, "61 minutes"],
    ["completions bash", "completions", {}, "bash"]
  ])("%s is a command with what was given to it", (line, command, flags, argument) => {
    const found = asked(line)
    if (found._tag !== "Run") throw new Error(found.text)
    strictEqual(found.command, command)
    strictEqual(found.given.argument, argument)
    const given = Object.entries(found.given.flags).filter(([, values]) => values.length > 0)
    deepStrictEqual(Object.fromEntries(given), flags)
  })

  it.each([
    [
      "nope",
      "idv-mock: there is no such command: expected one of serve, journal, fault, clock, sessions, reset, completions"
    ],
    [
      "canary=secret",
      "idv-mock: there is no such command: expected one of serve, journal, fault, clock, sessions, reset, completions"
    ],
    ["fault", "idv-mock: a command is missing; --help behind a word shows what may follow"],
    ["clock canary", "idv-mock clock: there is no such command: expected one of show, advance, set, freeze, resume"],
    ["clock freeze --canary", `idv-mock clock freeze: there is no flag --canary: expected one of ${ofSession}`],
    [
      "clock freeze --control-tokn=secret",
      `idv-mock clock freeze: there is no flag --control-tokn: expected one of ${ofSession}`
    ],
    ["clock freeze -x", `idv-mock clock freeze: there is no flag -x: expected one of ${ofSession}`],
    ["serve --port", "idv-mock serve: option '--port <number>' argument missing"],
    ["serve --port 1 --port 2", "--port is there more than once"],
    ["serve --reveal=secret", "idv-mock serve: --reveal takes no value"],
    ["serve secret", "idv-mock serve: too many arguments for 'serve'. Expected 0 arguments but got 1."],
    ["clock advance", "idv-mock clock advance: missing required argument 'duration'"]
  ])("%s is refused in one line: %s", (line, message) => {
    strictEqual(refusal(line), message)
  })

  it("without words, and with --help behind any, it explains itself", () => {
    for (const line of ["", "--help", "serve --help", "fault --help", "fault set --help", "clock advance --help"]) {
      const found = asked(line)
      assertInclude(
        found._tag === "Text" ? found.text : "",
        `Usage: idv-mock${line.replace(/ ?--help/, "").replace(/^(?=.)/, " ")}`
      )
    }
  })

  it("tells its version", () => {
    deepStrictEqual(asked("--version"), { _tag: "Text", text: "1.2.3\n" })
  })
})
