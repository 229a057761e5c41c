/** The commands and flags of `idv-mock`, their help and their usage errors. */
import { Argument, Command, type ErrorOptions, type HelpContext, type Option } from "commander"
import * as Either from "effect/Either"
import * as Record from "effect/Record"
import * as Profile from "../../Profile.ts"
import * as TestPerson from "../../TestPerson.ts"
import * as FaultKinds from "../faults/faultKinds.ts"
import * as CommandFlags from "./commandFlags.ts"
import type { ParsedArguments } from "./parsedArguments.ts"
import { UsageError } from "./usageError.ts"

/** The result of parsing a command line: a text to print, such as the help, or a command to run. */
export type Invocation =
  | { readonly _tag: "Text"; readonly text: string }
  | { readonly _tag: "Run"; readonly command: string; readonly args: ParsedArguments }

const list = (words: ReadonlyArray<string>) => words.join(", ")

/** The name of a command without that of the program, such as `fault set`. */
const pathOf = (command: Command): string =>
  command.parent === null ? "" : `${pathOf(command.parent)} ${command.name()}`.trim()

const flagsOf = (command: Command) => list(command.createHelp().visibleOptions(command).map(({ long }) => long ?? ""))

const commandsOf = ({ commands }: Command) => list(commands.map((command) => command.name()))

const inQuotes = (message: string) => /'([^' ]*)/.exec(message)?.[1] ?? ""

/** The similar command or flag that `commander` found, or else all that exist. */
const expectation = (message: string, all: string) => {
  const [, similar] = /\n\(Did you mean (.+)\?\)$/.exec(message) ?? []
  return similar === undefined ? `expected one of ${all}` : `did you mean ${similar}?`
}

/** Rewrites the errors of `commander`, some of which repeat values. */
class IdvCommand extends Command {
  override createCommand(name?: string): IdvCommand {
    return new IdvCommand(name)
  }
  override error(message: string, { code }: ErrorOptions = {}): never {
    throw new UsageError({ text: `idv-mock ${pathOf(this)}`.trim() + `: ${this.#problem(message, code)}` })
  }
  /** `commander` shows the help as an error if a command is missing. */
  override help(context?: HelpContext | ((text: string) => string)): never {
    return typeof context === "object" && context.error
      ? this.error(`a command is missing: expected one of ${commandsOf(this)}`)
      : super.help()
  }
  #problem(message: string, code: string | undefined): string {
    const [, flag = ""] = /'(--?[a-z][a-z-]*)/i.exec(message) ?? []
    switch (code) {
      case "commander.unknownOption":
        return this.options.some(({ long }) => long === flag)
          ? `${flag} takes no value`
          : `${`unknown flag ${flag}`.trim()}: ${expectation(message, flagsOf(this))}` +
            (this.parent === null ? ", and the flags of a command after its name" : "")
      case "commander.unknownCommand":
        return `unknown command: ${expectation(message, commandsOf(this))}`
      case "commander.invalidArgument":
        // The message of a flag follows the value.
        return message.split(" is invalid. ").at(-1) ?? ""
      case "commander.optionMissingArgument":
        return `${inQuotes(message)} needs a value`
      case "commander.missingArgument":
        return `<${inQuotes(message)}> is missing`
      case "commander.excessArguments":
        return this.registeredArguments.length === 0 ? "this command takes no arguments" : "too many arguments"
      default:
        return message.replace(/^error: /, "")
    }
  }
}

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
  rows: Profile.points.map(({ name, variants }) => [name, list(variants.map(({ value }) => value))])
}

const faultKinds: Section = {
  heading: "A fault is <on>:<what>[=value][:<when>[=value]], such as aml:hang or token:status=503:nth=2, or a\n" +
    "JSON object. <on> is token, aml or both. <when> is always, nth, first, every, probability or\n" +
    "window. <what> is one of",
  rows: Record.toEntries(FaultKinds.table).map(([kind, { description }]) => [kind, description])
}

const completions: Section = {
  heading: "Completions for the current shell",
  rows: [
    ["bash", "source <(idv-mock completions bash)"],
    ["fish", "idv-mock completions fish | source"],
    ["zsh", "source <(idv-mock completions zsh)"]
  ]
}

const argumentsOf = (command: Command): ParsedArguments => {
  const values = command.opts<Readonly<Record<string, unknown>>>()
  const flags = command.options.map((option): readonly [string, ReadonlyArray<string>] => {
    const value = values[option.attributeName()]
    return [option.name(), Array.isArray(value) ? value.map(String) : value === true ? ["true"] : []]
  })
  return { flags: Object.fromEntries(flags), words: command.args, argument: command.args.join(" ") }
}

/** The command with these names. For unknown ones it throws the usage error of the command before them. */
const helpOf = (program: Command, names: ReadonlyArray<string>): Command =>
  names.reduce((command, name) => {
    const next = command.commands.find((command) => command.name() === name)
    if (next !== undefined) return next
    return command.commands.length === 0
      ? command.error("", { code: "commander.excessArguments" })
      : command.parse([name], { from: "user" })
  }, program)

