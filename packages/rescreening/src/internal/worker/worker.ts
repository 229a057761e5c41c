/**
 * A worker. Its fibers hand rows on: `claimer` (pending rows, in claims that each have a lease) → `sender` (takes turns,
 * stores `sent`) → `shooter` (sends the request of a row at its turn) → the check → `settler` (stores outcomes in
 * groups). `watcher` notices pauses and changes of the policy, and `keeper` renews leases and takes over lost rows.
 */
import type * as AmlCheck from "@effect-idv/core/AmlCheck"
import * as AmlClient from "@effect-idv/core/AmlClient"
import type * as AmlFailure from "@effect-idv/core/Failure"
import type * as Person from "@effect-idv/core/Person"
import * as Chunk from "effect/Chunk"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import type * as Tracer from "effect/Tracer"
import type * as People from "../../People.ts"
import { type EncryptionKeyError, RunPaused } from "../../RescreeningError.ts"
import * as Metrics from "../../RescreeningMetrics.ts"
import type * as Run from "../../Run.ts"
import type * as Ledger from "../ledger/service.ts"
import * as WorkerMetrics from "./metrics.ts"
import * as Outcome from "./outcome.ts"
import * as Turns from "./turns.ts"

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

/** Rows that were claimed together, and their lease, which the worker believes to hold until `leasedUntil`. */
interface Claim {
  readonly token: string
  readonly span: Tracer.Span
  left: number
  leasedUntil: number
}

/** A row on its way through the worker. */
interface Item {
  readonly row: Ledger.Claim
  readonly claim: Claim
  readonly person: Person.Person
  /** Whether the ledger has stored `sent`. */
  readonly isSent: boolean
}

/** Rows that took turns together. */
interface Batch {
  readonly count: number
  left: number
  used: number
  /** Whether a turn passed while all places were taken: the service is slower than the rate. */
  isBlocked: boolean
}

/** A row whose request leaves at this time. */
interface Shot {
  readonly item: Item
  readonly at: number
  readonly batch: Batch
}

/** The end of a row in this worker: its outcome, or `release` to screen it again. */
interface Ended {
  readonly row: Ledger.Claim
  readonly claim: Claim
  readonly outcome: Ledger.Outcome | "release"
  readonly requests: number
  readonly sentAt?: number | undefined
  readonly isServiceFailure?: boolean | undefined
  readonly failure?: AmlFailure.Failure | undefined
}

/** The period in which a worker takes over the rows of ended leases, as a part of its own lease. */
const takeOverPart = 1 / 6

/** A worker claims at least this many rows at once: few, because the rows that one worker holds are not for others. */
const fewestClaimed = 10

/** The first wait for the rows that other workers hold. It doubles while there is nothing to claim. */
const shortestWait = Duration.millis(200)

/** A row that was unknown this often needs a review, under any policy. */
export const maxUnknown = 3

/** How often a worker looks for a pause. A request leaves at most this long, and a round trip, after a pause began. */
const watchPeriod = "150 millis"

/** How long outcomes wait for others, because a statement takes longer than the rows that it changes. */
const groupingTime = "4 millis"

/** The shortest time between two lines about pauses. */
const lineEvery = Duration.toMillis("1 minute")

