/** That everybody in the file is accounted for: told in numbers, and proved. */
import { Effect } from "effect"
import type { Ledger, Phase } from "./ledger.ts"
import type { PeopleFile } from "./people.ts"

const words: ReadonlyArray<readonly [Phase, string]> = [
  ["no_match", "no match"],
  ["no_match_doubtful", "no match, of a doubtful name or date: a person should review"],
  ["potential_match", "potential match: a person should review"],
  ["not_screened", "not screened: there is no result"],
  ["unknown", "unknown: sent, and no answer came; may be billed"],
  ["wrong_row", "wrong rows: not sent"],
  ["started", "begun, and no outcome was recorded; may be billed"],
  ["not_started", "not begun"]
]

/**
 * - `file`, `ledger`: what was read, and what the record says about it.
 * - `settledBefore`: how many needed no check any more when this run began.
 */
export interface Reconciliation {
  readonly file: PeopleFile
  readonly ledger: Ledger
  readonly settledBefore: number
}

const sum = (ledger: Ledger) => words.reduce((sum, [phase]) => sum + ledger.count(phase), 0)

const starts = (ledger: Ledger) => {
  const interrupted = ledger.startsAfter("started")
  const withoutResult = ledger.startsAfter("not_screened") + ledger.startsAfter("unknown")
  return { first: ledger.startsAfter("not_started"), interrupted, withoutResult, again: interrupted + withoutResult }
}

/** In lines, the numbers one below the other. */
export const describe = ({ file, ledger, settledBefore }: Reconciliation): string => {
  const { again, first, interrupted, withoutResult } = starts(ledger)
  const width = String(Math.max(file.rows, first + again)).length
  const line = (count: number, words: string) => `  ${String(count).padStart(width)}  ${words}`
  return [
    `Reconciliation of ${file.rows} rows:`,
    ...words.map(([phase, words]) => line(ledger.count(phase), words)),
    line(sum(ledger), "in all"),
    line(settledBefore, "of them taken from an earlier run"),
    line(first + again, "checks begun, in all runs"),
    line(interrupted, "of them again, after an interruption: may be billed twice"),
    line(withoutResult, "of them again, after no result")
  ].join("\n")
}

/**
 * Dies if the numbers do not add up, at the end of a run that was not stopped: by then everybody has an
 * outcome, and the record on the disk says what this run believes.
 *
 * - `believed`: the ledger of this run, kept while it wrote.
 * - `outcomes`: how many came out of the screening.
 */
export const prove = (
  { file, ledger, settledBefore }: Reconciliation,
  { believed, outcomes, wrongRows }: {
    readonly believed: Ledger
    readonly outcomes: number
    readonly wrongRows: number
  }
): Effect.Effect<void> => {
  const { again, first } = starts(ledger)
  const claims = {
    "every row has an outcome": ledger.count("not_started") === 0 && ledger.count("started") === 0,
    "the record says what the run believes": words.every(([phase]) => ledger.count(phase) === believed.count(phase)),
    "what this run did is what was left": settledBefore + outcomes + wrongRows === file.rows,
    "only rows that were sent were begun": first === file.rows - ledger.count("wrong_row"),
    "the record has every check that was begun":
      first + again === believed.startsAfter("not_started") + starts(believed).again
  }
  const wrong = Object.entries(claims).filter(([, holds]) => !holds).map(([claim]) => claim)
  return wrong.length === 0
    ? Effect.void
    : Effect.dieMessage(`The reconciliation is wrong: not ${wrong.join(", not ")}`)
}

/** What the shell is told of a run that ended. */
export const exitCode = ({ ledger }: Reconciliation): number => {
  if (ledger.count("not_screened") + ledger.count("unknown") + ledger.count("wrong_row") > 0) return 2
  return ledger.count("potential_match") + ledger.count("no_match_doubtful") > 0 ? 10 : 0
}
