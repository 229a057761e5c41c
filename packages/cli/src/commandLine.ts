/** A program of several commands with `commander`: its flags, its help, and its usage errors, which repeat no value. */
import { Command, type ErrorOptions, InvalidArgumentError, Option } from "commander"
import * as Either from "effect/Either"
import type { ParsedArguments } from "./parsedArguments.ts"
import { UsageError } from "./usageError.ts"

/** The result of parsing a command line: a text to print, such as the help, or a command to run. */
export type Invocation =
  | { readonly _tag: "Text"; readonly text: string }
  | { readonly _tag: "Run"; readonly command: string; readonly args: ParsedArguments }

/** Receives the result of parsing a command line. */
export type Invoke = (invocation: Invocation) => void

const list = (words: ReadonlyArray<string>) => words.join(", ")

/** The name of a command without that of the program, such as `fault set`. */
const pathOf = (command: Command): string =>
  command.parent === null ? "" : `${pathOf(command.parent)} ${command.name()}`.trim()

/** The name of a command with that of the program. */
const nameOf = (command: Command): string =>
  command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`

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
    throw new UsageError({ text: `${nameOf(this)}: ${this.#problem(message, code)}` })
  }
  /** `commander` shows the help as an error if a command is missing. */
  override help(): never {
    return super.help()
  }
  #problem(message: string, code: string | undefined): string {
    // After a short flag the value may follow directly, as in `-pSECRET`.
    const [, flag = ""] = /'(--[a-z][a-z-]*|-[a-z])/i.exec(message) ?? []
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

const argumentsOf = (command: Command): ParsedArguments => {
  const values = command.opts<Readonly<Record<string, unknown>>>()
  const flags = command.options.map((option): readonly [string, ReadonlyArray<string>] => {
    const value = values[option.attributeName()]
    return [option.name(), Array.isArray(value) ? value.map(String) : value === true ? ["true"] : []]
  })
  return { flags: Object.fromEntries(flags), words: command.args, argument: command.args.join(" ") }
}

type Texts = ReadonlyArray<string>

/** Rejects a value that begins like a flag, because then the value itself is missing. */
const valueOf = (name: string, value: string): string => {
  if (value.startsWith("--")) throw new InvalidArgumentError(`--${name} needs a value`)
  return value
}

/**
 * Makes a flag with a value. `choices` are only for the help. The schema of the command checks the
 * value, because its error does not repeat the value.
 */
export const valueFlag = (name: string, value: string, description: string, choices?: ReadonlyArray<string>) => {
  const option = new Option(`--${name} <${value}>`, description).argParser<Texts>((value, previous = []) => {
    if (previous.length > 0) throw new InvalidArgumentError(`--${name} occurs more than once`)
    return [valueOf(name, value)]
  })
  if (choices !== undefined) option.argChoices = Array.from(choices)
  return option
}

export const repeatableFlag = (name: string, value: string, description: string) =>
  new Option(`--${name} <${value}>`, `${description} (repeatable)`)
    .argParser<Texts>((value, previous = []) => [...previous, valueOf(name, value)])

export const booleanFlag = (name: string, description: string) => new Option(`--${name}`, description)

export const controlToken = valueFlag(
  "control-token",
  "token",
  "Token of the control API. Flags are visible in the process list: prefer the variable IDV_MOCK_CONTROL_TOKEN"
)

/** For the help of the commands that send requests. */
export const network = "Variables of the network: HTTPS_PROXY, HTTP_PROXY and NO_PROXY (loopback is always reached " +
  "directly), NODE_EXTRA_CA_CERTS, IDV_CLIENT_CERT and IDV_CLIENT_KEY, the files of a client certificate, and " +
  "IDV_USER_AGENT"

/** A program without commands. Parsing a command line calls `invoke` with a text to print. */
export const program = (name: string, description: string, version: string, invoke: Invoke): Command =>
  new IdvCommand(name)
    .description(description)
    .version(version, "-V, --version", "Show the version")
    .exitOverride()
    .configureHelp({ helpWidth: 100, showGlobalOptions: false })
    .configureOutput({ writeOut: (text) => invoke({ _tag: "Text", text }), writeErr: () => {} })
    .helpOption("-h, --help", "Show this help")
    .helpCommand(false)
    .enablePositionalOptions()

/** Adds a command to a program or to a group of commands. Parsing its command line calls `invoke`. */
export const addCommand = (
  parent: Command,
  usage: string,
  description: string,
  flags: ReadonlyArray<Option>,
  invoke: Invoke
): Command => {
  // Otherwise a flag that a group has too, such as --format, would be that of the group.
  const command = parent.command(usage).description(description).enablePositionalOptions()
  for (const flag of flags) command.addOption(flag)
  return command.action(() => invoke({ _tag: "Run", command: pathOf(command), args: argumentsOf(command) }))
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

/** Adds the command `help`, which shows the help of the program or of a command. */
export const addHelp = (program: Command): Command =>
  program.command("help").argument("[command...]")
    .description("Show the help of a command")
    .action((names: ReadonlyArray<string>) => helpOf(program, names).outputHelp())

/** Parses a command line of the program that `make` returns. Runs nothing. */
export const read = (
  make: (invoke: Invoke) => Command,
  words: ReadonlyArray<string>
): Either.Either<Invocation, UsageError> => {
  let invocation: Invocation = { _tag: "Text", text: "" }
  const program = make((next) => {
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
