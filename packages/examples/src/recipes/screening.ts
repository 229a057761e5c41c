/** The edge between Effect and promises, for the recipes of Fastify, Express, NestJS and Next.js. */
import { AmlCheck, AmlClient, type AmlError, Failure, Person } from "@effect-idv/core"
import { Effect, Either, Predicate, type Redacted } from "effect"

/** The result of a screening: the check, or its error with a `_tag`. */
export type Result = Either.Either<AmlCheck.AmlCheck, Failure.Failure>

/** A field of a form or of a JSON body. Anything but a text becomes the empty text, which is rejected. */
const text = (body: unknown, field: string): string =>
  Predicate.hasProperty(body, field) && Predicate.isString(body[field]) ? body[field] : ""

/** Screens the person of a request body `{ name, dateOfBirth }`. The error is part of the result, so none is lost. */
export const screen = (body: unknown): Effect.Effect<Result, never, AmlClient.AmlClient> =>
  Effect.gen(function*() {
    const aml = yield* AmlClient.AmlClient
    const person = yield* Person.make({ name: text(body, "name"), dateOfBirth: text(body, "dateOfBirth") })
    return yield* aml.check(person)
  }).pipe(
    AmlClient.withPolicy({ deadline: "3 seconds" }),
    Effect.either
  )

/** What to store about a screening. `sent` says whether the service may have performed and billed the check. */
export interface Decision {
  readonly outcome: "clear" | "review"
  readonly reason: AmlCheck.Result | Failure.Failure["_tag"]
  readonly sent: AmlError.Sent
  /** What a reviewer needs. A log shows no `Redacted` address: store its `Redacted.value`. */
  readonly check?: {
    readonly id: string
    readonly warnings: ReadonlyArray<string>
    readonly amlProfile: Redacted.Redacted<string>
  }
}

const decideAs = (outcome: Decision["outcome"]) => (check: AmlCheck.AmlCheck): Decision => ({
  outcome,
  reason: check.result,
  sent: "answered",
  check: {
    id: check.checkId,
    warnings: check.warnings.map(String),
    amlProfile: check.credential.credentials.attributes.amlProfile
  }
})

/** Decides on a screening: only a "No" is clear. A doubtful "No" and every error are cases for review. */
export const decide: (result: Result) => Decision = Either.match({
  onLeft: (failure): Decision => ({ outcome: "review", reason: failure._tag, sent: Failure.facts(failure).sent }),
  onRight: AmlCheck.match({
    onNo: decideAs("clear"),
    onDoubtfulNo: decideAs("review"),
    onPotentialMatch: decideAs("review")
  })
})
