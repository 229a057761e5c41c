/** The test person Ada, and her check by a client over a service in memory. */
import { AmlClient, Idv, Person } from "@effect-idv/core"
import { Duration, Effect, Layer, TestClock } from "effect"
import * as Service from "./service.ts"

/** `Service.attributes` are about her. The `TestClock` starts after her birth, so a test need not set it. */
export const input = { name: "Ada Testclear", dateOfBirth: "1957-03-14" }

export const person = Person.make(input)

export const check = Effect.gen(function*() {
  const aml = yield* AmlClient.AmlClient
  return yield* aml.check(yield* person)
})

export const result = Effect.map(check, ({ result }): string => result)

export const provide = (
  { layer }: Pick<ReturnType<typeof Service.make>, "layer">,
  options: Partial<Idv.Options> = {}
) => Effect.provide(Layer.provide(Idv.layer({ ...Service.options, ...options }), layer))

export const today = Date.parse("2026-11-20")
export const atStart = TestClock.setTime(today)
export const after = (duration: Duration.DurationInput) => TestClock.setTime(today + Duration.toMillis(duration))

export const problem = (status: number, headers: Record<string, string> = {}): ReturnType<typeof Service.json> =>
  new Response("canary", { status, headers })
