/** Stores the decisions of reviewers from a CSV text with the columns `id,decision`. */
import { UsageError } from "@effect-idv/cli/usageError"
import { parse } from "csv-parse/sync"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Stream from "effect/Stream"
import * as Ledger from "../../Ledger.ts"
import * as Rescreening from "../../Rescreening.ts"

const header = "id,decision"

const refuse = (text: string) => Effect.fail(new UsageError({ text }))

const rowsOf = (csv: string) =>
  Either.try({
    try: (): ReadonlyArray<ReadonlyArray<string>> =>
      parse(csv, { bom: true, relax_column_count: true, skip_empty_lines: true, trim: true }),
    catch: () => new UsageError({ text: "The decisions cannot be read: a quote is not closed" })
  })

/** The start of a cell that a spreadsheet could read as a formula. The report writes `'` before it. */
const formula = /^[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/

/** Stores all decisions, or none if a row cannot be used. Returns their number. */
export const store = (run: string, reviewer: string, csv: string) =>
  Effect.gen(function*() {
    const [first, ...rows] = yield* rowsOf(csv)
    if (first?.join() !== header) return yield* refuse(`The first line of the decisions should be ${header}`)
    const decisions = new Map<string, { readonly line: number; readonly decision: string }>()
    const wrong: Array<number> = []
    for (const [index, [id = "", decision = "", ...others]] of rows.entries()) {
      const line = index + 2
      if (id === "" || decision === "" || others.length > 0 || decisions.has(id)) wrong.push(line)
      else decisions.set(id, { line, decision })
    }
    if (wrong.length > 0) {
      return yield* refuse(`Rows ${wrong.join(", ")} of the decisions should be a new id and its decision`)
    }
    const ledger = yield* Ledger.Ledger
    yield* ledger.run(run)
    const reviewed = new Map<string, { readonly id: string; readonly contentDigest: string }>()
    yield* Stream.runForEach(ledger.byId(run), ({ contentDigest, id }) =>
      Effect.sync(() => {
        if (id === null || contentDigest === null) return
        const written = decisions.has(id) || !formula.test(id) ? id : `'${id}`
        if (decisions.has(written) && !reviewed.has(written)) reviewed.set(written, { id, contentDigest })
      }))
    const missing = [...decisions].filter(([id]) => !reviewed.has(id)).map(([, { line }]) => line)
    if (missing.length > 0) {
      return yield* refuse(`Run ${run} has no result for the ids in rows ${missing.join(", ")} of the decisions`)
    }
    for (const [written, { decision }] of decisions) {
      const row = reviewed.get(written)
      if (row !== undefined) yield* Rescreening.decide({ ...row, decision, reviewer })
    }
    return decisions.size
  })
