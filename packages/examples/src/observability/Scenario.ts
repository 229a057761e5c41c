/** Screens a few people, most of them with a fault of the service, and causes some token failures. */
import { AmlClient, Person } from "@effect-idv/core"
import { Context, Effect } from "effect"

/** Token failures that only the operator of a service can cause. */
export class TokenFaults extends Context.Tag("observability/TokenFaults")<TokenFaults, {
  /** Expires the token at the service, while the client still considers it valid. */
  readonly expireToken: Effect.Effect<void>
  /** Makes the token endpoint respond with this status to the next requests. */
  readonly failTokenEndpoint: (status: number, requests: number) => Effect.Effect<void>
}>() {}

/** Causes no faults, for a real service. */
export const noTokenFaults = TokenFaults.of({ expireToken: Effect.void, failTokenEndpoint: () => Effect.void })

const dateOfBirth = "1957-03-14"

/** The last name selects the response of the mock server. */
const names = [
  "Ada Testclear",
  "Zoë Testpep",
  "Иван Testsanc",
  "Beatrix Test403",
  "Cleo Test429",
  "Dagmar Test500",
  "Ephraim Testhang",
  "Finn Testecho",
  "Gilbert Testunknown"
]

/** Screens a person within a span of the application, as a sign-up would. */
const screen = (name: string, applicant: number) =>
  Effect.gen(function*() {
    const aml = yield* AmlClient.AmlClient
    const person = yield* Person.make({ name, dateOfBirth })
    return yield* aml.check(person)
  }).pipe(
    Effect.map(({ result }): string => result),
    // Identifies the applicant by a number, because every tool that shows the trace would show a name.
    Effect.withSpan("sign-up", { attributes: { applicant } }),
    Effect.catchAll((error) => Effect.succeed(`not screened: ${error._tag}`)),
    Effect.map((outcome) => ({ applicant, outcome })),
    // The mock server never responds to the check of this person.
    AmlClient.withPolicy({ deadline: name === "Ephraim Testhang" ? "4 seconds" : "30 seconds" })
  )

interface Step {
  readonly name: string
  readonly before: Effect.Effect<void>
}

/** Returns the outcome of each applicant, in order. */
export const run = Effect.gen(function*() {
  const { expireToken, failTokenEndpoint } = yield* TokenFaults
  const steps: ReadonlyArray<Step> = [
    ...names.map((name) => ({ name, before: Effect.void })),
    { name: "Ada Testclear", before: expireToken },
    // One acquisition sends three token requests.
    { name: "Ada Testclear", before: Effect.zipRight(expireToken, failTokenEndpoint(503, 3)) },
    // The next acquisition starts a second after a failed one, and finds that the key was withdrawn. This
    // step is the last, because the client does not send a rejected key again for 30 seconds.
    { name: "Ada Testclear", before: Effect.zipRight(Effect.sleep("1 second"), failTokenEndpoint(401, 1)) }
  ]
  return yield* Effect.forEach(steps, ({ before, name }, index) => Effect.zipRight(before, screen(name, index + 1)))
})
