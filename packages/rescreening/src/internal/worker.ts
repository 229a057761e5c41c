/** A worker: it drains the shards of a run while its lease is valid and the run is open. */
import type * as AmlCheck from "@effect-idv/core/AmlCheck"
import * as AmlClient from "@effect-idv/core/AmlClient"
import type * as AmlFailure from "@effect-idv/core/Failure"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Metric from "effect/Metric"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import type * as People from "../People.ts"
import { type EncryptionKeyError, RunPaused } from "../RescreeningError.ts"
import * as Metrics from "../RescreeningMetrics.ts"
import type * as Run from "../Run.ts"
import * as GroupCommit from "./groupCommit.ts"
import type * as Ledger from "./ledgerService.ts"
import * as Outcome from "./outcome.ts"
import * as RateLimiter from "./rateLimiter.ts"
import * as Shards from "./shards.ts"
import * as WorkerMetrics from "./workerMetrics.ts"

export interface Settings {
  readonly run: Run.Run
  readonly concurrency: number
  readonly lease: Duration.Duration
}

export interface Services {
  readonly ledger: Ledger.Service
  readonly people: People.Service
  readonly aml: AmlClient.Service
}

type Failure = Ledger.Failure | EncryptionKeyError

/** Retries while the database restarts or is unreachable, so that no received response is lost. */
const databaseRetry = Schedule.exponential("50 millis").pipe(
  Schedule.union(Schedule.spaced("1 second")),
  Schedule.upTo("2 minutes")
)

const withDatabaseRetry = <A, R>(effect: Effect.Effect<A, Ledger.Failure, R>): Effect.Effect<A, Ledger.Failure, R> =>
  Effect.catchAll(effect, () => Effect.retry(Effect.delay(effect, "50 millis"), databaseRetry))

/** The period in which a worker takes over the rows of ended leases, as a part of its own lease. */
const takeOverPart = 1 / 6

/** The first wait for the rows that other workers hold. It doubles while there is nothing to claim. */
const shortestWait = Duration.millis(200)

/** A row that was unknown this often needs a review, under any policy. */
export const maxUnknown = 3

