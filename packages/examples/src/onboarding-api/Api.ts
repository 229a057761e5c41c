/** The API definition: all requests and responses. The OpenAPI document is generated from it. */
import { AmlError, WebError } from "@effect-idv/core"
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
import { Context, Schema } from "effect"

/** The input as text. `Person.make` validates it, because its errors do not repeat values. */
export const SignUpForm = Schema.Struct({
  name: Schema.String.annotations({ description: "the full name", examples: ["Ada Testclear"] }),
  otherNames: Schema.optionalWith(Schema.Array(Schema.String).pipe(Schema.maxItems(4)), { default: () => [] })
    .annotations({
      description: "the same name in another script, or an alias. Each is one more check, which the service may bill"
    }),
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
  otherNames: Schema.Array(Schema.String),
  dateOfBirth: Schema.String,
  since: Schema.DateTimeUtc,
  attempt: Schema.Int.annotations({
    description: "1 for the sign-up, and one more for each time it was screened again"
  }),
  reason: Schema.String.annotations({
    description:
      "the worst result of all names: Potential match, then Interrupted, Defect or the tag of the error of a " +
      "check, then Doubtful No, then No, after another attempt. InReview: nothing was sent, because another case of " +
      "this person was open"
  }),
  sent: AmlError.Sent.annotations({
    description: "whether the service may have performed, and billed, the checks; of several, the least certain"
  }),
  checks: Schema.Int.annotations({
    description: "how many checks of all attempts the service may have performed, and billed"
  }),
  evidence: Schema.Array(Schema.Struct({
    name: Schema.String,
    state: Schema.Literal("verified", "refuted").annotations({
      description: "whether the stored response matches its digest"
    }),
    result: Schema.optionalWith(Schema.String, { exact: true }),
    amlProfile: Schema.optionalWith(Schema.String, { exact: true })
  })).annotations({ description: "the responses of the service, one for each name that has a response" })
}).annotations({ identifier: "Review" })

export type Review = typeof Review.Type

/** A case is closed once two reviewers come to the same conclusion about the same attempt and evidence. */
export const Conclusion = Schema.Struct({
  attempt: Schema.Int.annotations({ description: "the `attempt` of the case that the reviewer has read" }),
  evidence: Schema.Int.annotations({ description: "how many entries of `evidence` the reviewer has read" }),
  conclusion: Schema.Literal("clear", "refuse"),
  reason: Schema.Trim.pipe(Schema.minLength(1), Schema.maxLength(2000))
})

export type Conclusion = typeof Conclusion.Type

/** An entry of the log of a case. */
export const HistoryEntry = Schema.Struct({
  at: Schema.DateTimeUtc,
  attempt: Schema.Int,
  action: Schema.Literal("decision", "read", "check", "clear", "refuse"),
  reviewer: Schema.NullOr(Schema.String).annotations({ description: "null for the decision of the program" }),
  reason: Schema.NullOr(Schema.String).annotations({ description: "of a decision or a conclusion" })
}).annotations({ identifier: "HistoryEntry" })

export type HistoryEntry = typeof HistoryEntry.Type

/** 409: the case is not as the reviewer read it. */
export class CaseChanged extends Schema.TaggedError<CaseChanged>()(
  "CaseChanged",
  {},
  HttpApiSchema.annotations({
    status: 409,
    description: "The case is closed, is being screened, or has another `attempt` or number of `evidence`. Or this " +
      "reviewer has come to a conclusion. Or `clear` without a verified response for each name, or another check with one"
  })
) {}

/** The name of the reviewer who sent the request. */
export class Reviewer extends Context.Tag("onboarding-api/Reviewer")<Reviewer, string>() {}

/** Protects the endpoints of the back office. */
export class ReviewerAuthentication extends HttpApiMiddleware.Tag<ReviewerAuthentication>()(
  "onboarding-api/ReviewerAuthentication",
  {
    failure: HttpApiError.Unauthorized,
    provides: Reviewer,
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

const applicant = HttpApiSchema.param("applicantId", Schema.UUID)

const reviews = HttpApiGroup.make("reviews")
  .add(
    HttpApiEndpoint.get("list", "/reviews")
      .setUrlParams(Schema.Struct({
        after: Schema.optional(Schema.UUID.annotations({ description: "the last `applicantId` of the previous page" }))
      }))
      .addSuccess(Schema.Array(Review))
      .addError(HttpApiError.NotFound)
      .annotate(OpenApi.Summary, "Open cases for manual review, oldest first, 100 per page")
      .annotate(
        OpenApi.Description,
        "`after` selects the next page; an empty page is the last. 404 if the applicant does not exist. " +
          "A new `Interrupted` case may belong to an earlier page: start again from time to time."
      )
  )
  .add(
    HttpApiEndpoint.get("history")`/reviews/${applicant}/history`
      .addSuccess(Schema.Array(HistoryEntry))
      .addError(HttpApiError.NotFound)
      .annotate(OpenApi.Summary, "Who read, screened and concluded a case, and when, also after it is closed")
  )
  .add(
    HttpApiEndpoint.post("check")`/reviews/${applicant}/checks`
      .addSuccess(Review)
      .addError(HttpApiError.NotFound)
      .addError(CaseChanged)
      .annotate(OpenApi.Summary, "Screen again, after an outage")
      .annotate(
        OpenApi.Description,
        "Checks the names that have no response. If `sent` of the case is `unknown`, the service may bill them twice. " +
          "The case stays open, also if the result is \"No\"."
      )
  )
  .add(
    HttpApiEndpoint.post("conclude")`/reviews/${applicant}/conclusions`
      .setPayload(Conclusion)
      .addSuccess(Schema.Struct({ status: Schema.Literal("open", "closed") }))
      .addError(HttpApiError.NotFound)
      .addError(CaseChanged)
      .annotate(OpenApi.Summary, "Clear or refuse an applicant, which needs two reviewers")
  )
  .middleware(ReviewerAuthentication)

/** 503 is the only 5xx status, and always has `Retry-After`. */
export const Api = HttpApi.make("onboarding")
  .add(signUps)
  .add(reviews)
  .addError(WebError.NotAvailable)
  .annotate(OpenApi.Title, "Onboarding")
  .annotate(OpenApi.Description, "Screens and signs up people. Each 503 has `Retry-After`.")