/** Makes the program. Parsing a command line calls `invoke` with the result. */
export const make = (version: string, invoke: (invocation: Invocation) => void): Command => {
  const addGroup = (parent: Command, name: string, description: string) =>
    parent.command(name).description(description).helpCommand(false)

  const addCommand = (parent: Command, usage: string, description: string, flags: ReadonlyArray<Option>) => {
    const command = parent.command(usage).description(description)
    for (const flag of flags) command.addOption(flag)
    return command.action(() => invoke({ _tag: "Run", command: pathOf(command), args: argumentsOf(command) }))
  }

  const program = new IdvCommand("idv-mock")
    .description("A mock server of the identity verification service")
    .version(version, "-V, --version", "Show the version")
    .exitOverride()
    .configureHelp({ helpWidth: 100, showGlobalOptions: false })
    .configureOutput({ writeOut: (text) => invoke({ _tag: "Text", text }), writeErr: () => {} })
    .helpOption("-h, --help", "Show this help")
    .helpCommand(false)
    .addHelpText("after", table(testPersons) + "\n" + table(completions))

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

  const fault = addGroup(program, "fault", "Change the faults of a session of a running server")
  addCommand(fault, "list", "Show the faults, and how often each fired", CommandFlags.session)
  addCommand(
    fault,
    "set <fault...>",
    "Set faults, such as aml:hang: all of them, or none if one is invalid",
    CommandFlags.session
  )
    .addHelpText("after", table(faultKinds))
  addCommand(fault, "remove <id>", "Remove the fault with this id", CommandFlags.session)
  addCommand(fault, "clear", "Remove all faults", CommandFlags.session)

  const clock = addGroup(program, "clock", "Change the clock of a session of a running server")
  addCommand(clock, "show", "Show the time", CommandFlags.session)
  addCommand(clock, "advance <duration...>", "Move the clock forward, for example by 61 minutes", CommandFlags.session)
  addCommand(clock, "set <time>", "Set the clock, for example to 2026-01-31T12:00:00Z", CommandFlags.session)
  addCommand(clock, "freeze", "Stop the clock", CommandFlags.session)
  addCommand(clock, "resume", "Start the clock again", CommandFlags.session)

  addCommand(program, "sessions", "Show the sessions of a running server", CommandFlags.server)
  addCommand(program, "reset", "Restore the initial state of a session of a running server", CommandFlags.session)
  addCommand(
    program,
    "verify",
    "Check whether a server follows the contract. With --target sandbox it checks the real service: addresses and " +
      "credentials can be the variables IDV_AUTH_URL, IDV_BASE_URL, IDV_CUSTOMER_ID and IDV_CUSTOMER_KEY. It sends " +
      "only fictional people, and each check may be billed",
    CommandFlags.verify
  )
  const contract = addCommand(
    program,
    "contract",
    "Show the claims of the contract, and the cases and scenarios that test each",
    CommandFlags.contract
  ).helpCommand(false)
  addCommand(
    contract,
    "diff <old> <new>",
    "Compare two evidence files: the claims that were added, removed or changed. The command fails if a change may " +
      "break consumers",
    []
  )
  addCommand(
    program,
    "record",
    "Forward requests to the service, and write a profile with which serve plays it, when the command ends by Ctrl-C. " +
      "Keys, names and dates of birth are not written",
    CommandFlags.record
  )
  addCommand(
    program,
    "diff",
    "Send the same fictional checks to the service and to the mock server, and list the behaviours that differ",
    CommandFlags.diff
  )
  addCommand(
    program,
    "mcp",
    "Serve tools for agents over the Model Context Protocol, on standard input and output: sessions, clock, faults, " +
      "profile, test_persons, journal, verify and explain_last_check. Without --url it also starts a mock server",
    CommandFlags.mcp
  )
  addCommand(program, "completions", "Print completions for bash, fish or zsh", [])
    .addArgument(Object.assign(new Argument("<shell>"), { argChoices: ["bash", "fish", "zsh"] }))
  const help = program.command("help [command...]").description("Show the help of a command")
  help.action((names: ReadonlyArray<string>) => helpOf(program, names).outputHelp())
  return program
}

/** Parses a command line. Runs nothing. */
export const read = (version: string, words: ReadonlyArray<string>): Either.Either<Invocation, UsageError> => {
  let invocation: Invocation = { _tag: "Text", text: "" }
  const program = make(version, (next) => {
    // `commander` writes the help in parts.
    invocation = next._tag === "Text" && invocation._tag === "Text"
      ? { ...next, text: invocation.text + next.text }
      : next
  })
  const parsed = Either.try({
    try: () => program.parse(words.length === 0 ? ["--help"] : words, { from: "user" }),
    // `commander` throws after it has written the help or the version, which is not an error.
    catch: (error) => error instanceof UsageError ? error : undefined
  })
  return Either.isLeft(parsed) && parsed.left !== undefined ? Either.left(parsed.left) : Either.right(invocation)
}
