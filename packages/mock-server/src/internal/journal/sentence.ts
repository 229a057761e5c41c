/** An exchange as one sentence: what happened, and why. What a fault changed comes first. */
import * as Kinds from "../faults/kinds.ts"
import type { Selection } from "../session/personList.ts"
import type { Entry, Facts } from "./entry.ts"

const upperFirst = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const ofSelection = (by: typeof Selection.Type): string => {
  switch (by.kind) {
    case "reservedName":
      return `the name ends with ${by.lastWord}`
    case "testPerson":
      return `testPersons[${by.index}], matched by ${by.matchedBy.join(" and ")}`
    case "otherName":
      return "the name is not reserved"
  }
}

const ofFacts = (facts: Facts): string => {
  switch (facts.kind) {
    case "granted":
      return `A token for ${facts.seconds} s${
        facts.isFormEncoded ? ". The client form-encoded its credentials, which the service document does not show" : ""
      }`
    case "checked":
      return `${facts.result}: ${ofSelection(facts.by)}`
    case "refused":
      return facts.violations.length === 0
        ? facts.problem
        : facts.violations.map(({ expected, path, problem }) =>
          `${path === "" ? "the value" : path} is ${problem}: expected ${expected}`
        ).join("; ")
    case "other":
      return facts.what
  }
}

type Exchange = Pick<Entry, "facts" | "faults" | "millis" | "response">

/** What a fault did, and which one it was: one of the session, or that of the person. */
const ofFault = ({ id, kind, request }: Entry["faults"][number], exchange: Exchange): string => {
  const did = upperFirst(Kinds.find(kind)?.did(exchange) ?? `applied ${kind}`)
  return request !== null
    ? `${did}: fault ${id}, at its request ${request}`
    : exchange.facts.kind === "checked" && kind !== "latency"
    ? `${did}: ${ofSelection(exchange.facts.by)}`
    : did
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)

export const of = (exchange: Exchange): string => {
  const { facts, faults } = exchange
  const isDelay = ({ kind }: Entry["faults"][number]) => kind === "latency"
  const texts = [
    // A fault hides the result of a check, and a token that was issued.
    ...(facts.kind === "refused" || faults.every(isDelay) ? [ofFacts(facts)] : []),
    ...faults.filter((fault) => !isDelay(fault)).map((fault) => ofFault(fault, exchange)),
    ...faults.filter(isDelay).map((fault) => ofFault(fault, exchange))
  ]
  return texts.map((text, index) => index === 0 ? text : lowerFirst(text)).join("; ")
}
