/**
 * Everything that the ledger has about one person: export, erasure, and the hold that prevents it.
 *
 * @since 0.1.0
 */
import type * as AmlCheck from "@effect-idv/core/AmlCheck"
import type * as Person from "@effect-idv/core/Person"
import * as Effect from "effect/Effect"
import * as Struct from "effect/Struct"
import type * as History from "./History.ts"
import * as Rows from "./internal/report/rows.ts"
import * as Ledger from "./Ledger.ts"
import type * as LedgerRow from "./LedgerRow.ts"
import * as People from "./People.ts"
import { type EncryptionKeyError, type LedgerInUse, PersonNotFound, PersonOnHold } from "./RescreeningError.ts"

/**
 * A row of the person in one run.
 *
 * @category models
 * @since 0.1.0
 */
export interface InRun {
  readonly run: string
  /** The row, without its encrypted evidence. */
  readonly row: Omit<LedgerRow.LedgerRow, "evidence" | "late"> & {
    /** The results that arrived after the row was screened again. */
    readonly late: ReadonlyArray<Omit<LedgerRow.LedgerRow["late"][number], "evidence">>
  }
  /** The stored checks, late ones included. */
  readonly checks: ReadonlyArray<AmlCheck.AmlCheck>
  /** The name and date of birth, if the ledger still holds them because the row has no result. */
  readonly person: Person.Person | null
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Exported {
  readonly id: string
  readonly runs: ReadonlyArray<InRun>
  /**
   * The runs in which the person is a positive control, with the name and date of birth. Controls are deleted once their
   * run is complete and each row has a result.
   */
  readonly controls: ReadonlyArray<Pick<InRun, "run" | "person">>
  readonly history: ReadonlyArray<History.Entry>
}

/**
 * Returns all data about one person in all runs that were not erased, and appends to the history that `actor` exported
 * them. Fails with `PersonNotFound` if there are none.
 *
 * @category people
 * @since 0.1.0
 */
export const read = (id: string, options: {
  readonly actor: string
}): Effect.Effect<
  Exported,
  Ledger.Failure | PersonNotFound | EncryptionKeyError,
  Ledger.Ledger | People.People
> =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const people = yield* People.People
    const found = yield* ledger.ofPerson(id)
    const history = yield* ledger.historyOf([id])
    if (found.rows.length + found.controls.length + history.length === 0) return yield* new PersonNotFound()
    // A person who was planned can be sent.
    const personOf = (run: string, person: string | null) =>
      person === null
        ? Effect.succeed(null)
        : Effect.catchTag(people.load(run, id, person), "AmlInputRejected", Effect.die)
    const runs = yield* Effect.forEach(found.rows, ({ person, row: { evidence, late, ...row }, run }) =>
      Effect.gen(function*() {
        const stored = [
          evidence,
          ...late.map(({ evidence }) =>
            evidence ?? null
          )
        ].filter((text) => text !== null)
        const checks = yield* Effect.forEach(stored, (text) => Rows.checkOf(people, run, row, text))
        const lateResults = late.map((result) => Struct.omit(result, "evidence"))
        return { run, row: { ...row, late: lateResults }, checks, person: yield* personOf(run, person) } satisfies InRun
      }))
    const controls = yield* Effect.forEach(found.controls, ({ person, run }) =>
      Effect.map(personOf(run, person), (person) => ({ run, person })))
    yield* ledger.append([{ kind: "exported", id, actor: options.actor }])
    return { id, runs, controls, history }
  })

const isFound = (id: string) =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const { controls, rows } = yield* ledger.ofPerson(id)
    return rows.length + controls.length > 0 || (yield* ledger.historyOf([id])).length > 0
  })

/**
 * Erases one person from all runs. The rows stay, empty, with the outcome `erased`, so that the sums of a run still add
 * up and its requests are counted; everybody else's rows are unchanged. A control is deleted. Returns the number of runs.
 *
 * Fails with `PersonOnHold`, with `PersonNotFound`, and, like `Rescreening.erase`, with `LedgerInUse`. Reports and
 * exports that were written before, backups, and the write-ahead log of PostgreSQL still contain the person.
 *
 * @category people
 * @since 0.1.0
 */
export const erase = (id: string, options: {
  readonly actor: string
  /**
   * Whether the decisions, views and exports of this person stay, if your retention of decisions requires it.
   *
   * @default false
   */
  readonly keepsHistory?: boolean | undefined
}): Effect.Effect<
  number,
  Ledger.Failure | PersonOnHold | PersonNotFound | LedgerInUse,
  Ledger.Ledger
> =>
  Effect.gen(function*() {
    const { actor, keepsHistory = false } = options
    const ledger = yield* Ledger.Ledger
    const wasFound = yield* isFound(id)
    // Also if nothing is left, because an earlier call may have failed before it overwrote the deleted rows.
    const runs = yield* ledger.erasePerson(id, { actor, keepsHistory })
    if (runs === undefined) return yield* new PersonOnHold()
    return runs > 0 || wasFound ? runs : yield* new PersonNotFound()
  })

/**
 * Holds everything about one person: neither `erase` nor `Rescreening.erase` deletes it until the hold is released.
 * Returns `false` if the person was held, or not held, already.
 *
 * @category people
 * @since 0.1.0
 */
export const hold = (id: string, options: {
  readonly actor: string
  /**
   * Whether the hold ends.
   *
   * @default false
   */
  readonly releases?: boolean | undefined
}): Effect.Effect<boolean, Ledger.Failure | PersonNotFound, Ledger.Ledger> =>
  Effect.gen(function*() {
    const { actor, releases = false } = options
    const ledger = yield* Ledger.Ledger
    if ((yield* ledger.isOnHold(id)) !== releases) return false
    if (!releases && !(yield* isFound(id))) return yield* new PersonNotFound()
    yield* ledger.append([{ kind: releases ? "released" : "held", id, actor }])
    return true
  })
