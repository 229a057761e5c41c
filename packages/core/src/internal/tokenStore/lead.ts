/** What both stores do alike: they renew a lead until it ends, and connect while the layer is built. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import type * as TokenStore from "../../TokenStore.ts"
import * as Deadline from "../wire/deadline.ts"

/** The commands of one lead. Each succeeds with whether this process leads. */
export interface Commands<E> {
  readonly begin: Effect.Effect<boolean, E>
  readonly renew: Effect.Effect<boolean, E>
  readonly end: Effect.Effect<boolean, E>
}

/**
 * Tries to lead until the scope is closed. A lead ends after `ttl` unless its process renews it. The owner identifies a
 * lead: after it has expired, its process must not end or prolong the lead of another one.
 */
export const hold = <E>(
  ttl: Duration.Duration,
  commandsOf: (owner: string) => Commands<E>
): Effect.Effect<boolean, E, Scope.Scope> =>
  Effect.suspend(() => {
    const { begin, end, renew } = commandsOf(crypto.randomUUID())
    const renewAll = Effect.delay(renew, Duration.times(ttl, 1 / 4)).pipe(
      Effect.orElseSucceed(() => true),
      Effect.repeat({ while: (leads) => leads })
    )
    return begin.pipe(
      // The store may have begun the lead although this process did not see its reply.
      Effect.onExit((exit) =>
        Exit.isSuccess(exit) && !exit.value ? Effect.void : Effect.addFinalizer(() => Effect.ignore(end))
      ),
      Effect.tap((leads) => leads ? Effect.forkScoped(renewAll) : Effect.void)
    )
  })

/** How long a layer waits for its store, in milliseconds. */
export const patienceMillis = 2000

/**
 * Takes a lead and reads a value, under a name that nothing else uses. This opens as many connections as an acquisition
 * needs, before the first caller. A store that is down does not prevent the start.
 */
export const warmUp = <E, E2>(
  connect: Effect.Effect<unknown, E>,
  { read, tryLead }: TokenStore.TokenStore,
  onFailure: (error: unknown) => Effect.Effect<void, E2>
): Effect.Effect<void, E2> =>
  Effect.suspend(() => {
    const name = `idv-token-start-${crypto.randomUUID()}`
    const use = Effect.scoped(Effect.zipRight(tryLead(name, Duration.millis(patienceMillis)), read(name)))
    return Effect.zipRight(connect, use).pipe(
      Effect.asVoid,
      Effect.catchAll(onFailure),
      Deadline.within(Duration.millis(patienceMillis), onFailure({ code: "timeout" }))
    )
  })
