/**
 * The error responses of a web backend: 422 with the invalid fields, or 503 with `Retry-After`.
 *
 * A doubtful "No" and a potential match get the same 503 as a failure of the service, byte for byte, because a different response would
 * tip off the person. For the same reason `Retry-After` is a constant, and never the wait that the service asked for.
 * The response time may still differ, because a failing service often takes longer than a match: set `respondAfter`.
 * A second attempt can also reveal a match: an outage ends, and a match does not.
 *
 * Both errors are `TaggedError`s with a status for an `HttpApi`, and convert themselves to a response in an
 * `HttpRouter`. {@link middleware} is for an `HttpApi` with a person in its payload.
 *
 * @since 0.1.0
 */
import { HttpApiDecodeError } from "@effect/platform/HttpApiError"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerRespondable from "@effect/platform/HttpServerRespondable"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as AmlCheck from "./AmlCheck.ts"
import type { AmlInputRejected } from "./AmlError.ts"
import type { Failure } from "./Failure.ts"
import * as PersonInput from "./internal/names/personInput.ts"
import * as DurationInput from "./internal/schema/durationInput.ts"
import * as Violation from "./Violation.ts"

const problem = (
  { message, status }: { readonly status: number; readonly message: string },
  members: object,
  headers: Record<string, string> = {}
) =>
  HttpServerResponse.unsafeJson({ type: "about:blank", title: message, status, ...members }, {
    status,
    contentType: "application/problem+json",
    headers: { "cache-control": "no-store", ...headers }
  })

/**
 * 422: the fields to correct, each with its code, its index and a message. It contains no value.
 *
 * @category errors
 * @since 0.1.0
 */
export class InputNotAccepted extends Schema.TaggedError<InputNotAccepted>("@effect-idv/core/InputNotAccepted")(
  "InputNotAccepted",
  { errors: Schema.NonEmptyArray(Schema.Struct({ ...PersonInput.Issue.fields, message: Schema.String })) },
  HttpApiSchema.annotations({ status: 422 })
) {
  readonly status = 422
  override get message() {
    return "Some of what was entered cannot be used"
  }
  /** The response: a problem (RFC 9457) with `errors`. */
  [HttpServerRespondable.symbol]() {
    return Effect.succeed(problem(this, { errors: this.errors }))
  }
}

/**
 * 503: for a doubtful "No", a potential match, and for every failure that the person cannot correct.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotAvailable extends Schema.TaggedError<NotAvailable>("@effect-idv/core/NotAvailable")(
  "NotAvailable",
  {
    /** In seconds. */
    retryAfter: Schema.NonNegativeInt
  },
  HttpApiSchema.annotations({ status: 503 })
) {
  readonly status = 503
  override get message() {
    return "This cannot be completed at the moment"
  }
  /** The response: a problem (RFC 9457) with the header `Retry-After`, which an `HttpApi` does not send. */
  [HttpServerRespondable.symbol]() {
    return Effect.succeed(problem(this, {}, { "retry-after": String(this.retryAfter) }))
  }
}

/**
 * Either error response.
 *
 * @category errors
 * @since 0.1.0
 */
export type WebError = InputNotAccepted | NotAvailable

/**
 * The options of {@link NotAvailable}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * The wait in `Retry-After`, the same for every person. An invalid value throws a `TypeError`.
   *
   * @default "1 minute"
   */
  readonly retryAfter?: Duration.DurationInput | undefined
}

const decodeWait = Violation.decodeUnknown(DurationInput.DurationInput)

const notAvailable = ({ retryAfter = "1 minute" }: Options = {}) => {
  return new NotAvailable({ retryAfter: Math.ceil(Duration.toSeconds(durationOf("retryAfter", retryAfter))) })
}

const durationOf = (name: string, value: Duration.DurationInput): Duration.Duration =>
  Either.getOrThrowWith(decodeWait(value), ([{ expected }]) => new TypeError(`WebError: ${name} should be ${expected}`))

/**
 * Returns the error response for a failure.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromFailure = (failure: Failure, options?: Options): WebError => responseTo(failure, notAvailable(options))

const responseTo = (failure: Failure, notAvailable: NotAvailable): WebError =>
  failure._tag === "AmlInputRejected" ? inputNotAccepted(failure.issues) : notAvailable

const inputNotAccepted = (issues: AmlInputRejected["issues"]) =>
  new InputNotAccepted({
    errors: Arr.map(issues, (issue) => ({ ...issue, message: PersonInput.issues[issue.code] }))
  })

/**
 * The options of {@link onlyClear}.
 *
 * @category models
 * @since 0.1.0
 */
