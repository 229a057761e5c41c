/**
 * Acquires a token with the help of a store that several processes share: adopts the token of another process, or
 * leads, sends the request, and stores the token.
 *
 * The store is never the reason for a failure. Until a caller has its token, the operations of the store share one
 * deadline. After the first failed operation the acquisition sends its request at once.
 */
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Random from "effect/Random"
import * as Scope from "effect/Scope"
import type { AccessToken } from "../../AccessToken.ts"
import * as Metrics from "../../Metrics.ts"
import type * as TokenStore from "../../TokenStore.ts"
import * as Instant from "../schema/instant.ts"
import type * as Sharing from "../token/sharing.ts"
import type { Encryption } from "./tokenEncryption.ts"
import * as TokenRecord from "./tokenRecord.ts"
import * as WaitBudget from "./waitBudget.ts"

/** Returns how long the next operation of the store may take. */
type Budget = () => WaitBudget.WaitBudget

/** The budget of each operation after the caller has its token. It delays no caller. */
const backgroundBudget: Budget = () => ({ leftMillis: 1000 })

/** The longest time from the death of a leading process to the end of its lead. */
const leadTtl = Duration.seconds(2)

/** The longest pause between two looks of a following process at the store. */
const maxPauseMillis = 200

class Failed extends Data.TaggedError("Failed")<{
  readonly operation: keyof TokenStore.TokenStore
  readonly reason: "error" | "timeout"
}> {}

const count = (outcome: "hit" | "miss" | "failed" | "led" | "followed") =>
  Metric.increment(Metric.tagged(Metrics.tokenStore, "outcome", outcome))

const ignoredTexts: Record<TokenRecord.Ignored, string> = {
  version: "it has another schema version",
  key: "it is encrypted with a key that is not configured here",
  corrupt: "it cannot be decrypted, or is not a token",
  fingerprint: "it belongs to other credentials",
  clock: "it was requested in the future: the clocks of two machines differ by more than 60 s"
}

/** Counts and logs a failure. Its cause may contain a secret, so it is not logged. */
const reportFailure = ({ operation, reason }: Failed) =>
  Effect.zipRight(
    count("failed"),
    Effect.logWarning("The token store failed: the token is requested without it", { operation, reason })
  )

/** Runs an operation of the store within the budget. Its errors and defects, and a timeout, are a `Failed`. */
const call = <A, R>(
  operation: keyof TokenStore.TokenStore,
  budget: Budget,
  effect: Effect.Effect<A, unknown, R>
): Effect.Effect<A, Failed, R> =>
  effect.pipe(
    Effect.catchAllCause(() => new Failed({ operation, reason: "error" })),
    WaitBudget.within(budget(), new Failed({ operation, reason: "timeout" }))
  )

const isStored = (value: unknown) =>
  Option.isOption(value) && Option.match(value, { onNone: () => true, onSome: Predicate.isString })

/** Makes an operation fail if it throws or returns a value of the wrong type, as a store in JavaScript may. */
const checked = (store: TokenStore.TokenStore): TokenStore.TokenStore => ({
  read: (name) => Effect.filterOrFail(Effect.suspend(() => store.read(name)), isStored),
  compareAndPut: (change) =>
    Effect.filterOrFail(Effect.suspend(() => store.compareAndPut(change)), Predicate.isBoolean),
  compareAndDelete: (name, value) =>
    Effect.filterOrFail(Effect.suspend(() => store.compareAndDelete(name, value)), Predicate.isBoolean),
  tryLead: (name, ttl) => Effect.filterOrFail(Effect.suspend(() => store.tryLead(name, ttl)), Predicate.isBoolean)
})

/** The result of one look at the store. */
type Look =
  | { readonly _tag: "Adopted"; readonly token: AccessToken; readonly isAtOnce: boolean }
  | { readonly _tag: "Leads" }
  | { readonly _tag: "Follows" }

