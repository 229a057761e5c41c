/**
 * The operations on the positive controls of a run. A round checks all of them. One worker at a time has the round, with
 * a lease; rows may be sent as long as few were since the last good round began.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Ledger from "./service.ts"
import * as Statements from "./statements.ts"

const decodeControls = Statements.rows(
  Schema.Struct({ line: Schema.Int, id: Schema.String, person: Schema.NullOr(Schema.String) })
)
const decodeSince = Statements.rows(Schema.Struct({ since: Schema.Int }))
const decodeGoodAt = Statements.rows(Schema.Struct({ goodAt: Schema.NullOr(Schema.Number) }))
const decodeSpans = Statements.rows(
  Schema.Struct({ from: Schema.DateTimeUtcFromNumber, to: Schema.DateTimeUtcFromNumber, count: Schema.Int })
)

/** As many rows as if no round was ever good: none may be sent before the next good one. */
const noGoodRound = 1_000_000_000

/** After how many rows a round is due. */
const dueAfter = (every: number) => Math.ceil(every / 2)

/** Whether a round that began when no row was left has found every control: not begun, begun, or found. */
const confirmed = { no: 0, begun: 1, yes: 2 }

/** Stores the controls of a plan that is not published yet. */
export const store = (sql: SqlClient.SqlClient, plan: string, controls: ReadonlyArray<Ledger.Control>) => {
  if (controls.length === 0) return Effect.void
  const cells = JSON.stringify(controls.map(({ id, line, person }) => [line, id, person]))
  const begun = Statements.begun(sql, plan, Statements.dialect(sql).forShare)
  return Effect.zipRight(
    sql`INSERT INTO idv_rescreen_controls (plan, line, id, person)
      SELECT ${plan}, CAST(value ->> 0 AS INTEGER), value ->> 1, value ->> 2
      FROM ${Statements.elements(sql, cells)}, ${begun}`,
    sql`INSERT INTO idv_rescreen_rounds (plan, controls, since, confirmed)
      SELECT ${plan}, CAST(${controls.length} AS INTEGER), ${noGoodRound}, ${confirmed.yes} FROM ${begun}`
  )
}

/** Sends no further row before a good round, because time has passed. */
export const requireRound = (sql: SqlClient.SqlClient, plan: Statements.Fragment) =>
  sql`UPDATE idv_rescreen_rounds SET since = ${noGoodRound} WHERE plan = ${plan}`

/** Whether a round must confirm the last rows. */
export const isLastRoundDue = (sql: SqlClient.SqlClient, plan: Statements.Fragment) =>
  sql`EXISTS (SELECT 1 FROM idv_rescreen_rounds WHERE plan = ${plan} AND confirmed <> ${confirmed.yes})`

