/** The commands of `idv-mock`, as `commander` reads and explains them. */
import { Argument, Command, type ErrorOptions, Option } from "commander"
import * as Either from "effect/Either"
import * as Record from "effect/Record"
import * as TestPerson from "../../TestPerson.ts"
import * as FaultKinds from "../faults/faultKinds.ts"
import type { Given } from "./parsedArguments.ts"
import { Refusal } from "./usageError.ts"

/** What was asked for: a text to show, or a command with what was given to it. */
export type Asked =
  | { readonly _tag: "Text"; readonly text: string }
  | { readonly _tag: "Run"; readonly command: string; readonly given: Given }

const list = (words: ReadonlyArray<string>) => words.join(", ")

/** Without the name of the program: `fault set`. */
const pathOf = (command: Command): string =>
  command.parent === null ? "" : `${pathOf(command.parent)} ${command.name()}`.trim()

const flagsOf = (command: Command) => list(command.createHelp().visibleOptions(command).map(({ long }) => long ?? ""))

const commandsOf = ({ commands }: Command) => list(commands.map((command) => command.name()))

const inQuotes = (message: string) => /'([^' ]*)/.exec(message)?.[1] ?? ""

/** In the words of the other refusals. */
const rewritten: Readonly<Record<string, (message: string) => string>> = {
  "commander.optionMissingArgument": (message) => `${inQuotes(message)} needs a value`,
  "commander.missingArgument": (message) => `<${inQuotes(message)}> is missing`,
  "commander.excessArguments": () => "nothing more is taken than flags"
}

/** A refusal is one line, and lacks the values that some of `commander` repeat. */
class IdvCommand extends Command {
  override createCommand(name?: string): IdvCommand {
    return new IdvCommand(name)
  }
  override error(message: string, { code }: ErrorOptions = {}): never {
    const [, word = ""] = /'(--?[a-z][a-z-]*)/i.exec(message) ?? []
    const text = code === "commander.unknownOption"
      ? this.options.some(({ long }) => long === word)
        ? `${word} takes no value`
        : `there is no flag ${word === "" ? "of this name" : word}: expected one of ${flagsOf(this)}`
      : code === "commander.unknownCommand"
      ? `there is no such command: expected one of ${commandsOf(this)}`
      : rewritten[code ?? ""]?.(message) ?? message.replace(/^error: /, "")
    throw new Refusal({ text: `idv-mock ${pathOf(this)}`.trim() + `: ${text}` })
  }
}

type Texts = ReadonlyArray<string>

/** No value begins like a flag: that one was forgotten. */
const given = (name: string, value: string): string => {
  if (value.startsWith("--")) throw new Refusal({ text: `--${name} needs a value` })
  return value
}

/** `choices` are for help and completions: to be refused by their schema, which does not repeat the value. */
const one = (name: string, value: string, description: string, choices?: ReadonlyArray<string>) => {
  const option = new Option(`--${name} <${value}>`, description).argParser<Texts>((value, previous = []) => {
    if (previous.length > 0) throw new Refusal({ text: `--${name} is there more than once` })
    return [given(name, value)]
  })
  if (choices !== undefined) option.argChoices = Array.from(choices)
  return option
}

const many = (name: string, value: string, description: string) =>
  new Option(`--${name} <${value}>`, `${description}; may be repeated`)
    .argParser<Texts>((value, previous = []) => [...previous, given(name, value)])

const on = (name: string, description: string) => new Option(`--${name}`, description)

interface Section {
  readonly heading: string
  readonly rows: ReadonlyArray<readonly [term: string, meaning: string]>
}

const table = ({ heading, rows }: Section): string => {
  const width = Math.max(...rows.map(([term]) => term.length))
  return [`\n${heading}:`, ...rows.map(([term, meaning]) => `  ${term.padEnd(width)}  ${meaning}`)].join("\n")
}

const subjects: Section = {
  heading: "By the last word of a name (everybody else is on no list)",
  rows: TestPerson.reserved.map(({ description, lastWord }) => [lastWord, description])
}

const faultKinds: Section = {
  heading: "A fault is <on>:<what>[=value][:<when>[=value]], such as aml:hang or token:status=503:nth=2, or an\n" +
    "object of JSON. <on> is token, aml or both; <when> is always, nth, first, every, probability or\n" +
    "window; <what> is",
  rows: Record.toEntries(FaultKinds.table).map(([kind, { description }]) => [kind, description])
}

