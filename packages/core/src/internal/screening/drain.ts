/** Maps a stream with many workers. If the consumer stops, the started elements may finish within a grace period. */
import * as Cause from "effect/Cause"
import * as Chunk from "effect/Chunk"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
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
    // After the grace period all workers are interrupted at once: none waits for the end of another.
    const fibers = yield* Scope.make(ExecutionStrategy.parallel)
    const allEnded = Effect.unsafeMakeLatch(false)
    const results = order === "input"
      ? resultsInInputOrder<B, E | E2>(concurrency)
      : resultsInCompletionOrder<B, E | E2>(concurrency)
    let workers = 0
    /** Whether a worker takes the next element, or is about to. */
    let isTaking = false
    let taker: Fiber.RuntimeFiber<unknown, unknown> | undefined
    /** The workers that wait while another takes. */
    const waiting: Array<Effect.Latch> = []
    let isClosed = false
    let inputEnd: Exit.Exit<void, E> = Exit.void

    const startWorker = Effect.suspend(() => {
      workers++
      isTaking = true
      return Effect.forkIn(take, fibers)
    })

    /** Returns the next element once it may start. */
    const awaitStart = Effect.exit(Effect.interruptible(
      Effect.zipRight(results.awaitSpace, awaitSlot).pipe(
        Effect.zipRight(input.peek),
        Effect.zipLeft(takeSlot),
        Effect.mapErrorCause(Cause.flatMap(Option.match({ onNone: () => Cause.empty, onSome: Cause.fail })))
      )
    ))

    /** A worker: takes the next element, runs it, and takes another. Only one worker at a time takes. */
    const take: Effect.Effect<void, never, R | R2> = Effect.withFiberRuntime((fiber) => {
      if (isClosed) return end
      taker = fiber
      return Effect.flatMap(
        awaitStart,
        (next) =>
          Effect.flatMap(Deferred.isDone(stop), (isDone) => isDone ? end : Exit.match(next, { onFailure, onSuccess }))
      )
    })

    const onFailure = (cause: Cause.Cause<E>) => {
      inputEnd = Cause.isEmpty(cause) ? Exit.void : Exit.failCause(cause)
      return end
    }

    const onSuccess = (a: A): Effect.Effect<void, never, R | R2> => {
      // It was closed while this fiber yielded, and this fiber is interrupted.
      if (isClosed) return end
      taker = undefined
      input.take()
      const deliver = results.reserve()
      const run = Effect.flatMap(
        Effect.exit(f(a)),
        (exit) =>
          Effect.zipRight(deliver(exit), Exit.isSuccess(exit) ? Effect.void : Deferred.failCause(stop, exit.cause))
      )
      return Effect.zipRight(passTurn, Effect.zipRight(run, awaitTurn))
    }

    /** Lets another worker take, and starts one if all are busy and more are allowed. */
    const passTurn = Effect.suspend(() => {
      const next = waiting.pop()
      if (next !== undefined) return next.open
      isTaking = false
      return workers < concurrency ? startWorker : Effect.void
    })

    const awaitTurn = Effect.suspend(() => {
      if (!isTaking || isClosed) {
        isTaking = true
        return take
      }
      const turn = Effect.unsafeMakeLatch(false)
      waiting.push(turn)
      return Effect.zipRight(turn.await, take)
    })

    /** The first worker that ends makes the others end, and the last one ends the results. */
    const end = Effect.suspend(() => {
      isClosed = true
      for (const turn of waiting.splice(0)) turn.unsafeOpen()
      return --workers > 0 ? Effect.void : Effect.zipRight(endResults, allEnded.open)
    })

    const endResults = Effect.flatMap(
      Deferred.poll(stop),
      Option.match({
        onNone: () => results.done(inputEnd),
        onSome: (stopFailure) => {
          onNotStarted(input.dropRest())
          return Effect.flatMap(Effect.exit(stopFailure), (exit) => results.done(exit))
        }
      })
    )

    /** The worker that takes has no element, so its interruption loses none. */
    const close = Effect.sync(() => {
      isClosed = true
      taker?.unsafeInterruptAsFork(FiberId.none)
    })

    const closeAfterStop = Effect.zipRight(Effect.exit(Deferred.await(stop)), close)

    yield* Effect.acquireRelease(
      Effect.zipRight(Effect.forkIn(closeAfterStop, fibers), startWorker),
      () =>
        Effect.gen(function*() {
          yield* Deferred.interrupt(stop)
          yield* close
          // The consumer has gone: workers that wait to deliver a result must not wait any longer.
          yield* results.shutdown
          yield* allEnded.await.pipe(Effect.interruptible, Effect.timeoutOption(gracePeriod))
          yield* Scope.close(fibers, Exit.void)
        })
    )

    return results.stream
  }))

/** Passes the results of the fibers to the consumer. */
interface Results<B, E> {
  /** Waits until `reserve` may be called. */
  readonly awaitSpace: Effect.Effect<void>
  /**
   * Runs before an element starts. Returns the function that delivers its result.
   */
  readonly reserve: () => (result: Exit.Exit<B>) => Effect.Effect<unknown>
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
    unsafeOffer(result)
    return (exit: Exit.Exit<B>) => Deferred.done(result, exit)
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
