/** Repeats the attempts of one check. An attempt sends one request, or two if a 401 renews the token. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import * as ScheduleDecision from "effect/ScheduleDecision"
import * as ScheduleIntervals from "effect/ScheduleIntervals"
import * as AmlError from "../../AmlError.ts"
import * as Failure from "../../Failure.ts"
import type { TokenError } from "../../TokenError.ts"
import * as Instant from "../schema/instant.ts"
import type { CheckPolicy, Retry } from "./checkOptions.ts"
import type { Progress } from "./progress.ts"

/** Whether the policy `safe` retries: the check was not sent, or the service asked to retry after a given time. */
const isSafe = (error: AmlError.AmlError | TokenError): boolean => {
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

/**
 * Returns a function from each failure to the delay before the next attempt, in milliseconds, or `undefined` once the
 * schedule ends.
 */
const makeDelayAfter = (retry: Retry) => {
  const schedule: Schedule.Schedule<unknown, AmlError.AmlError> = typeof retry === "string" ? schedules[retry] : retry
  let state: unknown = schedule.initial
  return Effect.fnUntraced(function*(error: AmlError.AmlError | TokenError) {
    if (!AmlError.isAmlError(error) || !error.isRetryable) return undefined
    const now = yield* Clock.currentTimeMillis
    const [next, , decision] = yield* schedule.step(now, error, state)
    state = next
    if (ScheduleDecision.isDone(decision)) return undefined
    return Math.max(ScheduleIntervals.start(decision.intervals) - now, retryAfterMillis(error))
  })
}

const retryAfterMillis = (error: AmlError.AmlError): number =>
  Duration.toMillis(("retryAfter" in error ? error.retryAfter : undefined) ?? 0)

/** Whether `Screening` handles the failure for all of its checks, see `PacedCheck`. */
const isHandledByScreening = (error: AmlError.AmlError | TokenError): boolean =>
  error._tag === "AmlRateLimited" || Failure.facts(error).concerns === "everyone"

interface Options extends Pick<CheckPolicy, "deadline" | "retry"> {
  readonly progress: Progress
  /** See `PacedCheck`. */
  readonly isPaced: boolean
}

/**
 * Repeats the attempt until it succeeds, the policy ends it, or the next wait would exceed the deadline. Fails with the
 * error of the last attempt, or with that of an earlier attempt if it is less certain whether the service performed the
 * earlier one.
 */
export const run = <A>(
  attempt: Effect.Effect<A, AmlError.AmlError | TokenError>,
  options: Options
): Effect.Effect<A, AmlError.AmlError | TokenError> =>
  Effect.catchAll(attempt, (error) => repeat(attempt, error, options))

const repeat = Effect.fnUntraced(function*<A>(
  attempt: Effect.Effect<A, AmlError.AmlError | TokenError>,
  firstFailure: AmlError.AmlError | TokenError,
  { deadline, isPaced, progress, retry }: Options
) {
  const delayAfter = makeDelayAfter(retry)
  let failure = firstFailure
  while (true) {
    if (isPaced && isHandledByScreening(failure)) return yield* failure
    const errorToReport = progress.recordFailure(failure, isSafe(failure))
    const delay = yield* delayAfter(failure)
    const elapsed = Instant.elapsed(progress.started, yield* Instant.now)
    if (delay === undefined || elapsed + delay >= Duration.toMillis(deadline)) return yield* errorToReport
    yield* Effect.sleep(delay)
    const result = yield* Effect.either(attempt)
    if (Either.isRight(result)) return result.right
    failure = result.left
  }
})
