/** The handlers of the control API. */
import * as Violation from "@effect-idv/core/Violation"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
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
  NotReady,
  Revocation,
  SessionInfo,
  SessionUnknown
} from "../../ControlApi.ts"
import * as Fault from "../../Fault.ts"
import type * as Journal from "../../Journal.ts"
import * as Profile from "../../Profile.ts"
import * as Session from "../../Session.ts"
import * as TestPerson from "../../TestPerson.ts"
import * as Verification from "../../Verification.ts"
import * as JsonText from "../http/jsonText.ts"
import * as Lifecycle from "../http/lifecycle.ts"
import * as Request from "../http/request.ts"
import * as Metrics from "../journal/metrics.ts"
import { isInRange } from "../schema/instantText.ts"
import * as KnownFields from "../schema/knownFields.ts"
import { truncateViolations } from "../schema/truncateViolations.ts"
import type { FaultState } from "../session/sessionFaults.ts"

type Decode<A> = (input: unknown) => Either.Either<A, Violation.Violations>

const invalid = (violations: Violation.Violations) => new ControlRefused({ violations: truncateViolations(violations) })

/**
 * Whether the body is JSON, or empty without a content type. This protects against pages of other sites: an HTML form
 * can send only three other content types, and a script needs a CORS permission for JSON, which this server never
 * gives.
 */
const isAllowedContent = (request: Request.Request): boolean => {
  const { parameters, type } = Request.mediaType(request)
  return type === "application/json"
    ? !parameters.some(Request.isOtherCharset)
    : type === "" && request.body.length === 0
}

const violation = (path: string, problem: Violation.Violation["problem"], expected: string): Violation.Violations => [
  new Violation.Violation({ path, problem, expected })
]

const contentType = violation("Content-Type", "invalid", "application/json in UTF-8, or no header and no body")
const contentEncoding = violation("Content-Encoding", "unexpected", "a body without a content coding")

/** The decoded body. The `HttpApi` does not decode it, because its errors repeat the values. */
const payload = <A>(source: HttpServerRequest.HttpServerRequest, decode: Decode<A>) =>
  Effect.gen(function*() {
    const request = yield* Request.read(source)
    if (!request.isWhole) return yield* invalid(Violation.whole("a complete body"))
    if (!isAllowedContent(request)) return yield* invalid(contentType)
    if (Request.hasCoding(request)) return yield* invalid(contentEncoding)
    if (Request.isTooLong(request)) {
      return yield* invalid(Violation.whole(`a body of at most ${Request.maxBodyBytes} bytes`))
    }
    const json = request.body.length === 0
      ? {}
      : yield* Effect.mapError(JsonText.parse(request.body), ({ violations }) => invalid(violations))
    return yield* Effect.mapError(decode(json), invalid)
  })

const decodeNewSession = KnownFields.decodeUnknown(NewSession)
const decodeNothing: Decode<object> = (input) =>
  Predicate.isRecord(input) && Record.isEmptyRecord(input)
    ? Either.right(input)
    : Either.left(Violation.whole("an empty object, or no body"))
const decodeClockChange = KnownFields.decodeUnknown(ClockChange)
const decodeFault = KnownFields.decodeUnknown(Fault.Fault)
const decodeTestPersons = KnownFields.decodeUnknown(TestPerson.CustomList)
const decodePatch = KnownFields.decodeUnknown(Profile.Patch)
const decodeRevocation = KnownFields.decodeUnknown(Revocation)

const sessionBy = (find: "known" | "find") => (customerId: string) =>
  Effect.flatMap(Session.Sessions, (sessions) =>
    Effect.flatMap(
      sessions[find](customerId),
      Option.match({ onNone: () => new SessionUnknown({ customerId }), onSome: Effect.succeed })
    ))

/** Returns the session, and never creates one. */
const findSession = sessionBy("known")

/**
 * Returns the session, and creates it for a test customer that has none. Call it after decoding, because an invalid
 * request must not create a session.
 */
const findOrCreateSession = sessionBy("find")

const readClock = ({ clock }: Session.Session): Effect.Effect<ClockReading> =>
  Effect.map(clock.read, ({ frozen, now }) => ({ now: DateTime.unsafeMake(now), frozen }))

const sessionInfo = (session: Session.Session): Effect.Effect<SessionInfo> =>
  Effect.all({
    customerId: Effect.succeed(session.customerId),
    seed: Effect.succeed(session.seed),
    clock: readClock(session),
    profile: Ref.get(session.profile),
    faults: Effect.map(session.faults.list, ({ length }) => length),
    exchanges: Effect.zipWith(
      session.journal.entries,
      session.journal.dropped,
      ({ length }, dropped) => length + dropped
    )
  })

