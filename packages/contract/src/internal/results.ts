/** The data of a report: what the contract says about the observations of a run. */
import type * as DateTime from "effect/DateTime"
import * as Schema from "effect/Schema"
import * as Contract from "../Contract.ts"
import type { Kind, TestPerson } from "./target.ts"

const optionalText = Schema.optionalWith(Schema.String, { exact: true })

export const Verdict = Schema.Literal("pass", "lenient", "drift", "violated", "not tested")

/**
 * - `pass`: the contract accepts the observation.
 * - `lenient`: the target accepts a request that the service document does not show.
 * - `drift`: an unspecified point turned out different from the contract's default, or from the observations of a
 *   file of claims.
 * - `violated`: the observation contradicts a sentence of the service document.
 * - `not tested`: the case did not run, or was skipped. The result has the reason.
 *
 * @category models
 * @since 0.1.0
 */
export type Verdict = typeof Verdict.Type

export const Result = Schema.Struct({
  /** The id of the case. */
  id: Schema.String,
  /** The id of the claim. */
  claim: Schema.String,
  /** The section of the service document, or `0` if the contract lacks the claim. */
  section: Schema.String,
  level: Contract.Level,
  /** The title of the case. */
  title: Schema.String,
  /** What the contract accepts, in words. */
  expects: Schema.String,
  verdict: Verdict,
  /** The observed word, if there is one. */
  observed: optionalText,
  /** The titles of the probes that yielded another word than the usual one. */
  probes: Schema.optionalWith(Schema.Array(Schema.String), { exact: true }),
  /** Why some probes of the case were not sent. */
  partial: optionalText,
  /** The status of the last response, such as `HTTP 500`, or why there was none. A pass has none. */
  cause: optionalText,
  /**
   * What shows it in bash: a line for each request, or for those of the same time, and comments. It has neither secrets nor
   * the user's test persons. A pass has none.
   */
  curl: optionalText,
  /** Whether an earlier run observed something else, according to the file of claims. */
  isChanged: Schema.optionalWith(Schema.Literal(true), { exact: true }),
  /** Why the case was not tested. */
  reason: optionalText,
  /**
   * The id of the failed case because of which this one was skipped. Only that case raises an alarm. In a JSON file, it is
   * called `standsOn`.
   */
  dependsOn: optionalText.pipe(Schema.fromKey("standsOn")),
  /** How long the case took, in milliseconds. */
  millis: Schema.Number
})

/**
 * The verdict on one case.
 *
 * @category models
 * @since 0.1.0
 */
export interface Result extends Schema.Schema.Type<typeof Result> {}

const Coverage = Schema.Literal("whole", "part", "none")

/**
 * How many cases of a claim ran: all of them (`whole`), some (`part`), or none.
 *
 * @category models
 * @since 0.1.0
 */
export type Coverage = typeof Coverage.Type

export const ClaimCoverage = Schema.Struct({
  /** The id of the claim. */
  claim: Schema.String,
  level: Contract.Level,
  /** In a JSON file, it is called `extent`. */
  coverage: Schema.propertySignature(Coverage).pipe(Schema.fromKey("extent")),
  /** Why cases did not run. Each reason is listed once. */
  reasons: Schema.Array(Schema.String)
})

/**
 * The coverage of one claim.
 *
 * @category models
 * @since 0.1.0
 */
export interface ClaimCoverage extends Schema.Schema.Type<typeof ClaimCoverage> {}

/**
 * The results of a run, judged by a contract.
 *
 * @category models
 * @since 0.1.0
 */
export interface Report {
  readonly kind: Kind
  readonly results: ReadonlyArray<Result>
  /** How many requests were sent, without those to the control API of a mock server. */
  readonly requests: number
  /** The coverage of each claim that a request can show. */
  readonly coverage: ReadonlyArray<ClaimCoverage>
  /** The documented claims that a request can show and of which no case ran. */
  readonly unexecuted: ReadonlyArray<string>
  /** The verdicts that are alarms. */
  readonly failOn: ReadonlyArray<Verdict>
  /**
   * The ids of these cases and claims:
   *
   * - a case whose verdict is in `failOn`, or whose observation has changed since an earlier run;
   * - on a mock server, a case that was not tested, unless another case failed, the case cannot apply, or the contract
   *   lacks its claim;
   * - a claim in `unexecuted`, unless another alarm or the budget explains it.
   *
   * The target conforms if the list is empty. A run in which no case ran has one alarm.
   */
  readonly alarms: ReadonlyArray<string>
}

/**
 * The circumstances of a run, for its report. A `Target` has this type too: reports show neither its customer nor its
 * key.
 *
 * @category models
 * @since 0.1.0
 */
export interface RunInfo {
  /** @default undefined, the report does not show it */
  readonly authUrl?: string | undefined
  /** @default undefined, the report does not show it */
  readonly baseUrl?: string | undefined
  /** @default 60 */
  readonly budget?: number | undefined
  /**
   * The test persons that the user named. Reports show none of them.
   *
   * @default undefined, the run was about fictional people only
   */
  readonly persons?: ReadonlyArray<TestPerson> | undefined
  /**
   * When the run began.
   *
   * @default undefined, the report does not show it
   */
  readonly startedAt?: DateTime.Utc | undefined
  /**
   * The version of the program that ran the suite.
   *
   * @default undefined, the report does not show it
   */
  readonly version?: string | undefined
  /**
   * The SHA-256 digest of the file of claims, in hexadecimal digits.
   *
   * @default undefined, the report does not show it
   */
  readonly claimsSha256?: string | undefined
  /**
   * How many checks received a 2xx response and may be billed.
   *
   * @default undefined, the report does not show it
   */
  readonly checks?: number | undefined
}
