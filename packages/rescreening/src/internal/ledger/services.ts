/** The turns and pauses of a service, which all its workers share. */
import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Ledger from "./service.ts"
import * as Statements from "./statements.ts"

const decodeTurns = Statements.rows(Schema.Struct({ first: Schema.Number, now: Schema.Number }))
const decodePauses = Statements.rows(Schema.Struct({ pausedFor: Schema.Number, pauses: Schema.Int }))

/** In milliseconds. A longer pause is shortened to this, because such a service is misconfigured. */
const longestPause = 3_600_000

/** Whether the service asks for a pause now. */
export const isPaused = (sql: SqlClient.SqlClient) =>
  sql`resumes_at > ${Statements.dialect(sql).now} AND ${Statements.isStored(sql, "pause_stored_at")}`

export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { greatest, now } = Statements.dialect(sql)
  const paused = isPaused(sql)

  /** The update of the row of a service, which is inserted first if it is missing. */
  const updateService = <A>(service: string, update: Effect.Effect<ReadonlyArray<A>, SqlError>) =>
    Effect.flatMap(
      update,
      ([first]) =>
        first !== undefined ?
          Effect.succeed(first) :
          sql`INSERT INTO idv_rescreen_services (service) VALUES (${service})
        ON CONFLICT (service) DO NOTHING`.pipe(
            Effect.zipRight(update),
            Effect.map(([row]) => row)
          )
    )

  const turns: Ledger.Service["turns"] = (service, { count, interval, lead }) =>
    updateService(
      service,
      decodeTurns(sql`UPDATE idv_rescreen_services SET
          next_at = ${count * interval} + ${greatest}(
            ${now} + ${lead},
            CASE WHEN ${Statements.isStored(sql, "next_stored_at")} THEN next_at ELSE 0 END,
            CASE WHEN ${Statements.isStored(sql, "pause_stored_at")} THEN resumes_at ELSE 0 END
          ),
          next_stored_at = ${now},
          resumes_at = CASE WHEN ${Statements.isStored(sql, "pause_stored_at")} THEN resumes_at ELSE 0 END,
          pause_stored_at = CASE WHEN ${Statements.isStored(sql, "pause_stored_at")} THEN pause_stored_at ELSE 0 END,
          clock_set_back = clock_set_back + CASE
            WHEN ${Statements.isStored(sql, "next_stored_at")} AND ${Statements.isStored(sql, "pause_stored_at")} THEN 0
            ELSE 1 END
        WHERE service = ${service} RETURNING next_at - ${count * interval} AS first, ${now} AS now`)
    ).pipe(
      Effect.map((found) => found ?? { first: 0, now: 0 }),
      Statements.guarded("turns")
    )

  const pauseService: Ledger.Service["pauseService"] = (service, millis) => {
    const pause = millis === undefined
      ? sql`CASE WHEN pauses < 6 THEN 1000.0 * (1 << pauses) ELSE 60000.0 END`
      : sql`${Math.min(longestPause, millis)}`
    return updateService(
      service,
      decodePauses(sql`UPDATE idv_rescreen_services SET
          -- A 429 during a pause extends it and does not count as another pause.
          resumes_at = ${greatest}(CASE WHEN ${paused} THEN resumes_at ELSE 0 END, ${now} + ${pause}),
          pauses = CASE WHEN ${paused} THEN pauses ELSE pauses + 1 END,
          pause_stored_at = ${now}
        WHERE service = ${service} RETURNING resumes_at - ${now} AS "pausedFor", pauses`)
    ).pipe(
      Effect.map((found) => found ?? { pausedFor: 0, pauses: 0 }),
      Statements.guarded("pauseService")
    )
  }

  return {
    turns,
    pauseService,
    resetPauses: (service: string) =>
      sql`UPDATE idv_rescreen_services SET pauses = 0 WHERE service = ${service} AND NOT (${paused})`.pipe(
        Effect.asVoid,
        Statements.guarded("resetPauses")
      )
  }
})
