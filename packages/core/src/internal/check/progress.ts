/** The progress of one check: which requests it sent, and whether the service may have performed it. */
import type * as Clock from "effect/Clock"
import type * as Redacted from "effect/Redacted"
import type { AccessToken } from "../../AccessToken.ts"
import * as AmlError from "../../AmlError.ts"
import * as Failure from "../../Failure.ts"
import type { TokenError } from "../../TokenError.ts"
import * as Instant from "../schema/instant.ts"
import type { ConnectionFailed, Observer } from "../wire/exchange.ts"

const uncertainty = { no: 0, answered: 1, unknown: 2 } satisfies Record<AmlError.Sent, number>

/** All times are in milliseconds of the wall clock. */
export class Progress implements Observer {
  readonly clock: Clock.Clock
  readonly started: Instant.Instant
  /** The tokens of all requests, in the order in which they were started. */
  readonly tokens: Array<Redacted.Redacted<string>> = []
  /** How many requests were started, replays included, and those whose connection failed. */
  requests = 0
  /** How many of the requests the service may have received. */
  sentRequests = 0
  /** When the last request was sent. */
  sentAt = 0
  /** Nothing is sent any more, so that `sent` does not change. */
  isEnded = false
  /** Whether a request counts as sent only because the client does not report when it sends it. */
  #isAssumed = false
  /** Whether the service may have performed the current attempt. */
  #currentSent: AmlError.Sent = "no"
  /** The failure of the least certain earlier attempt, if the service may have performed that attempt. */
  #leastCertainFailure: AmlError.AmlError | undefined

  constructor(clock: Clock.Clock) {
    this.clock = clock
    this.started = Instant.of(clock)
  }

  now(): number {
    return this.clock.unsafeCurrentTimeMillis()
  }

  /** Whether the service may have performed the check, by the least certain of all attempts. */
  get sent(): AmlError.Sent {
    const earlier = this.#leastCertainFailure === undefined ? "no" : Failure.facts(this.#leastCertainFailure).sent
    return uncertainty[earlier] > uncertainty[this.#currentSent] ? earlier : this.#currentSent
  }

  requestStarted(token: AccessToken): void {
    this.requests++
    this.tokens.push(token.value)
  }

  requestPassed(): boolean {
    this.#isAssumed = true
    return this.requestSent()
  }

  sendingIsReported(): void {
    if (this.#isAssumed) this.#countAsNotSent()
    this.#isAssumed = false
  }

  requestSent(): boolean {
    if (this.isEnded) return false
    this.sentRequests++
    this.sentAt = this.now()
    this.#currentSent = "unknown"
    return true
  }

  responseStarted(): void {
    this.#currentSent = "answered"
  }

  /** The request with this token was not performed, and nothing is sent until the token is renewed. */
  tokenRejected(): void {
    this.#currentSent = "no"
  }

  /**
   * Returns whether the request may have arrived. A client that reports when it sends a request decides this. Otherwise
   * the request certainly did not arrive if there was no connection, or if the client refused the server's certificate.
   */
  connectionFailed(reason: ConnectionFailed["reason"]): AmlError.Sent {
    if (this.#isAssumed && this.#currentSent === "unknown" && reason !== "broken" && reason !== "tls") {
      this.#countAsNotSent()
    }
    return this.#currentSent
  }

  #countAsNotSent(): void {
    this.sentRequests--
    this.#currentSent = "no"
  }

  /**
   * Returns the failure to report: this one, or that of an earlier attempt for which it is less certain whether the
   * service performed it.
   */
  leastCertainOf<E extends Failure.Failure>(error: E): E | AmlError.AmlError {
    return this.#leastCertainFailure !== undefined &&
        uncertainty[Failure.facts(this.#leastCertainFailure).sent] > uncertainty[Failure.facts(error).sent]
      ? this.#leastCertainFailure
      : error
  }

  /**
   * Ends the current attempt, records its failure, and returns the failure to report. If `isSafe`, the service
   * certainly did not perform the current attempt, so its failure is not stored.
   */
  recordFailure(error: AmlError.AmlError | TokenError, isSafe: boolean): AmlError.AmlError | TokenError {
    this.#currentSent = "no"
    const errorToReport = this.leastCertainOf(error)
    if (errorToReport === error && AmlError.isAmlError(error) && !isSafe) this.#leastCertainFailure = error
    return errorToReport
  }
}
