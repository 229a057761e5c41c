import { describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Cause, DateTime, Effect, Exit } from "effect"
import type { Event } from "../src/rescreening/event.ts"
import { Ledger } from "../src/rescreening/ledger.ts"
import * as Reconciliation from "../src/rescreening/reconciliation.ts"

const file = { path: "people.csv", sha256: "", lines: 4, rows: 3 }
const digest = "0000000000000000"
const at = DateTime.unsafeMake(0)

const started = (line: number): Event => ({ event: "started", line, id: `${line}`, digest, at })
const unknown = (line: number): Event => ({
  event: "unknown",
  line,
  id: `${line}`,
  digest,
  at,
  error: "E",
  message: ""
})
const wrong = (line: number): Event => ({ event: "wrong_row", line, digest, codes: ["columns"] })

const ledgerOf = (...events: ReadonlyArray<Event>) => {
  const ledger = new Ledger(file)
  for (const event of events) ledger.apply(event)
  return ledger
}

const all = [started(2), unknown(2), started(3), started(3), unknown(3), wrong(4)]

/** What the proof dies with, if it does. */
const proof = (events: ReadonlyArray<Event>, { believed = all, outcomes = 2, settledBefore = 0, wrongRows = 1 } = {}) =>
  Effect.map(
    Effect.exit(Reconciliation.prove(
      { file, ledger: ledgerOf(...events), settledBefore },
      { believed: ledgerOf(...believed), outcomes, wrongRows }
    )),
    Exit.match({ onFailure: Cause.pretty, onSuccess: () => "holds" })
  )

describe("the reconciliation of a rescreening", () => {
  it.effect("holds when the record, the run and the file agree", () =>
    Effect.gen(function*() {
      strictEqual(yield* proof(all), "holds")
      const ledger = ledgerOf(...all)
      deepStrictEqual(
        Reconciliation.describe({ file, ledger, settledBefore: 0 }).split("\n").map((line) => line.trim().slice(0, 12)),
        [
          "Reconciliati",
          "0  no match",
          "0  no match,",
          "0  potential",
          "0  not scree",
          "2  unknown: ",
          "1  wrong row",
          "0  begun, an",
          "0  not begun",
          "3  in all",
          "0  of them t",
          "3  checks be",
          "1  of them a",
          "0  of them a"
        ]
      )
    }))

  it.effect.each<[string, ReadonlyArray<Event>, Parameters<typeof proof>[1], string]>([
    ["a row has no outcome", all.slice(0, -1), { believed: all.slice(0, -1) }, "every row has an outcome"],
    ["a line that is no row has an outcome", [...all, started(1), unknown(1)], {}, "every row has an outcome"],
    [
      "the record has less than the run wrote",
      [...all.slice(0, 4), wrong(4)],
      {},
      "the record says what the run believes"
    ],
    ["a row came out twice", all, { outcomes: 3 }, "what this run did is what was left"],
    ["a row was read twice", all, { settledBefore: 1 }, "what this run did is what was left"],
    ["an outcome has no beginning", all.slice(1), {}, "only rows that were sent were begun"],
    [
      "a beginning is not in the record",
      all.filter((_, index) => index !== 3),
      {},
      "the record has every check that was begun"
    ]
  ])("is a defect when %s", ([, events, run, expected]) =>
    Effect.gen(function*() {
      assertInclude(yield* proof(events, run), `not ${expected}`)
    }))
})
