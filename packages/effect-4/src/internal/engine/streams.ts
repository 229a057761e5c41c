/** Runs streams of the engine in Effect 4, and streams of Effect 4 in the engine. */
import * as Chunk3 from "effect-3/Chunk"
import * as Effect3 from "effect-3/Effect"
import * as Option3 from "effect-3/Option"
import * as Scope3 from "effect-3/Scope"
import * as Stream3 from "effect-3/Stream"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Pull from "effect/Pull"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Effects from "./effects.ts"
import * as Layers from "./layers.ts"
import * as Values from "./values.ts"

type Pull3<A, E> = Effect3.Effect<Chunk3.Chunk<A>, Option3.Option<E>>

/** A stream of Effect 4 with the elements of a stream of the engine. */
export const run = <A3, E3, A, E>(
  stream: Stream3.Stream<A3, E3>,
  { onFailure, onSuccess }: Effects.Conversion<A3, E3, A, E>
): Stream.Stream<A, E> =>
  Stream.unwrap(Effect.gen(function*() {
    const scope = yield* Layers.scope
    const pull3 = Scope3.extend(Stream3.toPull(stream), scope)
    const pull = yield* Effects.run(pull3, Values.unchanged<Pull3<A3, E3>, never>())
    const next = Effects.run(pull, {
      // A chunk may be empty.
      onSuccess: (chunk): readonly [ReadonlyArray<A>] => [Array.from(chunk, onSuccess)],
      onFailure: (error) => Option3.isSome(error) ? Option.some(onFailure(error.value)) : Option.none()
    })
    const toPull = Effect.catch(next, (error): Pull.Pull<never, E> =>
      Option.isSome(error) ? Effect.fail(error.value) : Cause.done())
    return Stream.flattenIterable(Stream.fromPull(Effect.succeed(toPull)))
  })) as Stream.Stream<A, E>

/** A stream of the engine with the elements of a stream of Effect 4. */
export const embed = <A, E, R, A3, E3>(
  stream: Stream.Stream<A, E, R>,
  context: Context.Context<R>,
  { onFailure, onSuccess }: Effects.Conversion<A, E, A3, E3>
): Stream3.Stream<A3, E3> => {
  const services = Context.omit(Scope.Scope)(context)
  const scope3 = Effect3.acquireRelease(
    Effects.embed(Scope.make(), services, Values.unchanged<Scope.Closeable, never>()),
    (scope) => Effects.embed(Scope.close(scope, Exit.void), services, Values.unchanged<void, never>())
  )
  return Stream3.unwrapScoped(Effect3.map(
    Effect3.flatMap(scope3, (scope) =>
      Effects.embed(
        Stream.toPull(stream),
        Context.add(context, Scope.Scope, scope),
        Values.unchanged<Pull.Pull<readonly [A, ...Array<A>], E>, never>()
      )),
    (pull) =>
      Stream3.repeatEffectChunkOption(Effects.embed(
        Pull.matchEffect(pull, {
          onSuccess: (chunk) => Effect.succeed(chunk),
          onFailure: (cause) => Effect.failCause(Cause.map(cause, (error) => Option3.some(onFailure(error)))),
          onDone: () => Effect.fail(Option3.none<E3>())
        }),
        services,
        { onSuccess: (chunk) => Chunk3.fromIterable(chunk.map(onSuccess)), onFailure: Values.same<Option3.Option<E3>> }
      ))
  ))
}
