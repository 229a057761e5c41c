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
import type { AccessToken, Warning } from "../../AccessToken.ts"
import * as Metrics from "../../Metrics.ts"
import * as TokenError from "../../TokenError.ts"
import * as Violation from "../../Violation.ts"
import * as Instant from "../schema/instant.ts"
import * as Deadline from "../wire/deadline.ts"
import * as CachedToken from "./cachedToken.ts"
import type { Credentials } from "./credentials.ts"
import * as LastingFailure from "./lastingFailure.ts"
import type * as Sharing from "./sharing.ts"
import type { TokenPolicy } from "./tokenOptions.ts"
import * as TokenRequests from "./tokenRequests.ts"
import * as TokenState from "./tokenState.ts"

/** One acquisition, and the result that all its callers wait for. */
class RunningAcquisition {
  readonly reason: TokenState.Reason
  readonly result = Deferred.unsafeMake<AccessToken, TokenError.TokenError>(FiberId.none)
  /** How many callers have waited for the result so far. */
  totalWaiters = 0
  /** How many callers wait for the result now. */
  currentWaiters = 0
  /** Set once the acquisition sends a request. */
  request: { readonly credentials: Credentials; readonly span: Tracer.Span } | undefined

  constructor(reason: TokenState.Reason) {
    this.reason = reason
  }
}

const createAcquisition = (reason: TokenState.Reason) => new RunningAcquisition(reason)

type State = TokenState.State<RunningAcquisition>

/**
 * Makes the operations of a token provider. Acquisitions run in the scope of this effect. `onChange` runs after each
 * change of the state.
 */
