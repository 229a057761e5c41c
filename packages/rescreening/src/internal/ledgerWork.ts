/**
 * The operations of workers on the rows of a run. Each transition is one statement, which also checks the previous
 * state of the row, so two workers can never both make it. All times are by the database's clock.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { randomUUID } from "node:crypto"
import type * as Ledger from "./ledgerService.ts"
import * as SqliteClient from "./sqliteClient.ts"
import * as Statements from "./statements.ts"

const ClaimRow = Schema.Struct({
  line: Schema.Int,
  id: Schema.String,
  person: Schema.NullOr(Schema.String),
  timesSent: Schema.Int
})

const WorkerStateRow = Schema.Struct({
  state: Schema.Literal("open", "paused", "complete"),
  reason: Schema.NullOr(Schema.String),
  leaseLeft: Schema.Number,
  pausedFor: Schema.Number,
  failuresInRow: Schema.Int,
  pauses: Schema.Int
})

const decodeClaims = Statements.rows(ClaimRow)
const decodeWorkerState = Statements.rows(WorkerStateRow)
const decodeSlots = Statements.rows(Schema.Struct({ millisUntilFirst: Schema.Number }))
const decodeLineRows = Statements.rows(Schema.Struct({ line: Schema.Int }))
const decodeFailures = Statements.rows(Schema.Struct({ failuresInRow: Schema.Int }))

/** Rows per statement. */
const batch = 1000

/** In milliseconds. A longer pause is shortened to this, because such a service is misconfigured. */
const longestPause = 3_600_000

/** The lines that a statement changed. */
const decodeLines = <E, R>(found: Effect.Effect<ReadonlyArray<unknown>, E, R>) =>
  Effect.map(decodeLineRows(found), (rows): ReadonlySet<number> => new Set(rows.map(({ line }) => line)))

const changed = (rows: ReadonlyArray<unknown>): boolean => rows.length > 0

