/** Maps a stream with many fibers. If the consumer stops, the started fibers may finish within a grace period. */
import * as Chunk from "effect/Chunk"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { constTrue, constVoid } from "effect/Function"
import * as Mailbox from "effect/Mailbox"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

export interface Options<E> {
  readonly concurrency: number
  readonly order: "input" | "completion"
  /** How long started fibers may run after the consumer stops. Then they are interrupted, and awaited. */
  readonly gracePeriod: Duration.Duration
  /** Runs for each element that is taken from its chunk, before it starts. */
  readonly onTaken: () => void
  /**
   * Runs once after `stop` has failed, with the number of elements of the last chunk for which `onTaken` did not run.
   */
  readonly onNotStarted: (count: number) => void
  /** Runs before each element is taken, and returns when the element may start. */
  readonly waitForSlot: Effect.Effect<void>
  /**
   * Once this fails, no further element starts, and the stream fails with its error. It is interrupted when the stream
   * ends.
   */
  readonly stop: Deferred.Deferred<never, E>
}

/**
 * Pulls the elements of the chunks one by one. `dropRest` drops and counts the remaining elements of the last chunk.
 */
const oneByOne = <A, E, R>(self: Stream.Stream<A, E, R>, onTaken: () => void) =>
  Effect.map(Stream.toPull(self), (pull) => {
    let chunk = Chunk.empty<A>()[Symbol.iterator]()
    const refill = Effect.map(pull, (nextChunk) => {
      chunk = nextChunk[Symbol.iterator]()
    })
    const element: Effect.Effect<A, Option.Option<E>, R> = Effect.suspend(() => {
      const next = chunk.next()
      if (next.done === true) return Effect.zipRight(refill, element)
      onTaken()
      return Effect.succeed(next.value)
    })
    const dropRest = () => {
      let count = 0
      while (chunk.next().done !== true) count++
      return count
    }
    return { element, dropRest }
  })

export const map = <A, B, E, R, E2, R2>(
  self: Stream.Stream<A, E, R>,
  f: (a: A) => Effect.Effect<B, never, R2>,
  { concurrency, gracePeriod, onNotStarted, onTaken, order, stop, waitForSlot }: Options<E2>
): Stream.Stream<B, E | E2, R | R2> =>
  Stream.unwrapScoped(Effect.gen(function*() {
    const input = yield* oneByOne(self, onTaken)
    const fibers = yield* Scope.make()
    const permits = yield* Effect.makeSemaphore(concurrency)
    const results = yield* order === "input"
      ? resultsInInputOrder<B, E | E2>(concurrency)
      : resultsInCompletionOrder<B, E | E2>(concurrency)

    // All permits are free only when no fiber runs.
    const awaitFibers = permits.withPermits(concurrency)(Effect.void)

    /**
     * Starts a fiber for `a`. The caller has taken a permit, which the fiber releases after it has delivered its
     * result.
     */
    const start = (a: A): Effect.Effect<unknown, never, R2> =>
      Effect.flatMap(results.reserve, (deliver): Effect.Effect<unknown, never, R2> => {
        if (deliver === undefined) return permits.release(1)
        const run = Effect.flatMap(
          Effect.exit(Effect.interruptible(f(a))),
          (exit) =>
            Effect.zipRight(deliver(exit), Exit.isSuccess(exit) ? Effect.void : Deferred.failCause(stop, exit.cause))
        )
        return Effect.forkIn(Effect.zipRight(run, permits.release(1)), fibers)
      })

    const next = Effect.uninterruptibleMask((restore) =>
      Effect.zipRight(
        restore(permits.take(1)),
        Effect.matchCauseEffect(restore(Effect.zipRight(waitForSlot, input.element)), {
          onSuccess: start,
          onFailure: (cause) => Effect.zipRight(permits.release(1), Effect.failCause(cause))
        })
      )
    )

    /** Starts elements until the input ends or fails, or `stop` fails, and then waits for the started fibers. */
    const startAll = Effect.whileLoop({ while: constTrue, body: () => next, step: constVoid }).pipe(
      Effect.catchAll(Option.match({ onNone: () => Effect.void, onSome: Effect.fail })),
      Effect.raceFirst(Deferred.await(stop)),
      Effect.exit,
      Effect.zipLeft(awaitFibers),
      Effect.flatMap((exit) =>
        Effect.flatMap(
          Deferred.poll(stop),
          Option.match({
            onNone: () => results.done(exit),
            onSome: (stopFailure) => {
              onNotStarted(input.dropRest())
              return Effect.flatMap(Effect.exit(stopFailure), (exit) => results.done(exit))
            }
          })
        )
      ),
      Effect.interruptible,
      Effect.forkIn(fibers)
    )

    yield* Effect.acquireRelease(startAll, (starter) =>
      Effect.gen(function*() {
        yield* Deferred.interrupt(stop)
        // The consumer has gone: fibers that wait to deliver a result must not wait any longer.
        yield* results.shutdown
        yield* Fiber.interrupt(starter)
        yield* awaitFibers.pipe(Effect.interruptible, Effect.timeoutOption(gracePeriod))
        yield* Scope.close(fibers, Exit.void)
      }))

    return results.stream
  }))

/** Passes the results of the fibers to the consumer. */
interface Results<B, E> {
  /**
   * Runs before a fiber starts. Returns the function that delivers its result, or `undefined` if the consumer has gone.
   */
  readonly reserve: Effect.Effect<((result: Exit.Exit<B>) => Effect.Effect<unknown>) | undefined>
  readonly done: (exit: Exit.Exit<void, E>) => Effect.Effect<unknown>
  readonly shutdown: Effect.Effect<unknown>
  readonly stream: Stream.Stream<B, E>
}

const resultsInCompletionOrder = <B, E>(capacity: number): Effect.Effect<Results<B, E>> =>
  Effect.map(Mailbox.make<B, E>(capacity), (results) => ({
    reserve: Effect.succeed((result) => Exit.isSuccess(result) ? results.offer(result.value) : Effect.void),
    done: (exit) => results.done(exit),
    shutdown: results.shutdown,
    stream: Mailbox.toStream(results)
  }))

const resultsInInputOrder = <B, E>(capacity: number): Effect.Effect<Results<B, E>> =>
  Effect.map(Mailbox.make<Deferred.Deferred<B>, E>(capacity), (results) => ({
    reserve: Effect.flatMap(
      Deferred.make<B>(),
      (result) =>
        Effect.map(
          results.offer(result),
          (isOpen) => isOpen ? (exit: Exit.Exit<B>) => Deferred.done(result, exit) : undefined
        )
    ),
    done: (exit) => results.done(exit),
    shutdown: results.shutdown,
    stream: Stream.mapEffect(Mailbox.toStream(results), Deferred.await)
  }))
