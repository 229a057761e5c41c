/** The operations on sessions, their profiles and their own test persons. */
import * as Violation from "@effect-idv/core/Violation"
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import * as Profile from "../../Profile.ts"
import * as Session from "../../Session.ts"
import * as TestPerson from "../../TestPerson.ts"
import { closed, optional } from "../schema/fields.ts"
import { ClockReading, readClock } from "./clock.ts"
import { ControlRefused, SessionUnknown } from "./controlErrors.ts"
import * as Operation from "./operation.ts"
import * as SessionOptions from "./sessionOptions.ts"

const { apply, read } = SessionOptions.options.profile

export const profile = {
  get: Operation.make({
    endpoint: HttpApiEndpoint.get("get")`/sessions/${Operation.customerIdParameter}/profile`.addSuccess(Profile.Profile)
      .addError(SessionUnknown),
    description: "Shows how a session behaves where the service document leaves a choice",
    on: Operation.session,
    accepts: Operation.nothing,
    run: read
  }),
  change: Operation.make({
    endpoint: HttpApiEndpoint.patch("change")`/sessions/${Operation.customerIdParameter}/profile`.setPayload(
      Profile.Patch
    )
      .addSuccess(Profile.Profile).addError(ControlRefused).addError(SessionUnknown),
    description: "Changes options of the profile of a session, or applies a preset",
    on: Operation.begunSession,
    accepts: Operation.accept(Profile.Patch),
    run: (session, patch) => Effect.zipRight(apply(session, { profile: patch }), read(session))
  })
}

export const testPersons = {
  list: Operation.make({
    endpoint: HttpApiEndpoint.get("list")`/sessions/${Operation.customerIdParameter}/test-persons`
      .addSuccess(Schema.Array(TestPerson.Listed)).addError(SessionUnknown),
    description: "Lists the test persons that were added to a session, without names and dates of birth",
    on: Operation.session,
    accepts: Operation.nothing,
    run: ({ testPersons }) => testPersons.list
  }),
  set: Operation.make({
    endpoint: HttpApiEndpoint.put("set")`/sessions/${Operation.customerIdParameter}/test-persons`
      .setPayload(TestPerson.CustomList).addSuccess(Schema.Array(TestPerson.Listed)).addError(ControlRefused)
      .addError(SessionUnknown),
    description: "Replaces the test persons of a session",
    on: Operation.begunSession,
    accepts: Operation.accept(TestPerson.CustomList, "testPersons"),
    run: ({ testPersons }, list) => Effect.zipRight(testPersons.set(list), testPersons.list)
  })
}

const customerIdExpected = Violation.expecting(
  "1 to 128 visible characters of ASCII, without a colon, and not . or .. alone"
)

/** Excludes `.` and `..`, because they cannot be a segment of a URL path. */
export const CustomerId = Schema.String.annotations(customerIdExpected).pipe(
  Schema.pattern(/^[\x21-\x39\x3b-\x7e]{1,128}$/, customerIdExpected),
  Schema.filter((id) => id !== "." && id !== "..", { ...customerIdExpected, jsonSchema: {} })
)

const keyExpected = Violation.expecting("1 to 256 characters, without control characters")

/**
 * A session to create, with the options that differ from those of the server. If the customer already has a session, it
 * stays unchanged and keeps its key. Without `customerKey`, the key is `test-key`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const NewSession = Schema.Struct({
  customerId: CustomerId,
  customerKey: optional(
    Schema.Redacted(
      Schema.String.annotations(keyExpected).pipe(Schema.pattern(/^[^\p{Cc}]{1,256}$/u, keyExpected))
    )
  ),
  ...SessionOptions.fields("input")
}).annotations({
  ...closed,
  description: `an object with customerId, and any of customerKey, ${
    SessionOptions.all.map(({ name }) => name).join(", ")
  }`
})

/**
 * @category schemas
 * @since 0.1.0
 */
export interface NewSession extends Schema.Schema.Type<typeof NewSession> {}

const changeable = SessionOptions.changeable.map(({ name }) => name).join(", ")

/**
 * A change of the options of a session. `profile` is a patch of the profile. `faults` and `testPersons` replace those of
 * the session.
 *
 * @category schemas
 * @since 0.1.0
 */
export const SessionChange = Schema.Struct(Struct.omit(SessionOptions.fields("input"), "seed")).annotations(closed)
  .pipe(
    Schema.filter((change) => Object.keys(change).length > 0)
  ).annotations(Violation.expecting(`an object with one or more of ${changeable}`))

/**
 * A session: its options, how many `faults` and `testPersons` it has, and how many `exchanges` its journal received
 * since it was last cleared.
 *
 * @category schemas
 * @since 0.1.0
 */
