/** What a benchmark says: a table, and what of it was a goal. */
import Table from "cli-table3"
import { max, median, min } from "simple-statistics"

/** The median of some rounds, and the least and the most of them. */
export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

export const spread = (values: Array<number>): Spread => ({
  median: median(values),
  min: min(values),
  max: max(values)
})

/** Round by round, so that what slows the machine down for a while slows both down. */
export const ratio = (these: ReadonlyArray<number>, those: ReadonlyArray<number>): Spread =>
  spread(these.map((value, round) => value / (those[round] ?? NaN)))

/** `reason`: why it is not reached, found by profiling. It is printed only then. */
export interface Goal {
  readonly what: string
  readonly measured: Spread
  readonly is: "at most" | "at least"
  readonly limit: number
  readonly unit: string
  readonly reason?: string
}

/** `cells` has a row for each subject. `notes` are what a reader has to know to believe it. */
export interface Report {
  readonly columns: ReadonlyArray<string>
  readonly cells: ReadonlyArray<ReadonlyArray<string>>
  readonly goals: ReadonlyArray<Goal>
  readonly notes: ReadonlyArray<string>
}

export const isReached = ({ is, limit, measured }: Goal): boolean =>
  is === "at most" ? measured.median <= limit : measured.median >= limit

/** Three digits that mean something. */
export const number = (value: number): string =>
  value >= 100
    ? value.toFixed(0)
    : value >= 10
    ? value.toFixed(1)
    : value >= 1
    ? value.toFixed(2)
    : value.toPrecision(2)

/** `1.02 (0.98–1.10)` */
export const range = ({ max, median, min }: Spread): string => `${number(median)} (${number(min)}–${number(max)})`

const describeGoal = (goal: Goal): string => {
  const verdict = isReached(goal) ? "✓" : "✗"
  const reason = isReached(goal) || goal.reason === undefined ? "" : `\n    ${goal.reason}`
  return `  ${verdict} ${goal.what}: ${range(goal.measured)}${goal.unit}, ${goal.is} ${goal.limit}${goal.unit}${reason}`
}

export const print = ({ cells, columns, goals, notes }: Report): string => {
  const table = new Table({ head: [...columns], style: { head: [], border: [] } })
  for (const row of cells) table.push([...row])
  return [table.toString(), ...goals.map(describeGoal), ...notes.map((note) => `  ${note}`)].join("\n")
}
