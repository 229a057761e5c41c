/**
 * The conformance suite: whether a service, the mock server or any other, does what the reference
 * contract says. It sends requests and reads the raw wire with expectations of its own; nothing of
 * `@effect-idv/core` is in it, because an oracle that shares code with what it judges proves nothing.
 *
 * To observe and to judge are two steps: a case is observed as one word, such as `200` or `refused`,
 * and the contract says which words are right.
 *
 * @since 0.1.0
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Arr from "effect/Array"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type * as Contract from "./Contract.ts"
import { cases as amlCases } from "./internal/cases/amlCases.ts"
import type { Send } from "./internal/cases/requestSpec.ts"
import { cases as tokenCases, last as lastCases } from "./internal/cases/tokenCases.ts"
import * as Verdicts from "./internal/judge.ts"
import type { Reading } from "./internal/readings/readings.ts"
import * as Json from "./internal/report/json.ts"
import * as Junit from "./internal/report/junit.ts"
import * as Observed from "./internal/report/observations.ts"
import type { Circumstances } from "./internal/report/runInfo.ts"
import * as Counts from "./internal/report/summary.ts"
import * as Table from "./internal/report/table.ts"
import * as Recognize from "./internal/run/detectMockServer.ts"
import * as Running from "./internal/run/runner.ts"

/**
 * One thing to try, as data.
 *
 * - `claim`: the claim of the contract that it exercises, which has its section, its level, and what
 *   is expected.
 * - `title`: what is tried, in a few words.
 * - `sends`: the requests, as what differs from the right ones.
 * - `reads`: what is read of the answers: one word.
 * - `notOnSandbox`: why it is only for the mock server.
 * - `standsOn`: the case that must be refused, of which it reads how. Without a refusal there is
 *   nothing to read.
 *
 * A case that sends nothing reads what the whole run saw of its token.
 *
 * @category models
 * @since 0.1.0
 */
export interface Case {
  readonly id: string
  readonly claim: string
  readonly title: string
  readonly sends: ReadonlyArray<Send>
  readonly reads: Reading
  readonly notOnSandbox?: string
  readonly standsOn?: string
}

/**
 * Every case, in the order in which they run.
 *
 * @category constants
 * @since 0.1.0
 */
export const cases: ReadonlyArray<Case> = [...tokenCases, ...amlCases, ...lastCases]

/**
 * What a target is: the mock server, which must do what the contract says that it does, or a service,
 * which may do all that the contract accepts.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = "mock" | "sandbox"

/**
 * Who is asked, and how.
 *
 * - `authUrl`, `baseUrl`: the addresses of section 1 of the API document.
 * - `customerId`, `customerKey`: for a mock server, a test customer of its own by default.
 * - `controlUrl`, `controlToken`: the control plane of a mock server, at `baseUrl` by default.
 * - `budget`: how many requests a sandbox may be sent, 70 by default. What is left over is skipped.
 * - `spacing`: how long to wait between two of them, half a second by default.
 * - `deadline`: how long an answer may take, 10 seconds by default.
 *
 * A mock server is sent all at once, without a budget.
 *
 * @category models
 * @since 0.1.0
 */
export interface Target {
  readonly kind: Kind
  readonly authUrl: string
  readonly baseUrl: string
  readonly customerId?: string | undefined
  readonly customerKey?: Redacted.Redacted<string> | undefined
  readonly controlUrl?: string | undefined
  readonly controlToken?: Redacted.Redacted<string> | undefined
  readonly budget?: number | undefined
  readonly spacing?: Duration.DurationInput | undefined
  readonly deadline?: Duration.DurationInput | undefined
}

/**
 * What was seen of a case: one word, or why it was `skipped`. `requests` counts what it took.
 *
 * `standsOn` is the case that got nowhere, and without which nothing can be said of this one: it is
 * left out, even where a word was seen.
 *
 * @category models
 * @since 0.1.0
 */
export interface Observation {
  readonly case: string
  readonly seen?: string
  readonly skipped?: string
  readonly standsOn?: string
  readonly requests: number
  readonly millis: number
}

