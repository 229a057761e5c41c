/** The plan of a run for people, before the first request. */
import * as Arr from "effect/Array"
import * as Duration from "effect/Duration"
import type * as Contract from "../../Contract.ts"
import type { Plan } from "../model.ts"
import { defaultSpacing, type Target } from "../target.ts"
import { quantity } from "./summary.ts"

export const make = ({ cost, items, notTested }: Plan, target: Target, { claims }: Contract.Contract): string => {
  const { persons = [], spacing = defaultSpacing } = target
  const documented = claims.filter(({ level, unobserved }) => level === "documented" && unobserved === undefined)
  const planned = new Set(items.map(({ testCase }) => testCase.claim))
  const seconds = Math.ceil(cost.requests * Duration.toSeconds(Duration.decode(spacing)))
  return [
    `Plan: at most ${
      [
        quantity(cost.requests, "request"),
        `${quantity(cost.checks, "check")} that may be billed`,
        `${quantity(cost.wrongCredentials, "wrong credential")}`,
        `${quantity(cost.badTokens, "bad token")}`
      ].join(", ")
    }, about ${seconds} s`,
    persons.length === 0
      ? "  about fictional people only, whose results nobody promises"
      : `  about ${quantity(persons.length, "test person")} of yours, and fictional people`,
    `  ${
      documented.filter(({ id }) => planned.has(id)).length
    } of ${documented.length} documented claims, wholly or in part`,
    ...Arr.map(notTested, ([reason, cases]) => `  not tested, ${quantity(cases, "case")}: ${reason}`),
    ""
  ].join("\n")
}
