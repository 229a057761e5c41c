/** One check, from the person to the credential. */
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpTraceContext from "@effect/platform/HttpTraceContext"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FiberRef from "effect/FiberRef"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Tracer from "effect/Tracer"
import * as AmlError from "../AmlError.ts"
import * as AmlMetrics from "../AmlMetrics.ts"
import type { CheckPolicy } from "../CheckPolicy.ts"
import * as Person from "../Person.ts"
import * as TokenProvider from "../TokenProvider.ts"
import * as AmlAnswer from "./amlAnswer.ts"
import * as Attempts from "./attempts.ts"
import * as Bearer from "./bearer.ts"
import type { Checked } from "./checked.ts"
import * as CheckId from "./checkId.ts"
import * as Observed from "./checkTelemetry.ts"
import * as Deadline from "./deadline.ts"
import * as Exchange from "./exchange.ts"
import * as OwnFiber from "./fiberContext.ts"
import * as Host from "./host.ts"

const isPerson = Schema.is(Person.Person)
const encodeBody = Schema.encodeSync(Person.RequestBody)
const notAPerson = new TypeError("check takes a Person from Person.make")

/** Sends to `url`, with the trace headers of the caller's span if `propagateTrace`. */
export const make = Effect.fnUntraced(function*({ propagateTrace, url }: {
  readonly url: string
  readonly propagateTrace: boolean
}) {
  const exchange = yield* Exchange.make(url)
  const host = Host.of(url)
  const authorize = Bearer.make({ tokens: yield* TokenProvider.TokenProvider, origin: new URL(url).origin })
  const post = HttpClientRequest.acceptJson(HttpClientRequest.post(url))

  const sending = (progress: Attempts.Progress): Bearer.Send<Exchange.ConnectionFailed | Exchange.BodyTooLong> => {
    const onHead = () => {
      progress.sent = "answered"
    }
    return (request, token) =>
      Effect.withFiberRuntime((fiber) => {
        AmlMetrics.requests.unsafeUpdate(1, fiber.getFiberRef(FiberRef.currentMetricLabels))
        progress.begin(token)
        return Effect.map(exchange(request, onHead), (answer) => {
          // Nothing was performed, and until the token is renewed nothing else is sent.
          if (answer.status === 401) progress.sent = "no"
          return answer
        })
      })
  }

  const run = (person: Person.Person, policy: CheckPolicy, { checkId, progress, span }: Observed.Running) => {
    const { deadline, nameEcho, searchedOnTolerance } = policy
    const body = JSON.stringify(encodeBody(Person.toRequestBody(person)))
    const traced = propagateTrace ? HttpClientRequest.setHeaders(post, HttpTraceContext.toHeaders(span)) : post
    const request = HttpClientRequest.bodyText(traced, body, "application/json")

    const attempt = authorize(request, sending(progress)).pipe(
      Effect.flatMap((authorized) =>
        Either.map(
          AmlAnswer.interpret(authorized, {
            person,
            tokens: progress.tokens,
            nameEcho,
            searchedOnTolerance,
            now: progress.now()
          }),
          (accepted) => ({ ...accepted, body: authorized.answer.body })
        )
      ),
      Effect.catchTags({
        ConnectionFailed: ({ reason, status }) =>
          new AmlError.AmlUnavailable({
            reason,
            host,
            sent: status !== undefined ? "answered" : reason === "broken" ? "unknown" : "no",
            ...(status === undefined ? {} : { status })
          }),
        BodyTooLong: ({ description, violations }) => AmlAnswer.invalid(description, violations)
      })
    )

    return Effect.zipRight(OwnFiber.provide(Tracer.ParentSpan, span), Attempts.run(attempt, progress, policy)).pipe(
      Deadline.within(
        deadline,
        Effect.withParentSpan(
          Effect.suspend(() => new AmlError.AmlTimeout({ sent: progress.sentEver, deadline, host })),
          span
        )
      ),
      Effect.map(({ body, credential, status, warnings }): Checked => ({
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

  return (person: Person.Person, policy: CheckPolicy) =>
    Effect.useSpan("AmlClient.check", { captureStackTrace: false }, (span) =>
      Effect.clockWith((clock) => {
        if (!isPerson(person)) return Effect.withParentSpan(Effect.die(notAPerson), span)
        const progress = new Attempts.Progress(clock)
        return Effect.flatMap(CheckId.make(progress.startedAt), (checkId) => {
          const running = { checkId, progress, span }
          return Effect.onExit(run(person, policy, running), Observed.observe(running))
        })
      }))
})
