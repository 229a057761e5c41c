/** The effects around the state machine: what callers wait for, and what runs for all of them. */
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
import type * as Acquisition from "./acquisition.ts"
import * as HeldToken from "./cachedToken.ts"
import * as Deadline from "./deadline.ts"
import * as Instant from "./instant.ts"
import * as TokenState from "./tokenState.ts"

/** One acquisition, and where all who wait for it are told how it ended. */
class Flight {
  readonly reason: TokenState.Reason
  readonly result = Deferred.unsafeMake<AccessToken, TokenError.TokenError>(FiberId.none)
  /** How many have waited for it, and how many do. */
  waiters = 0
  waiting = 0
  /** As soon as it sends something. */
  sent: { readonly credentials: Credentials; readonly span: Tracer.Span } | undefined

  constructor(reason: TokenState.Reason) {
    this.reason = reason
  }
}

const open = (reason: TokenState.Reason) => new Flight(reason)

type State = TokenState.State<Flight>

/** Flights belong to the scope that this is made in. `onChange` is run after each change of the state. */
export const make = Effect.fnUntraced(function*({ acquire, credentials, onChange, policy }: {
  readonly policy: TokenPolicy
  readonly credentials: Effect.Effect<Credentials, TokenError.TokenEndpointUnavailable>
  readonly acquire: Acquisition.Acquire
  readonly onChange: (state: Effect.Effect<State>) => Effect.Effect<void>
}) {
  const scope = yield* Effect.scope
  const fiberRefs = yield* Effect.getFiberRefs
  const state = MutableRef.make<State>(TokenState.initial)
  const stirred = yield* Effect.makeLatch()
  const changed = onChange(Effect.sync(() => MutableRef.get(state)))

  const modify = <A>(transition: (state: State) => readonly [A, State]): A => {
    const [result, next] = transition(MutableRef.get(state))
    MutableRef.set(state, next)
    return result
  }

  /** What a flight that may send something has left of its deadline, and of an embargo. */
  const clear = Effect.fnUntraced(function*(startedAt: Instant.Instant, credentials?: Credentials) {
    const known = MutableRef.get(state)
    const now = yield* Instant.now
    const deadline = Duration.subtract(policy.flightDeadline, Instant.elapsed(startedAt, now))
    const refusal = TokenState.refusal(known, { credentials, deadline, now })
    if (refusal !== undefined) return yield* refusal
    return { deadline, embargo: TokenState.left(known.embargo, now) }
  })

  const fly = Effect.fnUntraced(function*(flight: Flight) {
    const startedAt = yield* Instant.now
    // What the service asked to wait holds for any credentials: whoever cannot wait is told before they are read.
    yield* clear(startedAt)
    const current = yield* credentials.pipe(
      Deadline.within(
        policy.flightDeadline,
        Effect.suspend(() => new TokenError.TokenTimeout({ deadline: policy.flightDeadline }))
      )
    )
    // Another embargo may come meanwhile, with the answer to a flight that was given up.
    const mayAsk = Effect.gen(function*() {
      let left = yield* clear(startedAt, current)
      while (left.embargo > 0) {
        yield* Effect.sleep(left.embargo)
        left = yield* clear(startedAt, current)
      }
      return left.deadline
    })
    const deadline = yield* mayAsk
    return yield* Effect.useSpan(
      "TokenProvider.acquire",
      { attributes: { reason: flight.reason }, captureStackTrace: false },
      (span) => {
        flight.sent = { credentials: current, span }
        return acquire({ credentials: current, deadline, mayAsk, isAwaited: () => flight.waiting > 0 }).pipe(
          Effect.flatMap((acquired) => land(flight, acquired)),
          Effect.onExit((exit) => count(flight, exit)),
          Effect.withParentSpan(span)
        )
      }
    )
  })

  const land = Effect.fnUntraced(function*(flight: Flight, { at, over, token, warnings }: Acquisition.Acquired) {
    const now = yield* Instant.now
    const fresh = HeldToken.make(token, at, yield* Random.next, policy)
    const landed = modify((state) => TokenState.land(state, { flight, fresh, now, policy }))
    if (Option.isNone(landed)) return yield* over
    yield* Effect.forEach(landed.value.isAgain ? Arr.append(warnings, "same_token" as const) : warnings, warn)
    return landed.value.token
  })

  const fail = Effect.fnUntraced(function*(flight: Flight, cause: Cause.Cause<TokenError.TokenError>) {
    const now = yield* Instant.now
    const error = Option.getOrUndefined(Cause.failureOption(cause))
    const sent = flight.sent?.credentials
    MutableRef.update(state, (state) => TokenState.fail(state, { flight, error, sent, now, policy }))
  })

  const own = <A>(ref: FiberRef.FiberRef<A>) => FiberRef.set(ref, FiberRefs.getOrDefault(fiberRefs, ref))

  /** Tracer and logger are those of whoever starts the fiber, but what belongs to one request of the caller is not lent. */
  const undecorate = Effect.all([
    FiberRef.update(FiberRef.currentContext, (context) => Context.omit(Tracer.ParentSpan)(context)),
    own(FiberRef.currentLogAnnotations),
    own(FiberRef.currentLogSpan),
    own(FiberRef.currentMetricLabels),
    own(FiberRef.currentTracerSpanAnnotations),
    own(FiberRef.currentTracerSpanLinks)
  ], { discard: true })

  /** In a fiber of the scope. The state knows how it ended before those who wait do. */
  const start = (flight: Flight) =>
    Effect.gen(function*() {
      yield* undecorate
      yield* changed
      const exit = yield* Effect.exit(Effect.interruptible(fly(flight)))
      if (Exit.isFailure(exit)) yield* fail(flight, exit.cause)
      yield* changed
      yield* stirred.open
      yield* Deferred.done(flight.result, isInterrupted(exit) ? Exit.fail(new TokenError.TokenProviderClosed()) : exit)
      if (flight.waiters === 0 && Exit.isFailure(exit) && !isInterrupted(exit)) yield* warnOfFailure(exit.cause)
    }).pipe(Effect.uninterruptible, Effect.forkIn(scope))

  const wait = (flight: Flight) =>
    Deferred.await(flight.result).pipe(
      Effect.ensuring(
        Effect.suspend(() => flight.sent === undefined ? Effect.void : Effect.linkSpanCurrent(flight.sent.span))
      ),
      Effect.withSpan("TokenProvider.get", { captureStackTrace: false })
    )

  const ask = (transition: (state: State, now: Instant.Instant) => readonly [TokenState.Move<Flight>, State]) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        const now = yield* Instant.now
        const move = modify((state) => transition(state, now))
        if (move._tag === "Fail") return yield* Effect.zipRight(failed, Effect.fail(move.error))
        if (move._tag === "Wait") {
          move.flight.waiters++
          move.flight.waiting++
        }
        if (move.start !== undefined) yield* start(move.start)
        const token = move._tag === "Use"
          ? move.held.token
          : yield* restore(wait(move.flight)).pipe(
            // Here and not inside, where a caller that is interrupted already does not come at all.
            Effect.ensuring(Effect.sync(() => move.flight.waiting--)),
            Effect.tapErrorCause((cause) => Cause.isInterruptedOnly(cause) ? Effect.void : failed)
          )
        const outcome = move._tag === "Wait" ? waited : HeldToken.isStale(move.held, now) ? stale : hit
        const at = yield* Instant.now
        return yield* Effect.withFiberRuntime<AccessToken>((fiber) => {
          countGiven(fiber, token, outcome, at)
          return Effect.succeed(token)
        })
      })
    )

  /** One step of renewing with nobody asking: wait for what is under way, or until something is due, or start it. */
  const ahead = Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      yield* stirred.close
      const known = MutableRef.get(state)
      const now = yield* Instant.now
      const due = TokenState.dueIn(known, now)
      if (known.flight !== undefined) {
        yield* restore(Effect.raceFirst(Effect.exit(Deferred.await(known.flight.result)), stirred.await))
      } else if (due > 0) yield* restore(Effect.timeoutOption(stirred.await, Math.ceil(due)))
      else {
        const { start: flight } = modify((state) => TokenState.renew(state, now, open))
        if (flight !== undefined) yield* start(flight)
      }
    })
  )

  const request = ask((state, now) => TokenState.request(state, now, open))

  return {
    // Nearly always nothing is to be done, and nothing to be waited for: then it is one step of the fiber.
    get: Effect.withFiberRuntime<AccessToken, TokenError.TokenError>((fiber) => {
      const { held } = MutableRef.get(state)
      if (held === undefined) return request
      const now = Instant.of(Context.get(fiber.currentDefaultServices, Clock.Clock))
      if (!HeldToken.isFresh(held, now)) return request
      countGiven(fiber, held.token, hit, now)
      return held.given
    }),
    refresh: ask((state, now) => TokenState.refresh(state, now, () => open("forced"))),
    invalidate: (stale: AccessToken) =>
      Effect.map(Instant.now, (now) => MutableRef.update(state, (state) => TokenState.invalidate(state, stale, now)))
        .pipe(
          Effect.zipRight(stirred.open),
          Effect.zipRight(changed)
        ),
    ahead: Effect.forever(ahead)
  }
})

