/**
 * The control API as a service: sets a session's clock, faults and profile, and reads and verifies its journal. The
 * layers of `MockServer` provide it for the server that they start. `layer` connects to a server that runs elsewhere.
 *
 * @since 0.1.0
 */
import * as HttpApiClient from "@effect/platform/HttpApiClient"
import { HttpApiDecodeError } from "@effect/platform/HttpApiError"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Context from "effect/Context"
import type * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Layer from "effect/Layer"
import type { ParseError } from "effect/ParseResult"
import * as ParseResult from "effect/ParseResult"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { NewSession } from "./ControlApi.ts"
import {
  type ArmedFault,
  type ClockReading,
  ControlApi,
  ControlRefused,
  FaultUnknown,
  type JournalPage,
  type SessionInfo,
  SessionUnknown
} from "./ControlApi.ts"
import type * as Fault from "./Fault.ts"
import * as ControlInput from "./internal/control/controlInput.ts"
import type * as Profile from "./Profile.ts"
import type * as TestPerson from "./TestPerson.ts"
import type * as Verification from "./Verification.ts"

/**
 * The control API is not available:
 *
 * - `transport`: the server cannot be reached.
 * - `unauthorized`: the control token is missing or wrong.
 * - `forbidden`: the server does not accept this host name.
 * - `answer`: the response is not one of the control API.
 *
 * @category errors
 * @since 0.1.0
 */
export class ControlUnavailable extends Schema.TaggedError<ControlUnavailable>(
  "@effect-idv/mock-server/ControlUnavailable"
)("ControlUnavailable", {
  url: Schema.String,
  reason: Schema.Literal("transport", "unauthorized", "forbidden", "answer")
}) {
  override get message() {
    const hint = this.reason === "transport" && this.url.startsWith("https:") ? certificateHint : ""
    return `The control API at ${this.url} ${reasons[this.reason]}${hint}`
  }
}

const reasons = {
  transport: "cannot be reached: check that the mock server runs there",
  unauthorized: "rejects the control token: set IDV_MOCK_CONTROL_TOKEN, or the option token, to the server's token",
  forbidden: "does not accept this host name: start the server with it as an allowed host",
  answer: "sent an unexpected response: check that it is a mock server of the same version"
}

const certificateHint = ", and set NODE_EXTRA_CA_CERTS to the file of its CA"

/**
 * Selects the journal entries that match every field of the search. A search without fields selects all entries.
 *
 * @category models
 * @since 0.1.0
 */
export interface Search extends Omit<Verification.Pattern, "customerId" | "name" | "dateOfBirth" | "headers"> {}

/**
 * The operations on one session. Each fails with `SessionUnknown` if the customer has no session, with
 * `ControlUnavailable` if the server cannot be reached, and with `ControlRefused` if an argument is invalid.
 *
 * The session of a test customer begins with its first token request, or with the first call of `reset`, `advance`,
 * `setTime`, `freeze`, `resume`, `fault`, `setTestPersons` or `changeProfile`.
 *
 * @category models
 * @since 0.1.0
 */
export interface SessionControl {
  /** The state of the session. */
  readonly info: Call<SessionInfo>
  /** Restores the initial state of this session. Other sessions are not affected. */
  readonly reset: Call<SessionInfo>
  /** Removes the session. */
  readonly remove: Call<void>
  /** The session's clock. */
  readonly clock: Call<ClockReading>
  /** Moves the clock forward. To move it back, use `setTime`. */
  readonly advance: (duration: Duration.DurationInput) => Call<ClockReading, ControlRefused>
  /**
   * Sets the clock to a time in the years 1 to 9999. A text must be an ISO 8601 date, or a date and time with a time
   * zone.
   */
  readonly setTime: (time: DateTime.DateTime.Input) => Call<ClockReading, ControlRefused>
  /** Stops the clock. */
  readonly freeze: Call<ClockReading>
  /** Starts the clock again. */
  readonly resume: Call<ClockReading>
  /** The faults of the session, and how often each fired. */
  readonly faults: Call<ReadonlyArray<ArmedFault>>
  /** Sets a fault in its JSON form: `{ on: "aml", what: { kind: "hang" } }`. */
  readonly fault: (fault: typeof Fault.Fault.Encoded) => Call<ArmedFault, ControlRefused>
  /** Removes the fault with this id. */
  readonly removeFault: (id: string) => Call<void, FaultUnknown>
  /** Removes all faults. */
  readonly clearFaults: Call<void>
  /** The test persons of the session, and how many checks each decided, without names and dates of birth. */
  readonly testPersons: Call<ReadonlyArray<TestPerson.Listed>>
  /** Replaces the test persons of the session. The first that matches decides, before the reserved names. */
  readonly setTestPersons: (
    persons: typeof TestPerson.CustomList.Encoded
  ) => Call<ReadonlyArray<TestPerson.Listed>, ControlRefused>
  /** The session's profile. */
  readonly profile: Call<Profile.Profile>
  /** Changes some options of the profile, or applies a preset. */
  readonly changeProfile: (patch: Profile.Patch) => Call<Profile.Profile, ControlRefused>
  /** Revokes one token, or all tokens of the session. Returns how many valid tokens it revoked. */
  readonly revokeTokens: (token?: Redacted.Redacted<string>) => Call<number, ControlRefused>
  /** The journal entries that match the search, the oldest first. */
  readonly journal: (search?: Search) => Call<JournalPage, ControlRefused>
  /** Deletes all entries of the session's journal. */
  readonly clearJournal: Call<void>
  /** Verifies the journal. Fails with `VerificationFailed`, which shows the nearest entries. */
  readonly verify: (
    expectation: typeof Verification.Expectation.Encoded
  ) => Call<void, ControlRefused | Verification.VerificationFailed>
}

