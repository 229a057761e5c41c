/** A report for people: plain text, its columns aligned. */
import * as Arr from "effect/Array"
import * as Order from "effect/Order"
import type { Report, Result, Verdict } from "../../Conformance.ts"
import * as Contract from "../../Contract.ts"
import * as Stopped from "../run/stopped.ts"
import * as Findings from "./caseText.ts"
import * as Likeness from "./profileFlags.ts"
import * as Circumstances from "./runInfo.ts"
import * as Counts from "./summary.ts"

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
  if (section === "0") return "Of no section: the contract lacks the claim"
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

const headOf = (report: Report, place: Circumstances.Circumstances): ReadonlyArray<string> => {
  const { authUrl, baseUrl, budget, checks, evidenceSha256, requests, startedAt, version } = Circumstances.facts(
    report,
    place
  )
  const sent = [
    `${Counts.many(requests, "request")}${budget === undefined ? "" : ` of a budget of ${budget}`}`,
    ...(checks === undefined || budget === undefined ? [] : [`${Counts.many(checks, "check")} that may be billed`]),
    ...(budget === undefined ? [] : ["only about fictional people"])
  ].join(", ")
  const rows = [
    ["target", report.kind],
    ["token endpoint", authUrl],
    ["API", baseUrl],
    ["started", startedAt],
    ["idv-mock", version],
    ["claims", evidenceSha256 && `SHA-256 ${evidenceSha256}`],
    ["sent", sent]
  ].flatMap(([name = "", value]) => value === undefined ? [] : [[name, value]])
  return [...aligned(rows), ""]
}

const casesOf = (results: ReadonlyArray<Result>, evidence: Contract.Evidence): ReadonlyArray<string> => {
  const lines = aligned(results.map(({ id, level, title, verdict }) => [`  ${marks[verdict]} ${id}`, title, level]))
  const texts = new Map(results.map((result, i) => [result, lines[i] ?? ""]))
  const detailOf = (result: Result) => result.verdict === "pass" ? [] : [`      ${Findings.of(evidence)(result)}`]
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
      const { all, drifted, executed, failed, partly, passed, unobserved } = counts(level)
      return [
        `  ${level}`,
        `${executed} of ${all - unobserved} executed`,
        ...(report.tried.some(({ extent }) => extent === "part") ? [`${partly} of them in part`] : []),
        `${passed} passed`,
        `${drifted} drifted`,
        `${failed} failed`
      ]
    })),
    `  unobserved: ${unobserved}, which no request can show`,
    ""
  ]
}

const headings: ReadonlyArray<readonly [Verdict, string]> = [
  ["fail", "failed"],
  ["drift", "drifted"],
  ["skipped", "skipped"]
]

/** Names, as many on a line as are read well. */
const wrapped = (names: ReadonlyArray<string>, indent: string): ReadonlyArray<string> =>
  names.reduce<ReadonlyArray<string>>((lines, name, i) => {
    const text = i < names.length - 1 ? `${name},` : name
    const last = lines.at(-1)
    return last === undefined || last.length + text.length > 99
      ? [...lines, `${indent}${text}`]
      : [...lines.slice(0, -1), `${last} ${text}`]
  }, [])

/** What is no pass, again, where nobody has to scroll: by what was found, or by why it was not tried. */
const summaryOf = (results: ReadonlyArray<Result>, evidence: Contract.Evidence): ReadonlyArray<string> => {
  const lines = headings.flatMap(([verdict, heading]) => {
    const those = results.filter((result) => result.verdict === verdict)
    return Object.entries(Arr.groupBy(those, Findings.of(evidence))).flatMap(([finding, group]) => [
      `  ${heading}: ${finding}`,
      ...wrapped(group.map(({ id }) => id), "    ")
    ])
  })
  return lines.length === 0 ? [] : ["Not passed", ...lines, ""]
}

const alarmsOf = (report: Report): ReadonlyArray<string> => [
  `Alarms: ${report.alarms.length === 0 ? "none" : report.alarms.length}`,
  ...Findings.lacks(report).map(({ claim, text }) => `  ${claim}: ${text}`)
]

const likenessOf = (report: Report, evidence: Contract.Evidence): ReadonlyArray<string> => {
  const flags = Likeness.flags(report, evidence)
  return flags.length === 0 ? [] : ["", "The mock server plays this target with", `  idv-mock serve ${flags.join(" ")}`]
}

export const make = (
  report: Report,
  evidence: Contract.Evidence,
  place: Circumstances.Circumstances = {}
): string => {
  const stopped = Stopped.of(report, place)
  const told = Stopped.told(report)
  const untold = report.results.length - told.length
  return [
    ...headOf(report, place),
    ...casesOf(told, evidence),
    ...(untold === 0
      ? []
      : [`${Counts.many(untold, "case")} left out: the request on which they stand got nowhere.`, ""]),
    ...(stopped === undefined ? summaryOf(told, evidence) : []),
    ...(stopped === undefined ? claimsOf(report, evidence) : []),
    ...(stopped === undefined ? alarmsOf(report) : [`Alarms: ${report.alarms.length}`]),
    ...likenessOf(report, evidence),
    "",
    Counts.verdict(report, place)
  ].map((line) => line.replaceAll(/\p{Cc}/gu, "\ufffd")).join("\n")
}
