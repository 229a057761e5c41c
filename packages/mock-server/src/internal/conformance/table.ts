/** A report for people: plain text, its columns aligned. */
import * as Arr from "effect/Array"
import * as Order from "effect/Order"
import type { Report, Result, Verdict } from "../../Conformance.ts"
import * as Contract from "../../Contract.ts"
import * as Counts from "./counts.ts"
import * as Likeness from "./likeness.ts"
import { defaultBudget } from "./run.ts"
import * as Stopped from "./stopped.ts"

/** What the sections of the API document are about. */
const sections: Readonly<Record<string, string>> = {
  "1": "what the service does",
  "2.1": "client credentials",
  "2.2": "the access token",
  "2.3": "the AML credential",
  "3": "states and transitions",
  "4.1": "get access token",
  "4.2": "AML check for a person",
  "5": "authentication",
  "6": "events",
  "7": "errors",
  "8": "limits",
  "9": "versioning"
}

export const sectionOf = (section: string): string => {
  const about = sections[section]
  return `Section ${section}${about === undefined ? "" : `, ${about}`}`
}

const bySection = Order.mapInput(
  Order.array(Order.number),
  ({ section }: Pick<Result, "section">) => section.split(".").map(Number)
)

/** In the order of the document, each with its results in the order of the run. */
export const groups = (results: ReadonlyArray<Result>): ReadonlyArray<Arr.NonEmptyArray<Result>> => {
  const sorted = Arr.sort(results, bySection)
  return Arr.isNonEmptyArray(sorted) ? Arr.groupWith(sorted, (a, b) => a.section === b.section) : []
}

const marks: Readonly<Record<Verdict, string>> = { pass: "✓", drift: "~", fail: "✗", skipped: "-" }

/** Columns two blanks apart; a last one is as long as it is. */
const aligned = (rows: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => {
  const width = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0))
  return rows.map((row) => row.map((text, column) => text.padEnd(width(column))).join("  ").trimEnd())
}

const detailOf = ({ expects, observed, reason, verdict }: Result): ReadonlyArray<string> =>
  verdict === "pass" ? [] : [`      ${reason ?? `expected ${expects}, observed ${observed}`}`]

const casesOf = (results: ReadonlyArray<Result>): ReadonlyArray<string> => {
  const lines = aligned(results.map(({ id, level, title, verdict }) => [`  ${marks[verdict]} ${id}`, title, level]))
  const texts = new Map(results.map((result, i) => [result, lines[i] ?? ""]))
  return groups(results).flatMap((group) => [
    sectionOf(group[0].section),
    ...group.flatMap((result) => [texts.get(result) ?? "", ...detailOf(result)]),
    ""
  ])
}

const claimsOf = (report: Report, evidence: Contract.Evidence): ReadonlyArray<string> => {
  const counts = Counts.ofClaims(report, evidence)
  const unobserved = Contract.levels.reduce((sum, level) => sum + counts(level).unobserved, 0)
  return [
    "Claims",
    ...aligned(Contract.levels.map((level) => {
      const { all, drifted, executed, failed, passed, unobserved } = counts(level)
      return [
        `  ${level}`,
        `${executed} of ${all - unobserved} executed`,
        `${passed} passed`,
        `${drifted} drifted`,
        `${failed} failed`
      ]
    })),
    `  unobserved: ${unobserved}, which no request can show`,
    ""
  ]
}

const alarmsOf = ({ alarms, unexecuted }: Report): ReadonlyArray<string> => [
  `Alarms: ${alarms.length === 0 ? "none" : alarms.length}`,
  ...unexecuted.map((claim) => `  the claim ${claim} is documented, and no case of it ran`)
]

const likenessOf = (report: Report, evidence: Contract.Evidence): ReadonlyArray<string> => {
  const flags = Likeness.flags(report, evidence)
  return flags.length === 0 ? [] : ["", "The mock server plays this target with", `  idv-mock serve ${flags.join(" ")}`]
}

const spent = ({ kind, requests }: Report, { budget = defaultBudget }: Stopped.Place): ReadonlyArray<string> =>
  kind === "mock" ? [] : [
    `${Counts.many(requests, "request")} of a budget of ${budget} sent; only fictional people were asked about.`
  ]

export const make = (report: Report, evidence: Contract.Evidence, place: Stopped.Place = {}): string => {
  const stopped = Stopped.of(report, place)
  const told = Stopped.told(report)
  const untold = report.results.length - told.length
  return [
    ...casesOf(told),
    ...(untold === 0
      ? []
      : [`${Counts.many(untold, "case")} left out: the request on which they stand got nowhere.`, ""]),
    ...(stopped === undefined ? claimsOf(report, evidence) : []),
    ...(stopped === undefined ? alarmsOf(report) : [`Alarms: ${report.alarms.length}`]),
    ...likenessOf(report, evidence),
    "",
    ...spent(report, place),
    Counts.verdict(report, place)
  ].map((line) => line.replaceAll(/\p{Cc}/gu, "\ufffd")).join("\n")
}