/**
 * A call about one session.
 *
 * @category models
 * @since 0.1.0
 */
export type Call<A, E = never> = Effect.Effect<A, E | SessionUnknown | ControlUnavailable>

/**
 * The operations of the control API.
 *
 * @category models
 * @since 0.1.0
 */
export interface Service {
  /** The operations on the session of this customer, whether or not the session exists yet. */
  readonly session: (customerId: string) => SessionControl
  /** All sessions of the server. */
  readonly sessions: Effect.Effect<ReadonlyArray<SessionInfo>, ControlUnavailable>
  /** Creates a session. If the customer already has one, it is returned unchanged. */
  readonly create: (
    session: NewSession
  ) => Effect.Effect<SessionInfo, ControlRefused | ControlUnavailable>
  /** The journal of the requests that belong to no session. */
  readonly unmatchedRequests: (
    search?: Search
  ) => Effect.Effect<JournalPage, ControlRefused | ControlUnavailable>
  /** Verifies the journal of the requests that belong to no session. Fails with `VerificationFailed`. */
  readonly verifyUnmatched: (
    expectation: typeof Verification.Expectation.Encoded
  ) => Effect.Effect<void, ControlRefused | Verification.VerificationFailed | ControlUnavailable>
  /** The metrics of the server in the Prometheus text format. */
  readonly metrics: Effect.Effect<string, ControlUnavailable>
}

/**
 * The control API of a mock server.
 *
 * @example
 * import { Control } from "@effect-idv/mock-server"
 * import { Effect } from "effect"
 *
 * const anHourLater = Effect.gen(function*() {
 *   const { session } = yield* Control.Control
 *   yield* session("test-expiry").advance("61 minutes")
 * })
 *
 * @category tags
 * @since 0.1.0
 */
export class Control extends Context.Tag("@effect-idv/mock-server/Control")<Control, Service>() {}

/**
 * Where the server is, and how to authenticate.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The address of the mock server, such as `http://127.0.0.1:4010`. */
  readonly url: string
  /**
   * The control token that the server was started with.
   *
   * @default undefined
   */
  readonly token?: Redacted.Redacted<string> | undefined
}

/** Makes a refusal a defect. For requests that this module builds itself, because they are always valid. */
const dieIfRefused = <A, E>(effect: Effect.Effect<A, E | ControlRefused>) =>
  Effect.catchIf(effect, (error) => error instanceof ControlRefused, Effect.die)

type InternalError = HttpClientError.HttpClientError | ParseError | HttpApiDecodeError

const isInternalError = (error: unknown): error is InternalError =>
  HttpClientError.isHttpClientError(error) || ParseResult.isParseError(error) || error instanceof HttpApiDecodeError

const reasonOf = (error: InternalError): ControlUnavailable["reason"] => {
  if (error._tag === "RequestError") return "transport"
  const status = error._tag === "ResponseError" ? error.response.status : undefined
  return status === 401 ? "unauthorized" : status === 403 ? "forbidden" : "answer"
}

const client = (url: string, token: Redacted.Redacted | undefined) =>
  HttpApiClient.make(ControlApi, {
    baseUrl: url,
    transformClient: HttpClient.mapRequest(token === undefined ? identity : HttpClientRequest.bearerToken(token))
  })

