import { AmlCheck, AmlError, Failure, TokenError } from "@effect-idv/core"
import * as Run from "@effect-idv/rescreening/Run"
import { describe, it } from "@effect/vitest"
import { assertTrue, deepStrictEqual } from "@effect/vitest/utils"
import { Arbitrary, FastCheck } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { otherOutcomes, outcomes } from "../../core/src/internal/check/checkTelemetry.ts"
import type { Reason } from "../../core/src/internal/token/tokenState.ts"
import { documents, root } from "./support/documents.ts"

const tags = Failure.Failure.members.map(({ _tag }) => _tag)

const reasons: Record<Reason, true> = {
  cold: true,
  refresh_after: true,
  usable_until: true,
  unauthorized: true,
  forced: true
}

const checkOutcomes = [...Object.values(outcomes), ...tags, ...otherOutcomes]

/** The values of each label that the code can emit. */
const emitted: Record<string, ReadonlyArray<string>> = {
  "idv_aml_checks_total outcome": checkOutcomes,
  "idv_aml_check_duration_seconds_bucket outcome": checkOutcomes,
  "idv_aml_check_duration_seconds_bucket le": ["0.05", "0.1", "0.25", "0.5", "1", "2.5", "5", "10", "30"],
  "idv_aml_checks_total sent": AmlError.Sent.literals,
  "idv_token_acquisitions_total reason": Object.keys(reasons),
  "idv_token_failures_total error": [...TokenError.TokenError.members.map(({ _tag }) => _tag), "defect"],
  "idv_rescreen_outcomes_total outcome": Run.outcomes,
  "idv_rescreen_rows state": Run.State.literals
}

interface Use {
  readonly label: string
  readonly operator: string
  readonly pattern: string
}

/** The labels in the expressions of a text. A pattern consists of alternatives. */
const usesIn = (text: string): ReadonlyArray<Use> =>
  Array.from(
    text.matchAll(/\b(idv_\w+)\{([^}]*)\}/g),
    ([, metric, labels = ""]) =>
      Array.from(labels.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g), ([, label, operator = "", value = ""]) =>
        value.split("|").map((pattern): Use => ({ label: `${metric} ${label}`, operator, pattern })))
  ).flat(2)

const isEmitted = ({ label, operator, pattern }: Use): boolean =>
  (emitted[label] ?? []).some((value) =>
    operator.includes("~") ? new RegExp(`^(?:${pattern})$`).test(value) : value === pattern
  )

describe("The labels of the metrics", () => {
  it.each(["packages/examples/src/observability/alerts.yaml", "packages/rescreening/alerts.yaml"])(
    "%s uses only labels that the code emits",
    (path) => {
      const uses = usesIn(readFileSync(join(root, path), "utf8"))
      assertTrue(uses.length > 4)
      deepStrictEqual(uses.filter((use) => !isEmitted(use)), [])
    }
  )

  it("finds a label that the code does not emit", () => {
    const uses = usesIn(`sum(idv_aml_checks_total{outcome=~"NoMatch|AmlBroken",sent!="maybe"})`)
    deepStrictEqual(uses.map(isEmitted), [true, false, false])
  })
})

describe("The errors in the documents", () => {
  /** The errors that begin the rows of the tables, such as "`TokenRejected`, `AmlForbidden`". */
  const tables = documents.map(({ path, text }) => ({
    path,
    errors: Array.from(text.matchAll(/^\| ((?:`\w+`(?:, )?)+) \|/gm), ([, cell = ""]) => cell.match(/\w+/g) ?? [])
      .flat()
  }))

  it("docs/errors.md lists each error once in its first table", () => {
    const [first = ""] = (documents.find(({ path }) => path === "docs/errors.md")?.text ?? "").split("\n## ")
    const listed = Array.from(first.matchAll(/^\| `(\w+)`/gm), ([, tag]) => tag)
    deepStrictEqual(listed.sort(), [...tags].sort())
  })

  it("docs/errors.md shows every `sent` that an error can have", () => {
    const [first = ""] = (documents.find(({ path }) => path === "docs/errors.md")?.text ?? "").split("\n## ")
    const [, ...groups] = first.split(/^(?=\| `)/m)
    const documented = groups.map((rows) => {
      const cells = rows.trim().split("\n").map((row) => row.split("|").map((cell) => cell.trim()))
      const sent = cells.flatMap(([, , , cell = ""]) => cell.match(/(?<=`)\w+(?=`)/g) ?? [])
      return `${cells[0]?.[1]} ${[...new Set(sent)].sort().join()}`
    })
    const errors = FastCheck.sample(Arbitrary.make(Failure.Failure), { numRuns: 700, seed: 1 })
    const possible = tags.map((tag) => {
      const sent = errors.filter(({ _tag }) => _tag === tag).map((error) => Failure.facts(error).sent)
      return `\`${tag}\` ${[...new Set(sent)].sort().join()}`
    })
    deepStrictEqual(documented.sort(), possible.sort())
  })

  it("every table names only errors that exist", () => {
    const named = tables.flatMap(({ errors, path }) =>
      errors.filter((error) => /^(Aml|Token)\w+(ed|able|Invalid|Mismatch|Timeout|Unauthorized|Forbidden)$/.test(error))
        .map((error) => ({ path, error }))
    )
    assertTrue(named.length > 20)
    deepStrictEqual(named.filter(({ error }) => !tags.some((tag) => tag === error)), [])
  })

  it("every result has its own label", () => {
    deepStrictEqual(Object.keys(outcomes), [...AmlCheck.Result.literals])
  })
})
