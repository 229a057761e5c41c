/** What is told of a check to spans, logs and metrics, all with the same few words. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as MetricLabel from "effect/MetricLabel"
import * as Option from "effect/Option"
import type { MatchFound } from "../AmlCredential.ts"
import type { AmlError } from "../AmlError.ts"
import * as AmlMetrics from "../AmlMetrics.ts"
import * as Failure from "../Failure.ts"
import type { TokenError } from "../TokenError.ts"
import type { Progress } from "./attempts.ts"
import type { Checked } from "./check.ts"

const outcomes: Record<MatchFound, string> = { "No": "NoMatch", "Potential match": "PotentialMatch" }

type CheckExit = Exit.Exit<Checked, AmlError | TokenError>

const labelsOf = (exit: CheckExit, progress: Progress) => {
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
      status: classOf(statusOf(error)),
      sent: Failure.facts(error).sent
    })
  })
}

const statusOf = (error: AmlError | TokenError): number | undefined => "status" in error ? error.status : undefined
const classOf = (status: number | undefined): string => status === undefined ? "none" : `${Math.floor(status / 100)}xx`

/** Annotates the current span, counts, and logs at Debug how the check ended. */
export const observe =
  (checkId: string, progress: Progress) => (check: Effect.Effect<Checked, AmlError | TokenError>) =>
    Effect.flatMap(Clock.currentTimeMillis, (startedAt) =>
      Effect.onExit(check, (exit) =>
        Effect.gen(function*() {
          const labels = labelsOf(exit, progress)
          const seconds = ((yield* Clock.currentTimeMillis) - startedAt) / 1000
          const told = { check_id: checkId, ...labels, attempts: progress.requests }
          const tagged = <Type, In, Out>(metric: Metric.Metric<Type, In, Out>) =>
            Metric.taggedWithLabels(metric, Object.entries(labels).map(([key, value]) => MetricLabel.make(key, value)))
          yield* Effect.annotateCurrentSpan(told)
          yield* Metric.increment(tagged(AmlMetrics.checks))
          yield* Metric.update(tagged(AmlMetrics.duration), seconds)
          yield* Effect.annotateLogs(Effect.logDebug("AML check"), told)
        })))
