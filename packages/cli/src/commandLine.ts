/** A program of several commands with `commander`: its help, and its usage errors, which repeat no value. */
import { Command, type ErrorOptions, type Option } from "commander"
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

/** Rewrites the errors of `commander`, some of which repeat values. */
class IdvCommand extends Command {
  override createCommand(name?: string): IdvCommand {
    return new IdvCommand(name)
  }
  override error(message: string, { code }: ErrorOptions = {}): never {
    throw new UsageError({ text: `${nameOf(this)}: ${this.#problem(message, code)}` })
  }
  #problem(message: string, code: string | undefined): string {
    const [, flag = ""] = /'(--?[a-z][a-z-]*)/i.exec(message) ?? []
    switch (code) {
      case "commander.unknownOption":
        return this.options.some(({ long }) => long === flag)
          ? `${flag} takes no value`
          : `${`unknown flag ${flag}`.trim()}: expected one of ${flagsOf(this)}`
      case "commander.unknownCommand":
        return `unknown command: expected one of ${commandsOf(this)}`
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

/** A program without commands. Parsing a command line calls `invoke` with a text to print. */
export const program = (name: string, description: string, version: string, invoke: Invoke): Command =>
  new IdvCommand(name)
    .description(description)
    .version(version, "--version", "Show the version")
    .exitOverride()
    .configureHelp({ helpWidth: 100, showGlobalOptions: false })
    .configureOutput({ writeOut: (text) => invoke({ _tag: "Text", text }), writeErr: () => {} })
    .helpOption("--help", "Show this help")
    .helpCommand(false)
    .showSuggestionAfterError(false)

/** Adds a command to a program or to a group of commands. Parsing its command line calls `invoke`. */
export const addCommand = (
  parent: Command,
  usage: string,
  description: string,
  flags: ReadonlyArray<Option>,
  invoke: Invoke
): Command => {
  const command = parent.command(usage).description(description)
  for (const flag of flags) command.addOption(flag)
  return command.action(() => invoke({ _tag: "Run", command: pathOf(command), args: argumentsOf(command) }))
}

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
  if (Either.isLeft(parsed) && parsed.left !== undefined) return Either.left(parsed.left)
  return invocation._tag === "Text" && invocation.text === ""
    ? Either.left(new UsageError({ text: `${program.name()}: a command is missing: add --help for a list` }))
    : Either.right(invocation)
}
