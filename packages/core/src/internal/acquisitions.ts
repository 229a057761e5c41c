/** Performs the effects of the token state: runs acquisitions, and lets callers wait for them. */
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as FiberRef from "effect/FiberRef"
import * as FiberRefs from "effect/FiberRefs"
import * as Metric from "effect/Metric"
import * as MutableRef from "effect/MutableRef"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Tracer from "effect/Tracer"
import type { AccessToken, Warning } from "../AccessToken.ts"
import type { Credentials } from "../Credentials.ts"
import * as TokenError from "../TokenError.ts"
import * as TokenMetrics from "../TokenMetrics.ts"
import type { TokenPolicy } from "../TokenPolicy.ts"
import * as Violation from "../Violation.ts"
import * as Acquisition from "./acquisition.ts"
import * as CachedToken from "./cachedToken.ts"
import * as Deadline from "./deadline.ts"
import * as Instant from "./instant.ts"
import type * as Sharing from "./sharing.ts"
import * as TokenState from "./tokenState.ts"

/** One acquisition, and the result that all its callers wait for. */
class Running {
  readonly reason: TokenState.Reason
  readonly result = Deferred.unsafeMake<AccessToken, TokenError.TokenError>(FiberId.none)
  /** How many callers have waited for the result so far. */
  waiters = 0
  /** How many callers wait for the result now. */
  waiting = 0
  /** Set once the acquisition sends a request. */
  sent: { readonly credentials: Credentials; readonly span: Tracer.Span } | undefined

  constructor(reason: TokenState.Reason) {
    this.reason = reason
  }
}

const open = (reason: TokenState.Reason) => new Running(reason)

type State = TokenState.State<Running>

