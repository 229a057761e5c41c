/** Maps a stream with many fibers. If the consumer stops, the started fibers may finish within a grace period. */
import * as Chunk from "effect/Chunk"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import { constTrue, constVoid } from "effect/Function"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Places from "../check/places.ts"

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
  /** Runs before the next element is read, so that none is read long before it may start. */
  readonly awaitSlot: Effect.Effect<void>
  /** Runs once the next element is read, and returns when it may start, because a slow input may outlast the slot. */
  readonly takeSlot: Effect.Effect<void>
  /**
   * Once this fails, no further element starts, and the stream fails with its error. It is interrupted when the stream
   * ends.
   */
  readonly stop: Deferred.Deferred<never, E>
}

/**
 * Reads the elements of the chunks one by one: `peek` returns the next one, and `take` takes it. `dropRest` drops and
 * counts the remaining elements of the last chunk.
 */
const oneByOne = <A, E, R>(self: Stream.Stream<A, E, R>, onTaken: () => void) =>
  Effect.map(Stream.toPull(self), (pull) => {
    let rest = Chunk.empty<A>()[Symbol.iterator]()
    let next = rest.next()
    const peek: Effect.Effect<A, Option.Option<E>, R> = Effect.suspend(() =>
      next.done !== true ? Effect.succeed(next.value) : Effect.flatMap(pull, (chunk) => {
        rest = chunk[Symbol.iterator]()
        next = rest.next()
        return peek
      })
    )
    const take = (): void => {
      next = rest.next()
      onTaken()
    }
    const dropRest = () => {
      let count = 0
      for (; next.done !== true; next = rest.next()) count++
      return count
    }
    return { peek, take, dropRest }
  })

/** `f` runs in an uninterruptible region, and decides which of its effects the end of the grace period interrupts. */
export const map = <A, B, E, R, E2, R2>(
  self: Stream.Stream<A, E, R>,
  f: (a: A) => Effect.Effect<B, never, R2>,
  { awaitSlot, concurrency, gracePeriod, onNotStarted, onTaken, order, stop, takeSlot }: Options<E2>
): Stream.Stream<B, E | E2, R | R2> =>
  Stream.unwrapScoped(Effect.gen(function*() {
    const input = yield* oneByOne(self, onTaken)
    // After the grace period all fibers are interrupted at once: none waits for the end of another.
    const fibers = yield* Scope.make(ExecutionStrategy.parallel)
    const places = Places.make(concurrency)
    const results = order === "input"
      ? resultsInInputOrder<B, E | E2>(concurrency)
      : resultsInCompletionOrder<B, E | E2>(concurrency)

    /** Returns the next element once it may start. */
    const awaitStart = (place: Places.Place) =>
      place.granted.pipe(
        Effect.zipRight(results.awaitSpace),
        Effect.zipRight(awaitSlot),
        Effect.zipRight(input.peek),
        Effect.zipLeft(takeSlot)
      )

    /** Starts a fiber for `a`, which is the next element. Returns `undefined` if the consumer has gone. */
    const start = (a: A, place: Places.Place): Effect.Effect<unknown, never, R2> | undefined => {
      const deliver = results.reserve()
      if (deliver === undefined) return undefined
      input.take()
      const run = Effect.flatMap(
        Effect.exit(f(a)),
        (exit) =>
          Effect.zipRight(deliver(exit), Exit.isSuccess(exit) ? Effect.void : Deferred.failCause(stop, exit.cause))
      )
      return Effect.forkIn(Effect.zipRight(run, Effect.sync(place.leave)), fibers)
    }

    /** An interruption between taking an element and starting its fiber would lose the element. */
    const next = Effect.uninterruptibleMask((restore) => {
      const place = places.enter()
      const startNext = Effect.flatMap(restore(awaitStart(place)), (a) =>
        Effect.flatMap(Deferred.isDone(stop), (isStopped) =>
          // After `stop`, or after the consumer has gone, this fiber is interrupted.
          (isStopped ? undefined : start(a, place)) ?? restore(Effect.never)))
      return Effect.tapErrorCause(startNext, () =>
        Effect.sync(place.leave))
    })

    /** Starts elements until the input ends or fails, or `stop` fails, and then waits for the started fibers. */
    const startAll = Effect.whileLoop({
      while: constTrue,
      body: () =>
        next,
      step: constVoid
    }).pipe(
      Effect.catchAll(Option.match({
        onNone: () => Effect.void,
        onSome: Effect.fail
      })),
      Effect.raceFirst(Deferred.await(stop)),
      Effect.exit,
      Effect.zipLeft(places.awaitAllFree),
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
        yield* places.awaitAllFree.pipe(Effect.interruptible, Effect.timeoutOption(gracePeriod))
        yield* Scope.close(fibers, Exit.void)
      }))

    return results.stream
  }))

