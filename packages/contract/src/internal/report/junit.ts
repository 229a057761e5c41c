/** A report for CI servers, as JUnit XML. Alarms are failures, so the file fails exactly if the target does. */
import * as Arr from "effect/Array"
import * as Order from "effect/Order"
import escapeHtml from "escape-html"
import type * as Contract from "../../Contract.ts"
import * as Judge from "../judge.ts"
import { type Report, type Result, type RunInfo, type ShownRunInfo, shownRunInfo } from "../results.ts"
import * as CaseText from "./caseText.ts"
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

interface Element {
  readonly name: string
  readonly attributes: Readonly<Record<string, string | number>>
  readonly children: ReadonlyArray<Element>
  /** The text of an element without children. */
  readonly text?: string
}

const element = (
  name: string,
  attributes: Element["attributes"],
  children: ReadonlyArray<Element> = [],
  text?: string
): Element => ({ name, attributes, children, ...(text !== undefined && { text }) })

/** Escapes a value, and replaces the characters that XML 1.0 cannot express. */
const escape = (value: string | number): string =>
  escapeHtml(String(value).replaceAll(/[^\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd"))

const print = ({ attributes, children, name, text }: Element, indent = ""): string => {
  const start = `${indent}<${name}${
    Object.entries(attributes).map(([name, value]) => ` ${name}="${escape(value)}"`).join("")
  }`
  if (text !== undefined) return `${start}>${text.split("\n").map(escape).join("\n")}</${name}>`
  return children.length === 0
    ? `${start}/>`
    : [`${start}>`, ...children.map((child) => print(child, `${indent}  `)), `${indent}</${name}>`].join("\n")
}

const seconds = (millis: number): string => (millis / 1000).toFixed(3)

const property = (name: string, value: string | number): Element => element("property", { name, value })

const outcomeOf = (isAlarm: boolean, result: Result, contract: Contract.Contract): ReadonlyArray<Element> => {
  const { level, verdict } = result
  const text = CaseText.of(contract)(result)
  if (verdict === "pass") return []
  if (!isAlarm) return [element("properties", {}, [property(verdict, `${CaseText.titleOf(result)}: ${text}`)])]
  const message = verdict === "not tested" ? `not tested: ${text}` : text
  const lines = CaseText.linesOf(contract, result)
  return [element("failure", { type: `${level}, ${verdict}`, message }, [], lines.join("\n"))]
}

interface TestCase {
  readonly element: Element
  readonly millis: number
}

const testCaseOf = (report: Report, contract: Contract.Contract) => (result: Result): TestCase => ({
  millis: result.millis,
  element: element(
    "testcase",
    { classname: result.claim, name: `${result.id}: ${result.title}`, time: seconds(result.millis) },
    outcomeOf(Judge.isAlarm(report, result), result, contract)
  )
})

const missingTestCase = ({ claim, text }: CaseText.MissingCase): TestCase => ({
  millis: 0,
  element: element("testcase", { classname: claim, name: `${claim}: a case of it ran`, time: seconds(0) }, [
    element("failure", { type: "documented", message: text }, [], text)
  ])
})

const countsOf = (testCases: ReadonlyArray<TestCase>) => {
  const countWith = (name: string) =>
    testCases.filter(({ element }) => element.children.some((child) => child.name === name)).length
  return {
    tests: testCases.length,
    failures: countWith("failure"),
    errors: 0,
    skipped: 0,
    time: seconds(testCases.reduce((sum, { millis }) => sum + millis, 0))
  }
}

/** JUnit has an attribute for the time only, so everything else becomes a property. */
const propertiesOf = (report: Report, runInfo: ShownRunInfo): ReadonlyArray<Element> => [
  element("properties", {}, [
    property("target", report.kind),
    property("documented claims", Summary.documentedClaims(report)),
    ...Summary.notTested(report).map(([reason, ids]) => property(`not tested: ${reason}`, ids.length)),
    ...Object.entries(runInfo).filter(([name]) => name !== "startedAt").map(([name, value]) => property(name, value))
  ])
]

export const make = (report: Report, contract: Contract.Contract, runInfo: RunInfo = {}): string => {
  const { kind, results } = report
  const missing = CaseText.missingCases(report)
  const shown = shownRunInfo(report, contract, runInfo)
  const timestamp = shown.startedAt === undefined ? {} : { timestamp: shown.startedAt.replace(/\.\d+Z$/, "") }
  // Cases that were not tested are counted in the properties.
  const listed = results.filter((result) => result.verdict !== "not tested" || Judge.isAlarm(report, result))
  const sections = groupBySection(listed).map((group) => ({
    name: sectionHeading(group[0].section),
    testCases: Arr.map(group, testCaseOf(report, contract))
  }))
  const suites = missing.length === 0
    ? sections
    : [...sections, { name: "Documented claims", testCases: missing.map(missingTestCase) }]
  const name = `Conformance of a ${kind === "mock" ? "mock server" : "service"}`
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + print(
    element(
      "testsuites",
      { name, ...countsOf(suites.flatMap(({ testCases }) => testCases)), ...timestamp },
      suites.map(({ name, testCases }, i) =>
        element("testsuite", { name, ...countsOf(testCases), ...timestamp }, [
          ...(i === 0 ? propertiesOf(report, shown) : []),
          ...testCases.map(({ element }) => element)
        ])
      )
    )
  )
}