/** The work under one lease. All rows claimed under it are lost together when it ends. */
const underLease = ({ aml, ledger, people }: Services, { concurrency, lease, run }: Settings, worker: string) =>
  Effect.gen(function*() {
    const { id, policy, service } = run
    const turns = yield* RateLimiter.make(ledger, service, policy.rate)
    const nextTurn = withDatabaseRetry(turns.next)
    const leaseNanos = BigInt(Math.round(Duration.toMillis(lease))) * 1_000_000n
    const clock = yield* Effect.clock
    let leasedUntil = clock.unsafeCurrentTimeNanos() + leaseNanos
    let isOver = false
    // True at first, so that the first response resets what earlier workers counted.
    let wasFailing = true

    const isLeased = () => clock.unsafeCurrentTimeNanos() < leasedUntil

    const renew = Effect.gen(function*() {
      const from = clock.unsafeCurrentTimeNanos()
      if (yield* ledger.renew(worker, Duration.toMillis(lease))) leasedUntil = from + leaseNanos
      else isOver = true
    })

    const endLease = Effect.sync(() => {
      isOver = true
    })

    /**
     * Ends this lease if the connection broke, because the database may still perform a statement that failed. Rows that
     * the worker holds without knowing it are released at the end of its work under this lease, or when the lease ends.
     */
    const claimRows = (shard: number) =>
      Effect.suspend(() => {
        let hasFailed = false
        const attempt = Effect.tapError(ledger.claim({ run: id, shard, worker, limit: concurrency }), () =>
          Effect.sync(() => {
            hasFailed = true
          }))
        return Effect.tap(withDatabaseRetry(attempt), () =>
          hasFailed ? endLease : Effect.void)
      })

    /**
     * Ends this lease before a failed statement is repeated: the first one may reach the database late, and must not undo
     * a later `sent`. Under a new lease, another token holds the row.
     */
    const release = (claim: Ledger.Claim) => withDatabaseRetry(Effect.tapError(ledger.release(claim), () => endLease))

    const workerState = ledger.workerState(id, worker, service)

    /** Ends the work under this lease once the run is no longer open. */
    const watch = Effect.gen(function*() {
      const { failuresInRow, pausedFor, pauses, state } = yield* workerState
      if (state !== "open") isOver = true
      // A response during a pause does not reset the pauses, but the first one after it does.
      if (failuresInRow > 0 || (pauses > 0 && pausedFor <= 0)) wasFailing = true
    })

    /** Pauses the run for all workers, until an operator resumes it. */
    const pauseRun = (reason: string) => Effect.zipRight(ledger.pause(id, reason), endLease)

    const countFailure = Effect.gen(function*() {
      wasFailing = true
      return yield* ledger.countFailure(id)
    })

    /** A response arrived: resets the failures in a row, and the pauses after a 429. */
    const resetFailures = Effect.suspend(() => {
      if (!wasFailing) return Effect.void
      wasFailing = false
      return withDatabaseRetry(Effect.zipRight(ledger.resetFailures(id), ledger.resetPauses(service)))
    })

    const thisWorker = { run: id, worker }

    const send = GroupCommit.make((claims: ReadonlyArray<Ledger.Claim>) =>
      Effect.map(
        ledger.send(thisWorker, claims.map(({ line }) => line), service),
        (sent) => ({ line }: Ledger.Claim) => sent.has(line)
      )
    )

    const settleInGroup = GroupCommit.make((settlements: ReadonlyArray<Ledger.Settlement>) =>
      Effect.map(
        withDatabaseRetry(ledger.settle(thisWorker, settlements)),
        (settled) => ({ line }: Ledger.Settlement) => settled.has(line)
      )
    )

    const settle = ({ line }: Ledger.Claim, outcome: Ledger.Outcome) =>
      Effect.flatMap(
        settleInGroup({ line, outcome }),
        (isStored) => isStored ? Metric.increment(WorkerMetrics.outcomes[outcome.state]) : Effect.void
      )

    const onResult = (claim: Ledger.Claim, check: AmlCheck.AmlCheck) =>
      Effect.gen(function*() {
        const outcome = Outcome.ofCheck(check, ledger.salt, policy)
        const encrypted = policy.evidence === "response"
          ? yield* people.encrypt(id, claim.id, yield* Effect.orDie(Outcome.evidenceText(check)))
          : undefined
        yield* settle(claim, { ...outcome, evidence: encrypted })
        yield* resetFailures
      })

    const onFailure = (claim: Ledger.Claim, error: AmlFailure.Failure) =>
      Effect.gen(function*() {
        // `isServiceFailure` is `undefined` if the failure says nothing about the service. `row` is the outcome, or
        // `release`.
        const { isServiceFailure, pause, row, stop } = Outcome.ofFailure(error, claim.timesSent + 1)
        // The wait after a 429 is stored first, so that other workers begin to wait at once.
        if (pause !== undefined) {
          wasFailing = true
          yield* withDatabaseRetry(ledger.pauseService(service, pause.millis))
          yield* Metric.increment(Metrics.pauses)
        }
        if (stop !== undefined) yield* withDatabaseRetry(pauseRun(stop))
        if (row === "release") yield* release(claim)
        else yield* settle(claim, row)
        if (isServiceFailure === undefined) return
        const failures = isServiceFailure ? yield* withDatabaseRetry(countFailure) : 0
        if (!isServiceFailure) yield* resetFailures
        if (failures >= policy.stopAfter) {
          yield* withDatabaseRetry(
            pauseRun(`${policy.stopAfter} failures in a row, the last one ${error._tag}: ${error.message}`)
          )
        }
      })

    /** Brings a sent row to its outcome even if the worker is interrupted. The check has a deadline, so this ends. */
    const check = (claim: Ledger.Claim, person: Parameters<typeof aml.check>[0], turn: number) =>
      Effect.gen(function*() {
        // The process may have been suspended past its lease, and other workers may have marked the row as unknown.
        if (!isLeased()) {
          yield* release(claim)
          return
        }
        turns.leaves(turn)
        // A daemon, because an interruption would reach a child fiber at once. This fiber always awaits it.
        const fiber = yield* Effect.forkDaemon(
          Effect.interruptible(aml.check(person))
        )
        const result = yield* Effect.either(Effect.flatten(Fiber.await(fiber)))
        yield* Either.isRight(result) ? onResult(claim, result.right) : onFailure(claim, result.left)
      })

    /** The lines that are being screened. */
    const screening = new Set<number>()

    const screen = (claim: Ledger.Claim): Effect.Effect<unknown, Failure> =>
      Effect.gen(function*() {
        // The row was released and claimed again, but its release may still be repeated, and would undo `sent`.
        while (screening.has(claim.line)) yield* Effect.sleep("50 millis")
        screening.add(claim.line)
        return yield* Effect.ensuring(screenOnce(claim), Effect.sync(() => screening.delete(claim.line)))
      })

    const screenOnce = (claim: Ledger.Claim): Effect.Effect<unknown, Failure> =>
      Effect.gen(function*() {
        const loaded = yield* Effect.either(people.load(id, claim.id, claim.person))
        if (Either.isLeft(loaded)) {
          return loaded.left._tag === "AmlInputRejected" ? yield* onFailure(claim, loaded.left) : yield* loaded.left
        }
        const sendRow = send(claim).pipe(
          // The ledger may have stored `sent`, but no request was sent.
          Effect.tapError(() => release(claim))
        )
        while (!isOver) {
          const turn = yield* nextTurn
          // `lost`: the database was unavailable. If the row could not be released or settled, it stays as it is until
          // the lease ends, so the worker ends it.
          const sendResult = yield* Effect.uninterruptible(
            Effect.tap(sendRow, (isSent) => isSent ? check(claim, loaded.right, turn) : Effect.void)
          ).pipe(Effect.catchAll((error) =>
            error._tag === "LedgerUnavailable" ? Effect.as(endLease, "lost" as const) : Effect.fail(error)
          ))
          if (sendResult !== false) {
            return
          }
          const { leaseLeft, pausedFor, state } = yield* withDatabaseRetry(workerState)
          if (state !== "open" || leaseLeft <= 0) {
            isOver = true
          } else if (pausedFor <= 0) {
            // Another worker has the row, or a pause ended since `send`. Then the row is still held here.
            return yield* release(claim)
          }
        }
      })

    /** Screens the pending rows of shards. Returns the number of claimed rows. */
    const drain = (shards: ReadonlyArray<number>): Effect.Effect<number, Failure> =>
      Shards.drain({ shards, run: id, concurrency, claim: claimRows, screen, isOver: () => isOver })

    /** Makes rows whose worker lost its lease pending or unknown and, if the policy says so, unknown rows pending. */
    const releaseLostRows = Effect.gen(function*() {
      yield* ledger.expire(id)
      if (policy.unknown === "rescreen") yield* ledger.rescreen(id, "unknown", { maxUnknown })
    })

    const every = (period: Duration.DurationInput, effect: Effect.Effect<void, Ledger.Failure>) =>
      Effect.repeat(withDatabaseRetry(effect), Schedule.spaced(period))

    /** Completes once the work is over. Then `during` interrupts the workers that wait for their turn. */
    const waitUntilOver = Effect.repeat(Effect.sync(() => isOver), {
      until: (isOver) => isOver,
      schedule: Schedule.spaced("50 millis")
    })

    const background = Effect.all([
      every("500 millis", watch),
      every(Duration.times(lease, takeOverPart), releaseLostRows)
    ], { concurrency: "unbounded", discard: true })

    return {
      drain,
      takeOver: withDatabaseRetry(releaseLostRows),
      isOver: () => isOver,
      during: <A>(effect: Effect.Effect<A, Failure>) =>
        Effect.acquireUseRelease(
          Effect.all({
            // A daemon, because an interruption would reach a child fiber at once. Checks in flight still need the lease.
            renewals: Effect.forkDaemon(Effect.interruptible(every(Duration.times(lease, 1 / 3), renew))),
            pass: Effect.fork(Effect.interruptible(effect))
          }),
          ({ pass, renewals }) =>
            Fiber.join(pass).pipe(
              Effect.raceFirst(background),
              Effect.raceFirst(Fiber.join(renewals)),
              Effect.raceFirst(Effect.as(waitUntilOver, undefined))
            ),
          ({ pass, renewals }, exit) =>
            Effect.gen(function*() {
              // Waits for the checks in flight.
              yield* Fiber.interrupt(pass)
              const releaseClaimed = ledger.releaseClaimed(id, worker)
              yield* Effect.ignore(Exit.isSuccess(exit) ? withDatabaseRetry(releaseClaimed) : releaseClaimed)
              yield* Fiber.interrupt(renewals)
            })
        )
    }
  })