const completions: Section = {
  heading: "Completions, for this session of the shell",
  rows: [
    ["bash", "source <(idv-mock completions bash)"],
    ["fish", "idv-mock completions fish | source"],
    ["zsh", "source <(idv-mock completions zsh)"]
  ]
}

const controlToken = one(
  "control-token",
  "token",
  "The token of the control plane. Everybody sees a flag in the list of processes: rather set the variable " +
    "IDV_MOCK_CONTROL_TOKEN"
)

const ofServer = [one("url", "url", "Where the mock server is, http://127.0.0.1:4010 by default"), controlToken]

const ofSession = [one("customer", "id", "Whose session it is, that of demo-customer by default"), ...ofServer]

const ofServe = [
  one("config", "file", "A file of JSON with these options in camelCase, and customers, faults and profile; flags win"),
  one("host", "address", "The address to listen on, 127.0.0.1 by default; any beyond loopback needs a control token"),
  one("port", "number", "The port to listen on, 4010 by default; 0 picks a free one"),
  one("port-file", "file", "A file that holds the number of the port while the server listens; an old one is removed"),
  one("logs", "form", "A line for each exchange, none by default", ["none", "json", "pretty"]),
  controlToken,
  many("allowed-host", "name", "A name by which the control plane may be reached, such as that of a container"),
  one("seed", "number", "Makes tokens and chance the same each time"),
  many("profile", "variant", "A preset (default, strict or hostile), or option=variant such as tokenStatus=201"),
  many("fault", "fault", "What goes wrong, such as aml:hang"),
  many("customer", "id:key", "Who may ask for a token too; in a file, the key stays out of the list of processes"),
  on("reveal", "Keeps names and secrets in the journal as they are, instead of masked"),
  one("grace-period", "duration", "How long a stop waits for requests that are not answered yet, 5 seconds by default"),
  one("request-timeout", "duration", "How long a request may take to arrive, 30 seconds by default"),
  on("force", "Starts also where NODE_ENV is production")
]

const ofJournal = [
  one("operation", "name", "Only requests to this", ["token", "aml", "other"]),
  one("status", "number", "Only answers of this status, such as 401"),
  one("rule", "name", "Only what this rule answered, such as aml.token-expired"),
  one("fault", "name", "Only where a fault of this id or kind fired"),
  on("unexpected", "Only requests that break the API document"),
  on("strangers", "The requests that carry no session, instead of those of a customer"),
  on("json", "The entries in full, one object of JSON a line"),
  on("clear", "Forgets all entries of the session, and shows none"),
  ...ofSession
]

const evidence = one("evidence", "file", "The claims, in the form of contract/evidence.yaml, which they are by default")

const ofVerify = [
  one(
    "auth-url",
    "url",
    "The address of the token endpoint without /oauth/service; else IDV_AUTH_URL; for a mock server, " +
      "http://127.0.0.1:4010 by default"
  ),
  one(
    "base-url",
    "url",
    "The address of the API without /api/aml; else IDV_BASE_URL; one address is for both if only one is given"
  ),
  one("target", "kind", "What is there: a mock server, by default, or a service", ["mock", "sandbox"]),
  one("customer-id", "id", "Who asks; rather set IDV_CUSTOMER_ID. For a mock server, a test customer by default"),
  one("customer-key", "key", "Its key; everybody sees a flag in the list of processes: rather set IDV_CUSTOMER_KEY"),
  on("allow-insecure", "Sends key, token and names also to http: beyond loopback, where others can read them"),
  one("control-url", "url", "Where the control plane of the mock server is, at the address of the API by default"),
  controlToken,
  evidence,
  one("format", "form", "The form of the report, table by default", ["table", "json", "junit"]),
  one("output", "file", "Where the report goes, instead of being printed"),
  one(
    "observations",
    "file",
    "Where goes what was seen, as claims for --evidence of the next run; a file that is there is not overwritten"
  ),
  one("budget", "number", "How many requests a sandbox may be sent, 70 by default; what is left over is skipped"),
  one(
    "spacing",
    "duration",
    "How long to wait between two requests to a sandbox, \"500 millis\" by default; a number is in milliseconds"
  ),
  one("deadline", "duration", "How long an answer may take, \"10 seconds\" by default; a number is in milliseconds")
]

const ofContract = [
  many("level", "level", "Only claims of this level: documented, observed, assumed or unknown"),
  one("format", "form", "The form, table by default", ["table", "json"]),
  evidence
]

