/** What the gate says, for people: on a terminal, and as the page `docs/mutants.md`. */
import { Array as Arr } from "effect"
import * as Contract from "../../src/Contract.ts"
import type { Gate, Row } from "./mutantGate.ts"

/** Of a mutant that breaks everything, nobody reads what. */
const most = 6

const shown = (cases: ReadonlyArray<string>, quote: string): string =>
  cases.length > most ? `${cases.length} cases` : cases.map((id) => `${quote}${id}${quote}`).join(", ")

const counted = (count: number, one: string): string => `${count} ${one}${count === 1 ? "" : "s"}`

/** How many of the claims of each level have how many mutants. */
const levels = (
  { rows }: Gate,
  { claims }: Contract.Evidence
): ReadonlyArray<readonly [string, number, number, number]> =>
  Contract.levels.flatMap((level) => {
    const ids = claims.filter((claim) => claim.level === level && claim.accept !== undefined).map(({ id }) => id)
    const mine = rows.filter(({ mutant }) => ids.includes(mutant.claim))
    const broken = Arr.dedupe(mine.map(({ mutant }) => mutant.claim))
    return ids.length === 0 ? [] : [[level, ids.length, broken.length, mine.length]]
  })

/** The sum of it in one line. */
export const total = ({ alarms, isGreen, rows, survivors, unbroken }: Gate): string =>
  [
    counted(rows.length, "mutant"),
    `${rows.length - survivors.length} killed`,
    survivors.length === 0 ? "no survivor" : counted(survivors.length, "survivor"),
    counted(unbroken.length, "documented claim").concat(" without a mutant"),
    `${counted(alarms.length, "alarm")} on the right server`,
    isGreen ? "green" : "red"
  ].join(", ")

const width = (rows: ReadonlyArray<Row>, of: (row: Row) => string): number =>
  Math.max(0, ...rows.map((row) => of(row).length))

/** A line for each mutant: which cases of its own claim failed, and which others. */
export const lines = (gate: Gate): ReadonlyArray<string> => {
  const own = ({ killers }: Row) => killers.length === 0 ? "SURVIVES" : killers.join(", ")
  const name = ({ mutant }: Row) => mutant.id
  const [names, owns] = [width(gate.rows, name), width(gate.rows, own)]
  return gate.rows.map((row) => {
    const others = row.others.length === 0 ? "" : `also ${shown(row.others, "")}`
    return `${name(row).padEnd(names)}  ${own(row).padEnd(owns)}  ${others}`.trimEnd()
  }).concat(
    gate.survivors.map((id) => `survives: ${id}`),
    gate.unbroken.map((id) => `without a mutant: ${id}`),
    gate.alarms.map((id) => `alarm on the right server: ${id}`),
    total(gate)
  )
}

const title = ({ mutant }: Row): string => mutant.id.slice(mutant.claim.length + 1)

/** The row of a mutant in the page. */
export const cells = (row: Row): string =>
  `| \`${title(row)}\` | ${row.mutant.breaks} | ${shown(row.killers, "`")} | ${shown(row.others, "`")} |`

/** The page. */
export const page = (gate: Gate, evidence: Contract.Evidence): string => {
  const groups = Object.entries(Arr.groupBy(gate.rows, ({ mutant }) => mutant.claim))
  return [
    "# Mutants",
    "",
    "A mutant is a mock server with one deliberate violation of one claim of the",
    "[contract](../packages/contract/contract/evidence.yaml). On each mutant a case of that claim must fail; on the",
    "unchanged mock server no case may fail. `pnpm mutants` runs all cases against all mutants and writes this page, and a",
    "test checks it.",
    "",
    `${total(gate)}.`,
    "",
    "| level of the claims | claims | with a mutant | mutants |",
    "|---|---|---|---|",
    ...levels(gate, evidence).map((row) => `| ${row.join(" | ")} |`),
    ...groups.flatMap(([claim, rows]) => [
      "",
      `## ${claim}`,
      "",
      "| mutant | violation | failing cases | other failing cases |",
      "|---|---|---|---|",
      ...rows.map(cells)
    ]),
    ""
  ].join("\n")
}
