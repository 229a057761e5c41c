/** Runs one check, from the person to the credential. */
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpTraceContext from "@effect/platform/HttpTraceContext"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Tracer from "effect/Tracer"
import * as AmlError from "../AmlError.ts"
import type { CheckPolicy } from "../CheckPolicy.ts"
import * as Person from "../Person.ts"
import * as TokenProvider from "../TokenProvider.ts"
import * as AmlResponse from "./amlResponse.ts"
import * as Attempts from "./attempts.ts"
import * as Bearer from "./bearer.ts"
import * as CheckId from "./checkId.ts"
import * as CheckTelemetry from "./checkTelemetry.ts"
import type { CompletedCheck } from "./completedCheck.ts"
import * as Deadline from "./deadline.ts"
import * as Exchange from "./exchange.ts"
import * as FiberContext from "./fiberContext.ts"
import * as Host from "./host.ts"
import type { SentStatus } from "./pacedCheck.ts"
import { Progress } from "./progress.ts"

const isPerson = Schema.is(Person.Person)
const encodeBody = Schema.encodeSync(Person.RequestBody)
const notAPersonError = new TypeError("check takes a Person from Person.make")

/**
 * Returns a function that checks a person at `url`. With `propagateTrace`, the requests have the trace headers of the
 * span of the check.
 */
export const make = Effect.fnUntraced(function*({ propagateTrace, url }: {
  readonly url: string
  readonly propagateTrace: boolean
}) {
  const exchange = yield* Exchange.make(url)
  const host = Host.of(url)
  const sendAuthorized = Bearer.make({
    exchange,
    tokens: yield* TokenProvider.TokenProvider,
    origin: new URL(url).origin
  })
  const post = HttpClientRequest.acceptJson(HttpClientRequest.post(url))

  const run = (
    person: Person.Person,
    policy: CheckPolicy,
    { checkId, progress, span }: CheckTelemetry.RunningCheck,
    isPaced: boolean
  ) => {
    const { deadline, nameEcho, searchedOnTolerance } = policy
    const body = JSON.stringify(encodeBody(Person.toRequestBody(person)))
    const postWithTrace = propagateTrace ? HttpClientRequest.setHeaders(post, HttpTraceContext.toHeaders(span)) : post
    const request = HttpClientRequest.bodyText(postWithTrace, body, "application/json")

    const attempt = sendAuthorized(request, progress).pipe(
      Effect.flatMap((authorized) =>
        Either.map(
          AmlResponse.interpret(authorized, {
            person,
            tokens: progress.tokens,
            nameEcho,
            searchedOnTolerance,
            now: progress.now()
          }),
          (accepted) => ({ ...accepted, body: authorized.response.body })
        )
      ),
      Effect.catchTags({
        ConnectionFailed: ({ reason, status }) =>
          new AmlError.AmlUnavailable({
            reason,
            host,
            sent: progress.connectionFailed(reason),
            ...(status === undefined ? {} : { status })
          }),
        BodyTooLong: ({ description, violations }) => AmlResponse.invalid(description, violations)
      })
    )

    return Effect.zipRight(
      FiberContext.provide(Tracer.ParentSpan, span),
      Attempts.run(attempt, { policy, progress, isPaced })
    ).pipe(
      Deadline.within(
        deadline,
        Effect.withParentSpan(
          Effect.suspend(() => new AmlError.AmlTimeout({ sent: progress.sent, deadline, host })),
          span
        )
      ),
      Effect.map(({ body, credential, status, warnings }): CompletedCheck => ({
        checkId,
        changes: person.changes,
        warnings: [...person.warnings, ...warnings],
        credential,
        status,
        body: Redacted.make(body),
        attempts: progress.requests,
        sentAt: progress.sentAt,
        receivedAt: progress.now()
      }))
    )
  }

  return (person: Person.Person, policy: CheckPolicy, sentStatus?: SentStatus) =>
    Effect.useSpan("AmlClient.check", { captureStackTrace: false }, (span) =>
      Effect.clockWith((clock) => {
        if (!isPerson(person)) return Effect.withParentSpan(Effect.die(notAPersonError), span)
        const progress = new Progress(clock)
        sentStatus?.attachTo(progress)
        return Effect.flatMap(CheckId.make(progress.startedAt), (checkId) => {
          const running = { checkId, progress, span }
          // Only `Screening` passes a `sentStatus`, and it handles a 429 for all of its checks.
          const isPaced = sentStatus !== undefined
          return Effect.onExit(
            run(person, policy, running, isPaced),
            CheckTelemetry.record(running)
          )
        })
      }))
})
