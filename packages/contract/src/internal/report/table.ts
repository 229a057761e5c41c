/** A report for people: plain text with aligned columns. */
import * as Arr from "effect/Array"
import * as Contract from "../../Contract.ts"
import * as Preflight from "../preflight.ts"
import type { Report, Result, RunInfo, Verdict } from "../results.ts"
import { isBudget } from "../run/skipped.ts"
import * as CaseText from "./caseText.ts"
import * as ProfileFlags from "./profileFlags.ts"
import { groupBySection, sectionHeading } from "./sections.ts"
import * as ShownRunInfo from "./shownRunInfo.ts"
import * as Summary from "./summary.ts"

const marks: Readonly<Record<Verdict, string>> = {
  "pass": "✓",
  "lenient": "+",
  "drift": "~",
  "violated": "✗",
  "not tested": "-"
}

/** Rows with their columns two blanks apart. */
const aligned = (rows: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => {
  const width = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0))
  return rows.map((row) => row.map((text, column) => text.padEnd(width(column))).join("  ").trimEnd())
}

const headOf = (report: Report, evidence: Contract.Evidence, runInfo: RunInfo): ReadonlyArray<string> => {
  const shown = ShownRunInfo.of(report, evidence, runInfo)
  const { authUrl, baseUrl, budget, checks, contractVersion, documentSha256, evidenceSha256 } = shown
  const { requests, startedAt, version } = shown
  const sent = [
    `${Summary.quantity(requests, "request")}${budget === undefined ? "" : ` of a budget of ${budget}`}`,
    ...(checks === undefined || budget === undefined
      ? []
      : [`${Summary.quantity(checks, "check")} that may be billed`]),
    ...(budget === undefined ? [] : ["only about fictional people"])
  ].join(", ")
  const rows = [
    ["target", report.kind],
    ["token endpoint", authUrl],
    ["API", baseUrl],
    ["started", startedAt],
    ["version", version],
    ["contract", contractVersion === undefined ? undefined : `version ${contractVersion}`],
    ["claims", evidenceSha256 && `SHA-256 ${evidenceSha256}`],
    ["document", documentSha256 && `SHA-256 ${documentSha256}`],
    ["sent", sent]
  ].flatMap(([name = "", value]) => value === undefined ? [] : [[name, value]])
  return [...aligned(rows), ""]
}

const casesOf = (results: ReadonlyArray<Result>, evidence: Contract.Evidence): ReadonlyArray<string> => {
  const lines = aligned(results.map(({ id, level, title, verdict }) => [`  ${marks[verdict]} ${id}`, title, level]))
  const lineOf = new Map(results.map((result, i) => [result, lines[i] ?? ""]))
  const detailOf = (result: Result) =>
    result.verdict === "pass"
      ? []
      : [CaseText.of(evidence)(result), ...(result.curl === undefined ? [] : [result.curl])].map((text) =>
        `      ${text}`
      )
  // One paragraph near the end lists the cases that the request budget excluded.
  const shown = results.filter(({ reason = "" }) => !isBudget(reason))
  return groupBySection(shown).flatMap((group) => [
    sectionHeading(group[0].section),
    ...group.flatMap((result) => [lineOf.get(result) ?? "", ...detailOf(result)]),
    ""
  ])
}

const claimsOf = (report: Report, evidence: Contract.Evidence): ReadonlyArray<string> => {
  const counts = Summary.countClaims(report, evidence)
  const unobserved = Contract.levels.reduce((sum, level) => sum + counts(level).unobserved, 0)
  const isAnyPartly = report.coverage.some(({ coverage }) => coverage === "part")
  return [
    "Claims",
    ...aligned(Contract.levels.map((level) => {
      const { all, drifted, executed, lenient, partly, passed, unobserved, violated } = counts(level)
      return [
        `  ${level}`,
        `${executed} of ${all - unobserved} executed`,
        ...(isAnyPartly ? [`${partly} of them in part`] : []),
        `${passed} passed`,
        `${violated} violated`,
        `${lenient} lenient`,
        `${drifted} drifted`
      ]
    })),
    `  unobserved: ${unobserved}, which no request can show`,
    ""
  ]
}

const headings: ReadonlyArray<readonly [Verdict, string]> = [
  ["violated", "violated"],
  ["lenient", "lenient"],
  ["drift", "drifted"],
  ["not tested", "not tested"]
]

const lineWidth = 99

/** Names in lines of limited width. */
const wrapped = (names: ReadonlyArray<string>, indent: string): ReadonlyArray<string> =>
  names.reduce<ReadonlyArray<string>>((lines, name, i) => {
    const text = i < names.length - 1 ? `${name},` : name
    const last = lines.at(-1)
    return last === undefined || last.length + text.length > lineWidth
      ? [...lines, `${indent}${text}`]
      : [...lines.slice(0, -1), `${last} ${text}`]
  }, [])

/** The results that did not pass, grouped by their text, so that they also appear near the end. */
const notPassedOf = (results: ReadonlyArray<Result>, evidence: Contract.Evidence): ReadonlyArray<string> => {
  const lines = headings.flatMap(([verdict, heading]) => {
    const byText = Arr.groupBy(results.filter((result) => result.verdict === verdict), CaseText.of(evidence))
    return Object.entries(byText).flatMap(([text, group]) => [
      `  ${heading}: ${text}`,
      ...wrapped(group.map(({ id }) => id), "    ")
    ])
  })
  return lines.length === 0 ? [] : ["Not passed", ...lines, ""]
}

const alarmsOf = (report: Report): ReadonlyArray<string> => [
  `Alarms: ${report.alarms.length === 0 ? "none" : report.alarms.length}`,
  ...CaseText.missingCases(report).map(({ claim, text }) => `  ${claim}: ${text}`)
]

const profileFlagsOf = (report: Report, evidence: Contract.Evidence): ReadonlyArray<string> => {
  const flags = ProfileFlags.flags(report, evidence)
  return flags.length === 0
    ? []
    : ["", "To make the mock server behave like this target:", `  idv-mock serve ${flags.join(" ")}`]
}

const omittedOf = (count: number): ReadonlyArray<string> =>
  count === 0 ? [] : [`${Summary.quantity(count, "case")} omitted, because the documented request failed.`, ""]

export const make = (report: Report, evidence: Contract.Evidence, runInfo: RunInfo = {}): string => {
  const isPreflightFailed = Preflight.explanationOf(report, runInfo) !== undefined
  const results = Preflight.meaningfulResults(report)
  return [
    ...headOf(report, evidence, runInfo),
    ...casesOf(results, evidence),
    ...omittedOf(report.results.length - results.length),
    ...(isPreflightFailed ? [`Alarms: ${report.alarms.length}`] : [
      ...notPassedOf(results, evidence),
      ...claimsOf(report, evidence),
      ...alarmsOf(report)
    ]),
    ...profileFlagsOf(report, evidence),
    "",
    Summary.verdict(report, runInfo)
  ].map((line) => line.replaceAll(/\p{Cc}/gu, "\ufffd")).join("\n")
}
