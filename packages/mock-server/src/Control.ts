/**
 * The control plane as a service: moves the clock of a session, sets faults, reads and verifies its
 * journal. In a test it comes with the mock server; `layer` talks to one that runs elsewhere.
 *
 * @since 0.1.0
 */
import type * as Violation from "@effect-idv/core/Violation"
import * as HttpApiClient from "@effect/platform/HttpApiClient"
import { HttpApiDecodeError } from "@effect/platform/HttpApiError"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Layer from "effect/Layer"
import type { ParseError } from "effect/ParseResult"
import * as ParseResult from "effect/ParseResult"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import {
  type ArmedFault,
  type ClockChange,
  type ClockReading,
  ControlApi,
  ControlRefused,
  type FaultUnknown,
  type JournalPage,
  type NewSession,
  type SessionInfo,
  type SessionUnknown
} from "./ControlApi.ts"
import * as Fault from "./Fault.ts"
import * as Journal from "./Journal.ts"
import type * as Profile from "./Profile.ts"
import type { SessionExists } from "./Session.ts"

/**
 * The control plane does not answer as one: nobody is there (`transport`), the token is missing or
 * wrong (`unauthorized`), it may not be used by this name (`forbidden`), or something else answers
 * (`answer`).
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
    return `The control plane at ${this.url} ${reasons[this.reason]}`
  }
}

const reasons = {
  transport: "cannot be reached: is the mock server running there?",
  unauthorized: "needs its token, or another one",
  forbidden: "refuses this host name: the server must be started with it as an allowed host",
  answer: "answers something else: is it another server, or another version?"
}

/**
 * Which entries of a journal to read: those that have all that is given, or all.
 *
 * @category models
 * @since 0.1.0
 */
export interface Search extends Omit<Journal.Pattern, "customerId"> {}

/**
 * What can be done with one session. Each fails with `SessionUnknown` if there is none of this
 * customer, and with `ControlUnavailable` if the server is not there.
 *
 * - `reset`: as it was at its beginning. No other session notices.
 * - `advance`, `setTime`, `freeze`, `resume`: its clock.
 * - `fault`: sets one, in the form of JSON: `{ on: "aml", what: { kind: "hang" } }`.
 * - `changeProfile`: some of its options, or a preset.
 * - `revokeTokens`: one, or all, at once.
 * - `verify`: fails with what was there instead.
 *
 * @category models
 * @since 0.1.0
 */
export interface SessionControl {
  readonly info: Call<SessionInfo>
  readonly reset: Call<SessionInfo>
  readonly remove: Call<void>
  readonly clock: Call<ClockReading>
  readonly advance: (duration: Duration.DurationInput) => Call<ClockReading>
  readonly setTime: (time: DateTime.DateTime.Input) => Call<ClockReading>
  readonly freeze: Call<ClockReading>
  readonly resume: Call<ClockReading>
  readonly faults: Call<ReadonlyArray<ArmedFault>>
  readonly fault: (fault: typeof Fault.Fault.Encoded) => Call<ArmedFault, ControlRefused>
  readonly removeFault: (id: string) => Call<void, FaultUnknown>
  readonly clearFaults: Call<void>
  readonly profile: Call<Profile.Profile>
  readonly changeProfile: (patch: Profile.Patch) => Call<Profile.Profile, ControlRefused>
  readonly revokeTokens: (token?: Redacted.Redacted<string>) => Call<number>
  readonly journal: (search?: Search) => Call<JournalPage>
  readonly clearJournal: Call<void>
  readonly verify: (
    expectation: typeof Journal.Expectation.Encoded
  ) => Call<void, ControlRefused | Journal.VerificationFailed>
}

/**
 * @category models
 * @since 0.1.0
 */
export type Call<A, E = never> = Effect.Effect<A, E | SessionUnknown | ControlUnavailable>

/**
 * - `session`: of this customer, whether or not there is one yet.
 * - `strangers`: the journal of requests that carry no session.
 *
 * @category models
 * @since 0.1.0
 */
export interface Service {
  readonly session: (customerId: string) => SessionControl
  readonly sessions: Effect.Effect<ReadonlyArray<SessionInfo>, ControlUnavailable>
  readonly create: (
    session: NewSession
  ) => Effect.Effect<SessionInfo, SessionExists | ControlRefused | ControlUnavailable>
  readonly strangers: (search?: Search) => Effect.Effect<JournalPage, ControlUnavailable>
  readonly metrics: Effect.Effect<string, ControlUnavailable>
}