/** Works until each row of the run has an outcome. */
export const work = (
  { aml, ledger, people }: Services,
  { concurrency, lease, run: { id, ...run } }: Settings
): Effect.Effect<void, Failure | RunPaused> =>
  Effect.gen(function*() {
    const { service } = run
    const leaseMillis = Duration.toMillis(lease)
    const turns = yield* Turns.make(ledger, {
      service,
      firstRate: run.policy.rate,
      mostAtOnce: Math.max(20, 4 * concurrency)
    })
    const places = yield* Effect.makeSemaphore(concurrency)
    const ready = yield* Queue.unbounded<Item>()
    /** Asks for more rows. */
    const demand = yield* Queue.sliding<void>(1)
    const shots = yield* Queue.unbounded<Shot>()
    const ended = yield* Queue.unbounded<Ended>()
    const over = yield* Deferred.make<void>()
    const claims = new Map<string, Claim>()
    const endedTokens: Array<string> = []
    let policy = run.policy
    let pausedUntil = 0
    let storingPauses = 0
    let notSettled = 0
    let failing = 0
    // True at first, so that the first response resets what earlier workers counted.
    let wasFailing = true
    let isOver = false
    let clockSetBack: number | undefined
    let lastPauseLineAt = -Infinity

    const end = Effect.suspend(() => {
      isOver = true
      return Deferred.succeed(over, undefined)
    })
    /** Also while the settler decides whether the failures in a row end the run. */
    const isPaused = () => storingPauses > 0 || turns.now() < pausedUntil || failing >= policy.stopAfter
    const isLeased = ({ leasedUntil }: Claim) => turns.now() < leasedUntil
    const saySetBack = Effect.logWarning(
      "The clock of the database was set back: turns, pauses or leases that were stored in its future are ignored."
    )
    const sayPause = (pauses: number) =>
      Effect.suspend(() => {
        if (turns.now() - lastPauseLineAt < lineEvery) return Effect.void
        lastPauseLineAt = turns.now()
        return Effect.logWarning(
          `The service asks all workers to wait ${
            Duration.format(Duration.millis(Math.ceil(pausedUntil - turns.now())))
          } (pause ${pauses} since it last accepted a check; run ${id} stops after ${policy.stopAfter}).`
        )
      })

    /** One row less of a claim. The lease ends with the last one. */
    const leave = (claim: Claim) => {
      if (--claim.left > 0) return Effect.void
      if (claims.delete(claim.token)) endedTokens.push(claim.token)
      return Effect.map(Effect.clock, (clock) => claim.span.end(clock.unsafeCurrentTimeNanos(), Exit.void))
    }

    const settle = (row: Ended) =>
      Effect.suspend(() => {
        notSettled++
        return Queue.offer(ended, row)
      })

    /** Makes rows whose worker lost its lease pending or unknown and, if the policy says so, unknown rows pending. */
    const takeOver = Effect.gen(function*() {
      const { voided } = yield* ledger.expire(id)
      if (voided > 0) yield* saySetBack
      if (policy.unknown === "rescreen") yield* ledger.rescreen(id, "unknown", { maxUnknown, reopens: false })
    })

    const claimRows = Effect.gen(function*() {
      const from = turns.now()
      const most = Math.max(fewestClaimed, 2 * turns.size(policy.rate)) - (yield* Queue.size(ready))
      const rows = yield* ledger.claim({ run: id, limit: Math.max(1, most), lease: leaseMillis })
      const [first] = rows
      if (first === undefined) return 0
      const span = yield* Effect.makeSpan("Rescreening.claim", { attributes: { run: id, rows: rows.length } })
      const claim: Claim = { token: first.token, span, left: rows.length, leasedUntil: from + leaseMillis }
      claims.set(claim.token, claim)
      yield* Effect.forEach(
        rows,
        (row) =>
          Effect.matchEffect(people.load(id, row.id, row.person), {
            onFailure: (error) =>
              error._tag === "AmlInputRejected"
                ? settle({ row, claim, outcome: Outcome.ofRejected(error), requests: 0 })
                : Effect.fail(error),
            onSuccess: (person) => Queue.offer(ready, { row, claim, person, isSent: false })
          }),
        { concurrency: people.kind === "lookup" ? concurrency : 1, discard: true }
      )
      return rows.length
    })

    /** Claims rows until the run is complete. */
    const claimer = Effect.gen(function*() {
      const longestWait = Duration.min("2 seconds", Duration.times(lease, takeOverPart))
      let wait = shortestWait
      while (true) {
        yield* takeOver
        let count = 0
        for (let claimed = yield* claimRows; claimed > 0; claimed = yield* claimRows) {
          count += claimed
          yield* Queue.take(demand)
        }
        // Rows with fewer unknown outcomes than this are screened again, so the run is not complete.
        if (yield* ledger.complete(id, { unknown: policy.unknown === "rescreen" ? maxUnknown : 0 })) return
        // Others, or the rest of this worker, hold the remaining rows, and may lose or release them.
        if (count === 0) yield* Effect.sleep(wait)
        wait = count === 0 ? Duration.min(Duration.times(wait, 2), longestWait) : shortestWait
      }
    })

    const releaseItems = (items: ReadonlyArray<Item>) =>
      Effect.forEach(items, ({ claim, row }) => settle({ row, claim, outcome: "release", requests: 0 }), {
        discard: true
      })

    /** Takes turns for rows, and stores `sent` shortly before the first turn, so that few rows wait for theirs. */
    const sender = Effect.gen(function*() {
      while (true) {
        yield* places.withPermits(1)(Effect.void)
        while (isPaused()) yield* Effect.sleep("20 millis")
        yield* Queue.offer(demand, undefined)
        // If an interruption loses the rows here, `finish` releases them.
        yield* sendItems(Chunk.toReadonlyArray(yield* Queue.takeBetween(ready, 1, turns.size(policy.rate))))
      }
    })

    const sendItems = (items: ReadonlyArray<Item>) =>
      Effect.gen(function*() {
        const times = yield* turns.take(policy.rate, items.length)
        const wait = turns.sendAt(times[0] ?? 0) - turns.now()
        if (wait > 0) yield* Effect.sleep(wait)
        const notSent = items.filter(({ isSent }) => !isSent)
        const from = turns.now()
        const sent = notSent.length === 0
          ? new Set<number>()
          : yield* ledger.send(id, notSent.map(({ row }) => row), service)
        if (sent.size > 0) turns.sendTook(turns.now() - from)
        const allowed = items.filter(({ isSent, row }) => isSent || sent.has(row.line))
        const batch: Batch = { count: allowed.length, left: allowed.length, used: 0, isBlocked: false }
        for (const [index, item] of allowed.entries()) {
          yield* Queue.offer(shots, { item: { ...item, isSent: true }, at: times[index] ?? 0, batch })
        }
        // The run or the service is paused, or the lease ended.
        yield* releaseItems(items.filter((item) => !allowed.includes(item)))
      })

    /**
     * Decides at the turn of a row whether its request may leave. Otherwise the row waits for another turn, before rows
     * that are not sent yet, or for another worker.
     */
    const mayLeave = ({ at, batch, item }: Shot, waited: number) =>
      Effect.gen(function*() {
        const isLate = turns.isLate(at)
        if (!isLate) batch.used++
        else if (waited > Turns.maxLateness) batch.isBlocked = true
        if (--batch.left === 0) turns.used(batch)
        if (isPaused() || isOver) {
          const others = Chunk.toReadonlyArray(yield* Queue.takeAll(shots))
          yield* releaseItems([item, ...others.map(({ item }) => item)])
          return false
        }
        if (!isLeased(item.claim)) yield* releaseItems([item])
        else if (isLate) yield* Queue.offerAll(ready, [item, ...yield* Queue.takeAll(ready)])
        else return true
        return false
      })

    const shooter = Effect.gen(function*() {
      while (true) {
        const shot = yield* Queue.take(shots)
        const wait = shot.at - turns.now()
        if (wait >= 1) yield* Effect.sleep(wait)
        yield* Effect.uninterruptibleMask((restore) =>
          Effect.gen(function*() {
            const from = turns.now()
            yield* restore(places.take(1))
            const leave = places.release(1)
            yield* (yield* mayLeave(shot, turns.now() - from))
              ? Effect.forkDaemon(Effect.interruptible(Effect.ensuring(check(shot), leave)))
              : leave
          })
        )
      }
    })

    /** Waits for another turn, or interrupts a check whose request may not leave any more. */
    const anotherTurn = (claim: Claim) =>
      Effect.gen(function*() {
        const [at = 0] = yield* turns.take(policy.rate, 1)
        const wait = at - turns.now()
        if (wait >= 1) yield* Effect.sleep(wait)
        return isPaused() || isOver || !isLeased(claim) ? yield* Effect.interrupt : at
      }).pipe(Effect.catchAll(() => Effect.interrupt))

    /**
     * Screens a row. It is not interrupted; the check has a deadline, so this ends. Its first request uses the turn of the
     * row, unless the token came too late. A request that repeats one after a 401 takes another turn.
     */
    const check = ({ at, item: { claim, person, row } }: Shot) =>
      Effect.gen(function*() {
        let sentAt = turns.toDatabase(turns.now())
        let requests = 0
        let turn: number | undefined = at
        let isWaiting = false
        const awaitTurn = Effect.gen(function*() {
          isWaiting = true
          while (turn === undefined || turns.isLate(turn)) turn = yield* anotherTurn(claim)
          isWaiting = false
          turn = undefined
          requests++
          sentAt = turns.toDatabase(turns.now())
        })
        const result = yield* AmlClient.beforeEachRequest(aml.check(person), awaitTurn).pipe(
          Effect.either,
          Effect.catchAllCause((cause) => isWaiting ? Effect.succeed(undefined) : Effect.failCause(cause))
        )
        // The service rejected an earlier request, if there was one, so it performed none.
        if (result === undefined) {
          yield* settle({ row, claim, outcome: "release", requests })
          return
        }
        const ending = Either.isRight(result)
          ? { outcome: yield* outcomeOf(row, result.right), isServiceFailure: false }
          : yield* consequenceOf(row, result.left)
        if (ending.isServiceFailure !== undefined) failing = ending.isServiceFailure ? failing + 1 : 0
        // A client of its own kind may not report its requests. The ledger never counts too few.
        yield* settle({ row, claim, requests: isWaiting ? requests : Math.max(1, requests), sentAt, ...ending })
      }).pipe(
        Effect.withParentSpan(claim.span),
        Effect.onError((cause) => Deferred.failCause(broken, cause))
      )

    /** Fails if a response cannot be encrypted. */
    const broken = yield* Deferred.make<never, EncryptionKeyError>()

    const outcomeOf = (row: Ledger.Claim, check: AmlCheck.AmlCheck) =>
      Effect.gen(function*() {
        const outcome = Outcome.ofCheck(check, ledger.salt, policy)
        if (policy.evidence === "digest") return outcome
        const text = yield* Effect.orDie(Outcome.evidenceText(check))
        return { ...outcome, evidence: yield* people.encrypt(id, row.id, text) }
      })

    /** What a failure means for the row, and for all workers. A pause is stored first, so that others begin to wait. */
    const consequenceOf = (row: Ledger.Claim, failure: AmlFailure.Failure) =>
      Effect.gen(function*() {
        const { isServiceFailure, pause, row: outcome, stop } = Outcome.ofFailure(failure, row.timesSent + 1)
        if (pause !== undefined) {
          wasFailing = true
          storingPauses++
          const { pausedFor, pauses } = yield* ledger.pauseService(service, pause.millis).pipe(
            // The settler fails too, if the database stays unavailable.
            Effect.orElseSucceed(() => ({ pausedFor: pause.millis ?? 1000, pauses: 0 })),
            Effect.ensuring(Effect.sync(() => storingPauses--))
          )
          pausedUntil = Math.max(pausedUntil, turns.now() + pausedFor)
          yield* sayPause(pauses)
          yield* Metric.increment(Metrics.pauses)
          if (pauses >= policy.stopAfter) yield* stopAll(`${pauses} pauses in a row, the last one ${describe(failure)}`)
        }
        if (stop !== undefined) yield* stopAll(stop)
        return { outcome, isServiceFailure, failure }
      })

    const describe = (failure: AmlFailure.Failure) => `${failure._tag}: ${failure.message}`

    /** Pauses the run for all workers, until an operator resumes it. */
    const stopAll = (reason: string) => Effect.zipRight(end, Effect.ignore(ledger.pause(id, reason)))

    /** Counts the failures in a row, in the order of the group. */
    const countFailures = (group: ReadonlyArray<Ended>) =>
      Effect.gen(function*() {
        let resets = false
        let count = 0
        let last: AmlFailure.Failure | undefined
        for (const { failure, isServiceFailure } of group) {
          if (isServiceFailure === undefined) continue
          resets ||= !isServiceFailure
          count = isServiceFailure ? count + 1 : 0
          last = failure
        }
        if (count === 0 && !(resets && wasFailing)) return
        wasFailing = count > 0
        const failures = yield* ledger.countFailures(id, { resets, count })
        // Another worker may have had a response. Failures that wait to be counted are not in the sum.
        if (notSettled === group.length) failing = failures
        if (resets) yield* ledger.resetPauses(service)
        if (failures >= policy.stopAfter && last !== undefined) {
          yield* stopAll(`${policy.stopAfter} failures in a row, the last one ${describe(last)}`)
        }
      })

    const settleGroup = (group: ReadonlyArray<Ended>) =>
      Effect.gen(function*() {
        const settlements = group.flatMap(({ outcome, requests, row: { line, token }, sentAt }) =>
          outcome === "release" ? [] : [{ line, token, requests, sentAt, outcome }]
        )
        const releases = group.flatMap(({ outcome, requests, row: { line, token } }) =>
          outcome === "release" ? [{ line, token, requests }] : []
        )
        if (releases.length > 0) yield* ledger.release(id, releases)
        if (settlements.length > 0) {
          const { amended, settled } = yield* ledger.settle(id, settlements)
          for (const { line, outcome } of settlements) {
            if (settled.has(line)) yield* Metric.increment(WorkerMetrics.outcomes[outcome.state])
          }
          if (amended > 0) {
            yield* Effect.logWarning(
              `Run ${id} was amended: ${amended} results arrived after it was complete, or after other workers screened ` +
                "the rows again. Write its report again."
            )
          }
        }
        yield* countFailures(group)
        for (const { claim } of group) yield* leave(claim)
        notSettled -= group.length
      })

    const settler = Effect.gen(function*() {
      while (true) {
        const first = yield* Queue.take(ended)
        yield* Effect.sleep(groupingTime)
        yield* settleGroup([first, ...yield* Queue.takeAll(ended)])
      }
    })

    const watcher = Effect.gen(function*() {
      const state = yield* ledger.workerState(id, service)
      if (Option.isNone(state) || state.value.state !== "open") {
        yield* end
        return
      }
      const { failuresInRow, pausedFor, pauses } = state.value
      policy = state.value.policy
      pausedUntil = turns.now() + pausedFor
      if (pausedFor > 0) yield* sayPause(pauses)
      // A response during a pause does not reset the pauses, but the first one after it does.
      if (failuresInRow > 0 || (pauses > 0 && pausedFor <= 0)) wasFailing = true
      if (clockSetBack !== undefined && state.value.clockSetBack > clockSetBack) yield* saySetBack
      clockSetBack = state.value.clockSetBack
    }).pipe(Effect.repeat(Schedule.fixed(watchPeriod)))

    const renewLeases = Effect.gen(function*() {
      const done = endedTokens.splice(0)
      if (done.length > 0) yield* ledger.endLeases(done)
      const from = turns.now()
      const held = [...claims.values()]
      if (held.length === 0) return
      const renewed = yield* ledger.renew(held.map(({ token }) => token), leaseMillis)
      for (const claim of held) {
        if (renewed.has(claim.token)) claim.leasedUntil = from + leaseMillis
        else if (claims.delete(claim.token)) {
          claim.leasedUntil = 0
          yield* Metric.increment(Metrics.leasesLost)
        }
      }
    })

    const every = (period: Duration.DurationInput, effect: Effect.Effect<void, Ledger.Failure>) =>
      Effect.forever(Effect.delay(effect, period))

    const working = Effect.raceFirst(
      claimer,
      Effect.all([sender, shooter, watcher, every(Duration.times(lease, takeOverPart), takeOver)], {
        concurrency: "unbounded",
        discard: true
      })
    )

    /** Stores the outcomes of the checks in flight, and releases the other rows, even after an interruption. */
    const finish = Effect.gen(function*() {
      yield* places.withPermits(concurrency)(Effect.void)
      yield* Effect.repeat(Effect.sleep("2 millis"), { until: () => notSettled === 0 })
      const tokens = [...claims.keys()]
      if (tokens.length > 0) yield* ledger.releaseAll(id, tokens)
      yield* ledger.endLeases([...tokens, ...endedTokens])
    })

    yield* Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        // Daemons, because the checks in flight need them after an interruption.
        const keeper = yield* Effect.forkDaemon(Effect.interruptible(
          Effect.all([settler, every(Duration.times(lease, 1 / 3), renewLeases)], { concurrency: 2, discard: true })
        ))
        const kept = Fiber.join(keeper)
        const worked = yield* Effect.exit(restore(
          working.pipe(
            Effect.raceFirst(Deferred.await(over)),
            Effect.raceFirst(Deferred.await(broken)),
            Effect.raceFirst(kept)
          )
        ))
        isOver = true
        yield* Deferred.succeed(over, undefined)
        // Without the settler, the outcomes that `finish` waits for are never stored.
        const finished = yield* Effect.exit(Effect.raceFirst(Effect.interruptible(finish), Effect.interruptible(kept)))
        yield* Fiber.interrupt(keeper)
        const exit = Exit.zipRight(worked, finished)
        for (const { span } of claims.values()) {
          span.end(yield* Effect.map(Effect.clock, (c) => c.unsafeCurrentTimeNanos()), exit)
        }
        return yield* exit
      })
    )

    const state = yield* ledger.workerState(id, service)
    if (Option.isSome(state) && state.value.state === "paused") {
      return yield* new RunPaused({ run: id, reason: state.value.reason ?? "operator" })
    }
  }).pipe(
    // The rows of the ledger decide whether a check is sent again.
    AmlClient.withPolicy({ retry: "never" })
  )
