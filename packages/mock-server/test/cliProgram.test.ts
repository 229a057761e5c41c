import { Fault, TestPerson } from "@effect-idv/mock-server"
import { assert, describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Either } from "effect"
import * as Program from "../src/internal/cli/program.ts"

const read = (...words: ReadonlyArray<string>) => Program.read("1.2.3", words)

const refusal = (words: string) =>
  Either.match(read(...words.split(" ")), { onLeft: ({ message }) => message, onRight: () => "not refused" })

const text = (...words: ReadonlyArray<string>) =>
  Either.match(read(...words), {
    onLeft: ({ message }) => message,
    onRight: (asked) => asked._tag === "Text" ? asked.text : "no text"
  })

const given = (...words: ReadonlyArray<string>) => {
  const asked = Either.getOrThrow(read(...words))
  assert(asked._tag === "Run")
  const { argument, flags } = asked.given
  return {
    command: asked.command,
    argument,
    flags: Object.fromEntries(Object.entries(flags).filter(([, values]) => values.length > 0))
  }
}

const flagsOfServe = "--config, --host, --port, --port-file, --logs, --control-token, --allowed-host, --seed, " +
  "--profile, --fault, --customer, --reveal, --grace-period, --request-timeout, --force, --help"

const unknown = (flag: string) => `idv-mock serve: there is no flag ${flag}: expected one of ${flagsOfServe}`

describe("The words of idv-mock", () => {
  it.each<[string, string]>([
    [
      "canary",
      "idv-mock: there is no such command: expected one of serve, journal, fault, clock, sessions, reset, " +
      "verify, contract, completions"
    ],
    ["fault canary", "idv-mock fault: there is no such command: expected one of list, set, remove, clear"],
    ["fault", "idv-mock: a command is missing; --help behind a word shows what may follow"],
    ["serve --nope", unknown("--nope")],
    ["serve --nope=canary", unknown("--nope")],
    ["serve --nope canary", unknown("--nope")],
    ["serve --prot 1", unknown("--prot")],
    ["serve --wizard", unknown("--wizard")],
    ["serve -5canary", unknown("of this name")],
    ["serve canary", "idv-mock serve: nothing more is taken than flags"],
    ["serve --port", "idv-mock serve: --port needs a value"],
    ["serve --port --host canary", "--port needs a value"],
    ["serve --port 1 --fault", "idv-mock serve: --fault needs a value"],
    ["serve --port 1 --port canary", "--port is there more than once"],
    ["serve --reveal=canary", "idv-mock serve: --reveal takes no value"],
    ["fault remove", "idv-mock fault remove: <id> is missing"],
    ["verify canary", "idv-mock verify: nothing more is taken than flags"],
    ["verify --customer-key", "idv-mock verify: --customer-key needs a value"],
    [
      "contract --nope",
      "idv-mock contract: there is no flag --nope: expected one of --level, --format, --evidence, --help"
    ]
  ])("%s are refused in one line without their values", (words, line) => {
    strictEqual(refusal(words), line)
  })

  it("mean the same with = and without, and in any order", () => {
    const expected = {
      command: "serve",
      argument: "",
      flags: { port: ["0"], reveal: ["true"], fault: ["aml:hang", "token:empty"] }
    }
    deepStrictEqual(given(..."serve --port 0 --reveal --fault aml:hang --fault token:empty".split(" ")), expected)
    deepStrictEqual(given(..."serve --fault=aml:hang --fault=token:empty --reveal --port=0".split(" ")), expected)
  })

  it("of an argument are one, with and without quotes", () => {
    const expected = { command: "clock advance", argument: "61 minutes", flags: { url: ["x"] } }
    deepStrictEqual(given("clock", "advance", "61 minutes", "--url", "x"), expected)
    deepStrictEqual(given("clock", "advance", "61", "minutes", "--url", "x"), expected)
  })

  it("ask for the version, or for help where a command is missing", () => {
    strictEqual(text("--version").trim(), "1.2.3")
    assertInclude(text("fault", "--help"), "Usage: idv-mock fault")
    strictEqual(text(), text("--help"))
  })
})

describe("The help of idv-mock serve", () => {
  const help = text("serve", "--help")

  it("has each flag, and what it is for", () => {
    for (const flag of flagsOfServe.split(", ")) {
      strictEqual(
        help.split("\n").filter((line) => new RegExp(`^ +${flag}( <[a-z:]+>)? {2,}\\S`).test(line)).length,
        1,
        flag
      )
    }
  })

  it("has every reserved name and every kind of fault, with its sentence", () => {
    for (const { description, lastWord } of TestPerson.reserved) {
      const has = help.split("\n").some((line) => line.trim().startsWith(`${lastWord} `) && line.endsWith(description))
      assert(has, lastWord)
    }
    for (const { description, kind } of Fault.kinds) {
      assert(help.split("\n").some((line) => line.trim().startsWith(kind) && line.endsWith(description)), kind)
    }
  })

  it("has no colours", () => {
    strictEqual(help.includes("\u001b"), false)
  })
})

describe("The help of idv-mock verify", () => {
  const help = text("verify", "--help")

  it("has each flag, and says that a key is rather in a variable, and where it is not sent", () => {
    const flags = "--auth-url, --base-url, --target, --customer-id, --customer-key, --allow-insecure, --control-url, " +
      "--control-token, --evidence, --format, --output, --observations, --budget, --spacing, --deadline, --help"
    strictEqual(refusal("verify --nope"), `idv-mock verify: there is no flag --nope: expected one of ${flags}`)
    for (const flag of flags.split(", ")) assertInclude(help, `  ${flag} `)
    for (const words of ["rather set IDV_CUSTOMER_KEY", "IDV_MOCK_CONTROL_TOKEN", "fictional people", "billed"]) {
      assertInclude(help.replaceAll(/\s+/g, " "), words)
    }
  })
})
