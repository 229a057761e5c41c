/** The edge between Effect and promises, for the recipes of Fastify, Express, NestJS and Next.js. */
import { AmlClient, AmlCredential, type AmlError, Failure, Person } from "@effect-idv/core"
import { Effect, Either, Predicate } from "effect"

/** The result of a screening: "clear" or "review", or the error of the check with its `_tag`. */
export type Result = Either.Either<"clear" | "review", Failure.Failure>

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
    Effect.map(AmlCredential.match({ onNo: () => "clear" as const, onPotentialMatch: () => "review" as const })),
    Effect.either
  )

/** What to store about a screening. `sent` says whether the service may have performed and billed the check. */
export interface Decision {
  readonly outcome: "clear" | "review"
  readonly reason: "No" | "PotentialMatch" | Failure.Failure["_tag"]
  readonly sent: AmlError.Sent
}

/** Decides on a screening: only a "No" is clear, and every error is a case for review. */
export const decide: (result: Result) => Decision = Either.match({
  onLeft: (failure) => ({ outcome: "review", reason: failure._tag, sent: Failure.facts(failure).sent }),
  onRight: (outcome) => ({ outcome, reason: outcome === "clear" ? "No" : "PotentialMatch", sent: "answered" })
})
