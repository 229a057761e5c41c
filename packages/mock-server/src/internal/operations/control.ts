/** The operations as a service, in this process or on a server that runs elsewhere. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Fault from "../../Fault.ts"
import type * as Profile from "../../Profile.ts"
import type * as TestPerson from "../../TestPerson.ts"
import type * as Verification from "../../Verification.ts"
import { groups } from "./all.ts"
import type { ClockReading } from "./clock.ts"
import { ControlRefused, type FaultUnknown, type SessionUnknown } from "./controlErrors.ts"
import type { ArmedFault } from "./faults.ts"
import type { JournalPage } from "./journal.ts"
import type * as Operation from "./operation.ts"
import type { NewSession, SessionChange, SessionInfo } from "./sessions.ts"

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
 * `setTime`, `freeze`, `resume`,
 * `resetClock`, `change`, `fault`, `setTestPersons` or `changeProfile`.
 *
 * @category models
 * @since 0.1.0
 */
export interface SessionControl {
  /** The state of the session. */
  readonly info: Call<SessionInfo>
  /** Restores the initial state of this session. Other sessions are not affected. */
  readonly reset: Call<SessionInfo>
  /** Changes options of the session. `faults` and `testPersons` replace those that it has. */
  readonly change: (change: typeof SessionChange.Encoded) => Call<SessionInfo, ControlRefused>
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
  /** Returns the clock to the real time. */
  readonly resetClock: Call<ClockReading>
  /** The faults of the session, and how often each fired. */
  readonly faults: Call<ReadonlyArray<ArmedFault>>
  /** Sets a fault in its JSON form, `{ on: "aml", what: { kind: "hang" } }`, or in one line: `aml:hang`. */
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

/** Makes a refusal a defect. For requests that this module builds itself, because they are always valid. */
const dieIfRefused = <A, E>(effect: Effect.Effect<A, E | ControlRefused>) =>
  Effect.catchIf(effect, (error) => error instanceof ControlRefused, Effect.die)

/** The JSON form of a duration. `Duration` itself turns a negative number into 0. */
const durationJson = (duration: Duration.DurationInput): unknown =>
  typeof duration === "bigint"
    ? Number(duration) / 1_000_000
    : typeof duration === "object"
    ? Duration.toMillis(duration)
    : duration

const timeJson = (time: DateTime.DateTime.Input): unknown =>
  typeof time === "string" ? time : Option.getOrNull(Option.map(DateTime.make(time), DateTime.formatIso))

const { clock, faults, journal, profile, server, sessions, testPersons, tokens } = groups

/** The service whose operations `call` calls. */
export const make = (call: Operation.Call<ControlUnavailable>): Service => ({
  session: (customerId) => {
    const path = { customerId }
    const changeClock = (change: unknown) => call(clock.change, path, change)
    return {
      info: call(sessions.get, path),
      change: (change) => call(sessions.change, path, change),
      reset: dieIfRefused(call(sessions.reset, path)),
      remove: call(sessions.remove, path),
      clock: call(clock.read, path),
      advance: (duration) => changeClock({ advance: durationJson(duration) }),
      setTime: (time) => changeClock({ set: timeJson(time) }),
      freeze: dieIfRefused(changeClock({ frozen: true })),
      resume: dieIfRefused(changeClock({ frozen: false })),
      resetClock: dieIfRefused(changeClock({ real: true })),
      faults: call(faults.list, path),
      fault: (fault) => call(faults.set, path, fault),
      removeFault: (faultId) => call(faults.remove, { customerId, faultId }),
      clearFaults: call(faults.clear, path),
      testPersons: call(testPersons.list, path),
      setTestPersons: (persons) => call(testPersons.set, path, persons),
      profile: call(profile.get, path),
      changeProfile: (patch) => call(profile.change, path, patch),
      revokeTokens: (token) =>
        Effect.map(call(tokens.revoke, path, token ? { token: Redacted.value(token) } : {}), ({ revoked }) => revoked),
      journal: (search = {}) => call(journal.search, path, search),
      clearJournal: call(journal.clear, path),
      verify: (expectation) => call(journal.verify, path, expectation)
    }
  },
  sessions: call(sessions.list, {}),
  create: (session) => call(sessions.create, {}, session, "value"),
  unmatchedRequests: (search = {}) => call(journal.unmatched, {}, search),
  verifyUnmatched: (expectation) => call(journal.verifyUnmatched, {}, expectation),
  metrics: call(server.metrics, {})
})

/** The operations of the server in this process. Nothing is encoded, and every input is checked. */
export const local: Effect.Effect<Service, never, Operation.Services> = Effect.map(
  Effect.context<Operation.Services>(),
  (context) => make((operation, path, input, form) => Effect.provide(operation.call(path, input, form), context))
)
