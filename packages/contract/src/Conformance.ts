/**
 * The conformance suite: whether a server, the mock server or any other, follows the reference contract. It sends
 * requests and reads the raw responses with expectations of its own. It shares no code with `@effect-idv/core`,
 * because a suite that shared code with the client could not find their common mistakes.
 *
 * Observing and judging are separate: a case observes one word, such as `200` or `refused`, and the contract says
 * which words are right.
 *
 * @since 0.1.0
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type * as Contract from "./Contract.ts"
import * as Cases from "./internal/cases/all.ts"
import * as Judge from "./internal/judge.ts"
import type { Case, Observation, Plan, Run } from "./internal/model.ts"
import * as Preflight from "./internal/preflight.ts"
import * as Github from "./internal/report/github.ts"
import * as Json from "./internal/report/json.ts"
import * as Junit from "./internal/report/junit.ts"
import * as Observations from "./internal/report/observations.ts"
import * as PlanText from "./internal/report/planText.ts"
import * as Summary from "./internal/report/summary.ts"
import * as Table from "./internal/report/table.ts"
import type { Report, RunInfo, Verdict } from "./internal/results.ts"
import * as Har from "./internal/run/har.ts"
import * as Limits from "./internal/run/limits.ts"
import * as MockServer from "./internal/run/mockServer.ts"
import * as Planner from "./internal/run/plan.ts"
import * as Runner from "./internal/run/runner.ts"
import type { Observer } from "./internal/run/session.ts"
import type { Kind, Target } from "./internal/target.ts"

export type { Case, Cost, Observation, Plan, PlannedProbe, Probe, Run } from "./internal/model.ts"
export type { Reading } from "./internal/readings/readings.ts"
export type { ClaimCoverage, Coverage, Report, Result, RunInfo, Verdict } from "./internal/results.ts"
export type { MaskedExchange } from "./internal/run/har.ts"
export { NotAMockServer } from "./internal/run/mockServer.ts"
export type { Observer } from "./internal/run/session.ts"
export type { Kind, Target, TestPerson } from "./internal/target.ts"

/**
 * Every case, in the order in which they run.
 *
 * @category constants
 * @since 0.1.0
 */
export const cases: ReadonlyArray<Case> = Cases.cases

/**
 * Starts a run. The sessions that it creates on a mock server end with the scope. Dies if `spacing` or `deadline`
 * is a duration that no timer can wait.
 *
 * @category constructors
 * @since 0.1.0
 */
export const start = (
  target: Target,
  observer?: Observer,
  plannedCases: ReadonlyArray<Case> = cases
): Effect.Effect<Run, never, HttpClient.HttpClient | Scope.Scope> => Runner.make(target, plannedCases, observer)

/**
 * What a run with these cases sends to a target, and what that costs. Nothing is sent.
 *
 * @category combinators
 * @since 0.1.0
 */
export const plan = (target: Target, plannedCases: ReadonlyArray<Case> = cases): Plan =>
  Planner.make(target, plannedCases)

/**
 * A plan for people: what a sandbox receives, how long that takes, and what is not tested and why.
 *
 * @category destructors
 * @since 0.1.0
 */
export const planText: (plan: Plan, target: Target, contract: Contract.Contract) => string = PlanText.make

/**
 * The smallest budget that allows a check, because a fifth of the requests may be checks.
 *
 * @category constants
 * @since 0.1.0
 */
export const smallestBudget: number = Limits.smallestBudget

/**
 * Whether a contract has the claim of a case.
 *
 * @category predicates
 * @since 0.1.0
 */
export const hasClaimOf: (contract: Contract.Contract) => (testCase: Case) => boolean = Judge.hasClaimOf

/** How many cases a mock server receives at the same time. */
const maxTogether = 8

/**
 * Observes cases, all of them by default, and confirms their refusals: at the end, it sends the documented request to
 * each endpoint that has not succeeded since its last refusal. If that request fails too, the refusals prove nothing,
 * and their cases are skipped.
 *
 * @category combinators
 * @since 0.1.0
 */
export const observe = Effect.fn("Conformance.observe")(
  function*(target: Target, casesToObserve: ReadonlyArray<Case> = cases, observer?: Observer) {
    const run = yield* start(target, observer, casesToObserve)
    if (target.kind === "sandbox") yield* Effect.forEach(run.plan.items, run.send, { discard: true })
    const isIndependent = (testCase: Case) => Runner.isIndependent(target, testCase)
    const groups = Arr.isNonEmptyReadonlyArray(casesToObserve)
      ? Arr.groupWith(casesToObserve, (one, other) => isIndependent(one) && isIndependent(other))
      : []
    const observations = yield* Effect.forEach(
      groups,
      (group) => Effect.forEach(group, run.observe, { concurrency: maxTogether })
    )
    return yield* run.confirm(observations.flat())
  },
  Effect.scoped
)

/**
 * Options of {@link judge}.
 *
 * @category models
 * @since 0.1.0
 */
export interface JudgeOptions {
  /** The kind of the observed target, which decides what is an alarm. */
  readonly kind: Kind
  /**
   * The cases of the report.
   *
   * @default all cases
   */
  readonly cases?: ReadonlyArray<Case>
  /**
   * The verdicts that are alarms.
   *
   * @default violated and drift of a mock server, violated of a sandbox
   */
  readonly failOn?: ReadonlyArray<Verdict> | undefined
}