export const make = ({ deadline, encryption, store: uncheckedStore }: {
  readonly store: TokenStore.TokenStore
  readonly encryption: Encryption
  /** How long the operations of the store may delay a caller. */
  readonly deadline: Duration.Duration
}): Sharing.Sharing =>
  Effect.fnUntraced(function*({ policy, url }) {
    const scope = yield* Effect.scope
    const store = checked(uncheckedStore)
    /** How long a process follows the leading one, before it sends its own request. */
    const followMillis = Math.min(
      Duration.toMillis(policy.attemptDeadline),
      Duration.toMillis(policy.acquisitionDeadline) / 2
    )

    const open = (slot: TokenRecord.Slot, text: Option.Option<string>, isReported: boolean) =>
      Effect.gen(function*() {
        if (Option.isNone(text)) return Option.none()
        const now = yield* Instant.now
        return yield* TokenRecord.open(encryption, slot, text.value, now).pipe(
          Effect.tapError((ignored) =>
            isReported
              ? Effect.logWarning(`The stored token is ignored: ${ignoredTexts[ignored]}`)
              : Effect.void
          ),
          Effect.option
        )
      })

    /** Stores the token, unless another process has stored a later one meanwhile. */
    const put = (slot: TokenRecord.Slot, token: AccessToken) =>
      Effect.gen(function*() {
        const previous = yield* call("read", backgroundBudget, store.read(slot.name))
        const record = yield* open(slot, previous, false)
        if (
          Option.exists(
            record,
            (record) => Equal.equals(record.token, token.value) || record.requestedAt > token.requestedAt
          )
        ) return true
        const { wall } = yield* Instant.now
        const ttl = Duration.millis(Math.max(1, Math.ceil(token.expiresAt - wall)))
        const next = yield* TokenRecord.seal(encryption, slot, token)
        return yield* call(
          "compareAndPut",
          backgroundBudget,
          store.compareAndPut({ name: slot.name, previous, next, ttl })
        )
      }).pipe(
        // Another process may have deleted the previous token, because the API has rejected it.
        Effect.repeat({ until: (stored) => stored, times: 2 }),
        Effect.catchAll(reportFailure)
      )

    const acquire: Sharing.AcquireShared = ({ adopt, cached, credentials, reason, send }) => {
      const slot = TokenRecord.slotOf(url, credentials)

      /** Adopts the stored token, or deletes it if the API has rejected it. */
      const adoptStored = Effect.fnUntraced(function*(budget: Budget, isReported: boolean) {
        const text = yield* call("read", budget, store.read(slot.name))
        const record = yield* open(slot, text, isReported)
        if (Option.isNone(record) || Option.isNone(text)) return Option.none()
        const now = yield* Instant.now
        const stored = TokenRecord.toToken(record.value, now, policy)
        if (TokenRecord.shouldAdopt(stored, cached, now, policy)) return yield* adopt(stored.token, stored.at)
        if (reason === "unauthorized" && Equal.equals(cached?.value, record.value.token)) {
          yield* call("compareAndDelete", budget, store.compareAndDelete(slot.name, text.value))
        }
        return Option.none()
      })

      const look = Effect.fnUntraced(function*(lead: Scope.Scope, budget: Budget, isFirst: boolean) {
        const adopted = (token: AccessToken, isAtOnce: boolean): Look => ({ _tag: "Adopted", token, isAtOnce })
        const first = yield* adoptStored(budget, isFirst)
        if (Option.isSome(first)) return adopted(first.value, isFirst)
        if (isFirst) yield* count("miss")
        const leads = yield* call("tryLead", budget, Scope.extend(store.tryLead(slot.name, leadTtl), lead))
        if (!leads) return { _tag: "Follows" } satisfies Look as Look
        // The process that led before may have stored its token since.
        const second = yield* adoptStored(budget, false)
        return Option.isSome(second) ? adopted(second.value, false) : { _tag: "Leads" } satisfies Look as Look
      })

      /** The token of another process. None if this process is to send the request. */
      const share = Effect.fnUntraced(function*(lead: Scope.Scope) {
        const started = yield* Instant.now
        const budget = { leftMillis: Duration.toMillis(deadline) }
        // Each later look has a copy of the remaining budget, so that many short operations do not spend it.
        let looked = yield* look(lead, () => budget, true)
        for (let pause = 25; looked._tag === "Follows"; pause = Math.min(pause * 1.5, maxPauseMillis)) {
          if (Instant.elapsed(started, yield* Instant.now) >= followMillis) return Option.none()
          yield* Effect.sleep(Math.ceil(pause * (1 - 0.5 * (yield* Random.next))))
          looked = yield* look(lead, () => ({ ...budget }), false)
        }
        if (looked._tag === "Leads") return yield* Effect.as(count("led"), Option.none())
        yield* count(looked.isAtOnce ? "hit" : "followed")
        return Option.some(looked.token)
      })

      const run = Effect.fnUntraced(function*(lead: Scope.Scope) {
        // A caller of `refresh` wants a token that no process has yet.
        const adopted = reason === "forced" ? Option.none() : yield* share(lead).pipe(
          Effect.catchTag("Failed", (failed) => Effect.as(reportFailure(failed), Option.none()))
        )
        return Option.isSome(adopted)
          ? { token: adopted.value, isNew: false }
          : { token: yield* send, isNew: true }
      })

      /** Stores a new token, and then ends the lead, so that the followers find the token. Delays no caller. */
      const finish = (
        lead: Scope.CloseableScope,
        exit: Exit.Exit<{ readonly token: AccessToken; readonly isNew: boolean }, unknown>
      ) =>
        (Exit.isSuccess(exit) && exit.value.isNew ? put(slot, exit.value.token) : Effect.void).pipe(
          Effect.ensuring(Effect.ignore(call("tryLead", backgroundBudget, Scope.close(lead, Exit.void)))),
          Effect.forkIn(scope)
        )

      return Effect.map(Effect.acquireUseRelease(Scope.make(), run, finish), ({ token }) => token)
    }
    return acquire
  })
