/** The observations of a report as a file of claims, by which a later run can be judged. */
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { Document, isCollection, isNode, isScalar, type Node, Scalar, visit } from "yaml"
import type * as Contract from "../../Contract.ts"
import { isNoResponse } from "../exchange.ts"
import * as Preflight from "../preflight.ts"
import type { Report, Result } from "../results.ts"

type Word = NonNullable<Contract.Claim["observed"]>[number]

/** An observed word as the contract writes it: `200` is a number. */
const wordOf = ({ accept }: Contract.Claim) => (observed: string): Word =>
  accept?.find((accepted): accepted is Word => typeof accepted !== "object" && String(accepted) === observed) ??
    observed

/** The results of cases that ran, with their words. A missing response says nothing about a claim. */
const observedResults = (
  report: Report
): ReadonlyArray<Result & { readonly observed: string }> =>
  Preflight.meaningfulResults(report).flatMap((result) => {
    const { observed, verdict } = result
    return verdict === "not tested" || observed === undefined || isNoResponse(observed) ? [] : [{ ...result, observed }]
  })

/** All claims, so that the file can replace the contract. Observed claims have their words and the day. */
const claimsOf = (report: Report, { claims }: Contract.Contract, day: string): ReadonlyArray<Contract.Claim> => {
  const results = observedResults(report)
  return claims.map((claim) => {
    const words = Arr.dedupe(results.filter((result) => result.claim === claim.id).map(({ observed }) => observed))
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

/** Whether a report has any observation for the file. */
export const isAny = (report: Report): boolean => observedResults(report).length > 0

const heading =
  "Observations of a service. Pass this file to idv-mock verify with --claims to compare a later run with it."

/** Fields whose texts are quoted, because YAML 1.1 reads a bare `No` as false. */
const quoted = ["accept", "refuses", "observed", "mock", "observedOn"]

const quoteIn = (node: Node) =>
  visit(node, {
    Scalar: (key, word) => {
      if (key !== "key" && typeof word.value === "string") word.type = Scalar.QUOTE_DOUBLE
    }
  })

/** The layout of the contract: a blank line between claims, and one line for each field. */
const yamlOf = (contract: Contract.Contract, claims: ReadonlyArray<Contract.Claim>): string => {
  const document = new Document({ ...contract, claims })
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

export const make = (report: Report, contract: Contract.Contract): Effect.Effect<string> =>
  Effect.map(
    Clock.currentTimeMillis,
    (now) => yamlOf(contract, claimsOf(report, contract, new Date(now).toISOString().slice(0, 10)))
  )
