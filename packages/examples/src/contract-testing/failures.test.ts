/** Each error that `AmlClient` can fail with, as the mock server brings it about, and what the bank does. */
import { AmlClient, type AmlError, type Idv, type TokenError } from "@effect-idv/core"
import type { Fault } from "@effect-idv/mock-server"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Context, Effect, Layer, Redacted, Struct } from "effect"
import * as Bank from "./bank.ts"
import { Answer, type Next } from "./onboard.ts"

type Tag = (AmlError.AmlError | TokenError.TokenError)["_tag"]

interface Case {
  readonly next: Next
  /** Who is screened. Everybody whom a fault of the session may hit is listed. */
  readonly lastWord?: string
  readonly faults?: ReadonlyArray<typeof Fault.Fault.Encoded>
  readonly options?: Partial<Idv.Options>
}

/** A tag that is missing here does not compile. */
const cases: Record<Exclude<Tag, "TokenRejected" | "TokenProviderClosed">, Case> = {
  AmlUnauthorized: { next: "alert", lastWord: "Test401" },
  AmlForbidden: { next: "alert", lastWord: "Test403" },
  AmlRequestRejected: { next: "investigate", faults: [{ on: "aml", what: { kind: "status", status: 422 } }] },
  AmlRateLimited: { next: "retry", lastWord: "Test429" },
  AmlUnavailable: { next: "retry", lastWord: "Test500" },
  AmlTimeout: { next: "reconcile", lastWord: "Testhang" },
  AmlAnswerInvalid: { next: "investigate", lastWord: "Testunknown" },
  AmlAnswerMismatch: { next: "investigate", lastWord: "Testecho" },
  TokenEndpointUnavailable: { next: "retry", faults: [{ on: "token", what: { kind: "status", status: 503 } }] },
  TokenResponseInvalid: { next: "alert", faults: [{ on: "token", what: { kind: "html" } }] },
  TokenTimeout: {
    next: "retry",
    faults: [{ on: "token", what: { kind: "hang" } }],
    // Else the deadline of the check is over first.
    options: { deadline: "2 minutes" }
  }
}

const pending = (because: Tag, next: Next, reference: string) => ({
  answer: Answer.Pending(),
  entry: { reference, next, because },
  others: []
})

describe("Nobody is welcome because of a failure:", () => {
  it.effect.each(Struct.entries(cases))(
    "%s",
    ([tag, { faults = [], lastWord = "Testpep", next, options }]) =>
      Effect.gen(function*() {
        yield* Bank.today
        const { fault } = yield* Bank.session
        yield* Effect.forEach(faults, (one) => fault(one))
        const outcome = yield* Bank.inTime(Bank.onboarded(Bank.applicant(lastWord)))
        deepStrictEqual(outcome, pending(tag, next, lastWord))
      }).pipe(Effect.provide(Bank.layerInProcess(options)))
  )

  it.effect("TokenRejected, of a wrong key, which is sent once, however many want an account", () =>
    Effect.gen(function*() {
      yield* Bank.today
      const { verify } = yield* Bank.session
      yield* Effect.forEach(Array.from({ length: 20 }), () => Bank.onboarded(Bank.applicant("Testpep")), {
        concurrency: 5
      })
      const cases = yield* Effect.flatten(Bank.Cases)
      strictEqual(cases.length, 20)
      deepStrictEqual(new Set(cases.map(({ because, next }) => `${because} ${next}`)), new Set(["TokenRejected alert"]))
      yield* verify({ kind: "exactly", n: 1, pattern: { operation: "token" } })
      yield* verify({ kind: "never", pattern: { operation: "aml" } })
    }).pipe(Effect.provide(Bank.layerMisconfigured({ customerKey: Redacted.make("of last year") }))))

  it.effect("TokenProviderClosed, of a backend that is shutting down", () =>
    Effect.gen(function*() {
      yield* Bank.today
      const closed = yield* Effect.scoped(Layer.build(Bank.layerInProcess()))
      const outcome = yield* Bank.onboarded(Bank.applicant("Testpep")).pipe(
        Effect.provideService(AmlClient.AmlClient, Context.get(closed, AmlClient.AmlClient))
      )
      deepStrictEqual(outcome, pending("TokenProviderClosed", "alert", "Testpep"))
    }).pipe(Effect.provide(Bank.layerInProcess())))
})