const givenTo = (command: Command): Given => {
  const values = command.opts<Readonly<Record<string, unknown>>>()
  const flags = command.options.map((option): readonly [string, ReadonlyArray<string>] => {
    const value = values[option.attributeName()]
    return [option.name(), Array.isArray(value) ? value.map(String) : value === true ? ["true"] : []]
  })
  return { flags: Object.fromEntries(flags), words: command.args, argument: command.args.join(" ") }
}

/** `ask` is told which command it is, once its words are read. */
export const make = (version: string, ask: (asked: Asked) => void): Command => {
  const group = (parent: Command, name: string, description: string) =>
    parent.command(name).description(description).helpCommand(false)

  const leaf = (parent: Command, usage: string, description: string, flags: ReadonlyArray<Option>) => {
    const command = parent.command(usage).description(description)
    for (const flag of flags) command.addOption(flag)
    return command.action(() => ask({ _tag: "Run", command: pathOf(command), given: givenTo(command) }))
  }

  const program = new IdvCommand("idv-mock")
    .description("A mock of the identity verification service")
    .version(version, "--version", "Shows the version")
    .exitOverride()
    .configureHelp({ helpWidth: 100, showGlobalOptions: false })
    .configureOutput({ writeOut: (text) => ask({ _tag: "Text", text }), writeErr: () => {} })
    .helpOption("--help", "Shows this")
    .helpCommand(false)
    .showSuggestionAfterError(false)
    .addHelpText("after", table(subjects) + "\n" + table(completions))

  leaf(
    program,
    "serve",
    "Plays the token endpoint and the AML check, for the customer demo-customer with the key demo-key, and for " +
      "every customer test-* with the key test-key",
    ofServe
  ).addHelpText("after", table(subjects) + "\n" + table(faultKinds))
  leaf(program, "journal", "Shows what a running server was asked, what it answered, and why", ofJournal)

  const fault = group(program, "fault", "Sets what goes wrong in a session of a running server")
  leaf(fault, "list", "Shows the faults that are set, and how often they fired", ofSession)
  leaf(fault, "set <fault...>", "Sets faults, such as aml:hang: all of them, or none if one is wrong", ofSession)
    .addHelpText("after", table(faultKinds))
  leaf(fault, "remove <id>", "Removes the fault of this id", ofSession)
  leaf(fault, "clear", "Removes all faults", ofSession)

  const clock = group(program, "clock", "Moves the clock of a session of a running server")
  leaf(clock, "show", "Shows the time", ofSession)
  leaf(clock, "advance <duration...>", "Moves the clock forward, by 61 minutes for example", ofSession)
  leaf(clock, "set <time>", "Sets the clock, to 2026-01-31T12:00:00Z for example", ofSession)
  leaf(clock, "freeze", "Stops the clock", ofSession)
  leaf(clock, "resume", "Lets the clock run again", ofSession)

  leaf(program, "sessions", "Shows the sessions of a running server", ofServer)
  leaf(program, "reset", "Takes a session of a running server back to its beginning", ofSession)
  leaf(
    program,
    "verify",
    "Tries whether a server does what the reference contract says. With --target sandbox it is a service: its " +
      "addresses and credentials may be the variables IDV_AUTH_URL, IDV_BASE_URL, IDV_CUSTOMER_ID and " +
      "IDV_CUSTOMER_KEY, only fictional people are asked about, and each check may be billed",
    ofVerify
  )
  leaf(program, "contract", "Shows the claims of the reference contract, and what exercises them", ofContract)
  const printing = leaf(program, "completions", "Prints completions for bash, fish or zsh", [])
  const shell = new Argument("<shell>")
  shell.argChoices = ["bash", "fish", "zsh"]
  printing.addArgument(shell)
  return program
}

/** Reads the words of a command line. Nothing is done yet. */
export const read = (version: string, words: ReadonlyArray<string>): Either.Either<Asked, Refusal> => {
  let asked: Asked = { _tag: "Text", text: "" }
  const program = make(version, (next) => {
    // Help comes in parts.
    asked = next._tag === "Text" && asked._tag === "Text" ? { ...next, text: asked.text + next.text } : next
  })
  const parsed = Either.try({
    try: () => program.parse(words.length === 0 ? ["--help"] : words, { from: "user" }),
    catch: (error) => error instanceof Refusal ? error : undefined
  })
  // Help and the version end the parsing with an error that is none.
  if (Either.isLeft(parsed) && parsed.left !== undefined) return Either.left(parsed.left)
  return asked._tag === "Text" && asked.text === ""
    ? Either.left(new Refusal({ text: "idv-mock: a command is missing; --help behind a word shows what may follow" }))
    : Either.right(asked)
}