type Client = Effect.Effect.Success<ReturnType<typeof client>>

/**
 * Connects to the control API of a server.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = ({ token, url }: Options): Effect.Effect<Service, never, HttpClient.HttpClient> =>
  Effect.map(
    // Built on first use: building it takes longer than starting a server.
    Effect.flatMap(HttpClient.HttpClient, (http) =>
      client(url, token).pipe(
        Effect.provideService(HttpClient.HttpClient, http),
        Effect.uninterruptible,
        Effect.cached
      )),
    (api) => {
      const call = <A, E>(use: (api: Client) => Effect.Effect<A, E | InternalError>) =>
        Effect.catchIf(
          Effect.flatMap(api, use),
          isInternalError,
          (error) => new ControlUnavailable({ url, reason: reasonOf(error) })
        )

      const urlParams = ({ status, unexpected, ...search }: Search = {}) => ({
        ...search,
        ...(status !== undefined && { status: String(status) }),
        ...(unexpected !== undefined && { unexpected: String(unexpected) })
      })

      const session = (customerId: string): SessionControl => {
        const path = { customerId }
        const request = <A, E>(use: (api: Client) => Effect.Effect<A, E | InternalError>) =>
          ControlInput.isPathSegment(customerId) ? call(use) : new SessionUnknown({ customerId })
        const change = (change: unknown) =>
          Effect.flatMap(ControlInput.decodeClockChange(change), (payload) =>
            request((api) => api.clock.change({ path, payload })))
        return {
          info: request((api) =>
            api.sessions.get({ path })
          ),
          reset: dieIfRefused(request((api) => api.sessions.reset({ path }))),
          remove: request((api) => api.sessions.remove({ path })),
          clock: request((api) => api.clock.read({ path })),
          advance: (duration) => change({ advance: ControlInput.durationJson(duration) }),
          setTime: (time) => change({ set: ControlInput.timeJson(time) }),
          freeze: dieIfRefused(change({ frozen: true })),
          resume: dieIfRefused(change({ frozen: false })),
          faults: request((api) => api.faults.list({ path })),
          fault: (fault) =>
            Effect.flatMap(ControlInput.decodeFault(fault), (payload) =>
              request((api) => api.faults.set({ path, payload }))),
          removeFault: (id) =>
            ControlInput.isPathSegment(id)
              ? request((api) =>
                api.faults.remove({ path: { customerId, faultId: id } })
              )
              : new FaultUnknown({ id }),
          clearFaults: request((api) => api.faults.clear({ path })),
          testPersons: request((api) => api.testPersons.list({ path })),
          setTestPersons: (persons) =>
            Effect.flatMap(
              ControlInput.decodeTestPersons(persons),
              (payload) => request((api) => api.testPersons.set({ path, payload }))
            ),
          profile: request((api) => api.profile.get({ path })),
          changeProfile: (patch) =>
            Effect.flatMap(ControlInput.decodePatch(patch), (payload) =>
              request((api) => api.profile.change({ path, payload }))),
          revokeTokens: (token) =>
            Effect.map(
              request((api) =>
                api.tokens.revoke({ path, payload: { ...(token && { token }) } })
              ),
              ({ revoked }) => revoked
            ),
          journal: (search) => request((api) => api.journal.search({ path, urlParams: urlParams(search) })),
          clearJournal: request((api) => api.journal.clear({ path })),
          verify: (expectation) =>
            Effect.flatMap(
              ControlInput.decodeExpectation(expectation),
              (expectation) => request((api) => api.journal.verify({ path, payload: { expectation } }))
            )
        }
      }

      return {
        session,
        sessions: call((api) => api.sessions.list()),
        create: (session) =>
          Effect.flatMap(ControlInput.decodeNewSession(session), (payload) =>
            call((api) => api.sessions.create({ payload }))),
        unmatchedRequests: (search) =>
          call((api) => api.journal.unmatched({ urlParams: urlParams(search) })),
        verifyUnmatched: (expectation) =>
          Effect.flatMap(
            ControlInput.decodeExpectation(expectation),
            (expectation) => call((api) => api.journal.verifyUnmatched({ payload: { expectation } }))
          ),
        metrics: call((api) => api.server.metrics())
      }
    }
  )

/**
 * The control API of a mock server that runs elsewhere.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<Control, never, HttpClient.HttpClient> =>
  Layer.effect(Control, make(options))
