/** A report as annotations of GitHub Actions: an error for each alarm, and a warning for each other finding. */
import type * as Contract from "../../Contract.ts"
import * as Judge from "../judge.ts"
import type { Report, Result, RunInfo } from "../results.ts"
import * as Summary from "./summary.ts"

const escaped = (text: string): string =>
  text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll(/\p{Cc}/gu, "\ufffd")

/** A property also ends at a comma or a colon. */
const escapedProperty = (text: string): string => escaped(text).replaceAll(":", "%3A").replaceAll(",", "%2C")

const annotation = (level: "error" | "warning", title: string, text: string): string =>
  `::${level} title=${escapedProperty(title)}::${escaped(text)}`

const findings = ["violated", "lenient", "drift"]

export const make = (report: Report, contract: Contract.Contract, runInfo: RunInfo = {}): string => {
  const lineOf = (result: Result): ReadonlyArray<string> => {
    const isAlarm = Judge.isAlarm(report, result)
    if (!isAlarm && !findings.includes(result.verdict)) return []
    const text = Summary.linesOf(contract, result).join("\n")
    return [annotation(isAlarm ? "error" : "warning", `${result.verdict}, ${result.id}`, text)]
  }
  return [
    ...report.results.flatMap(lineOf),
    ...Summary.missingCases(report).map(({ claim, text }) => annotation("error", claim, text)),
    Summary.verdict(report, runInfo)
  ].join("\n")
}
