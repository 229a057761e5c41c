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
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import { identity } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { ParseError } from "effect/ParseResult"
import * as ParseResult from "effect/ParseResult"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import {
  type ArmedFault,
  ClockChange,
  type ClockReading,
  ControlApi,
  ControlRefused,
  FaultUnknown,
  type JournalPage,
  NewSession,
  type SessionInfo,
  SessionUnknown
} from "./ControlApi.ts"
import * as Fault from "./Fault.ts"
import * as KnownFields from "./internal/schema/knownFields.ts"
import * as Profile from "./Profile.ts"
import * as Verification from "./Verification.ts"

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
  unauthorized: "needs its token, or another one: the command takes it from IDV_MOCK_CONTROL_TOKEN",
  forbidden: "refuses this host name: the server must be started with it as an allowed host",
  answer: "answers something else: is it another server, or another version?"
}

/**
 * Which entries of a journal to read: those that have all that is given, or all.
 *
 * @category models
 * @since 0.1.0
 */
export interface Search extends Omit<Verification.Pattern, "customerId"> {}

/**
 * What can be done with one session. That of a test customer begins with the first of `reset`,
 * `advance`, `setTime`, `freeze`, `resume`, `fault` and `changeProfile`, if not with a token request.
 * Each call fails with `SessionUnknown` if there is no session of this customer, with `ControlUnavailable` if the server is not there, and with `ControlRefused` for an
 * argument that makes no sense.
 *
 * - `reset`: as it was at its beginning. No other session notices.
 * - `advance`, `setTime`, `freeze`, `resume`: its clock, in the years 1 to 9999. A text for `setTime`
 *   is ISO 8601 with a time zone, or a date alone. To go back, set it.
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
  readonly advance: (duration: Duration.DurationInput) => Call<ClockReading, ControlRefused>
  readonly setTime: (time: DateTime.DateTime.Input) => Call<ClockReading, ControlRefused>
  readonly freeze: Call<ClockReading>
  readonly resume: Call<ClockReading>
  readonly faults: Call<ReadonlyArray<ArmedFault>>
  readonly fault: (fault: typeof Fault.Fault.Encoded) => Call<ArmedFault, ControlRefused>
  readonly removeFault: (id: string) => Call<void, FaultUnknown>
  readonly clearFaults: Call<void>
  readonly profile: Call<Profile.Profile>
  readonly changeProfile: (patch: Profile.Patch) => Call<Profile.Profile, ControlRefused>
  readonly revokeTokens: (token?: Redacted.Redacted<string>) => Call<number, ControlRefused>
  readonly journal: (search?: Search) => Call<JournalPage, ControlRefused>
  readonly clearJournal: Call<void>
  readonly verify: (
    expectation: typeof Verification.Expectation.Encoded
  ) => Call<void, ControlRefused | Verification.VerificationFailed>
}

/**
 * @category models
 * @since 0.1.0
 */
export type Call<A, E = never> = Effect.Effect<A, E | SessionUnknown | ControlUnavailable>

/**
 * - `session`: of this customer, whether or not there is one yet.
 * - `create`: begins a session. If there is one of this customer, it stays as it is, and is returned.
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
  ) => Effect.Effect<SessionInfo, ControlRefused | ControlUnavailable>
  readonly strangers: (search?: Search) => Effect.Effect<JournalPage, ControlRefused | ControlUnavailable>
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

/** Of what this module itself sends. */
const dieRefused = <A, E>(effect: Effect.Effect<A, E | ControlRefused>) =>
  Effect.catchIf(effect, (error) => error instanceof ControlRefused, Effect.die)

type Internal = HttpClientError.HttpClientError | ParseError | HttpApiDecodeError

const isInternal = (error: unknown): error is Internal =>
  HttpClientError.isHttpClientError(error) || ParseResult.isParseError(error) || error instanceof HttpApiDecodeError

const reasonOf = (error: Internal): ControlUnavailable["reason"] => {
  if (error._tag === "RequestError") return "transport"
  const status = error._tag === "ResponseError" ? error.response.status : undefined
  return status === 401 ? "unauthorized" : status === 403 ? "forbidden" : "answer"
}

const refused = (violations: Violation.Violations) => new ControlRefused({ violations })

/** As the server would, but before anything is sent: the client of an `HttpApi` fails with the values. */
const decoding = <A, I>(schema: Schema.Schema<A, I>) => {
  const decode = KnownFields.decodeUnknown(schema)
  return (input: unknown): Either.Either<A, ControlRefused> => Either.mapLeft(decode(input), refused)
}