export const SessionInfo = Schema.Struct({
  customerId: Schema.String,
  clock: ClockReading,
  ...SessionOptions.fields("shown"),
  exchanges: Schema.NonNegativeInt
})

/**
 * @category schemas
 * @since 0.1.0
 */
export interface SessionInfo extends Schema.Schema.Type<typeof SessionInfo> {}

const infoOf = (session: Session.Session): Effect.Effect<SessionInfo> =>
  Effect.gen(function*() {
    const { dropped, entries } = session.journal
    return {
      customerId: session.customerId,
      clock: yield* readClock(session),
      ...(yield* SessionOptions.read(session)),
      exchanges: (yield* entries).length + (yield* dropped)
    }
  })

/** The state of a session in one line. */
export const line = ({ clock, customerId, exchanges, ...options }: SessionInfo): string =>
  [
    `${customerId}: ${DateTime.formatIso(clock.now)}${clock.frozen ? " (frozen)" : ""}`,
    ...SessionOptions.texts(options),
    `exchanges: ${exchanges}`
  ].join(", ")

export const sessions = {
  list: Operation.make({
    endpoint: HttpApiEndpoint.get("list", "/sessions").addSuccess(Schema.Array(SessionInfo)),
    description: "Lists the sessions of the server",
    on: Operation.server,
    accepts: Operation.nothing,
    run: () => Effect.flatMap(Session.Sessions, ({ list }) => Effect.flatMap(list, Effect.forEach(infoOf))),
    commands: [{ usage: "sessions", help: "Show the sessions of a running server", print: (all) => all.map(line) }]
  }),
  create: Operation.make({
    endpoint: HttpApiEndpoint.post("create", "/sessions").setPayload(NewSession)
      .addSuccess(SessionInfo.annotations({ description: "The new session" }), { status: 201 })
      .addSuccess(SessionInfo.annotations({ description: "The existing session, unchanged" }))
      .addError(ControlRefused),
    description: "Creates a session. If the customer already has one, it stays unchanged",
    on: Operation.server,
    accepts: Operation.accept(NewSession),
    statusOf: ({ customerId }) =>
      Effect.gen(function*() {
        const { known } = yield* Session.Sessions
        return Option.isSome(yield* known(customerId)) ? 200 : 201
      }),
    run: (_, { customerId, customerKey, profile, ...options }) =>
      Effect.gen(function*() {
        const sessions = yield* Session.Sessions
        const session = yield* sessions.create(
          { customerId, customerKey: customerKey ?? Session.testKey },
          { ...options, ...(profile && { profile: Profile.apply(sessions.options.profile, profile) }) }
        )
        return yield* infoOf(session)
      })
  }),
  get: Operation.make({
    endpoint: HttpApiEndpoint.get("get")`/sessions/${Operation.customerIdParameter}`.addSuccess(SessionInfo)
      .addError(SessionUnknown),
    description: "Shows the clock and the options of a session",
    on: Operation.session,
    accepts: Operation.nothing,
    run: infoOf,
    commands: [{ usage: "session show", help: "Show the state of a session", print: (info) => [line(info)] }]
  }),
  change: Operation.make({
    endpoint: HttpApiEndpoint.patch("change")`/sessions/${Operation.customerIdParameter}`.setPayload(SessionChange)
      .addSuccess(SessionInfo).addError(ControlRefused).addError(SessionUnknown),
    description: "Changes options of a session",
    on: Operation.begunSession,
    accepts: Operation.accept(SessionChange),
    run: (session, change) => Effect.zipRight(SessionOptions.apply(session, change), infoOf(session))
  }),
  reset: Operation.make({
    endpoint: HttpApiEndpoint.post("reset")`/sessions/${Operation.customerIdParameter}/reset`.addSuccess(SessionInfo)
      .addError(ControlRefused).addError(SessionUnknown),
    description: "Restores the state that a session began with",
    impact: "destroys",
    on: Operation.begunSession,
    accepts: Operation.emptyBody,
    run: (session) => Effect.zipRight(session.reset, infoOf(session)),
    commands: [{
      usage: "reset",
      help: "Restore the initial state of a session of a running server",
      print: (info) => [line(info)]
    }]
  }),
  remove: Operation.make({
    endpoint: HttpApiEndpoint.del("remove")`/sessions/${Operation.customerIdParameter}`.addSuccess(Schema.Void)
      .addError(SessionUnknown),
    description: "Removes a session",
    on: Operation.session,
    accepts: Operation.nothing,
    run: ({ customerId }) =>
      Effect.gen(function*() {
        const { remove } = yield* Session.Sessions
        if (!(yield* remove(customerId))) return yield* new SessionUnknown({ customerId })
      })
  })
}
