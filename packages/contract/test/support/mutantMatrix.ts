/** The result of the gate for people: on a terminal, and as the page `docs/mutants.md`. */
import { Array as Arr } from "effect"
import * as Contract from "../../src/Contract.ts"
import type { Gate, Row } from "./mutantGate.ts"

/** How many cases a row names. */
const maxNamed = 6

const shown = (cases: ReadonlyArray<string>, quote: string): string =>
  cases.length > maxNamed ? `${cases.length} cases` : cases.map((id) => `${quote}${id}${quote}`).join(", ")

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`

/** For each level: its claims, how many of them have a mutant, and their mutants. */
const levels = (
  { rows }: Gate,
  { claims }: Contract.Evidence
): ReadonlyArray<readonly [string, number, number, number]> =>
  Contract.levels.flatMap((level) => {
    const ids = claims.filter((claim) => claim.level === level && claim.accept !== undefined).map(({ id }) => id)
    const mine = rows.filter(({ mutant }) => ids.includes(mutant.claim))
    const violated = Arr.dedupe(mine.map(({ mutant }) => mutant.claim))
    return ids.length === 0 ? [] : [[level, ids.length, violated.length, mine.length]]
  })

/** The totals in one line. */
export const total = ({ alarms, isPassed, rows, survivors, withoutMutant }: Gate): string =>
  [
    counted(rows.length, "mutant"),
    `${rows.length - survivors.length} killed`,
    survivors.length === 0 ? "no survivor" : counted(survivors.length, "survivor"),
    counted(withoutMutant.length, "documented claim").concat(" without a mutant"),
    `${counted(alarms.length, "alarm")} on the mock server`,
    isPassed ? "passed" : "failed"
  ].join(", ")

const width = (rows: ReadonlyArray<Row>, of: (row: Row) => string): number =>
  Math.max(0, ...rows.map((row) => of(row).length))

/** A line for each mutant: the cases of its claim that failed. */
export const lines = (gate: Gate): ReadonlyArray<string> => {
  const own = ({ killers }: Row) => killers.length === 0 ? "SURVIVES" : shown(killers, "")
  const name = ({ mutant }: Row) => mutant.id
  const names = width(gate.rows, name)
  return gate.rows.map((row) => {
    return `${name(row).padEnd(names)}  ${own(row)}`
  }).concat(
    gate.survivors.map((id) => `survives: ${id}`),
    gate.withoutMutant.map((id) => `without a mutant: ${id}`),
    gate.alarms.map((id) => `alarm on the mock server: ${id}`),
    total(gate)
  )
}

/** Whether this case finds a mutant depends on the hour of the run, so the page omits it. */
const dependsOnHour = "aml.searched-on.run"

const title = ({ mutant }: Row): string => mutant.id.slice(mutant.claim.length + 1)

/** The row of a mutant in `docs/mutants.md`. */
export const cells = (row: Row): string =>
  `| \`${title(row)}\` | ${row.mutant.description} | ${shown(row.killers.filter((id) => id !== dependsOnHour), "`")} |`

/** The text of `docs/mutants.md`, by claim in the order of the contract. */
export const page = (gate: Gate, evidence: Contract.Evidence): string => {
  const groups = evidence.claims.flatMap(({ id }) => {
    const rows = gate.rows.filter(({ mutant }) => mutant.claim === id)
    return rows.length === 0 ? [] : [{ claim: id, rows }]
  })
  return [
    "# Mutants",
    "",
    "A mutant is a server that violates one claim of the",
    "[contract](../packages/contract/contract/evidence.yaml): the mock server behind a wrapper that changes its requests",
    "or responses, or with one option of its profile changed. For each mutant, a case of the violated claim must fail;",
    "on the mock server itself, no case may fail. `pnpm mutants` runs the cases of each mutant's claim and writes this page,",
    "and a test checks that it is up to date. [contract.md](contract.md#how-the-suite-is-tested) has the figures of the",
    "servers that another author wrote.",
    "",
    `${total(gate)}.`,
    "",
    "| level of the claims | claims | with a mutant | mutants |",
    "|---|---|---|",
    ...levels(gate, evidence).map((row) => `| ${row.join(" | ")} |`),
    ...groups.flatMap(({ claim, rows }) => [
      "",
      `## ${claim}`,
      "",
      "| mutant | behavior | failing cases of the claim |",
      "|---|---|---|",
      ...rows.map(cells)
    ]),
    ""
  ].join("\n")
}
