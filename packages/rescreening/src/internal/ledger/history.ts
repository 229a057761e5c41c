/** The operations on the append-only history. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as History from "../../History.ts"
import type * as Ledger from "./service.ts"
import * as Statements from "./statements.ts"

const decode = Statements.rows(History.Entry)

/** Entries per statement. */
const batch = 1000

/** The people of whom nothing is erased: their last `held` has no later `released`. */
export const heldIds = (sql: SqlClient.SqlClient) =>
  sql`SELECT held.id FROM idv_rescreen_history held WHERE held.kind = 'held' AND NOT EXISTS (
    SELECT 1 FROM idv_rescreen_history released
    WHERE released.id = held.id AND released.kind = 'released' AND released.entry > held.entry
  )`

export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { now } = Statements.dialect(sql)
  const columns = sql`entry, at, kind, id, actor, run, digest, decision, reason, approves`

  const append: Ledger.Service["append"] = (entries) =>
    sql`INSERT INTO idv_rescreen_history (at, kind, id, actor, run, digest, decision, reason, approves)
      SELECT ${now}, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6,
        CAST(value ->> 7 AS INTEGER)
      FROM ${
      Statements.elements(
        sql,
        JSON.stringify(entries.map(({ actor, approves, decision, digest, id, kind, reason, run }) => [
          kind,
          id,
          actor,
          run,
          digest,
          decision,
          reason,
          approves
        ]))
      )
    }`.pipe(Effect.asVoid, Statements.guarded("history"))

  return {
    append,
    historyOf: (ids: ReadonlyArray<string>) =>
      ids.length === 0
        ? Effect.succeed([])
        : sql`SELECT ${columns} FROM idv_rescreen_history WHERE ${sql.in("id", ids)} ORDER BY entry`.pipe(
          decode,
          Statements.guarded("history")
        ),
    history: Stream.paginateChunkEffect(
      0,
      (after) =>
        sql`SELECT ${columns} FROM idv_rescreen_history WHERE entry > ${after} ORDER BY entry LIMIT ${batch}`.pipe(
          decode,
          Effect.map((entries) => {
            const next = entries.length < batch ? undefined : entries.at(-1)?.entry
            return [Chunk.unsafeFromArray(entries), Option.fromNullable(next)] as const
          }),
          Statements.guarded("history")
        )
    ),
    isOnHold: (id: string) =>
      sql`SELECT 1 FROM (${heldIds(sql)}) AS held WHERE id = ${id}`.pipe(
        Effect.map((rows) => rows.length > 0),
        Statements.guarded("history")
      )
  }
})
