/**
 * The turns of a worker: when it may send its next requests, by the rate that all workers share. It takes turns ahead, so
 * that the rate does not depend on the distance to the database. Times are in milliseconds of the worker's own clock.
 */
import * as Effect from "effect/Effect"
import type * as Ledger from "../ledger/service.ts"

/**
 * A second with this margin has as many turns as the rate. It is more than {@link maxLateness}, so that late requests
 * and those of the next second together keep within the rate, with 20 milliseconds for the network.
 */
const secondWithMargin = 1040

/** A turn that is later than this is forfeited. */
export const maxLateness = 20

/** How far ahead a worker takes turns, apart from the time of the statements. Another worker waits about this long. */
const ahead = 50

/**
 * The time for the statement that stores `sent`, beyond the time that it usually takes: a busy machine is late now and
 * then.
 */
const slack = 30

/** The longest time of the last few statements. One that waited for the database says nothing about the next ones. */
const longest = (before: number, last: number) => Math.max(Math.min(last, 400), before / 2)

/** An estimate of the database's clock: it shows `offset` more than this worker's, give or take `error`. */
interface ClockEstimate {
  readonly offset: number
  readonly error: number
  readonly at: number
}

/** How much less certain an estimate becomes in a millisecond, because clocks differ in speed. */
const drift = 0.001

export const make = (
  ledger: Pick<Ledger.Service, "turns">,
  { firstRate, mostAtOnce, service }: {
    readonly service: string
    readonly firstRate: number
    readonly mostAtOnce: number
  }
) =>
  Effect.map(Effect.clock, (clock) => {
    // Not the wall clock, which may be set.
    const now = () => Number(clock.unsafeCurrentTimeNanos()) / 1e6
    let estimate: ClockEstimate | undefined
    let takeTime = 0
    let sendTime = 0
    let size = Math.ceil(firstRate / 10)

    /** The database read its clock between the times `from` and `at`. The most exact estimate counts. */
    const observe = (databaseTime: number, from: number, at: number) => {
      const error = (at - from) / 2
      const offset = databaseTime - (from + at) / 2
      const isBetter = estimate === undefined ||
        error <= estimate.error + (at - estimate.at) * drift ||
        // The clock of the database was set.
        Math.abs(offset - estimate.offset) > error + estimate.error + (at - estimate.at) * drift + slack
      if (isBetter) estimate = { offset, error, at }
    }

    const interval = (rate: number) => secondWithMargin / rate

    /** The time from the statement that takes turns to the first request. An earlier turn would always be late. */
    const lead = () => takeTime + sendTime * 1.2 + 2 * slack

    const readClock = Effect.gen(function*() {
      const from = now()
      const found = yield* ledger.turns(service, { count: 0, interval: 0, lead: 0 })
      observe(found.now, from, now())
    })

    return {
      now,
      isLate: (at: number) => now() - at > maxLateness,
      /** The database's time at a time of this worker. */
      toDatabase: (at: number) => at + (estimate?.offset ?? 0),
      /** How many turns to take next: as many as the last requests used, and at first those of 100 ms. */
      size: (rate: number) => {
        const most = (ahead + 2 * (takeTime + sendTime + slack)) / interval(rate)
        return Math.max(1, Math.min(mostAtOnce, Math.ceil(most), size))
      },
      /** Takes turns. */
      take: (rate: number, count: number) =>
        Effect.gen(function*() {
          // The first statement also connects, so it does not show the difference of the clocks.
          if (estimate === undefined) yield* Effect.replicateEffect(readClock, 2)
          const from = now()
          const found = yield* ledger.turns(service, { count, interval: interval(rate), lead: lead() })
          const at = now()
          takeTime = longest(takeTime, at - from)
          observe(found.now, from, at)
          const first = found.first - (estimate?.offset ?? 0)
          return Array.from({ length: count }, (_, index) => first + index * interval(rate))
        }),
      /** When to store `sent` for a turn at this time. */
      sendAt: (at: number) => at - sendTime * 1.2 - slack,
      /** How long it took to store `sent`. */
      sendTook: (millis: number) => {
        sendTime = longest(sendTime, millis)
      },
      /**
       * A batch of this many turns has ended. If it was blocked, the service is slower than the rate; if some turns were
       * late, this worker or its machine is.
       */
      used: (
        { count, isBlocked, used }: { readonly count: number; readonly used: number; readonly isBlocked: boolean }
      ) => {
        if (used === count) size = Math.min(mostAtOnce, Math.max(size, count * 2))
        else size = isBlocked ? used + 1 : Math.max(used + 1, Math.ceil(count / 2))
      }
    }
  })

export type Turns = Effect.Effect.Success<ReturnType<typeof make>>
