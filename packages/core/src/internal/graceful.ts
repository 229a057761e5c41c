/** A stream mapped by many fibers, which finish what they have begun when nobody listens any more. */
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Mailbox from "effect/Mailbox"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

export interface Options<E> {
  readonly concurrency: number
  readonly order: "input" | "completion"
  /** For how long they may finish. Then they are interrupted, and waited for. */
  readonly gracePeriod: Duration.Duration
  /** Waited for before each of them. */
  readonly turn: Effect.Effect<void>
  /** When it fails nobody new is taken, and the stream ends with it. It is interrupted at the end. */
  readonly stop: Deferred.Deferred<never, E>
}

export const map = <A, B, E, R, E2, R2>(
  self: Stream.Stream<A, E, R>,
  f: (a: A) => Effect.Effect<B, never, R2>,
  { concurrency, gracePeriod, order, stop, turn }: Options<E2>
): Stream.Stream<B, E | E2, R | R2> =>
  Stream.unwrapScoped(Effect.gen(function*() {
    const pull = yield* Stream.toPull(Stream.rechunk(self, 1))
    const fibers = yield* Scope.make()
    const permits = yield* Effect.makeSemaphore(concurrency)
    const results = yield* Mailbox.make<Effect.Effect<B>, E | E2>(concurrency)

    const allEnded = permits.withPermits(concurrency)(Effect.void)

    /** One permit is taken already. The result is told before the next is taken. */
    const begin = Effect.fnUntraced(function*(a: A) {
      const result = yield* Deferred.make<B>()
      const isWanted = order === "completion" || (yield* results.offer(Deferred.await(result)))
      const run = Effect.interruptible(f(a)).pipe(
        Effect.onExit((exit) => Deferred.done(result, exit)),
        Effect.zipRight(order === "input" ? Effect.void : results.offer(Deferred.await(result))),
        Effect.catchAllCause((cause) => Deferred.failCause(stop, cause))
      )
      yield* Effect.forkIn(Effect.ensuring(isWanted ? run : Effect.void, permits.release(1)), fibers)
    })

    const next = Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        yield* restore(permits.take(1))
        const pulled = yield* Effect.exit(restore(Effect.zipLeft(pull, turn)))
        if (Exit.isSuccess(pulled)) return yield* Effect.forEach(pulled.value, begin, { discard: true })
        yield* permits.release(1)
        return yield* pulled
      })
    )

    /** Until there is no more, or it fails; then those who were taken finish. */
    const driver = yield* Effect.forever(next).pipe(
      Effect.catchAll(Option.match({ onNone: () => Effect.void, onSome: Effect.fail })),
      Effect.raceFirst(Deferred.await(stop)),
      Effect.exit,
      Effect.zipLeft(allEnded),
      Effect.flatMap((exit) =>
        Effect.flatMap(
          Deferred.poll(stop),
          Option.match({
            onNone: () => results.done(exit),
            onSome: (stopped) => Effect.flatMap(Effect.exit(stopped), (exit) => results.done(exit))
          })
        )
      ),
      Effect.interruptible,
      Effect.forkIn(fibers)
    )

    yield* Effect.addFinalizer(() =>
      Effect.gen(function*() {
        yield* Deferred.interrupt(stop)
        // Whoever waits to tell a result goes on; nobody listens.
        yield* results.shutdown
        yield* Fiber.interrupt(driver)
        yield* allEnded.pipe(Effect.interruptible, Effect.timeoutOption(gracePeriod))
        yield* Scope.close(fibers, Exit.void)
      })
    )

    return Stream.mapEffect(Mailbox.toStream(results), (result) => result)
  }))
