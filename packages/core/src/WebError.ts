/**
 * What a web backend answers to the person who signs up, or to whoever types them in: 422 with the
 * fields that cannot be sent, or 503 with `Retry-After`.
 *
 * A potential match gets the same 503 as a service that is down, to the byte: an answer of its own
 * would tip off the person. So `Retry-After` is a constant too, and never what the service asked for.
 * What a byte does not tell, time may: a service that is down often takes longer than a match.
 *
 * Both are `TaggedError`s for an `HttpApi`, with their status, and answer for themselves in an
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
import { type AmlCredential, type Attributes, match } from "./AmlCredential.ts"
import type { AmlInputRejected } from "./AmlError.ts"
import type { Failure } from "./Failure.ts"
import * as DurationInput from "./internal/durationInput.ts"
import * as PersonIssue from "./internal/personIssue.ts"
import * as PersonInput from "./PersonInput.ts"
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
 * 422: fields to correct, each with its code, where it is wrong, and in words. Never the value.
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
  /** A problem (RFC 9457) with `errors`. */
  [HttpServerRespondable.symbol]() {
    return Effect.succeed(problem(this, { errors: this.errors }))
  }
}

/**
 * 503: come back later. For everything that is not the person's to mend, and for a potential match.
 *
 * - `retryAfter`: in seconds.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotAvailable extends Schema.TaggedError<NotAvailable>("@effect-idv/core/NotAvailable")(
  "NotAvailable",
  { retryAfter: Schema.NonNegativeInt },
  HttpApiSchema.annotations({ status: 503 })
) {
  readonly status = 503
  override get message() {
    return "This cannot be completed at the moment"
  }
  /** A problem (RFC 9457) with the header `Retry-After`, which an `HttpApi` does not send by itself. */
  [HttpServerRespondable.symbol]() {
    return Effect.succeed(problem(this, {}, { "retry-after": String(this.retryAfter) }))
  }
}

/**
 * @category errors
 * @since 0.1.0
 */
export type WebError = InputNotAccepted | NotAvailable

/**
 * - `retryAfter`: 1 minute by default, the same for everybody. One that makes no sense is a
 *   `TypeError`, at once.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly retryAfter?: Duration.DurationInput | undefined
}

const decodeWait = Violation.decodeUnknown(DurationInput.DurationInput)

const notAvailable = ({ retryAfter = "1 minute" }: Options = {}) => {
  const wait = Either.getOrThrowWith(
    decodeWait(retryAfter),
    ([{ expected }]) => new TypeError(`WebError: retryAfter should be ${expected}`)
  )
  return new NotAvailable({ retryAfter: Math.ceil(Duration.toSeconds(wait)) })
}

/**
 * What to answer about a failure.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromFailure = (failure: Failure, options?: Options): WebError => told(failure, notAvailable(options))

const told = (failure: Failure, notAvailable: NotAvailable): WebError =>
  failure._tag === "AmlInputRejected" ? inputNotAccepted(failure.issues) : notAvailable

const inputNotAccepted = (issues: AmlInputRejected["issues"]) =>
  new InputNotAccepted({
    errors: Arr.map(issues, (issue) => ({ ...issue, message: PersonInput.issues[issue.code] }))
  })

/**
 * Lets a "No" pass, and nothing else: a potential match and every failure of the check fail with
 * what the person may be told. Store the outcome before this.
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
export const onlyClear = (options?: Options) => {
  const error = notAvailable(options)
  return <R>(check: Effect.Effect<AmlCredential, Failure, R>): Effect.Effect<Attributes, WebError, R> =>
    Effect.matchEffect(check, {
      onFailure: (failure): Effect.Effect<never, WebError> => Effect.fail(told(failure, error)),
      onSuccess: match({
        onNo: (attributes): Effect.Effect<Attributes, WebError> => Effect.succeed(attributes),
        onPotentialMatch: () => error
      })
    })
}

/**
 * Middleware of an `HttpApi`, for `HttpApiBuilder.middleware`. A request whose person cannot be sent,
 * with `Person.FromInput` as its payload or in it, fails with `InputNotAccepted` (422) in place of
 * the 400 of the platform. Any other request that cannot be decoded stays a 400, without the values
 * that the platform repeats. The API must declare `InputNotAccepted` with `addError`.
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
    // The type of the platform does not have it.
    const error = Cause.squash(cause)
    return error instanceof HttpApiDecodeError ? notDecoded(error) : Effect.failCause(cause)
  })

const notDecoded = ({ issues }: HttpApiDecodeError) => {
  const ofPerson = Arr.flatMap(issues, PersonIssue.fromWords)
  return Arr.isNonEmptyArray(ofPerson) ? inputNotAccepted(ofPerson) : new HttpApiDecodeError({
    message: "The request cannot be decoded",
    issues: issues.map(({ _tag, path }) => ({
      _tag,
      path,
      message: _tag === "Missing" ? "is missing" : "is not as declared"
    }))
  })
}
