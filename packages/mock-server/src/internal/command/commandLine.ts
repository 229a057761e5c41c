/** The commands and flags of `idv-mock`, their help and their usage errors. */
import * as CommandLine from "@effect-idv/cli/commandLine"
import * as ContractCommands from "@effect-idv/cli/contractCommands"
import type { Command, Option } from "commander"
import * as Profile from "../../Profile.ts"
import * as TestPerson from "../../TestPerson.ts"
import * as Placeholders from "../clientTest/placeholders.ts"
import * as Kinds from "../faults/kinds.ts"
import { operations } from "../operations/all.ts"
import * as CommandFlags from "./commandFlags.ts"

interface Section {
  readonly heading: string
  readonly rows: ReadonlyArray<readonly [term: string, meaning: string]>
}

const table = ({ heading, rows }: Section): string => {
  const width = Math.max(...rows.map(([term]) => term.length))
  return [`\n${heading}:`, ...rows.map(([term, meaning]) => `  ${term.padEnd(width)}  ${meaning}`)].join("\n")
}

const testPersons: Section = {
  heading: "Test persons, by the last word of the name (any other name returns \"No\")",
  rows: TestPerson.reserved.map(({ description, lastWord }) => [lastWord, description])
}

const profileOptions: Section = {
  heading:
    `A profile is a preset (${Object.keys(Profile.presets).join(", ")}), and option=variant. Of each option, the ` +
    "first variant\nis the default",
  rows: Profile.points.map(({ name, variants }) => [name, variants.map(({ value }) => value).join(", ")])
}

const faultKinds: Section = {
  heading: "A fault is <on>:<what>[=value][:<when>[=value]], such as aml:hang or token:status=503:nth=2, or a\n" +
    "JSON object. <on> is token, aml or both. <when> is always, nth, first, every, probability or\n" +
    "window. <what> is one of",
  rows: Kinds.kinds.map(({ description, kind }) => [kind, description])
}

/** Makes the program. Parsing a command line calls `invoke` with the result. */
export const make = (version: string, invoke: CommandLine.Invoke): Command => {
  const addGroup = (parent: Command, name: string, description: string) =>
    parent.command(name).description(description).helpCommand(false)

  const addCommand = (parent: Command, usage: string, description: string, flags: ReadonlyArray<Option>) =>
    CommandLine.addCommand(parent, usage, description, flags, invoke)

  const program = CommandLine.program(
    "idv-mock",
    "A mock server of the identity verification service",
    version,
    invoke
  ).addHelpText("after", table(testPersons))

  addCommand(
    program,
    "serve",
    "Start the mock server: the token endpoint and the AML check, for the customer demo-customer with the key " +
      "demo-key, and for every customer test-* with the key test-key",
    CommandFlags.serve
  ).addHelpText("after", [testPersons, profileOptions, faultKinds].map(table).join("\n"))
  addCommand(
    program,
    "journal",
    "Show the exchanges of a running server, and the reason for each response",
    CommandFlags.journal
  )

  const groups = new Map([
    ["fault", addGroup(program, "fault", "Change the faults of a session of a running server")],
    ["clock", addGroup(program, "clock", "Change the clock of a session of a running server")],
    ["session", addGroup(program, "session", "Change the options of a session of a running server")]
  ])
  for (const { commands, path } of operations) {
    const flags = path.includes(":customerId") ? CommandFlags.session : CommandFlags.server
    for (const { help, usage } of commands) {
      const [first = "", ...rest] = usage.split(" ")
      const group = groups.get(first)
      const command = addCommand(group ?? program, group === undefined ? usage : rest.join(" "), help, flags)
      if (usage.startsWith("fault set")) command.addHelpText("after", table(faultKinds))
    }
  }
  addCommand(
    groups.get("session") ?? program,
    "set",
    "Change options: those without a flag stay as they are",
    CommandFlags.changeSession
  )

  ContractCommands.addVerify(program, invoke)
  ContractCommands.addDiff(ContractCommands.addClaims(program, "contract", invoke), invoke)
  addCommand(
    program,
    "record",
    "Forward requests to the service, and write a profile with which serve plays it, when the command ends by Ctrl-C. " +
      "Keys, names and dates of birth are not written. The variables of the network are those of verify",
    CommandFlags.record
  )
  addCommand(
    program,
    "diff",
    "Send the same fictional checks to the service and to the mock server, and list the behaviours that differ. The " +
      "variables of the network are those of verify",
    CommandFlags.diff
  )
  addCommand(
    program,
    "mcp",
    "Serve tools for agents over the Model Context Protocol, on standard input and output: sessions, clock, faults, " +
      "test_persons, tokens, journal, explain_last_check and help. Without --url it also starts a mock server",
    CommandFlags.mcp
  )
  addCommand(
    program,
    "test-client",
    "Test a client of the service, in any language: start a mock server, let the client check persons on good and bad " +
      `days, and say what it does wrong. Placeholders: ${Placeholders.help}. The client finds the mock server in ` +
      "IDV_AUTH_URL, IDV_BASE_URL, IDV_CUSTOMER_ID and IDV_CUSTOMER_KEY. Exit codes: 0 for nothing wrong, 1 for a " +
      "wrong client, 2 for one that cannot be tested",
    CommandFlags.testClient
  )
  CommandLine.addHelp(program)
  return program
}

/** Parses a command line. Runs nothing. */
export const read = (version: string, words: ReadonlyArray<string>) =>
  CommandLine.read((invoke) => make(version, invoke), words)
