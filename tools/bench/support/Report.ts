/** The report of a benchmark: a table, goals and notes. */
import Table from "cli-table3"
import { max, median, min, quantile } from "simple-statistics"

/** The values of the rounds, and their median, minimum and maximum. */
export interface Spread {
  readonly values: ReadonlyArray<number>
  readonly median: number
  readonly min: number
  readonly max: number
}

export const spread = (values: Array<number>): Spread => ({
  values,
  median: median(values),
  min: min(values),
  max: max(values)
})

export const single = (value: number): Spread => spread([value])

/** Divides round by round, because a temporary load on the machine slows both values of a round. */
export const ratio = (numerators: ReadonlyArray<number>, denominators: ReadonlyArray<number>): Spread =>
  spread(numerators.map((value, round) => value / (denominators[round] ?? NaN)))

export interface Goal {
  readonly what: string
  readonly measured: Spread
  readonly is: "at most" | "at least"
  readonly limit: number
  readonly unit: string
  /** Whether the load of the machine does not change the figure, such as a size. */
  readonly isExact?: true
  /** Why the goal is missed, found by profiling before. Printed only if it is missed. */
  readonly reason?: string
}

export interface Report {
  readonly columns: ReadonlyArray<string>
  /** The rows of the table, one for each alternative. */
  readonly cells: ReadonlyArray<ReadonlyArray<string>>
  readonly goals: ReadonlyArray<Goal>
  /** The conditions of the measurement. */
  readonly notes: ReadonlyArray<string>
}

const isWithin = ({ is, limit }: Goal) => (value: number): boolean => is === "at most" ? value <= limit : value >= limit

/** The middle half of the rounds must not differ by more than this, or the machine was too busy for a verdict. */
const maxSpread = 1.5

const isSpread = ({ measured: { values } }: Goal): boolean =>
  values.length > 2 && quantile([...values], 0.75) > maxSpread * quantile([...values], 0.25)

/** `withheld`: the machine was busy before the benchmarks (`isBusy`), or the rounds differ too much. */
const verdictOf = (goal: Goal, isBusy: boolean) =>
  goal.isExact !== true && (isBusy || isSpread(goal)) ? "withheld" : isWithin(goal)(goal.measured.median) ? "✓" : "✗"

/** Formats a number with about three significant digits. */
export const number = (value: number): string => {
  const magnitude = Math.abs(value)
  if (magnitude >= 100) return value.toFixed(0)
  if (magnitude >= 10) return value.toFixed(1)
  return magnitude >= 1 ? value.toFixed(2) : value.toPrecision(2)
}

/** Formats the median and the range, such as `1.02 (0.98–1.10)`. */
export const range = ({ max, median, min, values }: Spread): string =>
  values.length === 1 ? number(median) : `${number(median)} (${number(min)}–${number(max)})`

/** Several missed goals with the same reason show it once, after the last of them. */
const describeGoal = (isBusy: boolean) => (goal: Goal, _: number, goals: ReadonlyArray<Goal>): string => {
  const verdict = verdictOf(goal, isBusy)
  const isLast =
    goals.filter((other) => verdictOf(other, isBusy) === "✗" && other.reason === goal.reason).at(-1) === goal
  const reason = isLast && goal.reason !== undefined ? `\n    ${goal.reason}` : ""
  const { values } = goal.measured
  const rounds = values.length === 1 ? "" : ` (in ${values.filter(isWithin(goal)).length} of ${values.length} rounds)`
  return `  ${verdict} ${goal.what}: ${
    range(goal.measured)
  }${goal.unit}; goal: ${goal.is} ${goal.limit}${goal.unit}${rounds}${reason}`
}

const printTable = (columns: ReadonlyArray<string>, cells: ReadonlyArray<ReadonlyArray<string>>): string => {
  const table = new Table({ head: [...columns], style: { head: [], border: [] } })
  for (const row of cells) table.push([...row])
  return table.toString()
}

export const print = ({ cells, columns, goals, notes }: Report, isBusy: boolean): string =>
  [printTable(columns, cells), ...goals.map(describeGoal(isBusy)), ...notes.map((note) => `  ${note}`)].join("\n")

/** The table of all goals, for the end of the output. */
export const printGoals = (reports: ReadonlyArray<Report & { readonly name: string }>, isBusy: boolean): string =>
  printTable(
    ["benchmark", "goal", "measured", "limit", "verdict"],
    reports.flatMap(({ goals, name }) =>
      goals.map((goal) => [
        name,
        goal.what,
        `${range(goal.measured)}${goal.unit}`,
        `${goal.is} ${goal.limit}${goal.unit}`,
        verdictOf(goal, isBusy)
      ])
    )
  )
