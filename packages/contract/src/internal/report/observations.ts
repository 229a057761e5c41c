/** What was seen of a service, in the form of the contract, to be the contract of the next run. */
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { Document, isCollection, isNode, isScalar, type Node, Scalar, visit } from "yaml"
import type { Report } from "../../Conformance.ts"
import type * as Contract from "../../Contract.ts"
import * as Stopped from "../run/stopped.ts"

type Word = NonNullable<Contract.Claim["observed"]>[number]

/** As the contract writes it: `200` as a number. */
const wordOf = ({ accept }: Contract.Claim) => (seen: string): Word =>
  accept?.find((accepted): accepted is Word => typeof accepted !== "object" && String(accepted) === seen) ?? seen

/** The claims in full, so that the file may take the place of the contract; of some, more is known. */
const claimsOf = (report: Report, { claims }: Contract.Evidence, day: string): ReadonlyArray<Contract.Claim> => {
  const told = Stopped.told(report)
  return claims.map((claim) => {
    const words = Arr.dedupe(
      told.filter((one) => one.claim === claim.id && one.verdict !== "skipped").flatMap(({ observed }) =>
        observed === undefined || Stopped.unanswered.includes(observed) ? [] : [observed]
      )
    )
    return Arr.isNonEmptyArray(words)
      ? {
        ...claim,
        level: claim.level === "documented" ? claim.level : "observed",
        observed: Arr.map(words, wordOf(claim)),
        observedOn: { day, target: report.kind }
      }
      : claim
  })
}

/** Whether anything was seen that says something of the target. */
export const isAny = (report: Report): boolean =>
  Stopped.told(report).some(({ observed, verdict }) =>
    verdict !== "skipped" && observed !== undefined && !Stopped.unanswered.includes(observed)
  )

const heading = "What was seen of a service, for --evidence of idv-mock verify: what is seen anew is compared with it."

/** Their texts are words, in quotes: a reader of YAML 1.1 takes a bare `No` for false. */
const quoted = ["accept", "refuses", "observed", "mock", "observedOn"]

const quoteIn = (node: Node) =>
  visit(node, {
    Scalar: (key, word) => {
      if (key !== "key" && typeof word.value === "string") word.type = Scalar.QUOTE_DOUBLE
    }
  })

/** As the contract is written: one claim after the other, and what a claim has in one line each. */
const yamlOf = (claims: ReadonlyArray<Contract.Claim>): string => {
  const document = new Document({ claims })
  document.commentBefore = ` ${heading}`
  visit(document, {
    Pair: (_, { key, value }) => {
      if (isScalar(key) && key.value === "claims") return
      if (isCollection(value)) value.flow = true
      if (isScalar(key) && isNode(value) && quoted.some((name) => name === key.value)) quoteIn(value)
    },
    Map: (key, node) => {
      if (typeof key === "number" && key > 0) node.spaceBefore = true
    }
  })
  return document.toString({ lineWidth: 0 })
}

export const make = (report: Report, evidence: Contract.Evidence): Effect.Effect<string> =>
  Effect.map(
    Clock.currentTimeMillis,
    (now) => yamlOf(claimsOf(report, evidence, new Date(now).toISOString().slice(0, 10)))
  )
