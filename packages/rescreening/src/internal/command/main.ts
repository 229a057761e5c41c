/** The commands and flags of `idv-rescreen`. */
import * as CommandLine from "@effect-idv/cli/commandLine"
import { booleanFlag, valueFlag } from "@effect-idv/cli/commandLine"
import type * as ParsedArguments from "@effect-idv/cli/parsedArguments"
import * as UsageError from "@effect-idv/cli/usageError"
import * as Idv from "@effect-idv/core/Idv"
import * as NodeContext from "@effect/platform-node/NodeContext"
import type * as Commander from "commander"
import * as ConfigError from "effect/ConfigError"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as People from "./people.ts"
import * as Reports from "./reports.ts"
import * as Runs from "./runs.ts"

const run = (which = "required") => valueFlag("run", "name", `Name of the run, such as 2026-11 (${which})`)
const requiredRun = run()
const newestRun = run("default: the newest one")
const ledger = valueFlag(
  "ledger",
  "file",
  "SQLite file of the ledger (default: DATABASE_URL, postgres://…; for start, else <people>.ledger.sqlite)"
)
const workers = [
  valueFlag("concurrency", "n", "Maximum number of checks that this process has in flight (default: 10)"),
  valueFlag("lease", "duration", "Time after which others take over from a silent worker (default: \"30 seconds\")")
]
const changes = [
  valueFlag("rate", "n", "Maximum number of checks that all workers together start per second (default: 50)"),
  valueFlag(
    "unknown",
    "policy",
    "How to handle a check without a response: review (default), or rescreen, which may be billed twice",
    ["review", "rescreen"]
  ),
  valueFlag(
    "stop-after",
    "n",
    "Failures of the service, or pauses, in a row after which all workers stop (default: 50)"
  ),
  valueFlag(
    "max-checks",
    "n",
    "Requests for checks, repeated ones included, after which all workers stop (default: none)"
  )
]
const population = [
  ...changes,
  valueFlag(
    "evidence",
    "kind",
    "Responses to store, encrypted: of matches (default: potential matches and doubtful Nos), all, or none",
    ["matches", "all", "none"]
  ),
  valueFlag("class", "name", "Risk class of these people, such as high; runs of different classes are not compared"),
  booleanFlag("four-eyes", "A decision counts only after another person approved it"),
  valueFlag("valid", "duration", "Age at which a decision must be renewed, such as 180d (default: never)"),
  booleanFlag("hide-keys", "Show no keys of people on the HTML page"),
  booleanFlag(
    "ignore-profile-address",
    "The service returns a new aml_profile for each search: alone it is not a change, and decisions about matches are " +
      "valid for one run"
  ),
  valueFlag(
    "control",
    "file",
    "CSV of people whom the service must find, with the columns id,name,date_of_birth,match_found; a No stops the run"
  ),
  valueFlag("control-every", "n", "Maximum number of people between two rounds of controls (default: 1000)"),
  valueFlag("key-pattern", "regex", "Pattern of a whole key (default: a digit, and no blank)"),
  valueFlag("expect-at-least", "n", "Plan nothing if the file has fewer rows, for example because it was cut")
]
const out = valueFlag("out", "path", "Reports to write: <path>.csv, <path>.jsonl and <path>.html")

const reviewer = valueFlag("reviewer", "name", "Name of the reviewer, stored in the history (required)")
const person = valueFlag("id", "id", "The person (required)")
const by = valueFlag("by", "name", "Who asks, stored in the history (required)")
const riskClass = valueFlag("class", "name", "Class whose newest run has the people (required)")

type CommandEffect = ReturnType<
  | typeof Runs[keyof typeof Runs]
  | typeof People[keyof typeof People]
  | typeof Reports["report" | "compare" | "due" | "coverage"]
>

/** A command with its arguments. It returns the exit code. */
type Command = (
  args: ParsedArguments.ParsedArguments
) => Effect.Effect<number, Effect.Effect.Error<CommandEffect>, Effect.Effect.Context<CommandEffect>>

interface Definition {
  readonly usage: string
  readonly description: string
  readonly flags: ReadonlyArray<Commander.Option>
  readonly run: Command
}

