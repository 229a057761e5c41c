/** The check of Ada, by a client over a service in memory. */
import { AmlClient, AmlCredential, Idv, Person } from "@effect-idv/core"
import { Duration, Effect, Layer, TestClock } from "effect"
import * as Service from "./service.ts"

export const provide = (service: ReturnType<typeof Service.make>, options: Partial<Idv.Options> = {}) =>
  Effect.provide(Layer.provide(Idv.layer({ ...Service.options, ...options }), service.layer))

export const today = Date.parse("2026-11-20")
export const atStart = TestClock.setTime(today)
export const after = (duration: Duration.DurationInput) => TestClock.setTime(today + Duration.toMillis(duration))

export const ada = Person.make({ name: "Ada Testclear", dateOfBirth: "1990-02-01" })

export const check = Effect.gen(function*() {
  const aml = yield* AmlClient.AmlClient
  return yield* aml.check(yield* ada)
})

export const answer = Effect.map(
  check,
  AmlCredential.match({ onNo: () => "No", onPotentialMatch: () => "Potential match" })
)

export const problem = (status: number, headers: Record<string, string> = {}): ReturnType<typeof Service.json> =>
  new Response("canary", { status, headers })
