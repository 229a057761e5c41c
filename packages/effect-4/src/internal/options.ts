/** The options of the client. The engine checks them, and has the defaults. */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type * as Schedule from "effect/Schedule"
import type { AmlError } from "../AmlError.ts"

/**
 * Which failed checks are retried, up to twice: after a random delay of up to 200 ms, and then of up to 400 ms.
 *
 * - `safe`: only checks that the service certainly did not perform: no connection, unknown host name, or a response with
 *   `Retry-After` and the status 429 or 503.
 * - `always`: all retryable failures. If the response was lost, the service may perform and bill the check twice.
 * - `never`: none.
 *
 * A `Schedule` receives each retryable failure as its input, and decides whether and when to retry.
 *
 * `Retry-After` is always honoured. If the wait would exceed the deadline, the check fails at once. The replay after a
 * 401 happens under every policy.
 *
 * @category models
 * @since 0.1.0
 */
export type Retry = "safe" | "always" | "never" | Schedule.Schedule<unknown, AmlError>

/**
 * How a check runs, and which responses it accepts.
 *
 * @category models
 * @since 0.1.0
 */
export interface PolicyOptions {
  /**
   * The maximum time of a check: token, waits, requests, and the whole response.
   *
   * @default "30 seconds"
   */
  readonly deadline?: Duration.Input | undefined
  /**
   * Which failed checks are retried.
   *
   * @default "safe"
   */
  readonly retry?: Retry | undefined
  /**
   * How exactly the response must repeat the name in the request. The year of birth is always compared.
   *
   * - `exact`: the same name, ignoring case, spaces and Unicode normalization.
   * - `loose`: the same words, in any order, ignoring case, punctuation, accents, tone marks and vowel points.
   * - `ignore`: any name. **Dangerous**: a response about another person born in the same year is accepted, so a "No"
   *   may be about that person.
   *
   * If `exact` would reject the response, the evidence has the warning `other_marks`, `other_form` or `other_name`.
   *
   * @default "exact"
   */
  readonly nameEcho?: "exact" | "loose" | "ignore" | undefined
  /**
   * How far `searched_on` may be before or after this client's clock. `searched_on` has no specified time zone, and is
   * read as UTC: allow one day more than you need. Set this for a server whose clock was moved, such as the mock
   * server, or for a test whose clock starts in 1970.
   *
   * @default "48 hours"
   */
  readonly searchedOnTolerance?: Duration.Input | undefined
}

/**
 * When tokens are refreshed, and how acquisitions are retried. A share is a part of the lifetime of a token, as a number
 * between 0 and 1.
 *
 * @category models
 * @since 0.1.0
 */
export interface TokenPolicyOptions {
  /**
   * The longest lifetime of a token, and the lifetime if the token response states none. At most one hour (service
   * document, sections 2.2, 5 and 8).
   *
   * @default "1 hour"
   */
  readonly lifetime?: Duration.Input | undefined
  /**
   * The share of the lifetime after which a token is renewed in the background, while it is still returned at once
   * (refresh-after).
   *
   * @default 0.75
   */
  readonly refreshAfter?: number | undefined
  /**
   * The client stops returning a token this long before it expires (usable-until). At most half of the
   * lifetime.
   *
   * @default "30 seconds"
   */
  readonly expiryMargin?: Duration.Input | undefined
  /**
   * Maximum number of token requests of one acquisition. An acquisition for which no caller waits sends at most one.
   *
   * @default 3
   */
  readonly attempts?: number | undefined
  /**
   * The deadline of one token request.
   *
   * @default "10 seconds"
   */
  readonly attemptDeadline?: Duration.Input | undefined
  /**
   * The deadline of one acquisition. It covers reading the credentials, all waits and all requests.
   *
   * @default "30 seconds"
   */
  readonly acquisitionDeadline?: Duration.Input | undefined
  /**
   * After the token endpoint rejected credentials, the same credentials are not sent again for this time.
   *
   * @default "30 seconds"
   */
  readonly rejectionMemory?: Duration.Input | undefined
}

/**
 * The credentials of the onboarding pack.
 *
 * @category models
 * @since 0.1.0
 */
export interface CredentialOptions {
  /**
   * The customer id. Leading and trailing spaces are rejected, because they usually come from copying. A colon is
   * rejected, because the header separates the id and the key with one. The encoding `rfc6749` allows both.
   */
  readonly customerId: string
  /** The customer key. Leading and trailing spaces are rejected as those of the id. */
  readonly customerKey: Redacted.Redacted<string>
  /**
   * How the header encodes the id and the key. The client tries no other encoding.
   *
   * @default "plain"
   */
  readonly basicEncoding?: "plain" | "rfc6749" | undefined
}

/**
 * The options other than the credentials.
 *
 * @category models
 * @since 0.1.0
 */
export interface Settings extends PolicyOptions {
  /**
   * The address of the token endpoint, without `/oauth/service`: an `https:` URL, or an `http:` URL of a loopback
   * address. A query is dropped.
   */
  readonly authUrl: string
  /** The address of the API, without `/api/aml`: an `https:` URL, or an `http:` URL of a loopback address. */
  readonly baseUrl: string
  /**
   * Allows `http:` to hosts other than loopback, for a mock server only. Names, tokens and secrets are then sent in
   * clear text.
   *
   * @default false
   */
  readonly allowInsecure?: boolean | undefined
  /**
   * Maximum number of checks in flight at once. Further checks wait in the order of their calls, within their deadline. It
   * does not apply to `Screening`, which has its own option.
   *
   * @default 128
   */
  readonly concurrency?: number | undefined
  /**
   * Sends `traceparent` and `b3` headers to the service, which belongs to another organisation.
   *
   * @default false
   */
  readonly propagateTrace?: boolean | undefined
  /**
   * A label for the evidence of the checks, such as `sandbox` or `production`, so that they can be told apart.
   *
   * @default undefined
   */
  readonly environment?: string | undefined
  /**
   * When tokens are refreshed, and how acquisitions are retried.
   *
   * @default {}
   */
  readonly tokenPolicy?: TokenPolicyOptions | undefined
}

/**
 * The options of the client, with the credentials of the onboarding pack.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends Settings, CredentialOptions {
  readonly credentials?: undefined
}

/**
 * {@link Options} with an effect that returns the credentials, so that a key can change without a restart.
 *
 * @category models
 * @since 0.1.0
 */
export interface RotatingOptions extends Settings {
  /**
   * Runs once per acquisition of a token. If it fails or returns invalid credentials, checks fail with
   * `TokenEndpointUnavailable` and the reason `credentials`. Its error may contain a secret, so it is not reported: log it
   * in the effect.
   */
  readonly credentials: Effect.Effect<CredentialOptions, unknown>
  readonly customerId?: undefined
  readonly customerKey?: undefined
  readonly basicEncoding?: undefined
}
