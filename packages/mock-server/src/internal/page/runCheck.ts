/** Runs the check of the page's form: the client of `@effect-idv/core` sends it to this server's own data plane. */
import * as AmlCheck from "@effect-idv/core/AmlCheck"
import * as AmlClient from "@effect-idv/core/AmlClient"
import * as Idv from "@effect-idv/core/Idv"
import type * as Person from "@effect-idv/core/Person"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Session from "../../Session.ts"
import type { Recorder } from "../journal/recorder.ts"
import { deadline, type RecordedExchange, recordingClient, type Step, stepOf, tokenMask } from "./recordedExchange.ts"

export type { Step } from "./recordedExchange.ts"

export interface Verdict {
  readonly outcome: "potential" | "doubtful" | "clear" | "none"
  readonly text: string
  /** The address of the AML profile. */
  readonly profile: Option.Option<string>
}

export interface Check {
  readonly steps: ReadonlyArray<Step>
  readonly verdict: Verdict
}

const withProfile =
  (outcome: Verdict["outcome"]) => ({ credential, result, warnings }: AmlCheck.AmlCheck): Verdict => ({
    outcome,
    text: outcome === "doubtful" ? `${result}: ${warnings.join("; ")}` : result,
    profile: Option.some(Redacted.value(credential.credentials.attributes.amlProfile))
  })

const verdictOf = AmlCheck.match({
  onNo: withProfile("clear"),
  onDoubtfulNo: withProfile("doubtful"),
  onPotentialMatch: withProfile("potential")
})

const noVerdict = (text: string): Verdict => ({ outcome: "none", text, profile: Option.none() })

/** `origin` is the address at which the user's browser reaches this server. */
export const run = (
  customer: Session.Customer,
  person: Person.Person,
  origin: string
): Effect.Effect<Check, never, Session.Sessions | Recorder> =>
  Effect.gen(function*() {
    const exchanges: Array<RecordedExchange> = []
    const client = Idv.layer({
      authUrl: origin,
      baseUrl: origin,
      allowInsecure: true,
      customerId: customer.customerId,
      customerKey: customer.customerKey,
      deadline,
      // One attempt, whose failure is the result. The replay after a 401 remains.
      retry: "never",
      tokenPolicy: { attempts: 1 },
      // The session's clock may be far from the real time.
      searchedOnTolerance: "3660000 days"
    }).pipe(Layer.provide(Layer.effect(HttpClient.HttpClient, recordingClient(exchanges))))
    const verdict = yield* Effect.flatMap(AmlClient.AmlClient, ({ check }) => check(person)).pipe(
      Effect.map(verdictOf),
      Effect.provide(client),
      Effect.catchAll((error) =>
        Effect.succeed(noVerdict(error instanceof Error ? `${error._tag}: ${error.message}` : String(error)))
      ),
      Effect.withTracerEnabled(false)
    )
    const mask = tokenMask(customer.customerId)
    return { steps: exchanges.map((progress, index) => stepOf(progress, index, mask)), verdict }
  })
