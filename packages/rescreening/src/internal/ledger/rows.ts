/**
 * The operations of workers on the rows of a run. Each transition is one statement, which also checks the previous
 * state of the row and the token of its claim, so two workers can never both make it, and a statement that arrives late
 * changes nothing. All times are by the database's clock.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { randomUUID } from "node:crypto"
import * as Run from "../../Run.ts"
import * as Controls from "./controls.ts"
import type * as Ledger from "./service.ts"
import * as Services from "./services.ts"
import * as SqliteClient from "./sqliteClient.ts"
import * as Statements from "./statements.ts"

const ClaimRow = Schema.Struct({
  line: Schema.Int,
  id: Schema.String,
  person: Schema.NullOr(Schema.String),
  timesSent: Schema.Int
})

const decodeClaims = Statements.rows(ClaimRow)
const decodeLineRows = Statements.rows(Schema.Struct({ line: Schema.Int }))
const decodeTokens = Statements.rows(Schema.Struct({ token: Schema.String }))
const decodeVoided = Statements.rows(Schema.Struct({ voided: Schema.Int }))
const decodeStates = Statements.rows(Schema.Struct({ state: Run.Run.fields.state }))
/** Rows per statement. */
const batch = 1000

/** The outcomes that are a result of the service. Such a result counts even if it arrives late. */
const results: ReadonlySet<Ledger.Outcome["state"]> = new Set(["no_match", "no_match_doubtful", "potential_match"])

/** The lines that a statement changed. */
const decodeLines = <E, R>(found: Effect.Effect<ReadonlyArray<unknown>, E, R>) =>
  Effect.map(decodeLineRows(found), (rows): ReadonlySet<number> => new Set(rows.map(({ line }) => line)))

const changed = (rows: ReadonlyArray<unknown>): boolean => rows.length > 0

