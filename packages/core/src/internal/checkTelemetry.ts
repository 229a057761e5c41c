/** What is told of a check to spans, logs and metrics, all with the same few words. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberRef from "effect/FiberRef"
import * as LogLevel from "effect/LogLevel"
import * as Metric from "effect/Metric"
import * as MetricLabel from "effect/MetricLabel"
import * as Option from "effect/Option"
import type * as Tracer from "effect/Tracer"
import type { MatchFound } from "../AmlCredential.ts"
import * as AmlError from "../AmlError.ts"
import * as AmlMetrics from "../AmlMetrics.ts"
import * as Failure from "../Failure.ts"
import type { TokenError } from "../TokenError.ts"
import type { Progress } from "./attempts.ts"
import type { Checked } from "./checked.ts"

const outcomes: Record<MatchFound, string> = { "No": "NoMatch", "Potential match": "PotentialMatch" }

type CheckExit = Exit.Exit<Checked, AmlError.AmlError | TokenError>

interface Labels {
  readonly outcome: string
  readonly status: string
  readonly sent: string
}

const labelsOf = (exit: CheckExit, progress: Progress): Labels => {
  if (Exit.isSuccess(exit)) {
    const { credential: { credentials: { attributes } }, status } = exit.value
    return { outcome: outcomes[attributes.matchFound], status: classOf(status), sent: "answered" }
  }
  return Option.match(Cause.failureOption(exit.cause), {
    onNone: () => ({
      outcome: Cause.isInterruptedOnly(exit.cause) ? "Interrupted" : "Defect",
      status: "none",
      sent: progress.sentEver
    }),
    onSome: (error) => ({
      outcome: error._tag,
      status: classOfError(error),
      sent: Failure.facts(error).sent
    })
  })
}

const classOf = (status: number | undefined): string => status === undefined ? "none" : `${Math.floor(status / 100)}xx`

/** There are few labels, and to tag a metric takes longer than to count. */
const tagged = new Map<string, ReturnType<typeof tag>>()

const tag = (labels: ReadonlyArray<MetricLabel.MetricLabel>) => ({
  checks: Metric.taggedWithLabels(AmlMetrics.checks, labels),
  duration: Metric.taggedWithLabels(AmlMetrics.duration, labels)
})

const metricsOf = (labels: Labels) => {
  const key = Object.values(labels).join()
  const metrics = tagged.get(key) ?? tag(Object.entries(labels).map(([key, value]) => MetricLabel.make(key, value)))
  tagged.set(key, metrics)
  return metrics
}

/** Of the answer to the check. Two of the errors hold no status, because it says nothing that they do not. */
const classOfError = (error: AmlError.AmlError | TokenError): string => {
  if (!AmlError.isAmlError(error)) return "none"
  switch (error._tag) {
    case "AmlRateLimited":
      return "4xx"
    case "AmlAnswerMismatch":
      return "2xx"
    default:
      return classOf("status" in error ? error.status : undefined)
  }
}

/** A check that is under way. */
export interface Running {
  readonly checkId: string
  readonly progress: Progress
  readonly span: Tracer.Span
}

/** Annotates the span, counts, and logs at Debug how the check ended. */
export const observe = ({ checkId, progress, span }: Running) => (exit: CheckExit) =>
  Effect.withFiberRuntime<void>((fiber) => {
    const labels = labelsOf(exit, progress)
    const told = { check_id: checkId, ...labels, attempts: progress.requests }
    for (const [key, value] of Object.entries(told)) span.attribute(key, value)
    const { checks, duration } = metricsOf(labels)
    const tags = fiber.getFiberRef(FiberRef.currentMetricLabels)
    checks.unsafeUpdate(1, tags)
    duration.unsafeUpdate((progress.now() - progress.startedAt) / 1000, tags)
    return LogLevel.lessThanEqual(fiber.getFiberRef(FiberRef.currentMinimumLogLevel), LogLevel.Debug)
      ? Effect.logDebug("AML check").pipe(Effect.annotateLogs(told), Effect.withParentSpan(span))
      : Effect.void
  })
