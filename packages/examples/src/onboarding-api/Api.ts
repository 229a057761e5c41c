/** The contract: what may be asked, and every answer that there is. The OpenAPI page comes from it. */
import { WebError } from "@effect-idv/core"
import {
  HttpApi,
  HttpApiEndpoint,
  HttpApiError,
  HttpApiGroup,
  HttpApiMiddleware,
  HttpApiSchema,
  HttpApiSecurity,
  OpenApi
} from "@effect/platform"
import { Schema } from "effect"

/** What is typed in, as text: what can be screened is decided by `Person.make`, which repeats no value. */
export const SignUpForm = Schema.Struct({
  name: Schema.String.annotations({ description: "the full name", examples: ["Ada Testclear"] }),
  dateOfBirth: Schema.String.annotations({ description: "yyyy-mm-dd", examples: ["1990-02-01"] })
})

/** A UUID, because a key of the caller's own making may be a name or an e-mail address. */
export const IdempotencyKey = Schema.Struct({
  "idempotency-key": Schema.UUID.annotations({ description: "a UUID of the caller's, one for each sign-up" })
})

/** `received` says that somebody will be in touch. It is the same for a match and for an outage. */
export const SignedUp = Schema.Struct({
  applicantId: Schema.UUID,
  status: Schema.Literal("welcome", "received")
}).annotations({ identifier: "SignedUp" })

export type SignedUp = typeof SignedUp.Type

/** 409: this key came with another person before. */
export class KeyReused extends Schema.TaggedError<KeyReused>()(
  "KeyReused",
  {},
  HttpApiSchema.annotations({ status: 409, description: "The Idempotency-Key was used for another body" })
) {}

/** A case for a person to look at, with what they need for it. It never leaves the back office. */
export const Review = Schema.Struct({
  applicantId: Schema.UUID,
  name: Schema.String,
  dateOfBirth: Schema.String,
  since: Schema.DateTimeUtc,
  reason: Schema.String.annotations({
    description: "PotentialMatch, DoubtfulName, Interrupted, Defect, or the tag of the error of the check"
  }),
  sent: Schema.Literal("no", "unknown", "answered").annotations({
    description: "whether the service may have performed, and billed, the check"
  }),
  evidence: Schema.Literal("none", "holds", "refuted").annotations({
    description: "whether the stored answer is the one of its digest"
  }),
  amlProfile: Schema.optionalWith(Schema.String, { exact: true })
}).annotations({ identifier: "Review" })

export type Review = typeof Review.Type

/** The back office. */
export class Reviewer extends HttpApiMiddleware.Tag<Reviewer>()("onboarding-api/Reviewer", {
  failure: HttpApiError.Unauthorized,
  security: { reviewer: HttpApiSecurity.bearer }
}) {}

const signUps = HttpApiGroup.make("signUps").add(
  HttpApiEndpoint.post("signUp", "/sign-ups")
    .setHeaders(IdempotencyKey)
    .setPayload(SignUpForm)
    .addSuccess(SignedUp, { status: 201 })
    .addError(KeyReused)
    .addError(WebError.InputNotAccepted)
    .annotate(OpenApi.Summary, "Sign up")
    .annotate(
      OpenApi.Description,
      "The same key with the same body gives the same answer, and nobody is screened twice. " +
        "`received` comes after a fixed time, whatever its reason."
    )
)

const reviews = HttpApiGroup.make("reviews").add(
  HttpApiEndpoint.get("list", "/reviews")
    .setUrlParams(Schema.Struct({
      after: Schema.optional(Schema.UUID.annotations({ description: "the last `applicantId` of the page before" }))
    }))
    .addSuccess(Schema.Array(Review))
    .addError(HttpApiError.NotFound)
    .middleware(Reviewer)
    .annotate(OpenApi.Summary, "The cases that a person must look at, the oldest first, a hundred at a time")
    .annotate(
      OpenApi.Description,
      "The next page comes with `after`, until one is empty; 404 if there is no such applicant. " +
        "`Interrupted` may be older than what was read: begin again at times."
    )
)

const health = HttpApiGroup.make("health").add(
  HttpApiEndpoint.get("check", "/health")
    .addSuccess(Schema.Struct({ status: Schema.Literal("ok") }))
    .annotate(OpenApi.Summary, "Whether the database answers")
)

/** 503 is the only 5xx, and comes with `Retry-After`. */
export const Api = HttpApi.make("onboarding")
  .add(signUps)
  .add(reviews)
  .add(health)
  .addError(WebError.NotAvailable)
  .annotate(OpenApi.Title, "Onboarding")
  .annotate(OpenApi.Description, "Signs people up, after they were screened. 503 comes with `Retry-After`.")
