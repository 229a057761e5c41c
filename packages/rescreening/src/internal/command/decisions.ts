/** Stores the decisions of reviewers from a CSV text with the columns `id,digest,decision,reason`. */
import { UsageError } from "@effect-idv/cli/usageError"
import { parse } from "csv-parse/sync"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Decisions from "../../Decisions.ts"
import * as Ledger from "../../Ledger.ts"

const header = "id,digest,decision,reason"

const refuse = (text: string) => Effect.fail(new UsageError({ text }))

const rowsOf = (csv: string) =>
  Either.try({
    try: (): ReadonlyArray<ReadonlyArray<string>> =>
      parse(csv, { bom: true, relax_column_count: true, skip_empty_lines: true, trim: true }),
    catch: () => new UsageError({ text: "The decisions cannot be read: a quote is not closed" })
  })

/** The start of a cell that a spreadsheet could read as a formula. The report writes `'` before it. */
const formula = /^[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/

/** The id that the report escaped, unless there is a person with the escaped one. */
const unescaped = (run: string, id: string) =>
  Effect.gen(function*() {
    if (!id.startsWith("'") || !formula.test(id.slice(1))) return id
    const ledger = yield* Ledger.Ledger
    return (yield* ledger.ofPerson(id)).rows.some((found) => found.run === run) ? id : id.slice(1)
  })

/** Stores all decisions or approvals, or none if a row cannot be used. Returns their number. */
export const store = (run: string, csv: string, options: Parameters<typeof Decisions.store>[2]) =>
  Effect.gen(function*() {
    const [first, ...rows] = yield* rowsOf(csv)
    if (first?.join() !== header) return yield* refuse(`The first line of the decisions should be ${header}`)
    const decisions = new Map<string, Decisions.NewDecision>()
    const wrong: Array<number> = []
    for (const [index, [written = "", digest = "", decision = "", reason = "", ...others]] of rows.entries()) {
      const id = yield* unescaped(run, written)
      const isWrong = [id, digest, decision, reason].includes("") || others.length > 0 || decisions.has(id)
      if (isWrong) wrong.push(index + 2)
      else decisions.set(id, { id, digest, decision, reason })
    }
    if (wrong.length > 0) {
      return yield* refuse(
        `Rows ${wrong.join(", ")} of the decisions should be a new id, its digest, decision and reason`
      )
    }
    yield* Decisions.store(run, [...decisions.values()], options)
    return decisions.size
  })
