/** The attempts of one check: what was sent so far, and what is sent again. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Random from "effect/Random"
import type * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as ScheduleDecision from "effect/ScheduleDecision"
import * as ScheduleIntervals from "effect/ScheduleIntervals"
import type { AccessToken } from "../AccessToken.ts"
import * as AmlError from "../AmlError.ts"
import type { CheckPolicy, Retry } from "../CheckPolicy.ts"
import * as Failure from "../Failure.ts"
import type { TokenError } from "../TokenError.ts"
import * as OwnFiber from "./fiberContext.ts"
import * as Instant from "./instant.ts"

/** What became of the requests of one check, while it runs. */
export class Progress {
  /** How many requests were sent, replays included. */
  requests = 0
  /** When the last of them was, in milliseconds of the wall clock. */
  sentAt = 0
  /** Of the attempt that is under way. */
  sent: AmlError.Sent = "no"
  /** The tokens that were sent. */
  readonly tokens: Array<Redacted.Redacted<string>> = []
  /** The failure of an earlier attempt that may have been performed all the same. */
  earlier: AmlError.AmlError | undefined
  /** In milliseconds of the wall clock, as all times are. */
  readonly startedAt: number
  readonly clock: Clock.Clock

  constructor(clock: Clock.Clock) {
    this.clock = clock
    this.startedAt = this.now()
  }

  now(): number {
    return this.clock.unsafeCurrentTimeMillis()
  }

  begin(token: AccessToken | undefined): void {
    this.requests++
    this.sentAt = this.now()
    this.sent = "unknown"
    if (token !== undefined) this.tokens.push(token.value)
  }

  /** Of all attempts, the worst to know. */
  get sentEver(): AmlError.Sent {
    const earlier = this.earlier === undefined ? "no" : Failure.facts(this.earlier).sent
    return badness[earlier] > badness[this.sent] ? earlier : this.sent
  }

  /** Of this failure and the earlier one. */
  worseOf<E extends Failure.Failure>(error: E): E | AmlError.AmlError {
    const { earlier } = this
    return earlier !== undefined && badness[Failure.facts(earlier).sent] > badness[Failure.facts(error).sent]
      ? earlier
      : error
  }
}

const badness = { no: 0, answered: 1, unknown: 2 } satisfies Record<AmlError.Sent, number>

/** Whether it was certainly not performed, and it is known when to come back. */
const isSafe = (error: AmlError.AmlError): boolean => {
  switch (error._tag) {
    case "AmlRateLimited":
      return error.retryAfter !== undefined
    case "AmlUnavailable":
      return error.sent === "no" || (error.status === 503 && error.retryAfter !== undefined)
    default:
      return false
  }
}

const backoff = Schedule.exponential("200 millis").pipe(
  Schedule.modifyDelayEffect((_, delay) => Effect.map(Random.next, (random) => Duration.times(delay, random))),
  Schedule.intersect(Schedule.recurs(2))
)

const schedules = {
  safe: Schedule.whileInput(backoff, isSafe),
  always: backoff,
  never: Schedule.stop
}

/** Asks a schedule how long to wait, in milliseconds, and does not wait. */
const pauses = (retry: Retry) => {
  const schedule: Schedule.Schedule<unknown, AmlError.AmlError> = typeof retry === "string" ? schedules[retry] : retry
  let state: unknown = schedule.initial
  return Effect.fnUntraced(function*(error: AmlError.AmlError | TokenError) {
    if (!AmlError.isAmlError(error) || !error.isRetryable) return undefined
    const now = yield* Clock.currentTimeMillis
    const [next, , decision] = yield* schedule.step(now, error, state)
    state = next
    if (ScheduleDecision.isDone(decision)) return undefined
    return Math.max(ScheduleIntervals.start(decision.intervals) - now, askedFor(error))
  })
}

const askedFor = (error: AmlError.AmlError): number =>
  "retryAfter" in error && error.retryAfter !== undefined ? Duration.toMillis(error.retryAfter) : 0

/** What whoever paces many checks wants to know of one: whether it was sent, though it is interrupted. */
export class Watch {
  isBegun = false
  progress: Progress | undefined

  /** Of a client that tells no progress, whatever may have been sent. */
  get sentEver(): AmlError.Sent {
    return this.progress === undefined ? (this.isBegun ? "unknown" : "no") : this.progress.sentEver
  }
}

class Watched extends Context.Reference<Watched>()("@effect-idv/core/internal/Watched", {
  defaultValue: (): Watch | undefined => undefined
}) {}

/** For the rest of a fiber: a 429, and what would happen to everybody, is told at once, whatever the policy and earlier attempts. */
export const watchedBy = (watch: Watch | undefined) => OwnFiber.provide(Watched, watch)

const isForAll = (error: AmlError.AmlError | TokenError): boolean =>
  error._tag === "AmlRateLimited" || Failure.facts(error).concerns === "everyone"

/**
 * Tries until there is a result, the policy says no, or the wait would not end before the deadline.
 * The failure is that of the last attempt, unless an earlier one is worse to know.
 */
export const run = <A>(
  attempt: Effect.Effect<A, AmlError.AmlError | TokenError>,
  progress: Progress,
  policy: CheckPolicy
): Effect.Effect<A, AmlError.AmlError | TokenError> =>
  Effect.withFiberRuntime((fiber) => {
    const watch = Context.get(fiber.currentContext, Watched)
    if (watch !== undefined) watch.progress = progress
    const started = Instant.of(progress.clock)
    return Effect.catchAll(attempt, (error) =>
      again(error, { attempt, policy, progress, started, isWatched: watch !== undefined }))
  })

/** What to do about the failure of the first attempt, and of those after it. */
const again = Effect.fnUntraced(function*<A>(
  failure: AmlError.AmlError | TokenError,
  { attempt, isWatched, policy: { deadline, retry }, progress, started }: {
    readonly attempt: Effect.Effect<A, AmlError.AmlError | TokenError>
    readonly isWatched: boolean
    readonly policy: CheckPolicy
    readonly progress: Progress
    readonly started: Instant.Instant
  }
) {
  const pauseAfter = pauses(retry)
  while (true) {
    if (isWatched && isForAll(failure)) return yield* failure
    const error = progress.worseOf(failure)
    if (AmlError.isAmlError(error) && !isSafe(error)) progress.earlier = error
    progress.sent = "no"
    const pause = yield* pauseAfter(failure)
    const elapsed = Instant.elapsed(started, yield* Instant.now)
    if (pause === undefined || elapsed + pause >= Duration.toMillis(deadline)) return yield* error
    yield* Effect.sleep(pause)
    const result = yield* Effect.either(attempt)
    if (Either.isRight(result)) return result.right
    failure = result.left
  }
})
