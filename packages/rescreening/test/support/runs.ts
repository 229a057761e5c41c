/** One run, and tests of it that each have a new ledger. */
import type { SqlClient } from "@effect/sql"
import { Chunk, Effect, Stream } from "effect"
import * as Ledger from "../../src/Ledger.ts"
import * as Run from "../../src/Run.ts"
import * as Databases from "./databases.ts"

export const run = "2026-11"
export const where = { run, service: "api.example.com" }
export const fast = { ...where, rate: 2000 }

export const at = (counts: Partial<Run.Counts>): Run.Counts => ({ ...Run.noCounts, ...counts })

/** The rows of the run, by line. */
export const rows = Effect.flatMap(Ledger.Ledger, ({ byLine }) => Stream.runCollect(byLine(run))).pipe(
  Effect.map(Chunk.toReadonlyArray)
)

/** Provides the ledger and the client of a new database. */
export const withLedger = <A, E>(effect: Effect.Effect<A, E, Ledger.Ledger | SqlClient.SqlClient>) =>
  Effect.flatMap(Databases.ledger, (context) => Effect.provide(effect, context))