/** Acquisitions run in the scope in which this is made. `onChange` runs after each change of the state. */
export const make = Effect.fnUntraced(function*({ acquire, credentials, onChange, policy, share }: {
  readonly policy: TokenPolicy
  readonly credentials: Effect.Effect<Credentials, TokenError.TokenEndpointUnavailable>
  readonly acquire: Acquisition.Acquire
  readonly share: Sharing.Acquire
  readonly onChange: (state: Effect.Effect<State>) => Effect.Effect<void>
}) {
  const scope = yield* Effect.scope
  const fiberRefs = yield* Effect.getFiberRefs
  const state = MutableRef.make<State>(TokenState.initial)
  /** Opened by each event that may change when the next refresh-ahead is due. */
  const changeLatch = yield* Effect.makeLatch()
  const changed = onChange(Effect.sync(() => MutableRef.get(state)))

  const modify = <A>(transition: (state: State) => readonly [A, State]): A => {
    const [result, next] = transition(MutableRef.get(state))
    MutableRef.set(state, next)
    return result
  }

  /** Fails if nothing may be sent. Returns the rest of the deadline and of the cooldown. */
  const ensureSendable = Effect.fnUntraced(function*(startedAt: Instant.Instant, credentials?: Credentials) {
    const current = MutableRef.get(state)
    const now = yield* Instant.now
    const deadline = Duration.subtract(policy.flightDeadline, Instant.elapsed(startedAt, now))
    const error = TokenState.sendBlocked(current, { credentials, deadline, now })
    if (error !== undefined) return yield* error
    return { deadline, cooldownMillis: TokenState.millisLeft(current.cooldown, now) }
  })

  const run = Effect.fnUntraced(function*(running: Running) {
    const startedAt = yield* Instant.now
    // Before the credentials are read, because a cooldown longer than the deadline blocks any credentials.
    yield* ensureSendable(startedAt)
    const current = yield* credentials.pipe(
      Deadline.within(
        policy.flightDeadline,
        Effect.suspend(() => new TokenError.TokenTimeout({ deadline: policy.flightDeadline }))
      )
    )
    // The response to an abandoned acquisition may start another cooldown meanwhile.
    const waitForCooldown = Effect.gen(function*() {
      let left = yield* ensureSendable(startedAt, current)
      while (left.cooldownMillis > 0) {
        yield* Effect.sleep(left.cooldownMillis)
        left = yield* ensureSendable(startedAt, current)
      }
      return left.deadline
    })
    const send = Effect.flatMap(waitForCooldown, (deadline) =>
      Effect.useSpan(
        "TokenProvider.acquire",
        { attributes: { reason: running.reason }, captureStackTrace: false },
        (span) => {
          running.sent = { credentials: current, span }
          return acquire({
            credentials: current,
            deadline,
            beforeRetry: waitForCooldown,
            isAwaited: () => running.waiting > 0
          }).pipe(
            Effect.flatMap((acquired) => succeed(running, acquired)),
            Effect.onExit((exit) => countAcquisition(running, exit)),
            Effect.withParentSpan(span)
          )
        }
      ))
    // Rejected credentials must neither read nor write the store.
    yield* ensureSendable(startedAt, current)
    return yield* share({
      reason: running.reason,
      credentials: current,
      cached: MutableRef.get(state).cached?.token,
      adopt: (token, at) => Effect.map(cache(running, token, at), Option.map(({ token }) => token)),
      send
    })
  })

  const cache = Effect.fnUntraced(function*(acquisition: Running, token: AccessToken, at: Instant.Instant) {
    const now = yield* Instant.now
    const fresh = CachedToken.make(token, at, yield* Random.next, policy)
    return modify((state) => TokenState.succeed(state, { acquisition, fresh, now, policy }))
  })

  const succeed = Effect.fnUntraced(
    function*(acquisition: Running, { at, description, token, warnings }: Acquisition.Acquired) {
      const cached = yield* cache(acquisition, token, at)
      if (Option.isNone(cached)) {
        return yield* Acquisition.invalid(description, Violation.whole("a token that has not expired"))
      }
      const { isReissued, token: returned } = cached.value
      yield* Effect.forEach(isReissued ? Arr.append(warnings, "same_token" as const) : warnings, warn)
      return returned
    }
  )

  const fail = Effect.fnUntraced(function*(acquisition: Running, cause: Cause.Cause<TokenError.TokenError>) {
    const now = yield* Instant.now
    const error = Option.getOrUndefined(Cause.failureOption(cause))
    const sent = acquisition.sent?.credentials
    MutableRef.update(state, (state) => TokenState.fail(state, { acquisition, error, sent, now, policy }))
  })

  const reset = <A>(ref: FiberRef.FiberRef<A>) => FiberRef.set(ref, FiberRefs.getOrDefault(fiberRefs, ref))

  /** Keeps the caller's tracer and logger, and removes what belongs to the caller's own request. */
  const withoutCallerContext = Effect.all([
    FiberRef.update(FiberRef.currentContext, (context) => Context.omit(Tracer.ParentSpan)(context)),
    reset(FiberRef.currentLogAnnotations),
    reset(FiberRef.currentLogSpan),
    reset(FiberRef.currentMetricLabels),
    reset(FiberRef.currentTracerSpanAnnotations),
    reset(FiberRef.currentTracerSpanLinks)
  ], { discard: true })

  /** Runs the acquisition in a fiber of the scope, and updates the state before it completes the result. */
  const start = (running: Running) =>
    Effect.gen(function*() {
      yield* withoutCallerContext
      yield* changed
      const exit = yield* Effect.exit(Effect.interruptible(run(running)))
      if (Exit.isFailure(exit)) yield* fail(running, exit.cause)
      yield* changed
      yield* changeLatch.open
      yield* Deferred.done(running.result, isInterrupted(exit) ? Exit.fail(new TokenError.TokenProviderClosed()) : exit)
      if (running.waiters === 0 && Exit.isFailure(exit) && !isInterrupted(exit)) yield* warnOfFailure(exit.cause)
    }).pipe(Effect.uninterruptible, Effect.forkIn(scope))

  const wait = (running: Running) =>
    Deferred.await(running.result).pipe(
      Effect.ensuring(
        Effect.suspend(() => running.sent === undefined ? Effect.void : Effect.linkSpanCurrent(running.sent.span))
      ),
      Effect.withSpan("TokenProvider.get", { captureStackTrace: false })
    )

  const perform = (transition: (state: State, now: Instant.Instant) => readonly [TokenState.Action<Running>, State]) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        const now = yield* Instant.now
        const action = modify((state) => transition(state, now))
        if (action._tag === "Fail") return yield* Effect.zipRight(failed, Effect.fail(action.error))
        if (action._tag === "Wait") {
          action.acquisition.waiters++
          action.acquisition.waiting++
        }
        if (action.start !== undefined) yield* start(action.start)
        const token = action._tag === "Use"
          ? action.cached.token
          : yield* restore(wait(action.acquisition)).pipe(
            // Outside of `restore`: it would not run for a caller that is already interrupted, and the count would
            // stay.
            Effect.ensuring(Effect.sync(() => action.acquisition.waiting--)),
            Effect.tapErrorCause((cause) => Cause.isInterruptedOnly(cause) ? Effect.void : failed)
          )
        const outcome = action._tag === "Wait" ? waited : CachedToken.isStale(action.cached, now) ? stale : hit
        const at = yield* Instant.now
        return yield* Effect.withFiberRuntime<AccessToken>((fiber) => {
          countReturned(fiber, token, outcome, at)
          return Effect.succeed(token)
        })
      })
    )

  /** One step of refresh-ahead: waits for an acquisition in progress, or until the next one is due, or starts it. */
  const refreshAheadStep = Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      yield* changeLatch.close
      const current = MutableRef.get(state)
      const now = yield* Instant.now
      const due = TokenState.millisUntilDue(current, now)
      if (current.acquisition !== undefined) {
        yield* restore(Effect.raceFirst(Effect.exit(Deferred.await(current.acquisition.result)), changeLatch.await))
      } else if (due > 0) yield* restore(Effect.timeoutOption(changeLatch.await, Math.ceil(due)))
      else {
        const action = modify((state) => TokenState.renew(state, now, open))
        if (action.start !== undefined) yield* start(action.start)
      }
    })
  )

  const getOrAcquire = perform((state, now) => TokenState.get(state, now, open))

  return {
    // The fast path: a fresh token is returned in one step of the fiber.
    get: Effect.withFiberRuntime<AccessToken, TokenError.TokenError>((fiber) => {
      const { cached } = MutableRef.get(state)
      if (cached === undefined) return getOrAcquire
      const now = Instant.of(Context.get(fiber.currentDefaultServices, Clock.Clock))
      if (!CachedToken.isFresh(cached, now)) return getOrAcquire
      countReturned(fiber, cached.token, hit, now)
      return cached.succeed
    }),
    refresh: perform((state, now) => TokenState.refresh(state, now, () => open("forced"))),
    invalidate: (stale: AccessToken) =>
      Effect.map(Instant.now, (now) => MutableRef.update(state, (state) => TokenState.invalidate(state, stale, now)))
        .pipe(
          Effect.zipRight(changeLatch.open),
          Effect.zipRight(changed)
        ),
    refreshAhead: Effect.forever(refreshAheadStep)
  }
})

