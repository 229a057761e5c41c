/** A report for CI servers, as JUnit XML. Alarms are failures, so the file fails exactly if the target does. */
import * as Arr from "effect/Array"
import * as Order from "effect/Order"
import escapeHtml from "escape-html"
import type * as Contract from "../../Contract.ts"
import * as Judge from "../judge.ts"
import type { Report, Result, RunInfo } from "../results.ts"
import * as Summary from "./summary.ts"

/** The topic of each section. */
const topics: Readonly<Record<string, string>> = {
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

const sectionHeading = (section: string): string => {
  if (section === "0") return "No section: the contract lacks these claims"
  const topic = topics[section]
  return `Section ${section}${topic === undefined ? "" : `, ${topic}`}`
}

const bySection = Order.mapInput(
  Order.array(Order.number),
  ({ section }: Pick<Result, "section">) => section.split(".").map(Number)
)

/** The sections in the order of the document, each with its results in the order of the run. */
const groupBySection = (results: ReadonlyArray<Result>): ReadonlyArray<Arr.NonEmptyArray<Result>> => {
  const sorted = Arr.sort(results, bySection)
  return Arr.isNonEmptyArray(sorted) ? Arr.groupWith(sorted, (a, b) => a.section === b.section) : []
}

/** Escapes a value, and replaces the characters that XML 1.0 cannot express. */
const escape = (value: string | number): string =>
  escapeHtml(String(value).replaceAll(/[^\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd"))

/** An element with its children, each on its line, or with a text. */
const element = (
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  content: ReadonlyArray<string> | string = []
): string => {
  const start = `<${name}${Object.entries(attributes).map(([key, value]) => ` ${key}="${escape(value)}"`).join("")}`
  if (typeof content === "string") return `${start}>${content.split("\n").map(escape).join("\n")}</${name}>`
  return content.length === 0 ? `${start}/>` : [`${start}>`, ...content, `</${name}>`].join("\n")
}

const seconds = (millis: number): string => (millis / 1000).toFixed(3)

const property = (name: string, value: string | number): string => element("property", { name, value })

interface TestCase {
  readonly element: string
  readonly millis: number
  readonly isFailure: boolean
}

const testCaseOf = (report: Report, contract: Contract.Contract) => (result: Result): TestCase => {
  const { claim, id, level, millis, title, verdict } = result
  const isFailure = Judge.isAlarm(report, result)
  const text = Summary.textOf(contract)(result)
  const message = verdict === "not tested" ? `not tested: ${text}` : text
  const outcome = verdict === "pass" ? [] : isFailure
    ? [element("failure", { type: `${level}, ${verdict}`, message }, Summary.linesOf(contract, result).join("\n"))]
    : [element("properties", {}, [property(verdict, `${Summary.titleOf(result)}: ${text}`)])]
  const attributes = { classname: claim, name: `${id}: ${title}`, time: seconds(millis) }
  return { element: element("testcase", attributes, outcome), millis, isFailure }
}

const missingTestCase = ({ claim, text }: Summary.MissingCase): TestCase => ({
  element: element("testcase", { classname: claim, name: `${claim}: a case of it ran`, time: seconds(0) }, [
    element("failure", { type: "documented", message: text }, text)
  ]),
  millis: 0,
  isFailure: true
})

const countsOf = (testCases: ReadonlyArray<TestCase>) => ({
  tests: testCases.length,
  failures: testCases.filter(({ isFailure }) => isFailure).length,
  errors: 0,
  skipped: 0,
  time: seconds(testCases.reduce((sum, { millis }) => sum + millis, 0))
})

/** JUnit has an attribute for the time only, so everything else becomes a property. */
const propertiesOf = (report: Report, runInfo: Summary.ShownRunInfo): string =>
  element("properties", {}, [
    property("target", report.kind),
    property("documented claims", Summary.documentedClaims(report)),
    ...Summary.notTested(report).map(([reason, ids]) => property(`not tested: ${reason}`, ids.length)),
    ...Object.entries(runInfo).filter(([name]) => name !== "startedAt").map(([name, value]) => property(name, value))
  ])

export const make = (report: Report, contract: Contract.Contract, runInfo: RunInfo = {}): string => {
  const { kind, results } = report
  const missing = Summary.missingCases(report)
  const shown = Summary.shownRunInfo(report, contract, runInfo)
  const timestamp = shown.startedAt === undefined ? {} : { timestamp: shown.startedAt.replace(/\.\d+Z$/, "") }
  // Cases that were not tested are counted in the properties.
  const listed = results.filter((result) => result.verdict !== "not tested" || Judge.isAlarm(report, result))
  const suites = groupBySection(listed).map((group) => ({
    name: sectionHeading(group[0].section),
    testCases: group.map(testCaseOf(report, contract))
  }))
  if (missing.length > 0) suites.push({ name: "Documented claims", testCases: missing.map(missingTestCase) })
  const name = `Conformance of a ${kind === "mock" ? "mock server" : "service"}`
  const counts = countsOf(suites.flatMap(({ testCases }) => testCases))
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + element(
    "testsuites",
    { name, ...counts, ...timestamp },
    suites.map(({ name, testCases }, i) =>
      element("testsuite", { name, ...countsOf(testCases), ...timestamp }, [
        ...(i === 0 ? [propertiesOf(report, shown)] : []),
        ...testCases.map(({ element }) => element)
      ])
    )
  )
}
