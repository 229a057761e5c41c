/** A service that follows a script, and how a check of it ends, in the time of the `TestClock`. */
import type { AmlError } from "@effect-idv/core"
import { AmlClient, Idv } from "@effect-idv/core"
import { assert } from "@effect/vitest"
import type { Duration } from "effect"
import { Clock, Effect, Either, Exit, Fiber, Layer, Option, Schedule, TestClock } from "effect"
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
export const answers = (code: number, headers: Record<string, string> = {}): Service.Handler => () =>
  Effect.sync(() => status(code, headers))
export const asks = (code: number, retryAfter: string) => answers(code, { "retry-after": retryAfter })
export const credential = Service.credential({}, { birth_year: "1957" })
export const good: Service.Handler = () => Effect.sync(() => Service.json(credential))
export const invalid: Service.Handler = () => Effect.sync(() => Service.json({}))

/** A service that answers one by one, and with the last of them ever after. `at` is when it was asked, in ms. */
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

export const checkAda = Effect.gen(function*() {
  const aml = yield* AmlClient.AmlClient
  return yield* aml.check(yield* Service.ada)
})

export const provide = (service: Scripted, options: Partial<Idv.Options> = {}) =>
  Effect.provide(Layer.provide(Idv.layer({ ...Service.options, ...options }), service.layer))

/** How a check ended after this time. It is still running if it has not. */
export const endAfter = (service: Scripted, duration: Duration.DurationInput, options: Partial<Idv.Options> = {}) =>
  Effect.gen(function*() {
    yield* TestClock.setTime(today)
    const fiber = yield* Effect.fork(Effect.either(checkAda))
    yield* TestClock.adjust(duration)
    const exit = Option.getOrUndefined(yield* Fiber.poll(fiber))
    yield* Fiber.interruptFork(fiber)
    assert(exit !== undefined && Exit.isSuccess(exit), "it is still running")
    return exit.value
  }).pipe(provide(service, options))

export const failsAfter = (service: Scripted, duration: Duration.DurationInput, options: Partial<Idv.Options> = {}) =>
  Effect.flatMap(endAfter(service, duration, options), Either.flip)

export const gaps = ({ at }: Scripted): ReadonlyArray<number> => at.slice(1).map((now, i) => now - (at[i] ?? NaN))

export const untried = (decide: (error: AmlError.AmlError) => boolean) => {
  const asked: Array<string> = []
  const schedule: Schedule.Schedule<unknown, AmlError.AmlError> = Schedule.recurs(5).pipe(
    Schedule.whileInput((error: AmlError.AmlError) => {
      asked.push(error._tag)
      return decide(error)
    })
  )
  return { asked, schedule }
}
