/** Each error of `AmlClient`, caused by the mock server, and the bank's next step. */
import { AmlClient, type AmlError, type Idv, type TokenError } from "@effect-idv/core"
import type { Fault } from "@effect-idv/mock-server"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Context, Effect, Layer, Redacted, Struct } from "effect"
import { Message, type NextStep } from "./onboard.ts"
import * as TestEnvironment from "./testEnvironment.ts"

type Tag = (AmlError.AmlError | TokenError.TokenError)["_tag"]

interface Case {
  readonly next: NextStep
  /**
   * Selects the response of the mock server.
   *
   * @default "Testpep", a potential match, so that a fault that has no effect is not taken for a "No"
   */
  readonly lastName?: string
  readonly faults?: ReadonlyArray<typeof Fault.Fault.Encoded>
  readonly options?: Partial<Idv.Options>
}

/** A tag without a case does not compile. */
const cases: Record<Exclude<Tag, "TokenRejected" | "TokenProviderClosed">, Case> = {
  AmlUnauthorized: { next: "alert", lastName: "Test401" },
  AmlForbidden: { next: "alert", lastName: "Test403" },
  AmlRequestRejected: { next: "investigate", faults: [{ on: "aml", what: { kind: "status", status: 422 } }] },
  AmlRateLimited: { next: "retry", lastName: "Test429" },
  AmlUnavailable: { next: "retry", lastName: "Test500" },
  AmlTimeout: { next: "reconcile", lastName: "Testhang" },
  AmlResponseInvalid: { next: "investigate", lastName: "Testunknown" },
  AmlResponseMismatch: { next: "investigate", lastName: "Testecho" },
  TokenEndpointUnavailable: { next: "retry", faults: [{ on: "token", what: { kind: "status", status: 503 } }] },
  TokenResponseInvalid: { next: "alert", faults: [{ on: "token", what: { kind: "html" } }] },
  TokenTimeout: {
    next: "retry",
    faults: [{ on: "token", what: { kind: "hang" } }],
    // Longer than the timeout of the token request, which must end first.
    options: { deadline: "2 minutes" }
  }
}

const pending = (reason: Tag, next: NextStep, reference: string) => ({
  message: Message.Pending(),
  entry: { reference, next, reason },
  otherEntries: []
})

describe("No failure welcomes an applicant:", () => {
  it.effect.each(Struct.entries(cases))(
    "%s",
    ([tag, { faults = [], lastName = "Testpep", next, options }]) =>
      Effect.gen(function*() {
        yield* TestEnvironment.setClock
        const { fault } = yield* TestEnvironment.session
        yield* Effect.forEach(faults, fault)
        const outcome = yield* TestEnvironment.runWithClock(
          TestEnvironment.onboardAndReadCase(TestEnvironment.applicant(lastName))
        )
        deepStrictEqual(outcome, pending(tag, next, lastName))
      }).pipe(Effect.provide(TestEnvironment.layerInProcess(options)))
  )

  it.effect("TokenRejected after a wrong key, which the client sends once for 20 applicants", () =>
    Effect.gen(function*() {
      yield* TestEnvironment.setClock
      const { verify } = yield* TestEnvironment.session
      yield* Effect.forEach(
        Array.from({ length: 20 }),
        () => TestEnvironment.onboardAndReadCase(TestEnvironment.applicant("Testpep")),
        {
          concurrency: 5
        }
      )
      const entries = yield* Effect.flatten(TestEnvironment.Entries)
      strictEqual(entries.length, 20)
      deepStrictEqual(new Set(entries.map(({ next, reason }) => `${reason} ${next}`)), new Set(["TokenRejected alert"]))
      yield* verify({ kind: "exactly", n: 1, pattern: { operation: "token" } })
      yield* verify({ kind: "never", pattern: { operation: "aml" } })
    }).pipe(Effect.provide(TestEnvironment.layerMisconfigured({ customerKey: Redacted.make("wrong-key") }))))

  it.effect("TokenProviderClosed while the backend shuts down", () =>
    Effect.gen(function*() {
      yield* TestEnvironment.setClock
      const closed = yield* Effect.scoped(Layer.build(TestEnvironment.layerInProcess()))
      const outcome = yield* TestEnvironment.onboardAndReadCase(TestEnvironment.applicant("Testpep")).pipe(
        Effect.provideService(AmlClient.AmlClient, Context.get(closed, AmlClient.AmlClient))
      )
      deepStrictEqual(outcome, pending("TokenProviderClosed", "alert", "Testpep"))
    }).pipe(Effect.provide(TestEnvironment.layerInProcess())))
})