/**
 * - `pass`: as the contract has it.
 * - `drift`: a guess turned out another way. Of a mock server: accepted, and other than its default.
 *   Of a service: all that the client can live with.
 * - `fail`: not accepted.
 * - `skipped`: not tried, for a reason, or left out.
 *
 * @category models
 * @since 0.1.0
 */
export type Verdict = "pass" | "drift" | "fail" | "skipped"

/**
 * What a case came to. `expects` is what the contract accepts, `observed` what was seen, `reason` why
 * it was skipped. With `standsOn`, it was left out because that case got nowhere, which alarms there
 * and not here.
 *
 * Of a case whose claim the contract does not have, the `section` is `0`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Result {
  readonly id: string
  readonly claim: string
  readonly section: string
  readonly level: Contract.Level
  readonly title: string
  readonly expects: string
  readonly verdict: Verdict
  readonly observed?: string
  readonly reason?: string
  readonly standsOn?: string
  readonly millis: number
}

/**
 * How much of a claim was tried: all its cases, some of them, or none.
 *
 * @category models
 * @since 0.1.0
 */
export type Extent = "whole" | "part" | "none"

/**
 * How much of a claim was tried, and why the rest was not: each reason once.
 *
 * @category models
 * @since 0.1.0
 */
export interface Tried {
  readonly claim: string
  readonly level: Contract.Level
  readonly extent: Extent
  readonly reasons: ReadonlyArray<string>
}

/**
 * - `requests`: how many were sent, but for those to the control plane of a mock server.
 * - `tried`: of each claim that a request can show, how much was tried.
 * - `unexecuted`: documented claims that a request can show, and of which no case ran.
 * - `alarms`: the cases that are wrong for this kind of target, and the claims of `unexecuted` that
 *   were not left out because of another alarm. A target conforms if there are none; a run without
 *   any case that ran alarms by itself.
 *
 * @category models
 * @since 0.1.0
 */
export interface Report {
  readonly kind: Kind
  readonly results: ReadonlyArray<Result>
  readonly requests: number
  readonly tried: ReadonlyArray<Tried>
  readonly unexecuted: ReadonlyArray<string>
  readonly alarms: ReadonlyArray<string>
}

/**
 * Observes one case after the other. What several cases send alike is sent once.
 *
 * A refusal says something only of a server that still answers the right request. `confirm` is for
 * the end: it sends the right requests once more, if none was answered since, and gives the
 * observations back, with what is not confirmed as skipped.
 *
 * @category models
 * @since 0.1.0
 */
export interface Run {
  readonly observe: (one: Case) => Effect.Effect<Observation>
  readonly confirm: (observations: ReadonlyArray<Observation>) => Effect.Effect<ReadonlyArray<Observation>>
}

/**
 * Begins a run. Sessions that it makes on a mock server end with the scope.
 *
 * @category constructors
 * @since 0.1.0
 */
export const start: (target: Target) => Effect.Effect<Run, never, HttpClient.HttpClient | Scope.Scope> = Running.make

/**
 * Observes cases, all by default.
 *
 * @category combinators
 * @since 0.1.0
 */
export const observe = Effect.fn("Conformance.observe")(
  function*(target: Target, of: ReadonlyArray<Case> = cases) {
    const run = yield* start(target)
    return yield* run.confirm(yield* Effect.forEach(of, run.observe))
  },
  Effect.scoped
)

/**
 * What observations mean by a contract.
 *
 * @category combinators
 * @since 0.1.0
 */
export const judge = (
  evidence: Contract.Evidence,
  observations: ReadonlyArray<Observation>,
  { cases: of = cases, kind }: { readonly kind: Kind; readonly cases?: ReadonlyArray<Case> }
): Report => Verdicts.judge(evidence, of, observations, kind)