/** Counts that a token is given out, and how old it is. */
const countGiven = (
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

const oddities: Record<Warning, string> = {
  lifetime: "The token response gives no lifetime that makes sense: one hour is assumed",
  prefix: "The token came with the word Bearer before it, which was taken off",
  same_token: "The token endpoint gave the same token again: its expiry stays as it was"
}

const warn = (warning: Warning) =>
  Effect.zipRight(
    Metric.increment(Metric.tagged(TokenMetrics.warnings, "warning", warning)),
    Effect.logWarning(oddities[warning])
  )

const isInterrupted = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause)

/** In the background nobody else is told. */
const warnOfFailure = (cause: Cause.Cause<TokenError.TokenError>) =>
  Effect.logWarning(
    "The access token was not renewed in the background",
    Option.match(Cause.failureOption(cause), { onNone: () => "defect", onSome: ({ message }) => message })
  )

const count = (flight: Flight, exit: Exit.Exit<unknown, TokenError.TokenError>) => {
  const error = Exit.isFailure(exit) && !isInterrupted(exit)
    ? Option.match(Cause.failureOption(exit.cause), { onNone: () => "defect", onSome: ({ _tag }) => _tag })
    : undefined
  return Effect.all([
    Metric.increment(Metric.tagged(TokenMetrics.flights, "reason", flight.reason)),
    Metric.update(TokenMetrics.waiters, flight.waiters),
    error === undefined ? Effect.void : Metric.increment(Metric.tagged(TokenMetrics.failures, "error", error))
  ], { discard: true })
}
