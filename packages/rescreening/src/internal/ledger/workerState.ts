/** What all workers of a run share: its state, its limit of requests, its failures in a row, and what responses have. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Run from "../../Run.ts"
import type * as Ledger from "./service.ts"
import * as Services from "./services.ts"
import * as Statements from "./statements.ts"

const WorkerStateRow = Schema.Struct({
  state: Run.Run.fields.state,
  reason: Schema.NullOr(Schema.String),
  policy: Schema.parseJson(Run.Policy),
  pausedFor: Schema.Number,
  pauses: Schema.Int,
  failuresInRow: Schema.Int,
  clockSetBack: Schema.Int
})

const decodeWorkerState = Statements.rows(WorkerStateRow)
const decodeReserved = Statements.rows(Schema.Struct({ reserved: Schema.Int }))
const decodeFailures = Statements.rows(Schema.Struct({ failuresInRow: Schema.Int }))

export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { now } = Statements.dialect(sql)
  const isPaused = Services.isPaused(sql)

  const reserve: Ledger.Service["reserve"] = (run, count, max) =>
    Statements.upTo(count, (part) =>
      sql`UPDATE idv_rescreen_runs SET reserved = reserved + ${part}
        WHERE id = ${run} AND reserved + ${part} <= ${max} RETURNING id`.pipe(
        Effect.map((rows) => rows.length > 0),
        Statements.guarded("reserve")
      ))

  const workerState: Ledger.Service["workerState"] = (run, service) =>
    sql`SELECT r.state AS state, r.reason AS reason, r.policy AS policy, r.failures_in_row AS "failuresInRow",
        COALESCE((
          SELECT resumes_at - ${now} FROM idv_rescreen_services WHERE service = ${service} AND ${isPaused}
        ), 0) AS "pausedFor",
        COALESCE((SELECT pauses FROM idv_rescreen_services WHERE service = ${service}), 0) AS pauses,
        COALESCE((SELECT clock_set_back FROM idv_rescreen_services WHERE service = ${service}), 0) AS "clockSetBack"
      FROM idv_rescreen_runs r WHERE r.id = ${run} AND r.erased_at IS NULL`.pipe(
      decodeWorkerState,
      Effect.map(([first]) => Option.fromNullable(first)),
      Statements.guarded("workerState")
    )

  return {
    workerState,
    reserve,
    recount: (run: string) =>
      sql`UPDATE idv_rescreen_runs SET reserved = CASE
          WHEN EXISTS (SELECT 1 FROM idv_rescreen_people WHERE plan = idv_rescreen_runs.plan AND state IN ('claimed', 'sent')) THEN reserved
          ELSE COALESCE(
            (SELECT CAST(SUM(times_sent) AS INTEGER) FROM idv_rescreen_people WHERE plan = idv_rescreen_runs.plan), 0
          ) + COALESCE((SELECT requests FROM idv_rescreen_rounds r WHERE r.plan = idv_rescreen_runs.plan), 0) END
        WHERE id = ${run} RETURNING reserved`.pipe(
        decodeReserved,
        Effect.map(([first]) => first?.reserved ?? 0),
        Statements.guarded("reserve")
      ),
    noteUndocumented: (run: string, change: string) =>
      sql`UPDATE idv_rescreen_runs SET undocumented = undocumented || ${`${change} `}
        WHERE id = ${run} AND REPLACE(undocumented, ${` ${change} `}, '') = undocumented`.pipe(
        Effect.asVoid,
        Statements.guarded("noteUndocumented")
      ),
    countFailures: (run: string, { count, resets }: { readonly count: number; readonly resets: boolean }) =>
      sql`UPDATE idv_rescreen_runs SET failures_in_row = ${count} + ${resets ? sql`0` : sql`failures_in_row`}
        WHERE id = ${run} RETURNING failures_in_row AS "failuresInRow"`.pipe(
        decodeFailures,
        Effect.map(([first]) => first?.failuresInRow ?? 0),
        Statements.guarded("countFailures")
      )
  }
})
