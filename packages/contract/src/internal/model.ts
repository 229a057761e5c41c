/** The data of a run: its cases, its target and its observations. */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type { MaskedExchange } from "./maskedExchange.ts"
import type { Step } from "./steps.ts"

/**
 * What a case reads from the responses to its steps. Each reading yields one word of a closed set, such as
 * `200` or `refused`, so that no observation holds a secret, a name or a date.
 *
 * @category models
 * @since 0.1.0
 */
export type Reading =
  // Any response: status, headers, and what the body repeats.
  | "status"
  | "media type"
  | "redirect"
  | "challenge"
  | "caching"
  | "retry after"
  | "echo"
  // The token response, and how the API treats a token.
  | "token outcome"
  | "token withheld"
  | "every grant"
  | "ignored parameter"
  | "token field"
  | "token type"
  | "token format"
  | "stated lifetime"
  | "token error"
  | "error code"
  | "lifetime"
  | "early refusals"
  | "expiry"
  | "renewal"
  // The response to a check, and the credential in it.
  | "check outcome"
  | "credential withheld"
  | "every field"
  | "every answer"
  | "same result"
  | "every name echo"
  | "same issuer"
  | "own profile"
  | "time of search"
  | "ignored field"
  | "body"
  | "encoding"
  | "credential_type"
  | "credential_name"
  | "issued_by"
  | "issuer_id"
  | "cred_version form"
  | "cred_version"
  | "attributes"
  | "name"
  | "name echo"
  | "birth_year"
  | "searched_on"
  | "time zone"
  | "match_found"
  | "aml_profile"
  | "extra fields"
  | "test person"
  | "repeated check"
  | "page"
  | "request type"
  | "error form"

/**
 * One test of a claim, as data. A case without steps reads what the whole run observed of the shared token.
 *
 * @category models
 * @since 0.1.0
 */
export interface Case {
  /** The unique name of the case, such as `token.status`. */
  readonly id: string
  /** The id of the claim in the contract, which has the section, the level and the accepted words. */
  readonly claim: string
  /** What the case tests, in a few words. */
  readonly title: string
  /** The requests, each as its difference from the documented request. */
  readonly steps: ReadonlyArray<Step>
  /** What is read from the responses. */
  readonly reading: Reading
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
   * Whether the requests send wrong keys of the customer, which a service may answer with a lockout.
   *
   * @default undefined, they do not
   */
  readonly needsWrongKeys?: true
  /**
   * The id of the case whose request must be refused. This case reads how; without a refusal, there is
   * nothing to read.
   *
   * @default undefined
   */
  readonly dependsOn?: string
}

/**
 * The kind of a target: a mock server, which must behave exactly as the contract's defaults, or a service,
 * which may do everything that the contract accepts.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = "mock" | "sandbox"

/**
 * The server to test. A mock server receives the requests without a wait between them and without a budget.
 *
 * @category models
 * @since 0.1.0
 */
export interface Target {
  readonly kind: Kind
  /** The base address of the token endpoint (section 1). */
  readonly authUrl: string
  /** The base address of the API (section 1). */
  readonly baseUrl: string
  /**
   * The customer whose token requests are sent.
   *
   * @default a test customer of the mock server, created for this run
   */
  readonly customerId?: string | undefined
  /** @default the key of the test customer */
  readonly customerKey?: Redacted.Redacted<string> | undefined
  /**
   * The address of a mock server's control API.
   *
   * @default the origin of `baseUrl`
   */
  readonly controlUrl?: string | undefined
  /**
   * The token of a mock server's control API.
   *
   * @default undefined, no token is sent
   */
  readonly controlToken?: Redacted.Redacted<string> | undefined
  /**
   * The most requests that a sandbox receives. At most a fifth of them, but at least 4, may be checks that the sandbox
   * answers and may bill. Cases that would exceed the budget are skipped.
   *
   * @default 60
   */
  readonly budget?: number | undefined
  /**
   * The wait between two requests to a sandbox, at most 24.8 days.
   *
   * @default "500 millis"
   */
  readonly spacing?: Duration.DurationInput | undefined
  /**
   * How long a response may take, at least 1 ms and at most 24.8 days.
   *
   * @default "10 seconds"
   */
  readonly deadline?: Duration.DurationInput | undefined
  /**
   * Moves the clock of the target forward by some milliseconds, or waits for that time.
   *
   * @default the control API of a mock server; without one, the cases that need it are skipped
   */
  readonly clock?: ((millis: number) => Effect.Effect<void>) | undefined
  /**
   * How far `clock` may move in a run. Cases that would exceed it are skipped.
   *
   * @default undefined, without a limit
   */
  readonly clockLimit?: Duration.DurationInput | undefined
  /**
   * Whether a sandbox may receive wrong keys of the customer, which may lock the customer out.
   *
   * @default false
   */
  readonly wrongKeys?: boolean | undefined
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
  /** The word that the case's reading yielded. */
  readonly observed?: string
  /** The status of the last response, such as `HTTP 500`, or why there was none. */
  readonly cause?: string
  /** The last request as a curl command, without secrets, names and dates. */
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
 * What a run reports while it runs.
 *
 * @category models
 * @since 0.1.0
 */
export interface Observer {
  /** @default undefined, no exchange is masked and reported */
  readonly onExchange?: ((exchange: MaskedExchange) => Effect.Effect<void>) | undefined
  /** Receives each observation before the refusals are confirmed. */
  readonly onObservation?: ((observation: Observation) => Effect.Effect<void>) | undefined
}

/**
 * A run against one target. It sends a sequence of steps once, even if several cases share it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Run {
  /**
   * Observes one case. Concurrent calls wait for each other, unless both cases are independent and the target is a mock
   * server.
   */
  readonly observe: (testCase: Case) => Effect.Effect<Observation>
  /**
   * Ends a run: confirms that refusals were caused by the wrong requests. For each endpoint that has not
   * succeeded since its last refusal, it sends the documented request once more. Returns the observations,
   * with unconfirmed ones as skipped.
   */
  readonly confirm: (observations: ReadonlyArray<Observation>) => Effect.Effect<ReadonlyArray<Observation>>
}
