/**
 * A store that several processes share, for `TokenSharing`. Use that of `TokenStoreSql` or `TokenStoreRedis`, or
 * implement the operations for a store of your own.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Scope from "effect/Scope"

/**
 * The operations of a store. They may run within an SQL transaction of a caller, and must not take part in it. Names
 * and values are texts of ASCII characters. A value has at most some kilobytes. Any error counts as a failed operation.
 * An error may contain a secret, so it is not logged: log it in the operation.
 *
 * @category models
 * @since 0.1.0
 */
export interface TokenStore {
  /** Returns the value of a name. */
  readonly read: (name: string) => Effect.Effect<Option.Option<string>, unknown>
  /** Stores `next` if the value is still `previous`. Returns whether `next` was stored. */
  readonly compareAndPut: (change: {
    readonly name: string
    /** The value that is replaced. None if there is none yet. */
    readonly previous: Option.Option<string>
    readonly next: string
    /** After this time nobody reads the value any more, so the store may delete it. */
    readonly ttl: Duration.Duration
  }) => Effect.Effect<boolean, unknown>
  /** Deletes the value if it is still `value`. Returns whether it was deleted. */
  readonly compareAndDelete: (name: string, value: string) => Effect.Effect<boolean, unknown>
  /**
   * Tries to make this process the leader for a name, and returns whether it succeeded. At most one process leads for a
   * name. It leads until the scope is closed. If the process dies, its lead ends after `ttl` at the latest.
   */
  readonly tryLead: (name: string, ttl: Duration.Duration) => Effect.Effect<boolean, unknown, Scope.Scope>
}