export const make = Effect.fnUntraced(function*({ acquire, acquireThroughStore, credentials, host, onChange, policy }: {
  /** The `host:port` of the token endpoint. */
  readonly host: string
  readonly policy: TokenPolicy
  readonly credentials: Effect.Effect<Credentials, TokenError.TokenEndpointUnavailable>
  readonly acquire: TokenRequests.Acquire
  readonly acquireThroughStore: Sharing.AcquireShared
  readonly onChange: (state: Effect.Effect<State>) => Effect.Effect<void>
}) {
  const scope = yield* Effect.scope
  const fiberRefs = yield* Effect.getFiberRefs
  const state = MutableRef.make<State>(TokenState.initial)
  /** Opens at each event that may change when the background timer is due. */
  const changeLatch = yield* Effect.makeLatch()
  const logLasting = LastingFailure.make(host)
  const notifyChange = onChange(Effect.sync(() => MutableRef.get(state)))

  const modify = <A>(transition: (state: State) => readonly [A, State]): A => {
    const [result, next] = transition(MutableRef.get(state))
    MutableRef.set(state, next)
    return result
  }

  /** Fails if no request may be sent. Returns how much of the deadline and of the cooldown is left. */
  const ensureSendable = Effect.fnUntraced(function*(startedAt: Instant.Instant, credentials?: Credentials) {
    const current = MutableRef.get(state)
    const now = yield* Instant.now
    const deadline = Duration.subtract(policy.acquisitionDeadline, Instant.elapsed(startedAt, now))
    const error = TokenState.errorBlockingSend(current, { credentials, deadline, now })
    if (error !== undefined) return yield* error
    return { deadline, cooldownMillis: TokenState.millisLeft(current.cooldown, now) }
  })

  const run = Effect.fnUntraced(function*(running: RunningAcquisition) {
    const startedAt = yield* Instant.now
    // A cooldown longer than the deadline blocks all credentials, also if their effect is slow or hangs.
    yield* ensureSendable(startedAt)
    const current = yield* credentials.pipe(
      Deadline.within(
        policy.acquisitionDeadline,
        Effect.suspend(() => new TokenError.TokenTimeout({ deadline: policy.acquisitionDeadline }))
      )
    )
    // The response to an abandoned acquisition may start another cooldown during the wait.
    const waitForCooldown: Effect.Effect<Duration.Duration, TokenError.TokenError> = Effect.flatMap(
      ensureSendable(startedAt, current),
      ({ cooldownMillis, deadline }) =>
        cooldownMillis > 0 ? Effect.zipRight(Effect.sleep(cooldownMillis), waitForCooldown) : Effect.succeed(deadline)
    )
    const send = Effect.flatMap(waitForCooldown, (deadline) =>
      Effect.useSpan(
        "TokenProvider.acquire",
        { attributes: { reason: running.reason }, captureStackTrace: false },
        (span) => {
          running.request = { credentials: current, span }
          return acquire({
            credentials: current,
            deadline,
            beforeRetry: waitForCooldown,
            isAwaited: () => running.currentWaiters > 0
          }).pipe(
            Effect.flatMap((acquired) => succeed(running, acquired)),
            Effect.onExit((exit) => countAcquisition(running, exit)),
            Effect.withParentSpan(span)
          )
        }
      ))
    // Rejected credentials must neither read nor write the `TokenStore`. `send` asks again: the store takes its time.
    yield* ensureSendable(startedAt, current)
    return yield* acquireThroughStore({
      reason: running.reason,
      credentials: current,
      cached: MutableRef.get(state).cached?.token,
      adopt: (token, at) => Effect.map(cache(running, token, at), Option.map(({ token }) => token)),
      send
    })
  })

  const cache = Effect.fnUntraced(function*(acquisition: RunningAcquisition, token: AccessToken, at: Instant.Instant) {
    const now = yield* Instant.now
    const newToken = CachedToken.make(token, at, yield* Random.next, policy)
    return modify((state) => TokenState.succeed(state, { acquisition, newToken, now, policy }))
  })

  const succeed = Effect.fnUntraced(
    function*(acquisition: RunningAcquisition, { at, description, token, warnings }: TokenRequests.AcquiredToken) {
      const stored = yield* cache(acquisition, token, at)
      if (Option.isNone(stored)) {
        return yield* TokenRequests.invalid(description, Violation.whole("a token that has not expired"))
      }
      const { isReissued, token: returned } = stored.value
      yield* Effect.forEach(isReissued ? Arr.append(warnings, "same_token" as const) : warnings, reportWarning)
      return returned
    }
  )

  const fail = Effect.fnUntraced(function*(acquisition: RunningAcquisition, cause: Cause.Cause<TokenError.TokenError>) {
    const now = yield* Instant.now
    const error = Option.getOrUndefined(Cause.failureOption(cause))
    const sentCredentials = acquisition.request?.credentials
    MutableRef.update(state, (state) => TokenState.fail(state, { acquisition, error, sentCredentials, now, policy }))
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
  const start = (running: RunningAcquisition) =>
    Effect.gen(function*() {
      yield* withoutCallerContext
      yield* notifyChange
      const exit = yield* Effect.exit(Effect.interruptible(run(running)))
      if (Exit.isFailure(exit)) yield* fail(running, exit.cause)
      yield* notifyChange
      yield* changeLatch.open
      yield* Deferred.done(running.result, isInterrupted(exit) ? Exit.fail(new TokenError.TokenProviderClosed()) : exit)
      if (Exit.isSuccess(exit) || isInterrupted(exit)) return
      const failure = Cause.failureOption(exit.cause)
      // Nothing is logged about a failure that was returned without a request.
      if (Option.isSome(failure) && running.request !== undefined) yield* logLasting(failure.value)
      if (running.totalWaiters === 0) yield* logFailure(failure)
    }).pipe(Effect.uninterruptible, Effect.forkIn(scope))

  const awaitResult = (running: RunningAcquisition) =>
    Deferred.await(running.result).pipe(
      Effect.ensuring(
        Effect.suspend(() => running.request === undefined ? Effect.void : Effect.linkSpanCurrent(running.request.span))
      ),
      Effect.withSpan("TokenProvider.get", { captureStackTrace: false })
    )

  /**
   * Applies the transition and performs its action: starts an acquisition, waits for it, and returns the token or the
   * failure. Counts the outcome.
   */
  const getToken = (
    transition: (state: State, now: Instant.Instant) => readonly [TokenState.Action<RunningAcquisition>, State]
  ) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        const now = yield* Instant.now
        const action = modify((state) => transition(state, now))
        if (action._tag === "Fail") return yield* Effect.zipRight(failedGets, Effect.fail(action.error))
        if (action._tag === "Wait") {
          action.acquisition.totalWaiters++
          action.acquisition.currentWaiters++
        }
        if (action.start !== undefined) yield* start(action.start)
        const token = action._tag === "Use"
          ? action.cached.token
          : yield* restore(awaitResult(action.acquisition)).pipe(
            // This is outside of `restore`: inside, it would not run for a caller that is already interrupted, and the
            // count would remain too high.
            Effect.ensuring(Effect.sync(() => action.acquisition.currentWaiters--)),
            Effect.tapErrorCause((cause) => Cause.isInterruptedOnly(cause) ? Effect.void : failedGets)
          )
        const outcome = action._tag === "Wait" ? waitedGets : outcomeOf(action.cached, now)
        const at = yield* Instant.now
        return yield* Effect.withFiberRuntime<AccessToken>((fiber) => {
          countReturned(fiber, token, outcome, at)
          return Effect.succeed(token)
        })
      })
    )

  /**
   * One step of the background timer: waits for an acquisition in progress, or until the next one is due, or starts it.
   */
  const timerStep = Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      yield* changeLatch.close
      const current = MutableRef.get(state)
      const now = yield* Instant.now
      const due = TokenState.millisUntilDue(current, now)
      if (current.acquisition !== undefined) {
        yield* restore(Effect.raceFirst(Effect.exit(Deferred.await(current.acquisition.result)), changeLatch.await))
      } else if (due > 0) yield* restore(Effect.timeoutOption(changeLatch.await, Math.ceil(due)))
      else {
        const action = modify((state) => TokenState.joinOrStartForReason(state, now, createAcquisition))
        if (action.start !== undefined) yield* start(action.start)
      }
    })
  )

  /**
   * Whether there is a usable token, or else the last failure. A probe without one takes the place of the background
   * timer: it starts the acquisition that the timer would start now, and waits for nothing.
   */
  const readiness = Effect.uninterruptible(Effect.gen(function*() {
    const now = yield* Instant.now
    const { acquisition, backoff, cached } = MutableRef.get(state)
    if (cached !== undefined && CachedToken.isUsable(cached, now)) return { isReady: true, failure: undefined }
    if (acquisition === undefined && TokenState.millisUntilDue(MutableRef.get(state), now) <= 0) {
      const { start: next } = modify((state) => TokenState.joinOrStartForReason(state, now, createAcquisition))
      if (next !== undefined) yield* start(next)
    }
    return { isReady: false, failure: backoff?.error }
  }))

  const getOrAcquire = getToken((state, now) => TokenState.get(state, now, createAcquisition))

  return {
    // The fast path: a usable token is returned in one step of the fiber, also during a renewal and after a failed one.
    get: Effect.withFiberRuntime<AccessToken, TokenError.TokenError>((fiber) => {
      const current = MutableRef.get(state)
      const { cached } = current
      if (cached === undefined) return getOrAcquire
      const now = Instant.of(Context.get(fiber.currentDefaultServices, Clock.Clock))
      if (!CachedToken.isUsable(cached, now) || TokenState.startsRenewal(current, cached, now)) return getOrAcquire
      countReturned(fiber, cached.token, outcomeOf(cached, now), now)
      return Effect.succeed(cached.token)
    }),
    refresh: getToken((state, now) => TokenState.joinOrStart(state, now, () => createAcquisition("forced"))),
    invalidate: (rejected: AccessToken) =>
      Effect.map(Instant.now, (now) => MutableRef.update(state, (state) => TokenState.invalidate(state, rejected, now)))
        .pipe(
          Effect.zipRight(changeLatch.open),
          Effect.zipRight(notifyChange)
        ),
    readiness,
    backgroundTimer: Effect.forever(timerStep)
  }
})