export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { now } = Statements.dialect(sql)

  const planOf = Statements.planOf(sql)
  const isOpen = (run: string) => sql`EXISTS (SELECT 1 FROM idv_rescreen_runs WHERE id = ${run} AND state = 'open')`

  const allow: Ledger.Service["allow"] = (run, count, every) =>
    Effect.gen(function*() {
      let since = every
      const allowed = yield* Statements.upTo(count, (part) =>
        Effect.map(
          decodeSince(sql`UPDATE idv_rescreen_rounds SET since = since + ${part}, confirmed = ${confirmed.no}
            WHERE plan = ${planOf(run)} AND since + ${part} <= ${every} RETURNING since`),
          ([updated]) => {
            since = updated?.since ?? since
            return updated !== undefined
          }
        ))
      return { allowed, isRoundDue: allowed < count || since >= dueAfter(every) }
    }).pipe(Statements.guarded("controls"))

  const beginRound: Ledger.Service["beginRound"] = (run, { every, isLast, lease, token }) => {
    const plan = planOf(run)
    const isIdle = sql`NOT EXISTS (
        SELECT 1 FROM idv_rescreen_people WHERE plan = ${plan} AND state IN ('claimed', 'sent')
      ) AND NOT EXISTS (SELECT 1 FROM idv_rescreen_people WHERE plan = ${plan} AND state = 'pending')`
    return sql`UPDATE idv_rescreen_rounds
      SET token = ${token}, begun_at = ${now}, lease_until = ${now} + ${lease}, since_begun = since,
        confirmed = ${isLast ? confirmed.begun : confirmed.no}
      WHERE plan = ${plan} AND ${isOpen(run)}
        AND (token IS NULL OR token = ${token} OR lease_until <= ${now}
          OR NOT (${Statements.isStored(sql, "begun_at")}))
        AND ${isLast ? sql`${isIdle} AND ${isLastRoundDue(sql, plan)}` : sql`since >= ${dueAfter(every)}`}
      RETURNING good_at AS "goodAt"`.pipe(decodeGoodAt, Effect.map(([row]) => row), Statements.guarded("controls"))
  }

  return {
    allow,
    beginRound,
    countControlRequest: (run: string, token: string, lease: number) =>
      sql`UPDATE idv_rescreen_rounds SET requests = requests + 1, lease_until = ${now} + ${lease}
        WHERE plan = ${planOf(run)} AND token = ${token} AND ${isOpen(run)} RETURNING plan`.pipe(
        Effect.map((rows) => rows.length > 0),
        Statements.guarded("controls")
      ),
    endRound: (
      run: string,
      token: string,
      outcome: "found" | "inconclusive" | { readonly missed: string; readonly since: number | null }
    ) => {
      const plan = planOf(run)
      const release = (set: Statements.Fragment) =>
        sql`UPDATE idv_rescreen_rounds SET ${set}, token = NULL WHERE plan = ${plan} AND token = ${token}
          RETURNING plan`
      return Effect.gen(function*() {
        if (outcome === "inconclusive") {
          yield* release(sql`since_begun = 0`)
          return
        }
        if (outcome === "found") {
          const ended = yield* release(sql`good_at = begun_at, good = good + 1, since = since - since_begun,
            confirmed = CASE WHEN confirmed = ${confirmed.begun} THEN ${confirmed.yes} ELSE confirmed END`)
          if (ended.length > 0) {
            yield* sql`UPDATE idv_rescreen_doubts
              SET to_at = (SELECT good_at FROM idv_rescreen_rounds WHERE plan = ${plan})
              WHERE plan = ${plan} AND to_at IS NULL`
          }
          return
        }
        yield* sql`UPDATE idv_rescreen_rounds SET since = ${noGoodRound}, token = NULL WHERE plan = ${plan}`
        // Before the first good round, no row was sent.
        if (outcome.since !== null) {
          const since = sql`CAST(${outcome.since} AS DOUBLE PRECISION)`
          yield* sql`INSERT INTO idv_rescreen_doubts (plan, from_at)
            SELECT plan, ${since} FROM idv_rescreen_rounds WHERE plan = ${plan} AND NOT EXISTS (
              SELECT 1 FROM idv_rescreen_doubts WHERE plan = ${plan} AND to_at IS NULL AND from_at <= ${since}
            )
            ON CONFLICT (plan, from_at) DO UPDATE SET to_at = NULL`
        }
        yield* sql`UPDATE idv_rescreen_runs SET state = 'paused', reason = ${outcome.missed}
          WHERE id = ${run} AND state = 'open'`
      }).pipe(sql.withTransaction, Effect.asVoid, Statements.guarded("controls"))
    },
    controls: (run: string) =>
      sql`SELECT line, id, person FROM idv_rescreen_controls WHERE plan = ${planOf(run)} ORDER BY line`.pipe(
        decodeControls,
        Statements.guarded("controls")
      ),
    doubtful: (run: string) =>
      sql`SELECT FLOOR(MIN(p.sent_at)) AS "from", CEIL(MAX(p.sent_at)) AS "to", CAST(COUNT(*) AS INTEGER) AS count
        FROM idv_rescreen_doubts d JOIN idv_rescreen_people p ON ${sql.literal(Statements.isInDoubt("p"))}
        WHERE d.plan = ${planOf(run)} GROUP BY d.from_at ORDER BY 1`.pipe(decodeSpans, Statements.guarded("report"))
  }
})
