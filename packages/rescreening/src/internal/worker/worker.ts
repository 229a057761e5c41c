/**
 * A worker. Its fibers hand rows on: `claimer` (pending rows) → `sender` (takes turns, stores `sent`) → `starter` (sends
 * the request of a row at its turn) → the check → the settler. {@link RunState} notices pauses and changes of the policy.
 */
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
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import type * as People from "../../People.ts"
import { type EncryptionKeyError, RunPaused } from "../../RescreeningError.ts"
import type * as Run from "../../Run.ts"
import type * as Ledger from "../ledger/service.ts"
import * as Claims from "./claims.ts"
import * as Controls from "./controls.ts"
import * as Outcome from "./outcome.ts"
import * as RequestLimit from "./requestLimit.ts"
import * as Results from "./results.ts"
import * as RunState from "./runState.ts"
import * as Settler from "./settler.ts"
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

/** A row on its way through the worker. */
interface Item {
  readonly row: Ledger.Claim
  readonly claim: Claims.Claim
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
interface ScheduledCheck {
  readonly item: Item
  readonly at: number
  readonly batch: Batch
}

/** The period in which a worker takes over the rows of ended leases, as a part of its own lease. */
const takeOverPart = 1 / 6

/** A worker claims at least this many rows at once: few, because the rows that one worker holds are not for others. */
const fewestClaimed = 10

/** The first wait for the rows that other workers hold. It doubles while there is nothing to claim. */
const shortestWait = Duration.millis(200)

/** A row that was unknown this often needs a review, under any policy. */
export const maxUnknown = 3

/** Works until each row of the run has an outcome. */
export const work = (
  { aml, ledger, people }: Services,
  { concurrency, lease, run }: Settings
): Effect.Effect<void, Failure | RunPaused> =>
  Effect.gen(function*() {
    const { id, service } = run
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
    const scheduled = yield* Queue.unbounded<ScheduledCheck>()
    const { now } = turns
    const state = yield* RunState.make(ledger, { id, service, policy: run.policy, now })
    const claims = Claims.make(ledger, { run: id, lease: leaseMillis, now })
    const settler = yield* Settler.make(ledger, { run: id, claims, state })
    const { settle } = settler
    const limit = RequestLimit.make(ledger, {
      id,
      now,
      state,
      turnsAhead: () => turns.size(state.policy().rate)
    })

    const { isOfEnvironment, outcomeOf } = Results.make({ ledger, people, run, state })
    const controls = yield* Controls.make(
      { aml, ledger, people },
      { run, lease, state, turns, limit, places, isOfEnvironment }
    )

    /** Makes rows whose worker lost its lease pending or unknown and, if the policy says so, unknown rows pending. */
    const takeOver = Effect.gen(function*() {
      const { voided } = yield* ledger.expire(id)
      if (voided > 0) yield* state.saySetBack
      if (state.policy().unknown === "rescreen") yield* ledger.rescreen(id, "unknown", { maxUnknown, reopens: false })
    })

    const claimRows = Effect.gen(function*() {
      const most = Math.max(fewestClaimed, 2 * turns.size(state.policy().rate)) - (yield* Queue.size(ready))
      const taken = yield* claims.take(Math.max(1, most))
      if (taken === undefined) return { claimed: 0, accepted: 0 }
      const { claim, rows } = taken
      let accepted = 0
      yield* Effect.forEach(
        rows,
        (row) =>
          Effect.matchEffect(people.load(id, row.id, row.person), {
            onFailure: (error) =>
              error._tag === "AmlInputRejected"
                ? settle({ row, claim, outcome: Outcome.ofRejected(error), requests: 0 })
                : Effect.fail(error),
            onSuccess: (person) => {
              accepted++
              return Queue.offer(ready, { row, claim, person, isSent: false })
            }
          }),
        { concurrency: people.kind === "lookup" ? concurrency : 1, discard: true }
      )
      return { claimed: rows.length, accepted }
    })

    /** Claims rows until the run is complete. */
    const claimer = Effect.gen(function*() {
      const longestWait = Duration.min("2 seconds", Duration.times(lease, takeOverPart))
      let wait = shortestWait
      while (true) {
        yield* takeOver
        let count = 0
        for (let rows = yield* claimRows; rows.claimed > 0; rows = yield* claimRows) {
          count += rows.claimed
          // The sender asks for more rows after it has sent some. Rejected people leave nothing to send.
          if (rows.accepted > 0) yield* Queue.take(demand)
        }
        // Rows with fewer unknown outcomes than this are screened again, so the run is not complete.
        if (yield* ledger.complete(id, { unknown: state.policy().unknown === "rescreen" ? maxUnknown : 0 })) return
        if (count === 0) yield* controls.confirm
        // Others, or the rest of this worker, hold the remaining rows, and may lose or release them.
        if (count === 0) yield* Effect.sleep(wait)
        wait = count === 0 ? Duration.min(Duration.times(wait, 2), longestWait) : shortestWait
      }
    })

    const releaseItems = (items: ReadonlyArray<Item>) => {
      for (const { claim, isSent } of items) if (isSent) limit.put(claim)
      return Effect.forEach(items, ({ claim, row }) => settle({ row, claim, outcome: "release", requests: 0 }), {
        discard: true
      })
    }

    /** Takes turns for rows, and stores `sent` shortly before the first turn, so that few rows wait for theirs. */
    const sender = Effect.gen(function*() {
      while (true) {
        yield* places.withPermits(1)(Effect.void)
        // A row that is stored as sent would be unknown if the worker ended in the pause.
        if (state.isPaused()) yield* releaseItems(Chunk.toReadonlyArray(yield* Queue.takeAll(ready)))
        while (state.isPaused()) yield* Effect.sleep("20 millis")
        yield* Queue.offer(demand, undefined)
        // If an interruption loses the rows here, `finish` releases them.
        const taken = Chunk.toReadonlyArray(yield* Queue.takeBetween(ready, 1, turns.size(state.policy().rate)))
        // Rows that are stored as sent do not wait for a round.
        const sentBefore = run.controls === 0 ? [] : taken.filter(({ isSent }) => isSent)
        if (sentBefore.length > 0) yield* Queue.offerAll(ready, taken.filter(({ isSent }) => !isSent))
        yield* sendItems(sentBefore.length > 0 ? sentBefore : taken)
      }
    })

    const sendItems = (taken: ReadonlyArray<Item>) =>
      Effect.gen(function*() {
        const sentBefore = taken.filter(({ isSent }) => isSent)
        const others = taken.filter(({ isSent }) => !isSent)
        const granted = yield* limit.take(yield* controls.take(others.length))
        yield* releaseItems(others.slice(granted))
        const items = [...sentBefore, ...others.slice(0, granted)]
        if (items.length === 0) return
        const times = yield* turns.take(state.policy().rate, items.length)
        const wait = turns.sendAt(times[0] ?? 0) - now()
        if (wait > 0) yield* Effect.sleep(wait)
        const notSent = items.filter(({ isSent }) => !isSent)
        const from = now()
        const sent = notSent.length === 0
          ? new Set<number>()
          : yield* ledger.send(id, notSent.map(({ row }) => row), service)
        if (sent.size > 0) turns.sendTook(now() - from)
        for (const { claim, row } of notSent) if (!sent.has(row.line)) limit.put(claim)
        const leaving = items.filter(({ isSent, row }) => isSent || sent.has(row.line))
        const batch: Batch = { count: leaving.length, left: leaving.length, used: 0, isBlocked: false }
        for (const [index, item] of leaving.entries()) {
          yield* Queue.offer(scheduled, { item: { ...item, isSent: true }, at: times[index] ?? 0, batch })
        }
        // The run or the service is paused, or the lease ended.
        yield* releaseItems(items.filter((item) => !leaving.includes(item)))
      })

    /**
     * Decides at the turn of a row whether its request may leave. Otherwise the row waits for another turn, before rows
     * that are not sent yet, or for another worker.
     */
    const mayLeave = ({ at, batch, item }: ScheduledCheck, waited: number) =>
      Effect.gen(function*() {
        const isLate = turns.isLate(at)
        if (!isLate) batch.used++
        else if (waited > Turns.maxLateness) batch.isBlocked = true
        if (--batch.left === 0) turns.used(batch)
        if (state.isPaused() || state.isOver()) {
          const others = Chunk.toReadonlyArray(yield* Queue.takeAll(scheduled))
          yield* releaseItems([item, ...others.map(({ item }) => item)])
          return false
        }
        if (!claims.isLeased(item.claim)) yield* releaseItems([item])
        else if (isLate) yield* Queue.offerAll(ready, [item, ...yield* Queue.takeAll(ready)])
        else return true
        return false
      })

    const starter = Effect.gen(function*() {
      while (true) {
        const next = yield* Queue.take(scheduled)
        const wait = next.at - now()
        if (wait >= 1) yield* Effect.sleep(wait)
        yield* Effect.uninterruptibleMask((restore) =>
          Effect.gen(function*() {
            const from = now()
            yield* restore(places.take(1))
            const leave = places.release(1)
            yield* (yield* mayLeave(next, now() - from))
              ? Effect.forkDaemon(Effect.interruptible(Effect.ensuring(check(next), leave)))
              : leave
          })
        )
      }
    })

    /** Waits for another turn, or interrupts a check whose request may not leave any more. */
    const anotherTurn = (claim: Claims.Claim) =>
      Effect.gen(function*() {
        const [at = 0] = yield* turns.take(state.policy().rate, 1)
        const wait = at - now()
        if (wait >= 1) yield* Effect.sleep(wait)
        return state.isPaused() || state.isOver() || !claims.isLeased(claim) ? yield* Effect.interrupt : at
      }).pipe(Effect.catchAll(() => Effect.interrupt))

    /**
     * Screens a row. It is not interrupted; the check has a deadline, so this ends. Its first request uses the turn of the
     * row, unless the token came too late. A request that repeats one after a 401 takes another turn.
     */
    const check = ({ at, item: { claim, person, row } }: ScheduledCheck) =>
      Effect.gen(function*() {
        let sentAt = turns.toDatabase(now())
        let requests = 0
        let turn: number | undefined = at
        let isWaiting = false
        const awaitTurn = Effect.gen(function*() {
          isWaiting = true
          // The first request was taken before the row was stored as sent.
          const isWithinLimit = requests === 0 || (yield* Effect.orElseSucceed(limit.take(1), () => 0)) > 0
          if (!isWithinLimit) return yield* Effect.interrupt
          while (turn === undefined || turns.isLate(turn)) turn = yield* anotherTurn(claim)
          isWaiting = false
          turn = undefined
          requests++
          sentAt = turns.toDatabase(now())
        })
        const result = yield* AmlClient.beforeEachRequest(aml.check(person), awaitTurn).pipe(
          Effect.either,
          Effect.catchAllCause((cause) => isWaiting ? Effect.succeed(undefined) : Effect.failCause(cause))
        )
        // The service rejected an earlier request, if there was one, so it performed none.
        if (result === undefined) {
          if (requests === 0) limit.put(claim)
          yield* settle({ row, claim, outcome: "release", requests })
          return
        }
        const ending = Either.isRight(result)
          ? { outcome: yield* outcomeOf(row, person, result.right), isServiceFailure: false }
          : yield* consequenceOf(row, result.left)
        state.ended(ending)
        // A client of its own kind may not report its requests. The ledger never counts too few.
        const counted = isWaiting ? requests : Math.max(1, requests)
        if (counted === 0) limit.put(claim)
        yield* settle({ row, claim, requests: counted, sentAt, ...ending })
      }).pipe(
        Effect.withParentSpan(claim.span),
        Effect.onError((cause) => Deferred.failCause(broken, cause))
      )

    /** Fails if a response cannot be encrypted. */
    const broken = yield* Deferred.make<never, EncryptionKeyError>()

    /** What a failure means for the row, and for all workers. */
    const consequenceOf = (row: Ledger.Claim, failure: AmlFailure.Failure) =>
      Effect.gen(function*() {
        const { isServiceFailure, pause, row: outcome, stop } = Outcome.ofFailure(failure, row.timesSent + 1)
        if (pause !== undefined) yield* state.pause(failure, pause.millis)
        if (stop !== undefined) yield* state.stopAll(stop)
        return { outcome, isServiceFailure, failure }
      })

    const every = (period: Duration.DurationInput, effect: Effect.Effect<void, Ledger.Failure>) =>
      Effect.forever(Effect.delay(effect, period))

    const working = Effect.raceFirst(
      claimer,
      Effect.all([sender, starter, state.watch, controls.run, every(Duration.times(lease, takeOverPart), takeOver)], {
        concurrency: "unbounded",
        discard: true
      })
    )

    /** Stores the outcomes of the checks in flight, and releases the other rows, even after an interruption. */
    const finish = Effect.gen(function*() {
      yield* places.withPermits(concurrency)(Effect.void)
      yield* settler.allSettled
      yield* claims.release
    })

    yield* Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        // Daemons, because the checks in flight need them after an interruption.
        const keeper = yield* Effect.forkDaemon(Effect.interruptible(
          Effect.all([settler.run, every(Duration.times(lease, 1 / 3), claims.renew)], {
            concurrency: 2,
            discard: true
          })
        ))
        const kept = Fiber.join(keeper)
        const worked = yield* Effect.exit(restore(
          working.pipe(
            Effect.raceFirst(state.over),
            Effect.raceFirst(Deferred.await(broken)),
            Effect.raceFirst(kept)
          )
        ))
        yield* state.end
        // Without the settler, the outcomes that `finish` waits for are never stored.
        const finished = yield* Effect.exit(Effect.raceFirst(Effect.interruptible(finish), Effect.interruptible(kept)))
        yield* Fiber.interrupt(keeper)
        const exit = Exit.zipRight(worked, finished)
        yield* claims.endSpans(exit)
        return yield* exit
      })
    )

    const after = yield* ledger.workerState(id, service)
    if (Option.isSome(after) && after.value.state === "paused") {
      const { control_failed: doubtful } = yield* ledger.counts(id)
      const reason = after.value.reason ?? "operator"
      return yield* new RunPaused({
        run: id,
        reason: doubtful === 0 ? reason : `${reason}: ${doubtful} results since the last good control are doubtful`
      })
    }
  }).pipe(
    // The rows of the ledger decide whether a check is sent again.
    AmlClient.withPolicy({ retry: "never" })
  )