export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { forShare, greatest, now, skipLocked } = Statements.dialect(sql)
  // Makes SQLite write the statement to the disk before it returns.
  const durable = sql.literal(SqliteClient.durable)

  const isLeased = (worker: string) =>
    sql`EXISTS (SELECT 1 FROM idv_rescreen_workers w WHERE w.token = ${worker} AND w.lease_until > ${now})`

  /** SQLite searches the index of the held rows only for its literal condition, not for one of these states. */
  const isHeld = sql.literal("state IN ('claimed', 'sent')")

  const row = ({ line, run, worker }: Ledger.Claim) => sql`run = ${run} AND line = ${line} AND worker = ${worker}`

  /** Whether each of these rows has an outcome, and each `unknown` row was unknown at least `unknown` times. */
  const isComplete = (rows: Fragment, unknown: number) =>
    sql`NOT EXISTS (SELECT 1 FROM idv_rescreen_people WHERE ${rows} AND state = 'pending')
      AND NOT EXISTS (SELECT 1 FROM idv_rescreen_people WHERE ${rows} AND ${isHeld})
      AND NOT EXISTS (
        SELECT 1 FROM idv_rescreen_people WHERE ${rows} AND state = 'unknown' AND times_unknown < ${unknown}
      )`

  const register: Ledger.Service["register"] = (run, lease) =>
    Effect.suspend(() => {
      const token = randomUUID()
      return Effect.as(
        sql`INSERT INTO idv_rescreen_workers (token, run, lease_until) VALUES (${token}, ${run}, ${now} + ${lease})`,
        token
      )
    }).pipe(Statements.guarded("register"))

  const renew: Ledger.Service["renew"] = (worker, lease) =>
    sql`UPDATE idv_rescreen_workers SET lease_until = ${now} + ${lease}
      WHERE token = ${worker} AND lease_until > ${now} RETURNING token`.pipe(
      Effect.map(changed),
      Statements.guarded("renew")
    )

  const claim: Ledger.Service["claim"] = ({ limit, run, shard, worker }) =>
    sql`WITH picked AS MATERIALIZED (
        SELECT line FROM idv_rescreen_people WHERE run = ${run} AND shard = ${shard} AND state = 'pending'
        ORDER BY line LIMIT ${limit} ${skipLocked}
      )
      UPDATE idv_rescreen_people SET state = 'claimed', worker = ${worker} FROM picked
      WHERE run = ${run} AND idv_rescreen_people.line = picked.line AND state = 'pending' AND ${isLeased(worker)}
      RETURNING idv_rescreen_people.line AS line, id, person, times_sent AS "timesSent"`.pipe(
      decodeClaims,
      Effect.map((rows) => rows.map((row) => ({ ...row, run, worker }))),
      Statements.guarded("claim")
    )

  const send: Ledger.Service["send"] = ({ run, worker }, lines, service) =>
    sql`${durable} UPDATE idv_rescreen_people SET state = 'sent', times_sent = times_sent + 1, sent_at = ${now}
      WHERE run = ${run} AND ${Statements.isLineIn(sql, lines)}
        -- The expressions exclude the partial indexes.
        AND worker || '' = ${worker} AND state || '' = 'claimed'
        AND ${isLeased(worker)}
        AND EXISTS (SELECT 1 FROM idv_rescreen_runs r WHERE r.id = ${run} AND r.state = 'open')
        AND NOT EXISTS (SELECT 1 FROM idv_rescreen_services s WHERE s.service = ${service} AND s.resumes_at > ${now})
      RETURNING line`.pipe(decodeLines, Statements.guarded("send"))

  const settle: Ledger.Service["settle"] = ({ run, worker }, outcomes) => {
    const cells = outcomes.map(({ line, outcome }) => [
      line,
      outcome.state,
      outcome.codes,
      outcome.error,
      outcome.checkId,
      outcome.searchedOn,
      outcome.responseDigest,
      outcome.contentDigest,
      outcome.evidence
    ])
    // A response after the end of the lease still counts, unless another worker has claimed the row.
    return sql`WITH outcome AS MATERIALIZED (
        SELECT CAST(value ->> 0 AS INTEGER) AS line, value ->> 1 AS state, value ->> 2 AS codes, value ->> 3 AS error,
          value ->> 4 AS check_id, value ->> 5 AS searched_on, value ->> 6 AS response_digest, value ->> 7 AS content_digest,
          value ->> 8 AS evidence
        FROM ${Statements.elements(sql, JSON.stringify(cells))}
      )
      UPDATE idv_rescreen_people SET state = outcome.state, settled_at = ${now},
        person = CASE WHEN outcome.state IN ('not_screened', 'unknown') THEN person END, codes = outcome.codes,
        error = outcome.error, check_id = outcome.check_id, searched_on = outcome.searched_on, response_digest = outcome.response_digest,
        content_digest = outcome.content_digest, evidence = outcome.evidence,
        times_unknown = times_unknown + CASE WHEN outcome.state = 'unknown' THEN 1 ELSE 0 END
      FROM outcome
      WHERE run = ${run} AND ${Statements.isLineIn(sql, outcomes.map(({ line }) => line))}
        AND idv_rescreen_people.line = outcome.line
        -- The expressions exclude the partial indexes.
        AND worker || '' = ${worker} AND (
          idv_rescreen_people.state || '' = 'sent'
          OR (idv_rescreen_people.state || '' = 'unknown' AND outcome.state <> 'unknown')
          OR (idv_rescreen_people.state || '' = 'claimed' AND outcome.state = 'not_screened')
        )
      RETURNING idv_rescreen_people.line AS line`.pipe(decodeLines, Statements.guarded("settle"))
  }

  const release: Ledger.Service["release"] = (claim) =>
    sql`UPDATE idv_rescreen_people SET state = 'pending', worker = NULL
      WHERE ${row(claim)} AND ${isHeld}
        -- The same worker may have claimed and sent the row again, if this statement is repeated.
        AND times_sent <= ${claim.timesSent + 1}
      RETURNING line`.pipe(
      Effect.map(changed),
      Statements.guarded("release")
    )

  const releaseClaimed: Ledger.Service["releaseClaimed"] = (run, worker) =>
    sql`UPDATE idv_rescreen_people SET state = 'pending', worker = NULL
      WHERE run = ${run} AND worker = ${worker} AND state = 'claimed' AND ${isHeld} RETURNING line`.pipe(
      Effect.map((rows) => rows.length),
      Statements.guarded("release")
    )

  const expired = (run: string) =>
    sql`worker IN (SELECT token FROM idv_rescreen_workers WHERE run = ${run} AND lease_until <= ${now})`

  const expire: Ledger.Service["expire"] = (run) =>
    Effect.all({
      pending: sql`UPDATE idv_rescreen_people SET state = 'pending', worker = NULL
        WHERE run = ${run} AND state = 'claimed' AND ${isHeld} AND ${expired(run)} RETURNING line`,
      // The row keeps its worker, so that a late response is still accepted.
      unknown: sql`UPDATE idv_rescreen_people
        SET state = 'unknown', times_unknown = times_unknown + 1, settled_at = ${now}, error = 'LeaseExpired'
        WHERE run = ${run} AND state = 'sent' AND ${isHeld} AND ${expired(run)} RETURNING line`
    }).pipe(
      Effect.map(({ pending, unknown }) => ({ pending: pending.length, unknown: unknown.length })),
      Statements.guarded("expire")
    )

  /**
   * Makes rows with this outcome pending, so that workers screen them again. It changes them in short statements, and
   * each of them once, although workers may screen them meanwhile.
   */
  const rescreen: Ledger.Service["rescreen"] = (run, state, { maxUnknown }) => {
    const due = sql`run = ${run} AND state = ${sql.literal(`'${state}'`)} AND times_unknown < ${maxUnknown}`
    return Effect.gen(function*() {
      const found = yield* decodeLineRows(sql`SELECT line FROM idv_rescreen_people WHERE ${due}`)
      let count = 0
      for (let from = 0; from < found.length; from += batch) {
        const lines = found.slice(from, from + batch).map(({ line }) => line)
        const rows = yield* sql`UPDATE idv_rescreen_people
          SET state = 'pending', worker = NULL, error = NULL, settled_at = NULL
          WHERE ${due} AND ${Statements.isLineIn(sql, lines)} AND EXISTS (
            SELECT 1 FROM idv_rescreen_runs r WHERE r.id = ${run} AND r.state <> 'complete' ${forShare}
          )
          RETURNING line`
        count += rows.length
      }
      return count
    }).pipe(Statements.guarded("rescreen"))
  }

  const complete: Ledger.Service["complete"] = (run, { unknown }) => {
    const update = sql`UPDATE idv_rescreen_runs SET state = 'complete', completed_at = ${now}
      WHERE id = ${run} AND state = 'open' AND ${isComplete(sql`run = ${run}`, unknown)} RETURNING id`
    return sql.onDialectOrElse({
      // Waits until a `rescreen` ends. The lock needs a statement of its own: a statement of PostgreSQL sees the rows
      // as they were when it began, also after it waited for a lock.
      pg: () =>
        sql.withTransaction(
          Effect.zipRight(sql`SELECT 1 FROM idv_rescreen_runs WHERE id = ${run} FOR UPDATE`, update)
        ),
      orElse: () => update
    }).pipe(Effect.map(changed), Statements.guarded("complete"))
  }

  const workerState: Ledger.Service["workerState"] = (run, worker, service) =>
    sql`SELECT r.state AS state, r.reason AS reason, r.failures_in_row AS "failuresInRow",
        COALESCE((SELECT w.lease_until - ${now} FROM idv_rescreen_workers w WHERE w.token = ${worker}), 0) AS "leaseLeft",
        COALESCE((SELECT s.resumes_at - ${now} FROM idv_rescreen_services s WHERE s.service = ${service}), 0)
          AS "pausedFor",
        COALESCE((SELECT s.pauses FROM idv_rescreen_services s WHERE s.service = ${service}), 0) AS pauses
      FROM idv_rescreen_runs r WHERE r.id = ${run}`.pipe(
      decodeWorkerState,
      Effect.map(([first]) =>
        // An erased or unknown run has nothing to do.
        first ?? {
          state: "complete" as const,
          reason: null,
          leaseLeft: 0,
          pausedFor: 0,
          failuresInRow: 0,
          pauses: 0
        }
      ),
      Statements.guarded("workerState")
    )

  const ensureService = (service: string) =>
    sql`INSERT INTO idv_rescreen_services (service, next_at, resumes_at, pauses) VALUES (${service}, 0, 0, 0)
      ON CONFLICT (service) DO NOTHING`

  const slots: Ledger.Service["slots"] = (service, { count, interval }) => {
    const reserve = sql`UPDATE idv_rescreen_services
      SET next_at = ${greatest}(next_at, resumes_at, ${now}) + ${count * interval} WHERE service = ${service}
      RETURNING next_at - ${count * interval} - ${now} AS "millisUntilFirst"`.pipe(decodeSlots)
    return reserve.pipe(
      Effect.flatMap(([first]) =>
        first === undefined ? Effect.zipRight(ensureService(service), reserve) : Effect.succeed([first])
      ),
      Effect.map(([first]) => first?.millisUntilFirst ?? 0),
      Statements.guarded("slots")
    )
  }

  const pauseService: Ledger.Service["pauseService"] = (service, millis) => {
    const pause = millis === undefined
      ? sql`CASE WHEN pauses < 6 THEN 1000.0 * (1 << pauses) ELSE 60000.0 END`
      : sql`${Math.min(longestPause, millis)}`
    return Effect.zipRight(
      ensureService(service),
      // A 429 during a pause extends it and does not count as another pause.
      sql`UPDATE idv_rescreen_services SET
          resumes_at = ${greatest}(resumes_at, ${now} + ${pause}),
          pauses = CASE WHEN resumes_at > ${now} THEN pauses ELSE pauses + 1 END
        WHERE service = ${service}`
    ).pipe(Effect.asVoid, Statements.guarded("pauseService"))
  }

  return {
    register,
    renew,
    claim,
    send,
    settle,
    release,
    releaseClaimed,
    expire,
    rescreen,
    complete,
    workerState,
    slots,
    pauseService,
    resetPauses: (service: string) =>
      sql`UPDATE idv_rescreen_services SET pauses = 0 WHERE service = ${service} AND resumes_at <= ${now}`.pipe(
        Effect.asVoid,
        Statements.guarded("resetPauses")
      ),
    countFailure: (run: string) =>
      sql`UPDATE idv_rescreen_runs SET failures_in_row = failures_in_row + 1 WHERE id = ${run}
        RETURNING failures_in_row AS "failuresInRow"`.pipe(
        decodeFailures,
        Effect.map(([first]) => first?.failuresInRow ?? 0),
        Statements.guarded("countFailure")
      ),
    resetFailures: (run: string) =>
      sql`UPDATE idv_rescreen_runs SET failures_in_row = 0 WHERE id = ${run} AND failures_in_row > 0`.pipe(
        Effect.asVoid,
        Statements.guarded("resetFailures")
      ),
    isShardComplete: (run: string, shard: number, { unknown }: { readonly unknown: number }) =>
      sql`SELECT 1 WHERE ${isComplete(sql`run = ${run} AND shard = ${shard}`, unknown)}`.pipe(
        Effect.map((found) => found.length > 0),
        Statements.guarded("isShardComplete")
      )
  }
})