/** Works until each row of the run, or of `shard`, has an outcome. */
export const work = (
  services: Services,
  settings: Settings,
  shard?: number
): Effect.Effect<void, Failure | RunPaused> =>
  Effect.gen(function*() {
    const { ledger } = services
    const { id, policy, service } = settings.run
    const longestWait = Duration.min("2 seconds", Duration.times(settings.lease, takeOverPart))
    // Workers that start together should not start with the same shard.
    const first = yield* Random.nextIntBetween(0, policy.shards)
    const shards = shard === undefined
      ? Array.from({ length: policy.shards }, (_, index) => (first + index) % policy.shards)
      : [shard]

    while (true) {
      const worker = yield* withDatabaseRetry(ledger.register(id, Duration.toMillis(settings.lease)))
      const leasedWork = yield* underLease(services, settings, worker)
      const pass = Effect.gen(function*() {
        let wait = shortestWait
        while (true) {
          yield* leasedWork.takeOver
          const count = yield* leasedWork.drain(shards)
          // Rows with fewer unknown outcomes than this are screened again, so the run is not complete.
          const rescreenBelow = policy.unknown === "rescreen" ? maxUnknown : 0
          // Other workers may hold rows of the shard, and lose them. This is read before `complete`, so that the worker of
          // the last shard also completes the run.
          const isDrained = shard !== undefined && !leasedWork.isOver() &&
            (yield* withDatabaseRetry(ledger.isShardComplete(id, shard, { unknown: rescreenBelow })))
          const isComplete = yield* withDatabaseRetry(ledger.complete(id, { unknown: rescreenBelow }))
          if (isDrained || isComplete) return "done" as const
          // Other workers hold the remaining rows, and may lose or release them.
          if (count === 0) yield* Effect.sleep(wait)
          wait = count === 0 ? Duration.min(Duration.times(wait, 2), longestWait) : shortestWait
        }
      })
      const ended = yield* leasedWork.during(pass)
      if (ended === "done") return
      const { leaseLeft, reason, state } = yield* withDatabaseRetry(ledger.workerState(id, worker, service))
      if (state === "complete") return
      if (state === "paused") return yield* new RunPaused({ run: id, reason: reason ?? "operator" })
      if (leaseLeft <= 0) yield* Metric.increment(Metrics.leasesLost)
    }
  }).pipe(
    // The rows of the ledger decide whether a check is sent again.
    AmlClient.withPolicy({ retry: "never" })
  )