/** Passes the results of the fibers to the consumer. */
interface Results<B, E> {
  /** Waits until `reserve` may be called. */
  readonly awaitSpace: Effect.Effect<void>
  /**
   * Runs before a fiber starts. Returns the function that delivers its result, or `undefined` if the consumer has gone.
   */
  readonly reserve: () => ((result: Exit.Exit<B>) => Effect.Effect<unknown>) | undefined
  readonly done: (exit: Exit.Exit<void, E>) => Effect.Effect<unknown>
  readonly shutdown: Effect.Effect<unknown>
  readonly stream: Stream.Stream<B, E>
}

const resultsInCompletionOrder = <B, E>(capacity: number): Results<B, E> => {
  const { done, offer, shutdown, stream } = makeBuffer<B, E>(capacity)
  const deliver = (result: Exit.Exit<B>) => Exit.isSuccess(result) ? offer(result.value) : Effect.void
  return { awaitSpace: Effect.void, reserve: () => deliver, done, shutdown, stream }
}

const resultsInInputOrder = <B, E>(capacity: number): Results<B, E> => {
  const { awaitSpace, done, shutdown, stream, unsafeOffer } = makeBuffer<Deferred.Deferred<B>, E>(capacity)
  const reserve = () => {
    const result = Deferred.unsafeMake<B>(FiberId.none)
    return unsafeOffer(result) ? (exit: Exit.Exit<B>) => Deferred.done(result, exit) : undefined
  }
  return { awaitSpace, reserve, done, shutdown, stream: Stream.mapEffect(stream, Deferred.await) }
}

/**
 * Passes elements to one consumer. A `Mailbox` of Effect 3 may wait for ever at the end: it misses an element or a place
 * that becomes available while its fiber yields between the look and the wait.
 */
const makeBuffer = <A, E>(capacity: number) => {
  let elements: Array<A> = []
  let end: Exit.Exit<void, E> | undefined
  const hasSpace = Effect.unsafeMakeLatch(true)
  const hasElements = Effect.unsafeMakeLatch(false)

  const close = (exit: Exit.Exit<void, E>): void => {
    end ??= exit
    hasSpace.unsafeOpen()
    hasElements.unsafeOpen()
  }

  /** Returns `false` if the buffer is full or closed. */
  const unsafeOffer = (element: A): boolean => {
    if (end !== undefined || elements.length >= capacity) return false
    elements.push(element)
    if (elements.length === capacity) hasSpace.unsafeClose()
    hasElements.unsafeOpen()
    return true
  }

  /** Waits for space, unless the buffer is closed. */
  const offer = (element: A): Effect.Effect<unknown> =>
    Effect.suspend(() =>
      unsafeOffer(element) || end !== undefined ? Effect.void : Effect.zipRight(hasSpace.await, offer(element))
    )

  const takeAll: Effect.Effect<Chunk.Chunk<A>, Option.Option<E>> = Effect.suspend(() => {
    if (elements.length > 0) {
      const taken = Chunk.unsafeFromArray(elements)
      elements = []
      hasSpace.unsafeOpen()
      if (end === undefined) hasElements.unsafeClose()
      return Effect.succeed(taken)
    }
    return end === undefined
      ? Effect.zipRight(hasElements.await, takeAll)
      : Effect.zipRight(Effect.mapError(end, Option.some), Effect.fail(Option.none()))
  })

  return {
    awaitSpace: hasSpace.await,
    offer,
    unsafeOffer,
    done: (exit: Exit.Exit<void, E>) => Effect.sync(() => close(exit)),
    shutdown: Effect.sync(() => {
      elements = []
      close(Exit.void)
    }),
    stream: Stream.repeatEffectChunkOption(takeAll)
  }
}
