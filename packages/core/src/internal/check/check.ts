/** Runs one check, from the person to its result. */
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpTraceContext from "@effect/platform/HttpTraceContext"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Tracer from "effect/Tracer"
import * as AmlCheck from "../../AmlCheck.ts"
import * as AmlCredential from "../../AmlCredential.ts"
import * as AmlError from "../../AmlError.ts"
import * as Person from "../../Person.ts"
import type { TokenError } from "../../TokenError.ts"
import * as TokenProvider from "../../TokenProvider.ts"
import * as Address from "../schema/address.ts"
import * as LastingFailure from "../token/lastingFailure.ts"
import * as Deadline from "../wire/deadline.ts"
import * as Exchange from "../wire/exchange.ts"
import { client } from "../wire/version.ts"
import * as AmlResponse from "./amlResponse.ts"
import * as Attempts from "./attempts.ts"
import * as Bearer from "./bearer.ts"
import * as CheckOptions from "./checkOptions.ts"
import * as CheckTelemetry from "./checkTelemetry.ts"
import * as PacedCheck from "./pacedCheck.ts"
import * as Places from "./places.ts"
import { Progress } from "./progress.ts"

const isPerson = Schema.is(Person.Person)
const encodeBody = Schema.encodeSync(Person.RequestBody)
const notAPersonError = new TypeError("check takes a Person from Person.make")

/** What `AmlClient.onInterruptedCheck` runs in this fiber. */
export class OnInterrupted extends Context.Reference<OnInterrupted>()("@effect-idv/core/AmlClient/OnInterrupted", {
  defaultValue: (): (sent: AmlError.Sent) => Effect.Effect<void> => () => Effect.void
}) {}