/** Counts a returned token and records its age. */
const countReturned = (
  fiber: Fiber.RuntimeFiber<unknown, unknown>,
  token: AccessToken,
  outcome: typeof hit,
  { wall }: Instant.Instant
): void => {
  const labels = fiber.getFiberRef(FiberRef.currentMetricLabels)
  outcome.unsafeUpdate(1, labels)
  TokenMetrics.age.unsafeUpdate((wall - token.requestedAt) / 1000, labels)
}

const failed = Metric.increment(Metric.tagged(TokenMetrics.gets, "outcome", "failed"))
const hit = Metric.tagged(TokenMetrics.gets, "outcome", "hit")
const stale = Metric.tagged(TokenMetrics.gets, "outcome", "stale")
const waited = Metric.tagged(TokenMetrics.gets, "outcome", "wait")

const warningTexts: Record<Warning, string> = {
  lifetime: "The token response has no valid lifetime: one hour is assumed",
  prefix: "The token starts with the word Bearer, which was removed",
  same_token: "The token endpoint issued the same token again: its expiry is unchanged"
}

const warn = (warning: Warning) =>
  Effect.zipRight(
    Metric.increment(Metric.tagged(TokenMetrics.warnings, "warning", warning)),
    Effect.logWarning(warningTexts[warning])
  )

const isInterrupted = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause)

/** Logs a failure that no caller receives. */
const warnOfFailure = (cause: Cause.Cause<TokenError.TokenError>) =>
  Effect.logWarning(
    "The access token was not renewed in the background",
    Option.match(Cause.failureOption(cause), { onNone: () => "defect", onSome: ({ message }) => message })
  )

const countAcquisition = (running: Running, exit: Exit.Exit<unknown, TokenError.TokenError>) => {
  const error = Exit.isFailure(exit) && !isInterrupted(exit)
    ? Option.match(Cause.failureOption(exit.cause), { onNone: () => "defect", onSome: ({ _tag }) => _tag })
    : undefined
  return Effect.all([
    Metric.increment(Metric.tagged(TokenMetrics.acquisitions, "reason", running.reason)),
    Metric.update(TokenMetrics.waiters, running.waiters),
    error === undefined ? Effect.void : Metric.increment(Metric.tagged(TokenMetrics.failures, "error", error))
  ], { discard: true })
}
