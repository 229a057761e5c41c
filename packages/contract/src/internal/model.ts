/** The data of a run: its cases, its plan and its observations. */
import type * as Effect from "effect/Effect"
import type { Reading } from "./readings/readings.ts"
import type { Step } from "./steps.ts"

/**
 * A sequence of requests of a case.
 *
 * @category models
 * @since 0.1.0
 */
export interface Probe {
  /** What the requests have in common, or what is wrong with them, in a few words. */
  readonly title: string
  /** The requests, each as its difference from the documented request. */
  readonly steps: ReadonlyArray<Step>
}

/**
 * One test of a claim, as data: a class of behaviours, with the requests that show it. A case without steps reads what
 * the whole run observed.
 *
 * @category models
 * @since 0.1.0
 */
export interface Case extends Probe {
  /** The unique name of the case, such as `token.status`. */
  readonly id: string
  /** The id of the claim in the contract, which has the section, the level and the accepted words. */
  readonly claim: string
  /** What is read from the responses of each probe. */
  readonly reading: Reading
  /**
   * Further probes of the same class. A run with a budget sends them after the first probes of all other cases.
   *
   * @default undefined, the case has one probe
   */
  readonly more?: ReadonlyArray<Probe>
  /**
   * How much the first probe can find. A run with a budget sends the worthiest first.
   *
   * @default 1
   */
  readonly worth?: number
  /**
   * Why the case runs against a mock server only.
   *
   * @default undefined, the case also runs against a sandbox
   */
  readonly notOnSandbox?: string
  /**
   * Whether the case needs a customer whose id is its own: every id that begins with `test-` is a customer of a mock
   * server.
   *
   * @default undefined, any customer will do
   */
  readonly needsOwnCustomer?: true
  /**
   * The id of a case with a further field or parameter. If the service does not ignore it, the first probe of this case
   * shows nothing, because it has further fields too, and the next one takes its place.
   *
   * @default undefined
   */
  readonly firstIfIgnored?: string
  /**
   * The id of the case whose request must be refused. This case reads how; without a refusal, there is
   * nothing to read.
   *
   * @default undefined
   */
  readonly dependsOn?: string
}

/**
 * What a run observed for one case: one word, or the reason why the case was skipped.
 *
 * @category models
 * @since 0.1.0
 */
export interface Observation {
  /** The id of the case. */
  readonly case: string
  /** The word that the case's reading yielded: of its first probe, or of the first one that yielded another word. */
  readonly observed?: string
  /** The titles of the probes that yielded another word than the usual one. */
  readonly probes?: ReadonlyArray<string>
  /** Why some probes were not sent although others were. */
  readonly partial?: string
  /** The status of the last response, such as `HTTP 500`, or why there was none. */
  readonly cause?: string
  /**
   * What shows it in bash: a line for each request, or for those of the same time, and comments. It has neither secrets nor
   * the user's test persons.
   */
  readonly curl?: string
  /** Why the case was skipped. */
  readonly skipped?: string
  /**
   * The id of the case that failed, so that this one shows nothing. This case is skipped, even if a word was observed.
   */
  readonly dependsOn?: string
  /** How many requests the case sent. Requests that an earlier case has sent already are not repeated. */
  readonly requests: number
  /** How long the case took, in milliseconds. */
  readonly millis: number
}

/**
 * What requests cost.
 *
 * @category models
 * @since 0.1.0
 */
export interface Cost {
  readonly requests: number
  /** Checks that a correct service answers, and may bill. */
  readonly checks: number
  /** Token requests with other credentials than the documented ones, or none. */
  readonly wrongCredentials: number
  /** Checks with another token than the documented one, or none. */
  readonly badTokens: number
}

/**
 * A probe of a plan.
 *
 * @category models
 * @since 0.1.0
 */
export interface PlannedProbe {
  readonly testCase: Case
  readonly probe: Probe
}

/**
 * What a run sends, the worthiest first.
 *
 * @category models
 * @since 0.1.0
 */
export interface Plan {
  /** In the order in which they are sent: those for which a service may lock out a customer come late. */
  readonly items: ReadonlyArray<PlannedProbe>
  /** The cost of the items, of the documented requests before them, and of the confirmation after them. */
  readonly cost: Cost
  /** Why a probe is not in the plan, or `undefined` if it is. */
  readonly whyNot: (testCase: Case, probe: Probe) => string | undefined
  /** The smallest budget that is enough for all probes of these cases that the target can receive. */
  readonly sufficientBudget: number
  /** How many cases are not tested, wholly or in part, for each reason. */
  readonly notTested: ReadonlyArray<readonly [reason: string, cases: number]>
}

/**
 * A run against one target. It sends a sequence of steps once, even if several cases share it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Run {
  /**
   * Observes one case, with the probes of the plan. Concurrent calls wait for each other, unless both cases are
   * independent and the target is a mock server.
   */
  readonly observe: (testCase: Case) => Effect.Effect<Observation>
  /**
   * Ends a run: confirms that refusals were caused by the wrong requests. For each endpoint that has not
   * succeeded since its last refusal, it sends the documented request once more. Returns the observations,
   * with unconfirmed ones as skipped.
   */
  readonly confirm: (observations: ReadonlyArray<Observation>) => Effect.Effect<ReadonlyArray<Observation>>
  /** What the run sends, and what that costs. */
  readonly plan: Plan
  /**
   * Sends a probe of the plan. A later {@link Run.observe} reads the responses. If the change of the probe makes no
   * difference to this customer or token, it sends the next probe of the case instead.
   */
  readonly send: (planned: PlannedProbe) => Effect.Effect<void>
}
