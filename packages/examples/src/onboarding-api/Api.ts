/** The API definition: all requests and responses. The OpenAPI document is generated from it. */
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

/** The input as text. `Person.make` validates it, because its errors do not repeat values. */
export const SignUpForm = Schema.Struct({
  name: Schema.String.annotations({ description: "the full name", examples: ["Ada Testclear"] }),
  dateOfBirth: Schema.String.annotations({ description: "yyyy-mm-dd", examples: ["1990-02-01"] })
})

/** A UUID, because a key of the caller's choice may be a name or an e-mail address. */
export const IdempotencyKey = Schema.Struct({
  "idempotency-key": Schema.UUID.annotations({ description: "a UUID that the caller creates for each sign-up" })
})

/** `received` means that the bank will contact the applicant. It is the same for a match and for an outage. */
export const SignedUp = Schema.Struct({
  applicantId: Schema.UUID,
  status: Schema.Literal("welcome", "received")
}).annotations({ identifier: "SignedUp" })

export type SignedUp = typeof SignedUp.Type

/** 409: an earlier request used this key for another person. */
export class KeyReused extends Schema.TaggedError<KeyReused>()(
  "KeyReused",
  {},
  HttpApiSchema.annotations({ status: 409, description: "The Idempotency-Key was used with another body" })
) {}

/** A case for manual review. Only the back office may see it. */
export const Review = Schema.Struct({
  applicantId: Schema.UUID,
  name: Schema.String,
  dateOfBirth: Schema.String,
  since: Schema.DateTimeUtc,
  reason: Schema.String.annotations({
    description: "PotentialMatch, DoubtfulNo, Interrupted, Defect, or the tag of the error of the check"
  }),
  sent: Schema.Literal("no", "unknown", "answered").annotations({
    description: "whether the service may have performed, and billed, the check"
  }),
  evidence: Schema.Literal("none", "verified", "refuted").annotations({
    description: "whether the stored response matches its digest"
  }),
  amlProfile: Schema.optionalWith(Schema.String, { exact: true })
}).annotations({ identifier: "Review" })

export type Review = typeof Review.Type

/** Protects the endpoints of the back office. */
export class ReviewerAuthentication extends HttpApiMiddleware.Tag<ReviewerAuthentication>()(
  "onboarding-api/ReviewerAuthentication",
  {
    failure: HttpApiError.Unauthorized,
    security: { reviewer: HttpApiSecurity.bearer }
  }
) {}

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
      "The same key with the same body returns the same response, and screens the person once. " +
        "`received` is sent after a fixed time, whatever its reason."
    )
)

const reviews = HttpApiGroup.make("reviews").add(
  HttpApiEndpoint.get("list", "/reviews")
    .setUrlParams(Schema.Struct({
      after: Schema.optional(Schema.UUID.annotations({ description: "the last `applicantId` of the previous page" }))
    }))
    .addSuccess(Schema.Array(Review))
    .addError(HttpApiError.NotFound)
    .middleware(ReviewerAuthentication)
    .annotate(OpenApi.Summary, "Cases for manual review, oldest first, 100 per page")
    .annotate(
      OpenApi.Description,
      "`after` selects the next page; an empty page is the last. 404 if the applicant does not exist. " +
        "A new `Interrupted` case may belong to an earlier page: start again from time to time."
    )
)

const health = HttpApiGroup.make("health").add(
  HttpApiEndpoint.get("check", "/health")
    .addSuccess(Schema.Struct({ status: Schema.Literal("ok") }))
    .annotate(OpenApi.Summary, "Checks that the database responds")
)

/** 503 is the only 5xx status, and always has `Retry-After`. */
export const Api = HttpApi.make("onboarding")
  .add(signUps)
  .add(reviews)
  .add(health)
  .addError(WebError.NotAvailable)
  .annotate(OpenApi.Title, "Onboarding")
  .annotate(OpenApi.Description, "Screens and signs up people. Each 503 has `Retry-After`.")