const decodeFault = decoding(Fault.Fault)
const decodeExpectation = decoding(Verification.Expectation)
const decodePatch = decoding(Profile.Patch)
const decodeClockChange = decoding(ClockChange)
const decodeNewSession = decoding(Schema.typeSchema(NewSession))

/** As it is written in JSON: numbers and texts are judged there, and `Duration` takes what is negative for 0. */
const durationText = (duration: Duration.DurationInput): unknown =>
  typeof duration === "bigint"
    ? Number(duration) / 1_000_000
    : typeof duration === "object"
    ? Duration.toMillis(duration)
    : duration

const timeText = (time: DateTime.DateTime.Input): unknown =>
  typeof time === "string" ? time : Option.getOrUndefined(Option.map(DateTime.make(time), DateTime.formatIso))

/** A path cannot say all ids: none, dots alone, half a character. There is nothing of such an id. */
const isSayable = (id: string): boolean => !/^\.{0,2}$/.test(id) && Either.isRight(Encoding.encodeUriComponent(id))

const client = (url: string, token: Redacted.Redacted | undefined) =>
  HttpApiClient.make(ControlApi, {
    baseUrl: url,
    transformClient: HttpClient.mapRequest(token === undefined ? identity : HttpClientRequest.bearerToken(token))
  })

type Client = Effect.Effect.Success<ReturnType<typeof client>>

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = ({ token, url }: Options): Effect.Effect<Service, never, HttpClient.HttpClient> =>
  Effect.map(
    // Made when it is first used: it takes longer than to start a server.
    Effect.flatMap(HttpClient.HttpClient, (http) =>
      client(url, token).pipe(
        Effect.provideService(HttpClient.HttpClient, http),
        Effect.uninterruptible,
        Effect.cached
      )),
    (api) => {
      const call = <A, E>(use: (api: Client) => Effect.Effect<A, E | Internal>) =>
        Effect.catchIf(
          Effect.flatMap(api, use),
          isInternal,
          (error) => new ControlUnavailable({ url, reason: reasonOf(error) })
        )

      const urlParams = ({ status, unexpected, ...search }: Search = {}) => ({
        ...search,
        ...(status !== undefined && { status: String(status) }),
        ...(unexpected !== undefined && { unexpected: String(unexpected) })
      })

      const session = (customerId: string): SessionControl => {
        const path = { customerId }
        const ask = <A, E>(use: (api: Client) => Effect.Effect<A, E | Internal>) =>
          isSayable(customerId) ? call(use) : new SessionUnknown({ customerId })
        const change = (change: unknown) =>
          Effect.flatMap(decodeClockChange(change), (payload) => ask((api) => api.clock.change({ path, payload })))
        return {
          info: ask((api) => api.sessions.get({ path })),
          reset: dieRefused(ask((api) => api.sessions.reset({ path }))),
          remove: ask((api) => api.sessions.remove({ path })),
          clock: ask((api) => api.clock.read({ path })),
          advance: (duration) => change({ advance: durationText(duration) }),
          setTime: (time) => change({ set: timeText(time) }),
          freeze: dieRefused(change({ frozen: true })),
          resume: dieRefused(change({ frozen: false })),
          faults: ask((api) => api.faults.list({ path })),
          fault: (fault) =>
            Effect.flatMap(decodeFault(fault), (payload) => ask((api) => api.faults.set({ path, payload }))),
          removeFault: (id) =>
            isSayable(id)
              ? ask((api) => api.faults.remove({ path: { customerId, faultId: id } }))
              : new FaultUnknown({ id }),
          clearFaults: ask((api) => api.faults.clear({ path })),
          profile: ask((api) => api.profile.get({ path })),
          changeProfile: (patch) =>
            Effect.flatMap(decodePatch(patch), (payload) => ask((api) => api.profile.change({ path, payload }))),
          revokeTokens: (token) =>
            Effect.map(
              ask((api) => api.tokens.revoke({ path, payload: { ...(token && { token }) } })),
              ({ revoked }) => revoked
            ),
          journal: (search) => ask((api) => api.journal.search({ path, urlParams: urlParams(search) })),
          clearJournal: ask((api) => api.journal.clear({ path })),
          verify: (expectation) =>
            Effect.flatMap(
              decodeExpectation(expectation),
              (expectation) => ask((api) => api.journal.verify({ path, payload: { expectation } }))
            )
        }
      }

      return {
        session,
        sessions: call((api) => api.sessions.list()),
        create: (session) =>
          Effect.flatMap(decodeNewSession(session), (payload) => call((api) => api.sessions.create({ payload }))),
        strangers: (search) => call((api) => api.journal.strangers({ urlParams: urlParams(search) })),
        metrics: call((api) => api.server.metrics())
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
