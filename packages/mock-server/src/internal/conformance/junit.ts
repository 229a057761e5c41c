/**
 * A report for the servers of CI, as JUnit XML. What alarms is a failure, so that the file is red
 * exactly when the target does not conform.
 */
import * as Arr from "effect/Array"
import escapeHtml from "escape-html"
import type { Kind, Report, Result } from "../../Conformance.ts"
import { groups, sectionOf } from "./table.ts"
import * as Verdicts from "./verdicts.ts"

interface Element {
  readonly name: string
  readonly attributes: Readonly<Record<string, string | number>>
  readonly children: ReadonlyArray<Element>
}

const element = (name: string, attributes: Element["attributes"], children: ReadonlyArray<Element> = []): Element => ({
  name,
  attributes,
  children
})

/** XML 1.0 has no way to write what is replaced here. */
const escape = (value: string | number): string =>
  escapeHtml(String(value).replaceAll(/[^\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd"))

const print = ({ attributes, children, name }: Element, indent = ""): string => {
  const start = `${indent}<${name}${
    Object.entries(attributes).map(([name, value]) => ` ${name}="${escape(value)}"`).join("")
  }`
  return children.length === 0
    ? `${start}/>`
    : [`${start}>`, ...children.map((child) => print(child, `${indent}  `)), `${indent}</${name}>`].join("\n")
}

const seconds = (millis: number): string => (millis / 1000).toFixed(3)

const outcomeOf = (isAlarm: boolean, { expects, level, observed, reason, verdict }: Result): ReadonlyArray<Element> => {
  const message = reason === undefined ? `expected ${expects}, observed ${observed}` : `not tried: ${reason}`
  if (isAlarm) return [element("failure", { type: `${level}, ${verdict}`, message })]
  if (verdict === "skipped") return [element("skipped", { message })]
  return verdict === "pass"
    ? []
    : [element("properties", {}, [element("property", { name: verdict, value: message })])]
}

interface Case {
  readonly element: Element
  readonly millis: number
}

const caseOf = (kind: Kind) => (result: Result): Case => ({
  millis: result.millis,
  element: element(
    "testcase",
    { classname: result.claim, name: `${result.id}: ${result.title}`, time: seconds(result.millis) },
    outcomeOf(Verdicts.isAlarm(kind, result), result)
  )
})

const unexecutedCase = (claim: string): Case => ({
  millis: 0,
  element: element("testcase", { classname: claim, name: `${claim}: a case of it ran`, time: seconds(0) }, [
    element("failure", { type: "documented", message: "it is documented, and no case of it ran" })
  ])
})

const countsOf = (cases: ReadonlyArray<Case>) => {
  const having = (name: string) =>
    cases.filter(({ element }) => element.children.some((child) => child.name === name)).length
  return {
    tests: cases.length,
    failures: having("failure"),
    errors: 0,
    skipped: having("skipped"),
    time: seconds(cases.reduce((sum, { millis }) => sum + millis, 0))
  }
}

const suiteOf = (name: string, cases: ReadonlyArray<Case>): Element =>
  element("testsuite", { name, ...countsOf(cases) }, cases.map(({ element }) => element))

export const make = ({ kind, results, unexecuted }: Report): string => {
  const sections = groups(results).map((group) => ({
    name: sectionOf(group[0].section),
    cases: Arr.map(group, caseOf(kind))
  }))
  const suites = unexecuted.length === 0
    ? sections
    : [...sections, { name: "Documented claims", cases: unexecuted.map(unexecutedCase) }]
  const name = `Conformance of a ${kind === "mock" ? "mock server" : "service"}`
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + print(
    element(
      "testsuites",
      { name, ...countsOf(suites.flatMap(({ cases }) => cases)) },
      suites.map(({ cases, name }) => suiteOf(name, cases))
    )
  )
}