/**
 * The verdicts that are alarms by default, for each kind of target.
 *
 * @category constants
 * @since 0.1.0
 */
export const defaultFailOn: Readonly<Record<Kind, ReadonlyArray<Verdict>>> = Judge.defaultFailOn

/**
 * Judges observations by a contract.
 *
 * @category combinators
 * @since 0.1.0
 */
export const judge = (
  contract: Contract.Contract,
  observations: ReadonlyArray<Observation>,
  { cases: judgedCases = cases, failOn, kind }: JudgeOptions
): Report => Judge.judge(contract, judgedCases, observations, kind, failOn)

/**
 * Fails if a target of the kind `mock` is another server, which might bill the requests of a run or lock the
 * customer out. It sends one request without credentials to each address of the target. If no server responds
 * there, it succeeds, because a run can do no harm.
 *
 * @category combinators
 * @since 0.1.0
 */
export const requireMockServer: (
  target: Target
) => Effect.Effect<void, MockServer.NotAMockServer, HttpClient.HttpClient> = MockServer.requireMockServer

/**
 * Options of {@link verify}.
 *
 * @category models
 * @since 0.1.0
 */
export interface VerifyOptions extends Pick<JudgeOptions, "cases" | "failOn">, Observer {}

/**
 * Observes a target and judges the observations. Cases whose claim the contract lacks send no requests. It calls
 * {@link requireMockServer} first, so a target of the kind `mock` that is not a mock server receives no credentials.
 *
 * @category combinators
 * @since 0.1.0
 */
export const verify = Effect.fn("Conformance.verify")(
  function*(target: Target, contract: Contract.Contract, options: VerifyOptions = {}) {
    const { cases: selectedCases = cases, failOn } = options
    yield* requireMockServer(target)
    const observations = yield* observe(target, selectedCases.filter(hasClaimOf(contract)), options)
    return judge(contract, observations, { cases: selectedCases, failOn, kind: target.kind })
  }
)

/**
 * Whether a target conforms, in one line. If the documented requests failed, the line says why.
 *
 * @category destructors
 * @since 0.1.0
 */
export const verdict: (report: Report, runInfo?: RunInfo) => string = Summary.verdict

/**
 * Why the service no longer responded as before in the middle of the run, or an empty string.
 *
 * @category destructors
 * @since 0.1.0
 */
export const earlyEnd: (report: Report) => string = Summary.earlyEnd

/**
 * Whether the run tested the service. It did not if no case ran, if the customer received no token, or if the API
 * does not respond, redirects, or is a web page. The {@link verdict} has the reason.
 *
 * @category destructors
 * @since 0.1.0
 */
export const isTested: (report: Report) => boolean = Preflight.isTested

/**
 * A report as text for people: the circumstances of the run, the cases by section of the service document, the claims
 * by level, the results that did not pass, the alarms, the flags that make the mock server behave like the target,
 * and the {@link verdict} as the last line.
 *
 * @category destructors
 * @since 0.1.0
 */
export const toTable: (report: Report, contract: Contract.Contract, runInfo?: RunInfo) => string = Table.make

/**
 * The JSON file of a report. `version` is the version of this format, `conforms` means that there is no alarm,
 * `verdict` is the line of {@link verdict}, and `run` has the circumstances of the run. In the file, `coverage`
 * is called `tried`, with `extent` for each claim, and `dependsOn` is called `standsOn`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ReportFile = Json.ReportFile

/**
 * The decoded JSON file of a report.
 *
 * @category schemas
 * @since 0.1.0
 */
export interface ReportFile extends Schema.Schema.Type<typeof ReportFile> {}

/**
 * A report as JSON, in the format of {@link ReportFile}.
 *
 * @category destructors
 * @since 0.1.0
 */
export const toJson: (report: Report, contract: Contract.Contract, runInfo?: RunInfo) => string = Json.make

/**
 * A report as JUnit XML: one suite for each section of the service document. Alarms are failures.
 *
 * @category destructors
 * @since 0.1.0
 */
export const toJunit: (report: Report, contract: Contract.Contract, runInfo?: RunInfo) => string = Junit.make

/**
 * A report as annotations of GitHub Actions: an error for each alarm, and a warning for each other finding. The last
 * line is the {@link verdict}.
 *
 * @category destructors
 * @since 0.1.0
 */
export const toGithub: (report: Report, contract: Contract.Contract, runInfo?: RunInfo) => string = Github.make

/**
 * The exchanges of a run as a HAR 1.2 file, for {@link Observer}'s `onExchange`. It shows known headers, the fields
 * of the service document, and values that can hold no secret and no personal data. The rest is hidden.
 *
 * @category destructors
 * @since 0.1.0
 */
export const toHar: (exchanges: ReadonlyArray<Har.MaskedExchange>, runInfo?: RunInfo) => string = Har.make

/**
 * The observations of a report as a file of claims in YAML, which can replace `contract/claims.yaml`. If a case of a
 * claim ran, the claim has the observed words and the day, and the level `observed` unless it is documented. All other
 * claims are unchanged.
 *
 * @category destructors
 * @since 0.1.0
 */
export const toObservations: (report: Report, contract: Contract.Contract) => Effect.Effect<string> = Observations.make

/**
 * Whether a report has any observation for {@link toObservations}.
 *
 * @category destructors
 * @since 0.1.0
 */
export const hasObservations: (report: Report) => boolean = Observations.isAny
