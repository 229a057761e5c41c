/** A few people, most of whom something goes wrong with, and some troubles with the token. */
import { AmlClient, AmlCredential, Person } from "@effect-idv/core"
import { Context, Effect } from "effect"

/** What only the operator of a service can bring about. */
export class Troubles extends Context.Tag("observability/Troubles")<Troubles, {
  /** For the service alone: the client takes its token for a good one. */
  readonly tokenExpires: Effect.Effect<void>
  /** The token endpoint answers so many requests with this status. */
  readonly tokenEndpointAnswers: (status: number, requests: number) => Effect.Effect<void>
}>() {}

/** A real service has none but its own. */
export const noTroubles = Troubles.of({ tokenExpires: Effect.void, tokenEndpointAnswers: () => Effect.void })

const dateOfBirth = "1957-03-14"

/** The mock server knows them by the last word. */
const people = [
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

/** A span of the application around a check, as the sign-up of a person would be. */
const screen = (name: string, applicant: number) =>
  Effect.gen(function*() {
    const aml = yield* AmlClient.AmlClient
    const person = yield* Person.make({ name, dateOfBirth })
    return yield* aml.check(person)
  }).pipe(
    Effect.map(AmlCredential.match({ onNo: () => "No", onPotentialMatch: () => "Potential match" })),
    // A number of ours tells who it was. A name would be in every tool that shows the trace.
    Effect.withSpan("sign-up", { attributes: { applicant } }),
    Effect.catchAll((error) => Effect.succeed(`no answer: ${error._tag}`)),
    Effect.map((outcome) => ({ applicant, outcome })),
    // Nobody waits longer than this for the one who gets no answer.
    AmlClient.withPolicy({ deadline: "4 seconds" })
  )

interface Step {
  readonly name: string
  readonly before: Effect.Effect<void>
}

/** What became of each, in their order. */
export const run = Effect.gen(function*() {
  const { tokenEndpointAnswers, tokenExpires } = yield* Troubles
  const steps: ReadonlyArray<Step> = [
    ...people.map((name) => ({ name, before: Effect.void })),
    { name: "Ada Testclear", before: tokenExpires },
    // Three requests are one acquisition.
    { name: "Ada Testclear", before: Effect.zipRight(tokenExpires, tokenEndpointAnswers(503, 3)) },
    // A key that was withdrawn, found by the next acquisition, which begins a second after one that failed. For
    // 30 seconds the key is not sent again: so this is the last.
    { name: "Ada Testclear", before: Effect.zipRight(Effect.sleep("1 second"), tokenEndpointAnswers(401, 1)) }
  ]
  return yield* Effect.forEach(steps, ({ before, name }, index) => Effect.zipRight(before, screen(name, index + 1)))
})