export interface OnlyClearOptions extends Options {
  /**
   * The time of each {@link NotAvailable}, counted from the start. It hides the reason if it is longer than the deadline of
   * the check. A "No" and an invalid input are not delayed. An invalid value throws a `TypeError`.
   *
   * @default 0
   */
  readonly respondAfter?: Duration.DurationInput | undefined
}

/**
 * Succeeds only with a "No". A doubtful "No", a potential match and every failure of the check become a {@link WebError}. Store the
 * outcome before you apply this function.
 *
 * @example
 * import { AmlClient, Person, WebError } from "@effect-idv/core"
 * import { Effect } from "effect"
 *
 * const signUp = (input: Person.Input) =>
 *   Effect.gen(function*() {
 *     const aml = yield* AmlClient.AmlClient
 *     const person = yield* Person.make(input)
 *     return yield* aml.check(person)
 *   }).pipe(Effect.tapBoth({ onFailure: Effect.log, onSuccess: Effect.log }), WebError.onlyClear())
 *
 * @category combinators
 * @since 0.1.0
 */
export const onlyClear = (options: OnlyClearOptions = {}) => {
  const error = notAvailable(options)
  const respondAfter = durationOf("respondAfter", options.respondAfter ?? 0)
  return <R>(check: Effect.Effect<AmlCheck.AmlCheck, Failure, R>): Effect.Effect<AmlCheck.AmlCheck, WebError, R> =>
    // `timed` uses the monotonic clock: if the wall clock is set, the time of the response must not reveal the reason.
    Effect.flatMap(Effect.timed(Effect.either(check)), ([elapsed, result]) => {
      const late = Effect.zipRight(Effect.sleep(Duration.subtract(respondAfter, elapsed)), error)
      return Either.match(result, {
        onLeft: (failure): Effect.Effect<AmlCheck.AmlCheck, WebError> => {
          const response = responseTo(failure, error)
          return response === error ? late : Effect.fail(response)
        },
        onRight: AmlCheck.match({
          onNo: (check): Effect.Effect<AmlCheck.AmlCheck, WebError> => Effect.succeed(check),
          onDoubtfulNo: () => late,
          onPotentialMatch: () => late
        })
      })
    })
}

/**
 * Middleware of an `HttpApi`, for `HttpApiBuilder.middleware`. If the payload is or contains `Person.FromInput`, a
 * request with an invalid person fails with `InputNotAccepted` (422) instead of the 400 of the platform. Any other
 * request that cannot be decoded stays a 400, without the values that the platform repeats. The API must declare
 * `InputNotAccepted` with `addError`.
 *
 * @example
 * import { Person, WebError } from "@effect-idv/core"
 * import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
 *
 * const Api = HttpApi.make("onboarding").add(
 *   HttpApiGroup.make("people").add(HttpApiEndpoint.post("signUp", "/people").setPayload(Person.FromInput))
 * ).addError(WebError.InputNotAccepted)
 *
 * // Provide it where you provide the groups.
 * const layerWebError = HttpApiBuilder.middleware(Api, WebError.middleware)
 *
 * @category middleware
 * @since 0.1.0
 */
export const middleware = <R>(
  app: HttpApp.Default<never, R>
): HttpApp.Default<InputNotAccepted | HttpApiDecodeError, R> =>
  Effect.catchAllCause(app, (cause): Effect.Effect<never, InputNotAccepted | HttpApiDecodeError> => {
    // The platform can fail with this error, although its types omit it.
    const error = Cause.squash(cause)
    return error instanceof HttpApiDecodeError ? decodeFailure(error) : Effect.failCause(cause)
  })

const decodeFailure = ({ issues }: HttpApiDecodeError) => {
  const personIssues = Arr.flatMap(issues, PersonInput.fromDecodeIssue)
  return Arr.isNonEmptyArray(personIssues) ? inputNotAccepted(personIssues) : new HttpApiDecodeError({
    message: "The request cannot be decoded",
    issues: issues.map(({ _tag, path }) => ({
      _tag,
      path,
      message: _tag === "Missing" ? "is missing" : "is not as declared"
    }))
  })
}
