/** The sections of the service document, by which reports group the results. */
import * as Arr from "effect/Array"
import * as Order from "effect/Order"
import type { Result } from "../results.ts"

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

export const sectionHeading = (section: string): string => {
  if (section === "0") return "No section: the contract lacks these claims"
  const topic = topics[section]
  return `Section ${section}${topic === undefined ? "" : `, ${topic}`}`
}

const bySection = Order.mapInput(
  Order.array(Order.number),
  ({ section }: Pick<Result, "section">) => section.split(".").map(Number)
)

/** The sections in the order of the document, each with its results in the order of the run. */
export const groupBySection = (results: ReadonlyArray<Result>): ReadonlyArray<Arr.NonEmptyArray<Result>> => {
  const sorted = Arr.sort(results, bySection)
  return Arr.isNonEmptyArray(sorted) ? Arr.groupWith(sorted, (a, b) => a.section === b.section) : []
}
