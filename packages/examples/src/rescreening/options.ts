/** The arguments of the command. */
import { Effect, Schema } from "effect"
import { resolve } from "node:path"
import { parseArgs } from "node:util"
import { RescreeningFailed } from "./failure.ts"

/**
 * - `out`: what the names of all written files begin with.
 * - `idPattern`: what a whole id must match.
 * - `stopAfter`: after how many failures in a row of the service the run ends; 0 for never.
 */
export interface Options {
  readonly input: string
  readonly out: string
  readonly concurrency: number
  readonly rate: number
  readonly idPattern: RegExp
  readonly stopAfter: number
}

const usage = "Usage: rescreening <people.csv> [--out <path>] [--concurrency 10] [--rate 50] [--stop-after 50] " +
  "[--id-pattern <regex>]"

export const help = `${usage}

Screens everybody in a file with the columns id,name,date_of_birth.

  --out <path>       what is written: <path>.csv and <path>.jsonl, the reports,
                     and <path>.record.jsonl, by which a run that was ended goes on;
                     people-report for people.csv by default
  --concurrency <n>  how many checks are under way at once
  --rate <n>         how many checks are begun in a second at most
  --stop-after <n>   ends the run after so many failures in a row that say nothing about
                     the person, as when the service is down; 0 for never
  --id-pattern <re>  what a whole id must match: by default it has a digit, and no
                     blank, which names hardly do; .* for any

Exit codes:
  0    everybody is screened, and nobody is to be reviewed
  10   everybody is screened, and some are to be reviewed: potential matches, or no
       match of a doubtful name
  2    the run ended, and some have no result, or wrong rows; there may be potential matches too
  3    nobody was left to screen: the answers are those of an earlier run
  1    the run could not begin, or could not go on
  130  it was interrupted; the same command goes on`

const refused = new RescreeningFailed({ message: usage })

const Count = Schema.NumberFromString.pipe(Schema.int(), Schema.nonNegative())

const Arguments = Schema.Struct({
  out: Schema.optional(Schema.NonEmptyString),
  concurrency: Schema.optionalWith(Count.pipe(Schema.positive()), { default: () => 10 }),
  rate: Schema.optionalWith(Schema.NumberFromString.pipe(Schema.positive(), Schema.finite()), { default: () => 50 }),
  "stop-after": Schema.optionalWith(Count, { default: () => 50 }),
  "id-pattern": Schema.optionalWith(Schema.String, { default: () => "(?=.*\\d)\\S+" })
})

const options = {
  out: { type: "string" },
  concurrency: { type: "string" },
  rate: { type: "string" },
  "stop-after": { type: "string" },
  "id-pattern": { type: "string" },
  help: { type: "boolean", short: "h" }
} as const

/** What was asked for: a run, or `help`. */
export const parse: Effect.Effect<Options | "help", RescreeningFailed> = Effect.gen(function*() {
  const { positionals, values } = yield* Effect.try({
    try: () => parseArgs({ options, allowPositionals: true }),
    catch: () => refused
  })
  if (values.help === true) return "help"
  const [input, ...others] = positionals
  if (input === undefined || input === "" || others.length > 0) return yield* refused
  const given = yield* Effect.mapError(Schema.decodeUnknown(Arguments)(values), () => refused)
  const idPattern = yield* Effect.try({
    try: () => new RegExp(`^(?:${given["id-pattern"]})$`, "u"),
    catch: () => new RescreeningFailed({ message: "--id-pattern is no regular expression" })
  })
  const out = given.out ?? `${input.replace(/\.csv$/i, "")}-report`
  if (resolve(`${out}.csv`) === resolve(input)) {
    return yield* new RescreeningFailed({ message: `The report would overwrite ${input}: choose another --out` })
  }
  const { concurrency, rate } = given
  return { input, out, concurrency, rate, idPattern, stopAfter: given["stop-after"] }
})