export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { forShare, forUpdate, now, skipLocked } = Statements.dialect(sql)
  // Makes SQLite write the statement to the disk before it returns.
  const durable = sql.literal(SqliteClient.durable)

  const planOf = Statements.planOf(sql)

  const isLeaseValid = sql`lease_until > ${now} AND ${Statements.isStored(sql, "stored_at")}`

  /** Whether the lease of the row holds. */
  const isLeased = sql`EXISTS (
    SELECT 1 FROM idv_rescreen_leases WHERE idv_rescreen_leases.token = idv_rescreen_people.token AND ${isLeaseValid}
  )`

  /** SQLite searches the index of the held rows only for its literal condition, not for one of these states. */
  const isHeld = sql.literal("state IN ('claimed', 'sent')")

  const isPaused = Services.isPaused(sql)

  const ofTokens = (tokens: ReadonlyArray<string>) =>
    sql`token IN (SELECT value ->> 0 FROM ${Statements.elements(sql, JSON.stringify(tokens.map((token) => [token])))})`

  const claim: Ledger.Service["claim"] = ({ lease, limit, run, token = randomUUID() }) =>
    Effect.suspend(() => {
      const picked = sql`picked AS MATERIALIZED (
        SELECT plan, line FROM idv_rescreen_people WHERE plan = ${planOf(run)} AND state = 'pending'
        ORDER BY line LIMIT ${limit} ${skipLocked}
      )`
      const update = sql`UPDATE idv_rescreen_people SET state = 'claimed', token = ${token} FROM picked
        WHERE idv_rescreen_people.plan = picked.plan AND idv_rescreen_people.line = picked.line AND state = 'pending'
        RETURNING idv_rescreen_people.line AS line, id, person, times_sent AS "timesSent"`
      const insert = sql`INSERT INTO idv_rescreen_leases (token, lease_until, stored_at)
        SELECT ${token}, ${now} + ${lease}, ${now}`
      // The claim is repeated if its response was lost.
      const again = sql`ON CONFLICT (token) DO UPDATE
        SET lease_until = excluded.lease_until, stored_at = excluded.stored_at`
      return sql.onDialectOrElse({
        pg: () =>
          sql`WITH ${picked}, lease AS (
            ${insert} WHERE EXISTS (SELECT 1 FROM picked) ${again} RETURNING token
          ) ${update}`,
        orElse: () =>
          sql.withTransaction(
            Effect.tap(
              sql`WITH ${picked} ${update}`,
              (rows) => rows.length > 0 ? sql`${insert} WHERE true ${again}` : Effect.void
            )
          )
      }).pipe(
        decodeClaims,
        Effect.map((rows) => rows.map((row) => ({ ...row, token })))
      )
    }).pipe(Statements.guarded("claim"))

  const renew: Ledger.Service["renew"] = (tokens, lease) =>
    sql`UPDATE idv_rescreen_leases SET lease_until = ${now} + ${lease}, stored_at = ${now}
      WHERE ${ofTokens(tokens)} AND ${isLeaseValid} RETURNING token`.pipe(
      decodeTokens,
      Effect.map((rows) => new Set(rows.map(({ token }) => token))),
      Statements.guarded("renew")
    )

  const endLeases: Ledger.Service["endLeases"] = (tokens) =>
    sql`DELETE FROM idv_rescreen_leases WHERE ${ofTokens(tokens)}`.pipe(Effect.asVoid, Statements.guarded("endLeases"))

  /** `sent` that is stored twice counts once, because a row is sent at most once under a claim. */
  const send: Ledger.Service["send"] = (run, claims, service) =>
    sql`${durable} WITH claim AS MATERIALIZED (
        SELECT CAST(value ->> 0 AS INTEGER) AS line, value ->> 1 AS token
        FROM ${Statements.elements(sql, JSON.stringify(claims.map(({ line, token }) => [line, token])))}
      )
      UPDATE idv_rescreen_people SET state = 'sent', sent_at = ${now},
        times_sent = times_sent + CASE WHEN state = 'claimed' THEN 1 ELSE 0 END
      FROM claim
      WHERE plan = ${planOf(run)} AND ${Statements.isLineIn(sql, claims.map(({ line }) => line))}
        AND idv_rescreen_people.line = claim.line
        -- The expressions exclude the partial indexes.
        AND idv_rescreen_people.token || '' = claim.token AND state || '' IN ('claimed', 'sent')
        AND ${isLeased}
        AND EXISTS (SELECT 1 FROM idv_rescreen_runs r WHERE r.id = ${run} AND r.state = 'open')
        AND NOT EXISTS (SELECT 1 FROM idv_rescreen_services WHERE service = ${service} AND ${isPaused})
      RETURNING idv_rescreen_people.line AS line`.pipe(decodeLines, Statements.guarded("send"))

  /** The requests of the claim of a row replace the one that `sent` counted. */
  const timesSent = (requests: string) =>
    sql.literal(`times_sent - CASE WHEN idv_rescreen_people.state = 'claimed' THEN 0 ELSE 1 END + ${requests}`)

  const outcomes = (settlements: ReadonlyArray<Ledger.Settlement>) =>
    sql`outcome AS MATERIALIZED (
        SELECT CAST(value ->> 0 AS INTEGER) AS line, value ->> 1 AS token, CAST(value ->> 2 AS INTEGER) AS requests,
          value ->> 3 AS state, value ->> 4 AS codes, value ->> 5 AS error, value ->> 6 AS check_id,
          value ->> 7 AS searched_on, value ->> 8 AS response_digest, value ->> 9 AS content_digest,
          value ->> 10 AS evidence, CAST(value ->> 11 AS DOUBLE PRECISION) AS sent_at,
          value ->> 12 AS json
        FROM ${
      Statements.elements(
        sql,
        JSON.stringify(settlements.map(({ line, outcome, requests, sentAt, token }) => [
          line,
          token,
          requests,
          outcome.state,
          outcome.codes,
          outcome.error,
          outcome.checkId,
          outcome.searchedOn,
          outcome.responseDigest,
          outcome.contentDigest,
          outcome.evidence,
          sentAt,
          JSON.stringify({ token, ...outcome })
        ]))
      )
    }
      )`

  const setOutcome = sql`state = outcome.state, settled_at = ${now}, times_sent = ${timesSent("outcome.requests")},
    sent_at = COALESCE(outcome.sent_at, idv_rescreen_people.sent_at),
    person = CASE WHEN outcome.state IN ('not_screened', 'unknown') THEN person END, codes = outcome.codes,
    error = outcome.error, check_id = outcome.check_id, searched_on = outcome.searched_on,
    response_digest = outcome.response_digest, content_digest = outcome.content_digest, evidence = outcome.evidence,
    times_unknown = times_unknown + CASE WHEN outcome.state = 'unknown' THEN 1 ELSE 0 END`

  const ofOutcome = (run: string, settlements: ReadonlyArray<Ledger.Settlement>) =>
    sql`plan = ${planOf(run)} AND ${Statements.isLineIn(sql, settlements.map(({ line }) => line))}
      AND idv_rescreen_people.line = outcome.line`

  /**
   * Results that arrive after the lease of their claim. The lock of the run decides whether they come before or after
   * the run is complete.
   */
  const settleLate = (run: string, settlements: ReadonlyArray<Ledger.Settlement>) =>
    Effect.gen(function*() {
      const [locked] = yield* decodeStates(sql`SELECT state FROM idv_rescreen_runs WHERE id = ${run} ${forUpdate}`)
      const settled = yield* decodeLines(sql`WITH ${outcomes(settlements)}
        UPDATE idv_rescreen_people SET ${setOutcome} FROM outcome
        WHERE ${ofOutcome(run, settlements)} AND idv_rescreen_people.token || '' = outcome.token
          AND idv_rescreen_people.state || '' IN ('unknown', 'pending')
        RETURNING idv_rescreen_people.line AS line`)
      const beside = yield* sql`WITH ${outcomes(settlements)}
        UPDATE idv_rescreen_people SET late = COALESCE(late || ',', '') || outcome.json FROM outcome
        WHERE ${ofOutcome(run, settlements)} AND idv_rescreen_people.token || '' <> outcome.token
          AND COALESCE(late, '') NOT LIKE '%' || outcome.token || '%'
        RETURNING idv_rescreen_people.line AS line`
      const amended = beside.length + (locked?.state === "complete" ? settled.size : 0)
      if (amended > 0) yield* sql`UPDATE idv_rescreen_runs SET amended = amended + ${amended} WHERE id = ${run}`
      return { settled, amended }
    }).pipe(sql.withTransaction)

  const settle: Ledger.Service["settle"] = (run, settlements) =>
    Effect.gen(function*() {
      const settled = yield* decodeLines(sql`WITH ${outcomes(settlements)}
        UPDATE idv_rescreen_people SET ${setOutcome} FROM outcome
        WHERE ${ofOutcome(run, settlements)}
          -- The expressions exclude the partial indexes.
          AND idv_rescreen_people.token || '' = outcome.token AND (
            idv_rescreen_people.state || '' = 'sent'
            OR (idv_rescreen_people.state || '' = 'claimed' AND outcome.state = 'not_screened')
          )
        RETURNING idv_rescreen_people.line AS line`)
      const late = settlements.filter(({ line, outcome }) => !settled.has(line) && results.has(outcome.state))
      if (late.length === 0) return { settled, amended: 0 }
      const { amended, settled: settledLate } = yield* settleLate(run, late)
      return { settled: new Set([...settled, ...settledLate]), amended }
    }).pipe(Statements.guarded("settle"))

  /** The row keeps its token, so that a late result of its claim is still accepted. */
  const release: Ledger.Service["release"] = (run, rows) =>
    sql`WITH released AS MATERIALIZED (
        SELECT CAST(value ->> 0 AS INTEGER) AS line, value ->> 1 AS token, CAST(value ->> 2 AS INTEGER) AS requests
        FROM ${
      Statements.elements(sql, JSON.stringify(rows.map(({ line, requests, token }) => [line, token, requests])))
    }
      )
      UPDATE idv_rescreen_people SET state = 'pending', times_sent = ${timesSent("released.requests")}
      FROM released
      WHERE plan = ${planOf(run)} AND ${Statements.isLineIn(sql, rows.map(({ line }) => line))}
        AND idv_rescreen_people.line = released.line AND idv_rescreen_people.token || '' = released.token
        AND state || '' IN ('claimed', 'sent')
      RETURNING idv_rescreen_people.line AS line`.pipe(
      Effect.map((rows) => rows.length),
      Statements.guarded("release")
    )

  const releaseAll: Ledger.Service["releaseAll"] = (run, tokens) =>
    sql`UPDATE idv_rescreen_people SET state = 'pending', times_sent = ${timesSent("0")}
      WHERE plan = ${planOf(run)} AND ${isHeld} AND ${ofTokens(tokens)} RETURNING line`.pipe(
      Effect.map((rows) => rows.length),
      Statements.guarded("release")
    )

  const expire: Ledger.Service["expire"] = (run) =>
    Effect.all({
      pending: sql`UPDATE idv_rescreen_people SET state = 'pending'
        WHERE plan = ${planOf(run)} AND state = 'claimed' AND ${isHeld} AND NOT ${isLeased} RETURNING line`,
      unknown: sql`UPDATE idv_rescreen_people
        SET state = 'unknown', times_unknown = times_unknown + 1, settled_at = ${now}, error = 'LeaseExpired'
        WHERE plan = ${planOf(run)} AND state = 'sent' AND ${isHeld} AND NOT ${isLeased} RETURNING line`,
      ended: decodeVoided(sql`DELETE FROM idv_rescreen_leases WHERE NOT (${isLeaseValid})
        RETURNING CASE WHEN ${Statements.isStored(sql, "stored_at")} THEN 0 ELSE 1 END AS voided`)
    }).pipe(
      Effect.map(({ ended, pending, unknown }) => ({
        pending: pending.length,
        unknown: unknown.length,
        voided: ended.reduce((sum, { voided }) => sum + voided, 0)
      })),
      Statements.guarded("expire")
    )

  /**
   * Makes rows with this outcome pending, so that workers screen them again. It changes them in short transactions, each
   * of which also opens the run, and each row once, although workers may screen them meanwhile.
   */
  const rescreen: Ledger.Service["rescreen"] = (run, state, { maxUnknown, reopens }) => {
    const due = sql`plan = ${planOf(run)} AND state = ${sql.literal(`'${state}'`)} AND times_unknown < ${maxUnknown}`
    return Effect.gen(function*() {
      const found = yield* decodeLineRows(sql`SELECT line FROM idv_rescreen_people WHERE ${due}`)
      let count = 0
      for (let from = 0; from < found.length; from += batch) {
        const lines = found.slice(from, from + batch).map(({ line }) => line)
        const update = sql`UPDATE idv_rescreen_people SET state = 'pending', error = NULL, settled_at = NULL
          WHERE ${due} AND ${Statements.isLineIn(sql, lines)} AND EXISTS (
            SELECT 1 FROM idv_rescreen_runs r WHERE r.id = ${run} AND r.state <> 'complete' ${forShare}
          )
          RETURNING line`
        const open = sql`UPDATE idv_rescreen_runs SET state = 'open', completed_at = NULL, failures_in_row = 0
          WHERE id = ${run} AND state = 'complete' AND erased_at IS NULL RETURNING id`
        const reopen = Effect.tap(
          open,
          (opened) => opened.length > 0 ? Controls.requireRound(sql, planOf(run)) : Effect.void
        )
        const rows = yield* reopens ? sql.withTransaction(Effect.zipRight(reopen, update)) : update
        count += rows.length
      }
      return count
    }).pipe(Statements.guarded("rescreen"))
  }

  const complete: Ledger.Service["complete"] = (run, { unknown }) => {
    const ofRun = sql`plan = ${planOf(run)}`
    const update = sql`UPDATE idv_rescreen_runs SET state = 'complete', completed_at = ${now}
      WHERE id = ${run} AND state = 'open'
        AND NOT EXISTS (SELECT 1 FROM idv_rescreen_people WHERE ${ofRun} AND state = 'pending')
        AND NOT EXISTS (SELECT 1 FROM idv_rescreen_people WHERE ${ofRun} AND ${isHeld})
        AND NOT EXISTS (
          SELECT 1 FROM idv_rescreen_people WHERE ${ofRun} AND state = 'unknown' AND times_unknown < ${unknown}
        )
        AND NOT ${Controls.isLastRoundDue(sql, planOf(run))}
      RETURNING id`
    // Like the people of the run, those of the controls stay as long as rows could be screened again.
    const deleteControls = sql`DELETE FROM idv_rescreen_controls WHERE ${ofRun} AND NOT EXISTS (
      SELECT 1 FROM idv_rescreen_people WHERE ${ofRun} AND state IN ('not_screened', 'unknown')
    )`
    const updateAll = Effect.tap(update, (rows) => changed(rows) ? deleteControls : Effect.void)
    return sql.onDialectOrElse({
      // Waits until a `rescreen` ends. The lock needs a statement of its own: a statement of PostgreSQL sees the rows
      // as they were when it began, also after it waited for a lock.
      pg: () =>
        sql.withTransaction(
          Effect.zipRight(sql`SELECT 1 FROM idv_rescreen_runs WHERE id = ${run} FOR UPDATE`, updateAll)
        ),
      // The log of SQLite still holds the people whose rows have a result.
      orElse: () =>
        Effect.tap(sql.withTransaction(updateAll), (rows) => changed(rows) ? SqliteClient.checkpoint(sql) : Effect.void)
    }).pipe(Effect.map(changed), Statements.guarded("complete"))
  }

  return {
    claim,
    renew,
    endLeases,
    send,
    settle,
    release,
    releaseAll,
    expire,
    rescreen,
    complete
  }
})
