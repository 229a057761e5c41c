/** The report of a client test: a table for people, JSON, and JUnit XML. */
import * as Arr from "effect/Array"
import * as Order from "effect/Order"
import * as Struct from "effect/Struct"
import escapeHtml from "escape-html"
import type { Finding, Request } from "./day.ts"
import { merged } from "./judges/judge.ts"
import type { DayResult, Report } from "./run.ts"

/** A finding with the days that show it. */
interface Listed extends Finding {
  readonly days: ReadonlyArray<string>
}

/** A wrong clearance first, then what else is wrong. */
const byImportance = Order.mapInput(
  Order.number,
  ({ text, verdict }: Finding) => verdict === "risky" ? 2 : text.startsWith("The client clears") ? 0 : 1
)

/** Each finding once. */
const listed = ({ days }: Report): ReadonlyArray<Listed> =>
  Arr.sort(merged(days.flatMap(({ findings }) => findings)), byImportance).map((finding) => ({
    ...finding,
    days: days.filter(({ findings }) => findings.some(({ text }) => text === finding.text)).map(({ word }) => word)
  }))

const maxBody = 300

const shorten = (text: string) => text.length > maxBody ? `${text.slice(0, maxBody)}…` : text

const visible = (text: string) => text.replaceAll(/\p{Cc}/gu, "\ufffd")

/** The masked exchange in lines. */
const exchangeOf = ({ entry }: Request) => {
  const { request, response } = entry
  const body = visible(shorten(response.body))
  return {
    request: visible(`${request.method} ${request.target} ${shorten(request.body)}`.trim()),
    response: `${response.status} ${response.delivery === "scripted" ? "(broken) " : ""}${body}`.trim(),
    why: visible(entry.why)
  }
}

const linesOf = ({ basis, change, days, line, request, steps, text, verdict }: Listed): ReadonlyArray<string> => {
  const exchange = request && exchangeOf(request)
  return [
    `${verdict.toUpperCase()}  ${[text, ...(steps.length === 0 ? [] : [steps.join(", ")])].join(": ")}`,
    `  days: ${days.join(", ")}`,
    ...(line === undefined ? [] : [`  line: ${visible(shorten(line))}`]),
    ...(exchange === undefined ? [] : [`  request: ${exchange.request}`, `  response: ${exchange.response}`]),
    `  change: ${change}`,
    `  basis: ${basis}`,
    ""
  ]
}

const count = ({ days }: Report, verdict: DayResult["verdict"]) => days.filter((day) => day.verdict === verdict).length

export const isWrong = (report: Report): boolean => count(report, "wrong") > 0

export const summary = (report: Report): string => {
  const findings = listed(report)
  const of = (verdict: Finding["verdict"]) => findings.filter((finding) => finding.verdict === verdict).length
  return `findings: ${of("wrong")} wrong, ${of("risky")} risky; days: ${count(report, "good")} good, ${
    count(report, "not tested")
  } not tested`
}

export const table = (report: Report): string => {
  const { days } = report
  const width = Math.max(...days.map(({ word }) => word.length))
  return [
    ...listed(report).flatMap(linesOf),
    ...days.map(({ reason, title, verdict, word }) =>
      `${verdict.padEnd(10)}  ${word.padEnd(width)}  ${title}${reason === undefined ? "" : `: ${reason}`}`
    ),
    "",
    summary(report)
  ].join("\n")
}

/** The report as plain values. */
export const values = (report: Report) => ({
  version: 1,
  summary: summary(report),
  findings: listed(report).map(({ request, ...finding }) => ({
    ...finding,
    ...(request && { exchange: exchangeOf(request) })
  })),
  days: report.days.map(Struct.omit("findings"))
})

export const json = (report: Report): string => JSON.stringify(values(report), undefined, 2)

const attribute = (text: string | number) =>
  escapeHtml(String(text).replaceAll(/[^\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}\n]/gu, "\ufffd"))

const element = (name: string, attributes: Readonly<Record<string, string | number>>, content: string) =>
  `<${name}${
    Object.entries(attributes).map(([name, value]) => ` ${name}="${attribute(value)}"`).join("")
  }>${content}</${name}>`

export const junit = (report: Report): string => {
  const { days } = report
  const cases = days.map(({ findings, millis, reason, title, verdict, word }) => {
    const text = findings.flatMap((finding) => linesOf({ ...finding, days: [word] })).join("\n")
    const content = verdict === "wrong"
      ? element("failure", { message: findings.map(({ text }) => text).join("; ") }, attribute(text))
      : verdict === "not tested"
      ? element("skipped", { message: reason ?? "" }, "")
      : verdict === "risky"
      ? element("system-out", {}, attribute(text))
      : ""
    return element("testcase", { classname: word, name: title, time: (millis / 1000).toFixed(3) }, content)
  })
  const counts = { tests: days.length, failures: count(report, "wrong"), skipped: count(report, "not tested") }
  return `<?xml version="1.0" encoding="UTF-8"?>\n${
    element(
      "testsuites",
      { name: "Test of a client", ...counts },
      `\n${element("testsuite", { name: "Test of a client", ...counts, errors: 0 }, `\n${cases.join("\n")}\n`)}\n`
    )
  }`
}