/** Returns a function that checks a person, with the options of the client. */
export const make = Effect.fnUntraced(function*(options: CheckOptions.CheckedOptions) {
  const { baseUrl, concurrency, customerId, environment, propagateTrace } = options
  const url = Address.join(baseUrl, AmlCredential.path)
  const exchange = yield* Exchange.make(url, "checks")
  const host = Address.hostOf(url)
  const places = Places.make(concurrency)
  const sendAuthorized = Bearer.make(exchange, yield* TokenProvider.TokenProvider)
  const origin = {
    host,
    client,
    ...(environment !== undefined && { environment }),
    ...(customerId !== undefined && { customer: AmlCheck.digest(new TextEncoder().encode(customerId)) })
  }
  const post = HttpClientRequest.acceptJson(HttpClientRequest.post(url))

  const run = (
    person: Person.Person,
    policy: CheckOptions.CheckPolicy,
    running: CheckTelemetry.RunningCheck,
    { context, isPaced, restore }: {
      readonly context: Context.Context<never>
      readonly isPaced: boolean
      readonly restore: Deadline.Restore
    }
  ): Effect.Effect<AmlCheck.AmlCheck, AmlError.AmlError | TokenError> => {
    const { checkId, progress, span } = running
    const { deadline, nameEcho, retry, searchedOnTolerance } = policy
    const body = JSON.stringify(encodeBody(Person.toRequestBody(person)))
    const postWithTrace = propagateTrace ? HttpClientRequest.setHeaders(post, HttpTraceContext.toHeaders(span)) : post
    const request = HttpClientRequest.bodyText(postWithTrace, body, "application/json")

    const complete = (
      { response }: Bearer.AuthorizedResponse,
      { credential, status, warnings }: AmlResponse.AcceptedCredential
    ): AmlCheck.AmlCheck =>
      AmlCheck.make({
        checkId,
        request: { entity_type: "person", name: person.name, dob: Redacted.make(person.dateOfBirth) },
        origin,
        policy: { nameEcho, searchedOnTolerance },
        changes: person.changes,
        warnings: [...person.warnings, ...warnings],
        credential,
        status,
        body: Redacted.make(response.body),
        attempts: progress.requests,
        sentAt: DateTime.unsafeMake(progress.sentAt),
        receivedAt: DateTime.unsafeMake(progress.now())
      })

    const attempt = Effect.matchEffect(sendAuthorized(request, progress), {
      onFailure: (error): Effect.Effect<never, AmlError.AmlError | TokenError> => {
        switch (error._tag) {
          case "ConnectionFailed":
            return Effect.fail(unavailable(error, progress))
          case "BodyTooLong":
            return Effect.fail(AmlResponse.invalid(error.description, error.violations))
          default:
            return Effect.fail(error)
        }
      },
      onSuccess: (authorized) =>
        Either.map(
          AmlResponse.interpret(authorized, {
            person,
            tokens: progress.tokens,
            nameEcho,
            searchedOnTolerance,
            now: progress.now()
          }),
          (accepted) => complete(authorized, accepted)
        )
    })

    /** Ends the check, and records for `Screening` whether its request may have arrived: its caller may repeat the check. */
    const endWithoutResponse = () => {
      progress.isEnded = true
      const error = new AmlError.AmlTimeout({ sent: progress.sent, deadline, host })
      progress.recordFailure(error, false)
      return error
    }
    const timeout = Effect.suspend(endWithoutResponse)
    const record = (exit: Exit.Exit<AmlCheck.AmlCheck, AmlError.AmlError | TokenError>) => {
      const recorded = CheckTelemetry.record(running)(exit)
      if (Exit.isInterrupted(exit)) {
        endWithoutResponse()
        return Effect.zipRight(recorded, Context.get(context, OnInterrupted)(progress.sent))
      }
      progress.isEnded = true
      return Exit.isSuccess(exit) ? recorded : Effect.zipRight(recorded, logLasting(exit.cause))
    }

    // `Screening` has a limit of its own.
    const place = isPaced ? undefined : places.enter()
    const attempts = Attempts.run(attempt, { retry, deadline, progress, isPaced })
    return Deadline.run(place === undefined ? attempts : Effect.zipRight(place.granted, attempts), restore, {
      context: Context.add(context, Tracer.ParentSpan, span),
      startTimer: Deadline.timerOf(deadline),
      onTimeout: Effect.withParentSpan(timeout, span),
      onExit: (exit) => {
        place?.leave()
        return record(exit)
      }
    })
  }

  const logLastingFailure = LastingFailure.make(host)
  /** The token provider logs its own failures. */
  const logLasting = (cause: Cause.Cause<AmlError.AmlError | TokenError>) =>
    Option.match(Option.filter(Cause.failureOption(cause), AmlError.isAmlError), {
      onNone: () => Effect.void,
      onSome: logLastingFailure
    })

  const unavailable = ({ reason, status }: Exchange.ConnectionFailed, progress: Progress) =>
    new AmlError.AmlUnavailable({
      reason,
      host,
      sent: progress.connectionFailed(reason),
      ...(status === undefined ? {} : { status })
    })

  return (person: Person.Person): Effect.Effect<AmlCheck.AmlCheck, AmlError.AmlError | TokenError> =>
    // An interruption between the start of the span and the region would leave a span without an outcome.
    Effect.uninterruptibleMask((restore) =>
      Effect.useSpan(
        "AmlClient.check",
        { captureStackTrace: false },
        (span) =>
          Effect.withFiberRuntime<AmlCheck.AmlCheck, AmlError.AmlError | TokenError>((fiber) => {
            if (!isPerson(person)) return Effect.withParentSpan(Effect.die(notAPersonError), span)
            const { currentContext: context, currentDefaultServices } = fiber
            const policy = { ...options, ...Context.get(context, CheckOptions.Overrides) }
            const progress = new Progress(Context.get(currentDefaultServices, Clock.Clock))
            const sentStatus = Context.get(context, PacedCheck.Current)
            sentStatus?.attachTo(progress)
            return Effect.flatMap(
              makeId(progress.started.wall, Context.get(currentDefaultServices, Random.Random)),
              // Only `Screening` passes a `sentStatus`. It handles a 429 for all of its checks.
              (checkId) =>
                run(person, policy, { checkId, progress, span }, {
                  context,
                  restore,
                  isPaced: sentStatus !== undefined
                })
            )
          })
      )
    )
})

/**
 * Makes a UUID of version 7 (RFC 9562): the time `at` in milliseconds, then 74 random bits. UUIDs sort by time, and are
 * unique across processes.
 */
export const makeId = (at: number, { next }: Random.Random): Effect.Effect<string> =>
  Effect.flatMap(next, (first) => Effect.map(next, (second) => uuid(at, first, second)))

const uuid = (at: number, first: number, second: number): string => {
  const time = digits(at, 12)
  const version = digits(0x7000 + Math.floor(first * 0x1000), 4)
  // Each number has 53 random bits. The version used 12 of the first.
  const variant = digits(0x8000 + Math.floor((first * 0x1000 % 1) * 0x4000), 4)
  return `${time.slice(0, 8)}-${time.slice(8)}-${version}-${variant}-${digits(Math.floor(second * 2 ** 48), 12)}`
}

const digits = (value: number, length: number): string => value.toString(16).padStart(length, "0")