/** Counts a returned token and records its age. */
const countReturned = (
  fiber: Fiber.RuntimeFiber<unknown, unknown>,
  token: AccessToken,
  outcome: typeof freshGets,
  { wall }: Instant.Instant
): void => {
  const labels = fiber.getFiberRef(FiberRef.currentMetricLabels)
  outcome.unsafeUpdate(1, labels)
  Metrics.tokenAge.unsafeUpdate((wall - token.requestedAt) / 1000, labels)
}

const failedGets = Metric.increment(Metric.tagged(Metrics.tokenGets, "outcome", "failed"))
const freshGets = Metric.tagged(Metrics.tokenGets, "outcome", "hit")
const staleGets = Metric.tagged(Metrics.tokenGets, "outcome", "stale")
const outcomeOf = (cached: CachedToken.CachedToken, now: Instant.Instant) =>
  CachedToken.isStale(cached, now) ? staleGets : freshGets
const waitedGets = Metric.tagged(Metrics.tokenGets, "outcome", "wait")

const warningTexts: Record<Warning, string> = {
  lifetime: "The token response has no valid lifetime: one hour is assumed",
  prefix: "The token starts with the word Bearer, which was removed",
  same_token: "The token endpoint issued the same token again: its expiry is unchanged"
}

const reportWarning = (warning: Warning) =>
  Effect.zipRight(
    Metric.increment(Metric.tagged(Metrics.tokenWarnings, "warning", warning)),
    Effect.logWarning(warningTexts[warning])
  )

const isInterrupted = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause)

/** Logs a failure that no caller receives. */
const logFailure = (failure: Option.Option<TokenError.TokenError>) =>
  Effect.logWarning(
    "The access token was not renewed in the background",
    Option.match(failure, { onNone: () => "defect", onSome: ({ message }) => message })
  )

const countAcquisition = (running: RunningAcquisition, exit: Exit.Exit<unknown, TokenError.TokenError>) => {
  const error = Exit.isFailure(exit) && !isInterrupted(exit)
    ? Option.match(Cause.failureOption(exit.cause), { onNone: () => "defect", onSome: ({ _tag }) => _tag })
    : undefined
  return Effect.all([
    Metric.increment(Metric.tagged(Metrics.tokenAcquisitions, "reason", running.reason)),
    Metric.update(Metrics.tokenWaiters, running.totalWaiters),
    error === undefined ? Effect.void : Metric.increment(Metric.tagged(Metrics.tokenFailures, "error", error))
  ], { discard: true })
}
