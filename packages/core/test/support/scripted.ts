/** A service that follows a script, and the result of a check by it in the time of the `TestClock`. */
import type { AmlError, Idv } from "@effect-idv/core"
import { assert } from "@effect/vitest"
import type { Duration } from "effect"
import { Clock, Effect, Either, Exit, Fiber, Option, Schedule, TestClock } from "effect"
import * as Ada from "./ada.ts"
import * as Service from "./service.ts"
import { status } from "./tokens.ts"

export const today = Date.parse("2026-11-20T12:00:00Z")
export const httpDate = (offset: number) => new Date(today + offset).toUTCString()

export const refused = Service.failing({ code: "ECONNREFUSED", syscall: "connect" })
export const noSuchHost = Service.failing({ code: "ENOTFOUND" })
export const noTls = Service.failing({ code: "ERR_SSL_WRONG_VERSION_NUMBER" })
export const untrusted = Service.failing({ code: "CERT_HAS_EXPIRED" })
export const lost = Service.failing({ code: "ECONNRESET", syscall: "read" })
export const hangs: Service.Handler = () => Effect.never
export const respondsWith = (code: number, headers: Record<string, string> = {}): Service.Handler => () =>
  Effect.sync(() => status(code, headers))
export const asksToWait = (code: number, retryAfter: string) => respondsWith(code, { "retry-after": retryAfter })
export const good: Service.Handler = () => Effect.sync(() => Service.json(Service.credential()))
export const invalid: Service.Handler = () => Effect.sync(() => Service.json({}))

/** A service that uses one handler for each request, and the last for all further ones. `at` has the request times in ms. */
export const scripted = (script: ReadonlyArray<Service.Handler>, token?: Service.Handler) => {
  const at: Array<number> = []
  const service = Service.make({
    ...(token && { token }),
    aml: (received, count, request) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        at.push(now - today)
        return (script[Math.min(count, script.length) - 1] ?? good)(received, count, request)
      })
  })
  return { ...service, at }
}

export type Scripted = ReturnType<typeof scripted>

/** The result of a check after this time. Fails if it is still running. */
export const endAfter = (service: Scripted, duration: Duration.DurationInput, options: Partial<Idv.Options> = {}) =>
  Effect.gen(function*() {
    yield* TestClock.setTime(today)
    const fiber = yield* Effect.fork(Effect.either(Ada.check))
    yield* TestClock.adjust(duration)
    const exit = Option.getOrUndefined(yield* Fiber.poll(fiber))
    yield* Fiber.interruptFork(fiber)
    assert(exit !== undefined && Exit.isSuccess(exit), "it is still running")
    return exit.value
  }).pipe(Ada.provide(service, options))

export const failsAfter = (service: Scripted, duration: Duration.DurationInput, options: Partial<Idv.Options> = {}) =>
  Effect.flatMap(endAfter(service, duration, options), Either.flip)

export const gaps = ({ at }: Scripted): ReadonlyArray<number> => at.slice(1).map((now, i) => now - (at[i] ?? NaN))

export const recordingSchedule = (decide: (error: AmlError.AmlError) => boolean) => {
  const received: Array<string> = []
  const schedule: Schedule.Schedule<unknown, AmlError.AmlError> = Schedule.recurs(5).pipe(
    Schedule.whileInput((error: AmlError.AmlError) => {
      received.push(error._tag)
      return decide(error)
    })
  )
  return { received, schedule }
}
