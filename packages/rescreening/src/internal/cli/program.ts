/** The commands and flags of `idv-rescreen`, defined with `commander`. */
import { Command, type ErrorOptions, Option } from "commander"
import * as Effect from "effect/Effect"
import { UsageError } from "./usageError.ts"

/** The flags of a command by their names in camelCase; a flag without a value is `true`. */
export type Flags = { readonly [name: string]: string | boolean | undefined }

/** The parsed arguments: a text to show, or a command with its arguments and flags. */
export type Request =
  | { readonly _tag: "Text"; readonly text: string }
  | { readonly _tag: "Run"; readonly command: string; readonly args: ReadonlyArray<string>; readonly flags: Flags }

/** Reports an error in one line, without the values that some errors of `commander` repeat. */
class RescreenCommand extends Command {
  override createCommand(name?: string): RescreenCommand {
    return new RescreenCommand(name)
  }
  override error(message: string, { code }: ErrorOptions = {}): never {
    const name = `idv-rescreen ${this.parent === null ? "" : this.name()}`.trim()
    const [, flag = "a flag"] = /'(--?[a-z][a-z-]*)/i.exec(message) ?? []
    const texts: Readonly<Record<string, string>> = {
      "commander.unknownOption": `there is no flag of this name; expected one of ${
        this.createHelp().visibleOptions(this).map(({ long }) => long ?? "").join(", ")
      }`,
      "commander.unknownCommand": `there is no such command; expected one of ${
        this.commands.map((command) => command.name()).join(", ")
      }`,
      "commander.optionMissingArgument": `${flag} needs a value`,
      "commander.missingMandatoryOptionValue": `${flag} is missing`,
      "commander.invalidArgument": `${flag} has a value that is not allowed`,
      "commander.missingArgument": `<${/'([^']*)/.exec(message)?.[1] ?? ""}> is missing`,
      "commander.excessArguments": "there are too many arguments"
    }
    throw new UsageError({ text: `${name}: ${texts[code ?? ""] ?? "the arguments cannot be used"}` })
  }
}

const run = new Option("--run <name>", "The name of the run, such as 2026-11")
const runOrNewest = new Option(run.flags, `${run.description}; the newest one by default`)
const runToScreen = new Option(run.flags, `${run.description}; the newest one that is not complete by default`)
const requiredRun = new Option(run.flags, run.description).makeOptionMandatory()
const ledger = new Option(
  "--ledger <file>",
  "The SQLite file of the ledger; by default DATABASE_URL (postgres://…), and for start <people>.ledger.sqlite"
)
const workers = [
  new Option("--concurrency <n>", "Maximum number of checks that this process has in flight, 10 by default"),
  new Option("--lease <duration>", "Time after which others take over from a silent worker, \"30 seconds\" by default")
]
const policy = [
  new Option("--rate <n>", "Maximum number of checks that all workers together start per second, 50 by default"),
  new Option(
    "--unknown <policy>",
    "How to handle a check without a response: review (default), or rescreen, which may be billed twice"
  ),
  new Option("--evidence <kind>", "Which evidence to store: digest (default), or response, which is encrypted"),
  new Option("--stop-after <n>", "Failures of the service in a row after which all workers stop, 50 by default"),
  new Option("--hide-keys", "Shows no keys of people on the HTML page"),
  new Option("--ignore-profile-address", "A new aml_profile alone does not count as changed evidence"),
  new Option("--key-pattern <regex>", "The pattern of a whole key; by default it has a digit and no blank")
]
const out = new Option("--out <path>", "The reports: <path>.csv, <path>.jsonl and <path>.html")

const exitCodes = `
Exit codes: 0 every row has a result and nothing needs a review, 10 some rows need a review, 2 some rows have no
result or cannot be sent, 4 the run is paused, 1 the command could not start or continue, 130 it was interrupted.

The service and its credentials are IDV_AUTH_URL, IDV_BASE_URL, IDV_CUSTOMER_ID and IDV_CUSTOMER_KEY; the key that
encrypts people is IDV_RESCREEN_KEY, <id>:<32 bytes in base64>.`

interface Definition {
  readonly name: string
  readonly description: string
  readonly options: ReadonlyArray<Option>
}

const definitions: ReadonlyArray<Definition> = [
  {
    name: "start <people.csv>",
    description: "Screens a file on this machine, and writes the reports; run it again to continue after a kill",
    options: [requiredRun, ...policy, ...workers, ledger, out]
  },
  {
    name: "plan",
    description: "Stores a run of the people in the CSV on standard input, with the columns id,name,date_of_birth",
    options: [requiredRun, ...policy, ledger]
  },
  {
    name: "work",
    description: "Screens a run, together with any number of other workers, until each row has an outcome",
    options: [runToScreen, ...workers, ledger]
  },
  { name: "status", description: "Shows the runs and their counts as JSON Lines", options: [run, ledger] },
  { name: "pause", description: "Pauses a run for all workers", options: [requiredRun, ledger] },
  {
    name: "resume",
    description: "Opens a paused run; then start workers",
    options: [
      requiredRun,
      new Option(
        "--again <outcome>",
        "Screens rows without a result again: not_screened, unknown, or both. The service may bill unknown rows twice, " +
          "and not_screened rows whose check had a response, such as a 500"
      ),
      ledger
    ]
  },
  { name: "report", description: "Writes the reports of a run", options: [runOrNewest, out, ledger] },
  {
    name: "compare <before> <after>",
    description: "Shows whose result differs between two runs, as JSON Lines",
    options: [new Option("--all", "Also shows people whose result is unchanged"), ledger]
  },
  {
    name: "decide",
    description: "Stores a reviewer's decisions from the CSV on standard input, with the columns id,decision",
    options: [
      requiredRun,
      new Option("--reviewer <name>", "Your name for the reviewer, stored with the decisions").makeOptionMandatory(),
      ledger
    ]
  },
  {
    name: "erase",
    description: "Deletes people, results and decisions of old runs, and keeps their counts",
    options: [
      new Option(
        "--older-than <duration>",
        "The age of the runs to erase in days or weeks, such as 400d or \"57 weeks\""
      )
        .makeOptionMandatory(),
      ledger
    ]
  }
]

const make = (version: string, onRun: (request: Request) => void, onText: (text: string) => void) => {
  const program = new RescreenCommand("idv-rescreen")
    .description("Screens a whole population repeatedly, and accounts for every person in it.")
    .version(version)
    .configureOutput({ writeOut: onText, writeErr: onText })
    .exitOverride()
    .addHelpText("after", exitCodes)
  for (const { description, name, options } of definitions) {
    const command = program.command(name).description(description).allowExcessArguments(false).exitOverride()
    for (const option of options) command.addOption(option)
    command.action(() =>
      onRun({ _tag: "Run", command: command.name(), args: command.args, flags: command.opts<Flags>() })
    )
  }
  return program
}

/** Parses the words after the name of the program. Without words it returns the help. */
export const read = (version: string, words: ReadonlyArray<string>): Effect.Effect<Request, UsageError> =>
  Effect.suspend(() => {
    let text = ""
    let request: Request | undefined
    const program = make(
      version,
      (parsed) => {
        request = parsed
      },
      (more) => {
        text += more
      }
    )
    return Effect.try({
      try: () => {
        program.parse(words.length === 0 ? ["--help"] : words, { from: "user" })
      },
      catch: (error) => error
    }).pipe(
      Effect.catchAll((error) => error instanceof UsageError ? Effect.fail(error) : Effect.void),
      Effect.map((): Request => request ?? { _tag: "Text", text: text.trimEnd() })
    )
  })
