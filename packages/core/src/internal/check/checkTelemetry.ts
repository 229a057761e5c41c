/** Reports how a check ended, with the same few labels in its span, its metrics and its log line. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberRef from "effect/FiberRef"
import * as LogLevel from "effect/LogLevel"
import * as Metric from "effect/Metric"
import * as MetricLabel from "effect/MetricLabel"
import * as Option from "effect/Option"
import type * as Tracer from "effect/Tracer"
import type { AmlCheck, Result } from "../../AmlCheck.ts"
import * as AmlError from "../../AmlError.ts"
import * as Failure from "../../Failure.ts"
import * as Metrics from "../../Metrics.ts"
import type { TokenError } from "../../TokenError.ts"
import type { Progress } from "./progress.ts"

/** The label `outcome` of each result. */
export const outcomes = {
  "No": "NoMatch",
  "Doubtful No": "DoubtfulNo",
  "Potential match": "PotentialMatch"
} as const satisfies Record<Result, string>

/** The label `outcome` of a check without a result or a failure. */
export const otherOutcomes = ["Interrupted", "Defect"] as const

type CheckExit = Exit.Exit<AmlCheck, AmlError.AmlError | TokenError>

interface Labels {
  readonly outcome: (typeof outcomes)[Result] | Failure.Failure["_tag"] | (typeof otherOutcomes)[number]
  readonly status: string
  readonly sent: string
}

const labelsOf = (exit: CheckExit, progress: Progress): Labels => {
  if (Exit.isSuccess(exit)) {
    const { result, status } = exit.value
    return { outcome: outcomes[result], status: statusClass(status), sent: "answered" }
  }
  return Option.match(Cause.failureOption(exit.cause), {
    onNone: () => ({
      outcome: Cause.isInterruptedOnly(exit.cause) ? "Interrupted" : "Defect",
      status: "none",
      sent: progress.sent
    }),
    onSome: (error) => ({
      outcome: error._tag,
      status: statusClassOf(error),
      sent: Failure.facts(error).sent
    })
  })
}

/** `none` also for a status that HTTP does not define. A redirect in a browser has the status 0. */
const statusClass = (status: number | undefined): string =>
  status === undefined || status < 200 || status > 599 ? "none" : `${Math.floor(status / 100)}xx`

/** The class of the status of the response to the check. Two errors have no `status`, because their tag implies it. */
const statusClassOf = (error: AmlError.AmlError | TokenError): string => {
  if (!AmlError.isAmlError(error)) return "none"
  switch (error._tag) {
    case "AmlRateLimited":
      return "4xx"
    case "AmlResponseMismatch":
      return "2xx"
    default:
      return statusClass("status" in error ? error.status : undefined)
  }
}

/**
 * Keeps the tagged metrics, because there are few combinations of labels, and tagging a metric takes longer than
 * updating it.
 */
const metricsByLabels = new Map<string, ReturnType<typeof withLabels>>()

const withLabels = (labels: ReadonlyArray<MetricLabel.MetricLabel>) => ({
  checks: Metric.taggedWithLabels(Metrics.checks, labels),
  duration: Metric.taggedWithLabels(Metrics.checkDuration, labels)
})

const metricsOf = (labels: Labels) => {
  const key = Object.values(labels).join()
  const metrics = metricsByLabels.get(key) ??
    withLabels(Object.entries(labels).map(([key, value]) => MetricLabel.make(key, value)))
  metricsByLabels.set(key, metrics)
  return metrics
}

/** A check that has started. */
export interface RunningCheck {
  readonly checkId: string
  readonly progress: Progress
  readonly span: Tracer.Span
}

/** Annotates the span, updates the metrics, and logs one line at Debug. */
export const record = ({ checkId, progress, span }: RunningCheck) => (exit: CheckExit) =>
  Effect.withFiberRuntime<void>((fiber) => {
    const labels = labelsOf(exit, progress)
    const annotations = { check_id: checkId, ...labels, attempts: progress.requests }
    for (const [key, value] of Object.entries(annotations)) span.attribute(key, value)
    const { checks, duration } = metricsOf(labels)
    const fiberLabels = fiber.getFiberRef(FiberRef.currentMetricLabels)
    checks.unsafeUpdate(1, fiberLabels)
    Metrics.checkRequests.unsafeUpdate(progress.sentRequests, fiberLabels)
    duration.unsafeUpdate((progress.now() - progress.started.wall) / 1000, fiberLabels)
    return LogLevel.lessThanEqual(fiber.getFiberRef(FiberRef.currentMinimumLogLevel), LogLevel.Debug)
      ? Effect.logDebug("AML check").pipe(Effect.annotateLogs(annotations), Effect.withParentSpan(span))
      : Effect.void
  })
