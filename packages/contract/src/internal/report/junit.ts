/**
 * A report for the servers of CI, as JUnit XML. What alarms is a failure, so that the file is red
 * exactly when the target does not conform.
 */
import * as Arr from "effect/Array"
import escapeHtml from "escape-html"
import type { Report, Result } from "../../Conformance.ts"
import type * as Contract from "../../Contract.ts"
import * as Verdicts from "../judge.ts"
import * as Findings from "./caseText.ts"
import * as Circumstances from "./runInfo.ts"
import { groups, sectionOf } from "./table.ts"

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

const property = (name: string, value: string | number): Element => element("property", { name, value })

const outcomeOf = (
  isAlarm: boolean,
  { level, verdict }: Result,
  finding: string
): ReadonlyArray<Element> => {
  const message = verdict === "skipped" ? `not tried: ${finding}` : finding
  if (isAlarm) return [element("failure", { type: `${level}, ${verdict}`, message })]
  if (verdict === "skipped") return [element("skipped", { message })]
  return verdict === "pass"
    ? []
    : [element("properties", {}, [property(verdict, message)])]
}

interface Case {
  readonly element: Element
  readonly millis: number
}

const caseOf = ({ kind }: Report, evidence: Contract.Evidence) => (result: Result): Case => ({
  millis: result.millis,
  element: element(
    "testcase",
    { classname: result.claim, name: `${result.id}: ${result.title}`, time: seconds(result.millis) },
    outcomeOf(Verdicts.isAlarm(kind, result), result, Findings.of(evidence)(result))
  )
})

const lackingCase = ({ claim, text }: Findings.Lack): Case => ({
  millis: 0,
  element: element("testcase", { classname: claim, name: `${claim}: a case of it ran`, time: seconds(0) }, [
    element("failure", { type: "documented", message: text })
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

/** Nothing has its own place there but the time. */
const circumstancesOf = ({ kind }: Report, facts: Circumstances.Facts): ReadonlyArray<Element> => [
  element("properties", {}, [
    property("target", kind),
    ...Object.entries(facts).filter(([name]) => name !== "startedAt").map(([name, value]) => property(name, value))
  ])
]

export const make = (
  report: Report,
  evidence: Contract.Evidence,
  place: Circumstances.Circumstances = {}
): string => {
  const { kind, results } = report
  const lacks = Findings.lacks(report)
  const facts = Circumstances.facts(report, place)
  const timestamp = facts.startedAt === undefined ? {} : { timestamp: facts.startedAt.replace(/\.\d+Z$/, "") }
  const sections = groups(results).map((group) => ({
    name: sectionOf(group[0].section),
    cases: Arr.map(group, caseOf(report, evidence))
  }))
  const suites = lacks.length === 0
    ? sections
    : [...sections, { name: "Documented claims", cases: lacks.map(lackingCase) }]
  const name = `Conformance of a ${kind === "mock" ? "mock server" : "service"}`
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + print(
    element(
      "testsuites",
      { name, ...countsOf(suites.flatMap(({ cases }) => cases)), ...timestamp },
      suites.map(({ cases, name }, i) =>
        element("testsuite", { name, ...countsOf(cases), ...timestamp }, [
          ...(i === 0 ? circumstancesOf(report, facts) : []),
          ...cases.map(({ element }) => element)
        ])
      )
    )
  )
}