const definitions: Readonly<Record<string, Definition>> = {
  start: {
    usage: "start <people.csv>",
    description: "Screen a file on this machine, and write the reports; run it again to continue after a kill",
    flags: [requiredRun, ...population, ...workers, ledger, out],
    run: Runs.start
  },
  plan: {
    usage: "plan",
    description: "Store a run of the people in the CSV on standard input, with the columns id,name,date_of_birth",
    flags: [
      requiredRun,
      ...population,
      valueFlag(
        "from-sent",
        "span",
        "Only people to whom a check was sent in this span, in UTC, such as 2026-10-03..2026-10-05"
      ),
      ledger
    ],
    run: Runs.plan
  },
  work: {
    usage: "work",
    description: "Screen a run, together with any number of other workers, until each row has an outcome",
    flags: [run("default: the newest one that is not complete"), ...workers, ledger],
    run: Runs.work
  },
  set: {
    usage: "set",
    description: "Change the policy of a run, for all its workers",
    flags: [requiredRun, ...changes, ledger],
    run: Runs.set
  },
  status: {
    usage: "status",
    description: "Show the runs and their counts as JSON Lines",
    flags: [run("default: all"), ledger],
    run: Runs.status
  },
  pause: {
    usage: "pause",
    description: "Pause a run for all workers",
    flags: [requiredRun, ledger],
    run: Runs.pause
  },
  resume: {
    usage: "resume",
    description: "Open a paused run; then start workers",
    flags: [
      requiredRun,
      valueFlag(
        "again",
        "outcome",
        "Rows without a result to screen again: not_screened, unknown, or both. The service may bill unknown rows " +
          "twice, and not_screened rows whose check had a response, such as a 500",
        ["not_screened", "unknown", "both"]
      ),
      ledger
    ],
    run: Runs.resume
  },
  report: {
    usage: "report",
    description: "Write the reports of a run",
    flags: [newestRun, out, ledger],
    run: Reports.report
  },
  compare: {
    usage: "compare <before> <after>",
    description: "Show whose result differs between two runs, as JSON Lines",
    flags: [booleanFlag("all", "Also show people whose result is unchanged"), ledger],
    run: Reports.compare
  },
  matches: {
    usage: "matches",
    description: "Show the matches of a run to a person with the encryption key, as JSON Lines; the history says who",
    flags: [requiredRun, reviewer, ledger],
    run: People.matches
  },
  decide: {
    usage: "decide",
    description:
      "Store a reviewer's decisions from the CSV on standard input, with the columns id,digest,decision,reason",
    flags: [
      requiredRun,
      reviewer,
      booleanFlag("approve", "Approve these decisions, which another person stored"),
      ledger
    ],
    run: People.decide
  },
  history: {
    usage: "history",
    description: "Show decisions, approvals, views, exports, holds and erasures as JSON Lines",
    flags: [valueFlag("id", "id", "Only those about this person"), ledger],
    run: People.history
  },
  due: {
    usage: "due",
    description: "List the people of a class who have no result within a time, over all runs, as JSON Lines",
    flags: [riskClass, valueFlag("older-than", "duration", "Age of the last result, such as 30d (required)"), ledger],
    run: Reports.due
  },
  coverage: {
    usage: "coverage",
    description: "Show how many people of a class have a result within a time; exit code 2 if somebody has none",
    flags: [riskClass, valueFlag("within", "duration", "Such as 30d (required)"), ledger],
    run: Reports.coverage
  },
  export: {
    usage: "export",
    description: "Show everything about one person in all runs, decrypted, as JSON Lines",
    flags: [person, by, ledger],
    run: People.exportPerson
  },
  hold: {
    usage: "hold",
    description: "Prevent the erasure of one person",
    flags: [person, by, booleanFlag("release", "End the hold"), ledger],
    run: People.hold
  },
  erase: {
    usage: "erase",
    description: "Delete people and results of old runs, and keep their counts; or delete one person in all runs",
    flags: [
      valueFlag("older-than", "duration", "Age of the runs to erase in days or weeks, such as 400d or \"57 weeks\""),
      valueFlag(
        "history-older-than",
        "duration",
        "Also delete decisions, views and exports of this age, such as 1900d"
      ),
      valueFlag("id", "id", "The person to erase"),
      valueFlag("by", "name", "Who erases this person; the history says who, but not whom"),
      booleanFlag("keep-history", "Keep the decisions, views and exports of this person"),
      ledger
    ],
    run: People.erase
  },
  migrate: {
    usage: "migrate",
    description: "Create or upgrade the tables of the ledger and, if pg-boss is installed, those of the job engine",
    flags: [ledger],
    run: Runs.migrate
  }
}

const exitCodes = `
Exit codes: 0 every row has a result and nothing needs a review, 10 some results need a decision or an approval, 2 some
rows have no result or cannot be sent, 12 the service did not find a control, so some "No"s are doubtful, 11 a result
arrived after the run was complete, 4 the run is paused, 1 the command could not start or continue, 128 and the number
of the signal if it was interrupted, such as 130 after Ctrl-C. 12 and 11 hide the other codes: read status.

The service and its credentials are IDV_AUTH_URL, IDV_BASE_URL, IDV_CUSTOMER_ID and IDV_CUSTOMER_KEY; the key that
encrypts people is IDV_RESCREEN_KEY, <id>:<32 bytes in base64>. IDV_ENVIRONMENT, such as sandbox, is part of a run. ${CommandLine.network}.`

const make = (version: string) => (invoke: CommandLine.Invoke): Commander.Command => {
  const program = CommandLine.program(
    "idv-rescreen",
    "Screens a whole population repeatedly, and accounts for every person in it.",
    version,
    invoke
  ).addHelpText("after", exitCodes)
  for (const { description, flags, usage } of Object.values(definitions)) {
    CommandLine.addCommand(program, usage, description, flags, invoke)
  }
  CommandLine.addHelp(program)
  return program
}

/** Warnings are lines on standard error, and nothing else. */
const lines = Logger.replace(
  Logger.defaultLogger,
  Logger.make(({ message }) => void process.stderr.write(`${[message].flat().map(String).join(" ")}\n`))
)

/** Returns the exit code. */
export const main = (words: ReadonlyArray<string>, version: string) =>
  Effect.gen(function*() {
    const invocation = yield* CommandLine.read(make(version), words)
    if (invocation._tag === "Text") {
      yield* Console.log(invocation.text.trimEnd())
      return 0
    }
    const command = definitions[invocation.command]
    return command === undefined ? yield* Effect.dieMessage("A command has no definition") : yield* command.run(
      invocation.args
    )
  }).pipe(
    Effect.mapError((error) =>
      ConfigError.isConfigError(error)
        ? new UsageError.UsageError({ text: Idv.describeConfigError(error).replaceAll("\n", "; ") })
        : error
    ),
    Effect.catchTags({
      RunPaused: ({ message }) => Effect.as(Console.error(message), 4),
      // Not 2, which says that rows have no result.
      UsageError: ({ message }) => Effect.as(Console.error(message), 1)
    }),
    Effect.onInterrupt(() => Console.error("Interrupted. Run the same command again to continue.")),
    Effect.provide([NodeContext.layer, lines])
  )