const sessionResponse = HttpServerResponse.schemaJson(SessionInfo)

const toArmedFault = ({ fault, fired, id, seen }: FaultState): ArmedFault => ({ id, fault, seen, fired })

const sessions = HttpApiBuilder.group(ControlApi, "sessions", (handlers) =>
  handlers
    .handle("list", () =>
      Effect.flatMap(Session.Sessions, ({ list }) => Effect.flatMap(list, Effect.forEach(sessionInfo))))
    .handleRaw("create", ({ request }) =>
      Effect.gen(function*() {
        const sessions = yield* Session.Sessions
        const { customerId, customerKey, faults, profile, seed, testPersons } = yield* payload(
          request,
          decodeNewSession
        )
        const existing = yield* sessions.known(customerId)
        const session = yield* sessions.create(
          { customerId, customerKey: customerKey ?? Session.testKey },
          {
            ...(seed !== undefined && { seed }),
            ...(faults && { faults }),
            ...(testPersons && { testPersons }),
            ...(profile && {
              profile: Profile.apply(sessions.settings.profile ?? Profile.defaultProfile, profile)
            })
          }
        )
        const status = Option.contains(existing, session) ? 200 : 201
        return yield* Effect.orDie(sessionResponse(yield* sessionInfo(session), { status }))
      }))
    .handle("get", ({ path }) =>
      Effect.flatMap(findSession(path.customerId), sessionInfo))
    .handle("reset", ({ path, request }) =>
      Effect.gen(function*() {
        yield* payload(request, decodeNothing)
        const session = yield* findOrCreateSession(path.customerId)
        yield* session.reset
        return yield* sessionInfo(session)
      }))
    .handle("remove", ({ path: { customerId } }) =>
      Effect.gen(function*() {
        const sessions = yield* Session.Sessions
        if (!(yield* sessions.remove(customerId))) {
          return yield* new SessionUnknown({ customerId })
        }
      })))

const tooFarViolation = violation("advance", "invalid", "a duration that ends before the year 10000")

const clock = HttpApiBuilder.group(ControlApi, "clock", (handlers) =>
  handlers
    .handle("read", ({ path }) => Effect.flatMap(findSession(path.customerId), readClock))
    .handleRaw("change", ({ path, request }) =>
      Effect.gen(function*() {
        const { advance, frozen, set } = yield* payload(request, decodeClockChange)
        const session = yield* findOrCreateSession(path.customerId)
        const from = set === undefined ? yield* session.clock.now : DateTime.toEpochMillis(set)
        const to = from + Duration.toMillis(advance ?? Duration.zero)
        if (!isInRange(to)) return yield* invalid(tooFarViolation)
        if (set !== undefined || advance !== undefined) yield* session.clock.set(to)
        if (frozen !== undefined) yield* frozen ? session.clock.freeze : session.clock.resume
        return yield* readClock(session)
      })))

const faults = HttpApiBuilder.group(ControlApi, "faults", (handlers) =>
  handlers
    .handle("list", ({ path }) =>
      Effect.flatMap(findSession(path.customerId), ({ faults }) =>
        Effect.map(faults.list, (armed) =>
          armed.map(toArmedFault))))
    .handleRaw("set", ({ path, request }) =>
      Effect.gen(function*() {
        const fault = yield* payload(request, decodeFault)
        const { faults } = yield* findOrCreateSession(path.customerId)
        return toArmedFault(yield* faults.set(fault))
      }))
    .handle("remove", ({ path: { customerId, faultId } }) =>
      Effect.gen(function*() {
        const { faults } = yield* findSession(customerId)
        if (!(yield* faults.remove(faultId))) {
          return yield* new FaultUnknown({ id: faultId })
        }
      }))
    .handle("clear", ({ path }) =>
      Effect.flatMap(findSession(path.customerId), ({ faults }) => faults.clear)))

const testPersons = HttpApiBuilder.group(ControlApi, "testPersons", (handlers) =>
  handlers
    .handle(
      "list",
      ({ path }) => Effect.flatMap(findSession(path.customerId), ({ testPersons }) => testPersons.list)
    )
    .handleRaw("set", ({ path, request }) =>
      Effect.gen(function*() {
        const persons = yield* payload(request, decodeTestPersons)
        const { testPersons } = yield* findOrCreateSession(path.customerId)
        yield* testPersons.set(persons)
        return yield* testPersons.list
      })))