/**
 * What answers where a mock server should be is none (`answer`), does not answer in time (`late`), or
 * refuses to tell (`forbidden`), as a mock server does by a name that it does not know.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotAMockServer extends Schema.TaggedError<NotAMockServer>("@effect-idv/contract/NotAMockServer")(
  "NotAMockServer",
  { url: Schema.String, reason: Schema.Literal("answer", "late", "forbidden") }
) {
  override get message() {
    return `${this.url} ${strangers[this.reason]}`
  }
}

const strangers = {
  answer: "is no idv-mock server: use --target sandbox",
  late: "does not answer GET /_mock/live in time, so it is no idv-mock server: use --target sandbox",
  forbidden: "refuses GET /_mock/live with 403: if it is no idv-mock server, use --target sandbox; if it is one, " +
    "start it with --allowed-host"
}

/**
 * Fails if a target of the kind `mock` is something else, which would take harm. One request without
 * a credential goes to its control plane. Where nothing answers at all, nothing can be harmed.
 *
 * @category combinators
 * @since 0.1.0
 */
export const recognize = (target: Target): Effect.Effect<void, NotAMockServer, HttpClient.HttpClient> =>
  Effect.flatMap(
    Recognize.stranger(target),
    Option.match({ onNone: () => Effect.void, onSome: (stranger) => new NotAMockServer(stranger) })
  )

/**
 * Observes a target and judges what was seen. Nothing is sent for a case whose claim the contract does
 * not have, and nothing but one request to what should be a mock server and is none.
 *
 * @category combinators
 * @since 0.1.0
 */
export const verify = Effect.fn("Conformance.verify")(function*(target: Target, evidence: Contract.Evidence) {
  yield* recognize(target)
  const [others, known] = Arr.partition(cases, Verdicts.isOf(evidence))
  const observations = yield* observe(target, known)
  return judge(evidence, [...observations, ...others.map(Verdicts.unclaimed)], { kind: target.kind })
})

/**
 * Where a report was made, and how: the addresses for its words, and what who signs it off wants to
 * know of the run. A {@link Target} is one.
 *
 * - `startedAt`: when the run began.
 * - `version`: of this package.
 * - `evidenceSha256`: of the file of claims, in hexadecimal digits.
 * - `checks`: how many checks were answered with 2xx, and may be billed.
 *
 * @category models
 * @since 0.1.0
 */
export interface Place extends Circumstances {}

/**
 * Whether a target conforms, in one line; or what is wrong with its first answers, if nothing could
 * be learned from them.
 *
 * @category destructors
 * @since 0.1.0
 */
export const verdict: (report: Report, place?: Place) => string = Counts.verdict

/**
 * A report for people: who was asked and when, the cases by section of the API document, the claims
 * by level, what is no pass by its reason, the alarms, the flags that make the mock server play what
 * was seen, and the {@link verdict} as the last line.
 *
 * @category destructors
 * @since 0.1.0
 */
export const toTable: (report: Report, evidence: Contract.Evidence, place?: Place) => string = Table.make

/**
 * A report for programs. `version` is that of this form; `conforms` means no alarm, `verdict` is the
 * line for people, and `run` says who was asked, when, by what, and at what cost.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ReportFile = Json.ReportFile

/**
 * @category schemas
 * @since 0.1.0
 */
export interface ReportFile extends Schema.Schema.Type<typeof ReportFile> {}

/**
 * A report as JSON, in the form of {@link ReportFile}.
 *
 * @category destructors
 * @since 0.1.0
 */
export const toJson: (report: Report, evidence: Contract.Evidence, place?: Place) => string = Json.make

/**
 * A report as JUnit XML: one suite for each section of the API document. What alarms is a failure.
 *
 * @category destructors
 * @since 0.1.0
 */
export const toJunit: (report: Report, evidence: Contract.Evidence, place?: Place) => string = Junit.make

/**
 * What was seen, as a file of claims that may take the place of `contract/evidence.yaml`: a claim
 * that was exercised is `observed`, unless it is documented, and has the words that were seen of it,
 * and the day. What could not be tried, and what is accepted, stays as it is.
 *
 * @category destructors
 * @since 0.1.0
 */
export const toObservations: (report: Report, evidence: Contract.Evidence) => Effect.Effect<string> = Observed.make

/**
 * Whether a report holds any observation that {@link toObservations} would write.
 *
 * @category destructors
 * @since 0.1.0
 */
export const hasObservations: (report: Report) => boolean = Observed.isAny