/**
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
 * - `url`: where the mock server is, such as `http://127.0.0.1:4010`.
 * - `token`: what the server was started with, if it was.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly url: string
  readonly token?: Redacted.Redacted<string> | undefined
}

type Internal = HttpClientError.HttpClientError | ParseError | HttpApiDecodeError

const isInternal = (error: unknown): error is Internal =>
  HttpClientError.isHttpClientError(error) || ParseResult.isParseError(error) || error instanceof HttpApiDecodeError

const reasonOf = (error: Internal): ControlUnavailable["reason"] => {
  if (error._tag === "RequestError") return "transport"
  const status = error._tag === "ResponseError" ? error.response.status : undefined
  return status === 401 ? "unauthorized" : status === 403 ? "forbidden" : "answer"
}

const decodeFault = Fault.decodeUnknown
const refused = (violations: Violation.Violations) => new ControlRefused({ violations })

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = ({ token, url }: Options): Effect.Effect<Service, never, HttpClient.HttpClient> =>
  Effect.map(
    HttpApiClient.make(ControlApi, {
      baseUrl: url,
      transformClient: HttpClient.mapRequest(token === undefined ? identity : HttpClientRequest.bearerToken(token))
    }),
    (api) => {
      const call = <A, E>(effect: Effect.Effect<A, E | Internal>) =>
        Effect.catchIf(effect, isInternal, (error) => new ControlUnavailable({ url, reason: reasonOf(error) }))

      const urlParams = ({ status, unexpected, ...search }: Search = {}) => ({
        ...search,
        ...(status !== undefined && { status: String(status) }),
        ...(unexpected !== undefined && { unexpected: String(unexpected) })
      })

      const session = (customerId: string): SessionControl => {
        const path = { customerId }
        const change = (payload: ClockChange) =>
          Effect.catchTag(call(api.clock.change({ path, payload })), "ControlRefused", Effect.die)
        return {
          info: call(api.sessions.get({ path })),
          reset: call(api.sessions.reset({ path })),
          remove: call(api.sessions.remove({ path })),
          clock: call(api.clock.read({ path })),
          advance: (duration) => change({ advance: Duration.decode(duration) }),
          setTime: (time) => change({ set: DateTime.toUtc(DateTime.unsafeMake(time)) }),
          freeze: change({ frozen: true }),
          resume: change({ frozen: false }),
          faults: call(api.faults.list({ path })),
          fault: (fault) =>
            Effect.flatMap(Effect.mapError(decodeFault(fault), refused), (payload) =>
              call(api.faults.set({ path, payload }))),
          removeFault: (faultId) =>
            call(api.faults.remove({ path: { customerId, faultId } })),
          clearFaults: call(api.faults.clear({ path })),
          profile: call(api.profile.get({ path })),
          changeProfile: (payload) => call(api.profile.change({ path, payload })),
          revokeTokens: (token) =>
            Effect.map(
              Effect.catchTag(
                call(api.tokens.revoke({ path, payload: { ...(token && { token }) } })),
                "ControlRefused",
                Effect.die
              ),
              ({ revoked }) => revoked
            ),
          journal: (search) =>
            Effect.catchTag(
              call(api.journal.search({ path, urlParams: urlParams(search) })),
              "ControlRefused",
              Effect.die
            ),
          clearJournal: call(api.journal.clear({ path })),
          verify: (expectation) =>
            Effect.flatMap(Effect.mapError(Journal.decodeUnknown(expectation), refused), (expectation) =>
              call(api.journal.verify({ path, payload: { expectation } })))
        }
      }

      return {
        session,
        sessions: call(api.sessions.list()),
        create: (payload) =>
          call(api.sessions.create({ payload })),
        strangers: (search) =>
          Effect.catchTag(
            call(api.journal.strangers({ urlParams: urlParams(search) })),
            "ControlRefused",
            Effect.die
          ),
        metrics: call(api.server.metrics())
      }
    }
  )

/**
 * The control plane of a mock server that runs elsewhere.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<Control, never, HttpClient.HttpClient> =>
  Layer.effect(Control, make(options))
