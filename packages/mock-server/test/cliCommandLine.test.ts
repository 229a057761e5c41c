import { Fault, Profile, TestPerson } from "@effect-idv/mock-server"
import { assert, describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Either } from "effect"
import * as CommandLine from "../src/internal/command/commandLine.ts"

const read = (...words: ReadonlyArray<string>) => CommandLine.read("1.2.3", words)

const usageError = (words: string) =>
  Either.match(read(...words.split(" ")), { onLeft: ({ message }) => message, onRight: () => "no usage error" })

const text = (...words: ReadonlyArray<string>) =>
  Either.match(read(...words), {
    onLeft: ({ message }) => message,
    onRight: (invocation) => invocation._tag === "Text" ? invocation.text : "no text"
  })

const parsed = (...words: ReadonlyArray<string>) => {
  const invocation = Either.getOrThrow(read(...words))
  assert(invocation._tag === "Run")
  const { argument, flags } = invocation.args
  return {
    command: invocation.command,
    argument,
    flags: Object.fromEntries(Object.entries(flags).filter(([, values]) => values.length > 0))
  }
}

const flagsOfServe =
  "--config, --host, --port, --port-file, --log, --control-token, --allowed-host, --seed, --clock-skew, " +
  "--profile, --fault, --customer, --tls, --tls-ca, --tls-cert, --tls-key, --reveal, --grace-period, --request-timeout, --force, --help"

const unknown = (flag: string) => `idv-mock serve: ${`unknown flag ${flag}`.trim()}: expected one of ${flagsOfServe}`

describe("The arguments of idv-mock", () => {
  it.each<[string, string]>([
    [
      "canary",
      "idv-mock: unknown command: expected one of serve, journal, fault, clock, session, sessions, reset, " +
      "verify, contract, record, diff, mcp, test-client, help"
    ],
    ["fault canary-canary", "idv-mock fault: unknown command: expected one of list, set, remove, clear"],
    ["serv", "idv-mock: unknown command: did you mean serve?"],
    ["fault sett", "idv-mock fault: unknown command: did you mean set?"],
    [
      "--port 1 serve",
      "idv-mock: unknown flag --port: expected one of --version, --help, and the flags of a command after its name"
    ],
    ["help serv", "idv-mock: unknown command: did you mean serve?"],
    ["help fault sett", "idv-mock fault: unknown command: did you mean set?"],
    ["help fault set canary", "idv-mock fault set: too many arguments"],
    ["serve --nope", unknown("--nope")],
    ["serve --nope=canary", unknown("--nope")],
    ["serve --nope canary", unknown("--nope")],
    ["serve -pcanary", unknown("-p")],
    ["serve --prot 1", "idv-mock serve: unknown flag --prot: did you mean --port?"],
    ["serve --logs json", "idv-mock serve: unknown flag --logs: did you mean --log?"],
    ["serve --tls-cet canary", "idv-mock serve: unknown flag --tls-cet: did you mean --tls-cert?"],
    ["serve --wizard", unknown("--wizard")],
    ["serve -5canary", unknown("")],
    ["serve canary", "idv-mock serve: this command takes no arguments"],
    ["serve --port", "idv-mock serve: --port needs a value"],
    ["serve --port --host canary", "idv-mock serve: --port needs a value"],
    ["serve --port 1 --fault", "idv-mock serve: --fault needs a value"],
    ["serve --port 1 --port canary", "idv-mock serve: --port occurs more than once"],
    ["serve --reveal=canary", "idv-mock serve: --reveal takes no value"],
    ["fault remove", "idv-mock fault remove: <id> is missing"],
    ["fault remove canary canary2", "idv-mock fault remove: too many arguments"],
    ["verify canary", "idv-mock verify: this command takes no arguments"],
    ["verify --customer-key", "idv-mock verify: --customer-key needs a value"],
    [
      "contract --nope",
      "idv-mock contract: unknown flag --nope: expected one of --level, --format, --claims, --help"
    ]
  ])("%s: a usage error is one line without values", (words, line) => {
    strictEqual(usageError(words), line)
  })

  it("accept flags with and without =, in any order", () => {
    const expected = {
      command: "serve",
      argument: "",
      flags: { port: ["0"], reveal: ["true"], fault: ["aml:hang", "token:empty"] }
    }
    deepStrictEqual(parsed(..."serve --port 0 --reveal --fault aml:hang --fault token:empty".split(" ")), expected)
    deepStrictEqual(parsed(..."serve --fault=aml:hang --fault=token:empty --reveal --port=0".split(" ")), expected)
  })

  it("accept an argument of two words with and without quotes", () => {
    const expected = { command: "clock advance", argument: "61 minutes", flags: { url: ["x"] } }
    deepStrictEqual(parsed("clock", "advance", "61 minutes", "--url", "x"), expected)
    deepStrictEqual(parsed("clock", "advance", "61", "minutes", "--url", "x"), expected)
  })

  it("show the version, and the help of a command or of the program", () => {
    for (const flag of ["-V", "--version"]) strictEqual(text(flag).trim(), "1.2.3")
    assertInclude(text("fault", "-h"), "Usage: idv-mock fault")
    strictEqual(text("fault"), text("fault", "--help"))
    strictEqual(text("help", "serve"), text("serve", "--help"))
    strictEqual(text("help", "fault", "set"), text("fault", "set", "--help"))
    for (const words of [[], ["-h"], ["help"]]) strictEqual(text(...words), text("--help"))
  })
})

describe("The help of idv-mock serve", () => {
  const help = text("serve", "--help")

  it("has each flag with its description", () => {
    for (const flag of flagsOfServe.split(", ")) {
      strictEqual(
        help.split("\n").filter((line) => new RegExp(`^ +(-h, )?${flag}( <[a-z:]+>)? {2,}\\S`).test(line)).length,
        1,
        flag
      )
    }
  })

  it("has every test person and every kind of fault with its description", () => {
    for (const { description, lastWord } of TestPerson.reserved) {
      const has = help.split("\n").some((line) => line.trim().startsWith(`${lastWord} `) && line.endsWith(description))
      assert(has, lastWord)
    }
    for (const { description, kind } of Fault.kinds) {
      assert(help.split("\n").some((line) => line.trim().startsWith(kind) && line.endsWith(description)), kind)
    }
  })

  it("has every option of a profile with its variants", () => {
    const lines = help.split("\n").map((line) => line.trim().replace(/ {2,}/, ": "))
    for (const { name, variants } of Profile.points) {
      assert.include(lines, `${name}: ${variants.map(({ value }) => value).join(", ")}`)
    }
  })

  it("has no colours", () => {
    strictEqual(help.includes("\u001b"), false)
  })
})

describe("The help of idv-mock verify", () => {
  const help = text("verify", "--help")

  it("has each flag, recommends variables for secrets, and says that checks may be billed", () => {
    const flags = "--auth-url, --base-url, --target, --customer-id, --customer-key, --allow-insecure, --control-url, " +
      "--control-token, --claims, --format, --output, --har, --observations, --person, --persons, --dry-run, --budget, " +
      "--spacing, --deadline, --case, --fail-on, --strict, --wait-for-expiry, --wrong-keys, --help"
    strictEqual(usageError("verify --nope"), `idv-mock verify: unknown flag --nope: expected one of ${flags}`)
    for (const flag of flags.split(", ")) assertInclude(help, `${flag} `)
    for (
      const words of ["Prefer the variable: flags are visible", "IDV_MOCK_CONTROL_TOKEN", "fictional people", "billed"]
    ) {
      assertInclude(help.replaceAll(/\s+/g, " "), words)
    }
  })
})