const profile = HttpApiBuilder.group(ControlApi, "profile", (handlers) =>
  handlers
    .handle("get", ({ path }) => Effect.flatMap(findSession(path.customerId), ({ profile }) => Ref.get(profile)))
    .handleRaw("change", ({ path, request }) =>
      Effect.gen(function*() {
        const patch = yield* payload(request, decodePatch)
        const { profile } = yield* findOrCreateSession(path.customerId)
        return yield* Ref.updateAndGet(profile, Profile.apply(patch))
      })))

const tokens = HttpApiBuilder.group(ControlApi, "tokens", (handlers) =>
  handlers
    .handle("list", ({ path }) =>
      Effect.flatMap(findSession(path.customerId), ({ tokens }) =>
        Effect.map(tokens.list, (tokens) =>
          tokens.map(({ expiresAt, issuedAt, status }) => ({
            issuedAt: DateTime.unsafeMake(issuedAt),
            expiresAt: DateTime.unsafeMake(expiresAt),
            status
          })))))
    .handleRaw("revoke", ({ path, request }) =>
      Effect.gen(function*() {
        const { tokens } = yield* findSession(path.customerId)
        const { token } = yield* payload(request, decodeRevocation)
        return { revoked: yield* tokens.revoke(Option.map(Option.fromNullable(token), Redacted.value)) }
      })))

const statusExpected = Violation.expecting("a status, a whole number from 100 to 599")

/** The query parameters of a journal search, which are text, as a pattern. An address must not contain a person. */
const SearchText = Schema.Struct({
  ...Verification.Pattern.fields,
  status: Schema.optionalWith(
    Schema.compose(
      Schema.String.annotations(statusExpected).pipe(Schema.pattern(/^[1-5]\d\d$/, statusExpected)),
      Schema.NumberFromString
    ),
    { exact: true }
  ),
  unexpected: Schema.optionalWith(
    Schema.transform(
      Schema.Literal("true", "false").annotations(Violation.expecting("true or false")),
      Schema.Boolean,
      { strict: true, decode: (text) => text === "true", encode: (flag) => flag ? "true" as const : "false" as const }
    ),
    { exact: true }
  )
}).omit("customerId", "name", "dateOfBirth", "headers")
const decodeSearch = KnownFields.decodeUnknown(SearchText)

/** Returns all matching entries. Decodes the raw query, because the `HttpApi` ignores unknown parameters. */
const searchJournal = (journal: Journal.Journal) =>
  Effect.gen(function*() {
    const search = yield* HttpServerRequest.ParsedSearchParams
    const pattern = yield* Effect.mapError(decodeSearch({ ...search }), invalid)
    const entries = (yield* journal.entries).filter(Verification.matches(pattern))
    return { entries, dropped: yield* journal.dropped } satisfies JournalPage
  })

const journal = HttpApiBuilder.group(ControlApi, "journal", (handlers) =>
  handlers
    .handle(
      "search",
      ({ path }) => Effect.flatMap(findSession(path.customerId), ({ journal }) => searchJournal(journal))
    )
    .handle("clear", ({ path }) => Effect.flatMap(findSession(path.customerId), ({ journal }) => journal.clear))
    .handleRaw("verify", ({ path, request }) =>
      Effect.gen(function*() {
        const session = yield* findSession(path.customerId)
        yield* session.journal.verify(yield* payload(request, Verification.decodeUnknown))
        // A session that was removed meanwhile received no more entries, so its result means nothing.
        if ((yield* findSession(path.customerId)) !== session) return yield* new SessionUnknown(path)
      }))
    .handle("unmatched", () => Effect.flatMap(Session.Sessions, ({ unmatched }) => searchJournal(unmatched)))
    .handleRaw("verifyUnmatched", ({ request }) =>
      Effect.gen(function*() {
        const { unmatched } = yield* Session.Sessions
        yield* unmatched.verify(yield* payload(request, Verification.decodeUnknown))
      })))

const server = HttpApiBuilder.group(ControlApi, "server", (handlers) =>
  handlers
    .handle("live", () => Effect.succeed({ live: true } as const))
    .handle("ready", () =>
      Effect.gen(function*() {
        const { isReady } = yield* Lifecycle.Lifecycle
        return (yield* isReady) ? { ready: true } as const : yield* new NotReady()
      }))
    .handle("metrics", () =>
      Effect.gen(function*() {
        const { list } = yield* Session.Sessions
        const { text } = yield* Metrics.Metrics
        return yield* text((yield* list).length)
      })))

export const layer = Layer.provide(HttpApiBuilder.api(ControlApi), [
  sessions,
  clock,
  faults,
  testPersons,
  profile,
  tokens,
  journal,
  server
])
