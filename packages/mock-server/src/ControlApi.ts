/**
 * The control API as an `HttpApi`: everything under `/_mock` that reads and changes sessions, their clock, faults,
 * profile, tokens and journal. Its OpenAPI document and its client are derived from it. `Control` is the same API as a
 * service.
 *
 * @since 0.1.0
 */
import * as Violation from "@effect-idv/core/Violation"
import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import * as Fault from "./Fault.ts"
import { ControlRefused, FaultUnknown, NotReady, SessionUnknown } from "./internal/control/controlErrors.ts"
import * as ControlOpenApi from "./internal/control/controlOpenApi.ts"
import { expectation, search } from "./internal/journal/journalParameters.ts"
import { DurationText } from "./internal/schema/durationText.ts"
import { closed, wholeNumber } from "./internal/schema/fields.ts"
import { Instant } from "./internal/schema/instantText.ts"
import { pathParameter } from "./internal/schema/parameters.ts"
import { uniqueBy } from "./internal/schema/uniqueIds.ts"
import * as Journal from "./Journal.ts"
import * as Profile from "./Profile.ts"
import * as TestPerson from "./TestPerson.ts"
import * as Verification from "./Verification.ts"

export { ControlRefused, FaultUnknown, NotReady, SessionUnknown }

const optional = { exact: true } as const

/**
 * The clock of a session.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ClockReading = Schema.Struct({
  now: Schema.DateTimeUtc.annotations({ description: "the time of the session" }),
  frozen: Schema.Boolean
})

/**
 * @category schemas
 * @since 0.1.0
 */
export interface ClockReading extends Schema.Schema.Type<typeof ClockReading> {}

/**
 * A change of the clock. Its fields are applied in this order: `set`, `advance`, `frozen`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ClockChange = Schema.Struct({
  set: Schema.optionalWith(Instant, optional),
  advance: Schema.optionalWith(DurationText, optional),
  frozen: Schema.optionalWith(Schema.Boolean.annotations(Violation.expecting("true or false")), optional)
}).annotations(closed).pipe(
  Schema.filter((change) => Object.keys(change).length > 0)
).annotations(Violation.expecting("an object with one or more of set, advance, frozen"))

/**
 * @category schemas
 * @since 0.1.0
 */
export interface ClockChange extends Schema.Schema.Type<typeof ClockChange> {}

const customerIdExpected = Violation.expecting(
  "1 to 128 visible characters of ASCII, without a colon, and not . or .. alone"
)

/** Excludes `.` and `..`, because they cannot be a segment of a URL path. */
const CustomerId = Schema.String.annotations(customerIdExpected).pipe(
  Schema.pattern(/^[\x21-\x39\x3b-\x7e]{1,128}$/, customerIdExpected),
  Schema.filter((id) => id !== "." && id !== "..", { ...customerIdExpected, jsonSchema: {} })
)

const keyExpected = Violation.expecting("1 to 256 characters, without control characters")

/**
 * A session to create. If the customer already has a session, it stays unchanged and keeps its key. Without
 * `customerKey`, the key is `test-key`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const NewSession = Schema.Struct({
  customerId: CustomerId,
  customerKey: Schema.optionalWith(
    Schema.Redacted(
      Schema.String.annotations(keyExpected).pipe(Schema.pattern(/^[^\p{Cc}]{1,256}$/u, keyExpected))
    ),
    optional
  ),
  seed: Schema.optionalWith(wholeNumber(0, 2 ** 32 - 1), optional),
  profile: Schema.optionalWith(Profile.Patch, optional),
  faults: Schema.optionalWith(uniqueBy(Schema.Array(Fault.Fault), "id"), optional),
  testPersons: Schema.optionalWith(TestPerson.CustomList, optional)
}).annotations({
  ...closed,
  description: "an object with customerId, and any of customerKey, seed, profile, faults, testPersons"
})

/**
 * @category schemas
 * @since 0.1.0
 */
export interface NewSession extends Schema.Schema.Type<typeof NewSession> {}

/**
 * A session: how many `faults` it has, and how many `exchanges` its journal received since it was last cleared.
 *
 * @category schemas
 * @since 0.1.0
 */
export const SessionInfo = Schema.Struct({
  customerId: Schema.String,
  seed: Schema.Number,
  clock: ClockReading,
  profile: Profile.Profile,
  faults: Schema.NonNegativeInt,
  exchanges: Schema.NonNegativeInt
})

/**
 * @category schemas
 * @since 0.1.0
 */
export interface SessionInfo extends Schema.Schema.Type<typeof SessionInfo> {}

/**
 * A fault of a session: how many requests it has `seen`, and for how many of them it `fired`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ArmedFault = Schema.Struct({
  id: Schema.String,
  fault: Fault.Fault,
  seen: Schema.NonNegativeInt,
  fired: Schema.NonNegativeInt
})

/**
 * @category schemas
 * @since 0.1.0
 */
export interface ArmedFault extends Schema.Schema.Type<typeof ArmedFault> {}

/**
 * How many valid tokens were revoked.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Revoked = Schema.Struct({ revoked: Schema.NonNegativeInt })

/**
 * The token to revoke. Without `token`, all tokens of the session are revoked.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Revocation = Schema.Struct({
  token: Schema.optionalWith(
    Schema.Redacted(Schema.String.annotations(Violation.expecting("a token, as text"))),
    optional
  )
}).annotations({ ...closed, description: "an object with token, or with nothing" })

/**
 * The state of a token, without its text.
 *
 * @category schemas
 * @since 0.1.0
 */
export const TokenInfo = Schema.Struct({
  issuedAt: Schema.DateTimeUtc,
  expiresAt: Schema.DateTimeUtc,
  status: Schema.Literal("valid", "expired", "revoked")
})

/**
 * The entries of a journal, the oldest first.
 *
 * @category schemas
 * @since 0.1.0
 */
export const JournalPage = Schema.Struct({
  dropped: Schema.NonNegativeInt.annotations({ description: "how many older entries the journal no longer keeps" }),
  entries: Schema.Array(Journal.Entry)
})

/**
 * @category schemas
 * @since 0.1.0
 */
export interface JournalPage extends Schema.Schema.Type<typeof JournalPage> {}

const customerId = pathParameter("customerId")
const faultId = pathParameter("faultId")

const sessions = HttpApiGroup.make("sessions")
  .add(HttpApiEndpoint.get("list", "/sessions").addSuccess(Schema.Array(SessionInfo)))
  .add(
    HttpApiEndpoint.post("create", "/sessions").setPayload(NewSession)
      .addSuccess(SessionInfo.annotations({ description: "The new session" }), { status: 201 })
      .addSuccess(SessionInfo.annotations({ description: "The existing session, unchanged" }))
      .addError(ControlRefused)
  )
  .add(HttpApiEndpoint.get("get")`/sessions/${customerId}`.addSuccess(SessionInfo).addError(SessionUnknown))
  .add(
    HttpApiEndpoint.post("reset")`/sessions/${customerId}/reset`.addSuccess(SessionInfo)
      .addError(ControlRefused).addError(SessionUnknown)
  )
  .add(HttpApiEndpoint.del("remove")`/sessions/${customerId}`.addSuccess(Schema.Void).addError(SessionUnknown))
  .annotate(
    OpenApi.Description,
    "One session for each customer id, with its own clock, tokens, faults, profile and journal. The session of a test " +
      "customer begins with its first token request, or when its clock, faults or profile are set"
  )

const clock = HttpApiGroup.make("clock")
  .add(HttpApiEndpoint.get("read")`/sessions/${customerId}/clock`.addSuccess(ClockReading).addError(SessionUnknown))
  .add(
    HttpApiEndpoint.post("change")`/sessions/${customerId}/clock`.setPayload(ClockChange)
      .addSuccess(ClockReading).addError(ControlRefused).addError(SessionUnknown)
  )
  .annotate(OpenApi.Description, "The clock of a session, which decides when its tokens expire")

const faults = HttpApiGroup.make("faults")
  .add(
    HttpApiEndpoint.get("list")`/sessions/${customerId}/faults`.addSuccess(Schema.Array(ArmedFault))
      .addError(SessionUnknown)
  )
  .add(
    HttpApiEndpoint.post("set")`/sessions/${customerId}/faults`.setPayload(Fault.Fault)
      .addSuccess(ArmedFault, { status: 201 }).addError(ControlRefused).addError(SessionUnknown)
  )
  .add(
    HttpApiEndpoint.del("remove")`/sessions/${customerId}/faults/${faultId}`.addSuccess(Schema.Void)
      .addError(SessionUnknown).addError(FaultUnknown)
  )
  .add(HttpApiEndpoint.del("clear")`/sessions/${customerId}/faults`.addSuccess(Schema.Void).addError(SessionUnknown))
  .annotate(OpenApi.Description, "The faults of a session: what fails, when, and how often")

const testPersons = HttpApiGroup.make("testPersons")
  .add(
    HttpApiEndpoint.get("list")`/sessions/${customerId}/test-persons`.addSuccess(Schema.Array(TestPerson.Listed))
      .addError(SessionUnknown)
  )
  .add(
    HttpApiEndpoint.put("set")`/sessions/${customerId}/test-persons`.setPayload(TestPerson.CustomList)
      .addSuccess(Schema.Array(TestPerson.Listed)).addError(ControlRefused).addError(SessionUnknown)
  )
  .annotate(
    OpenApi.Description,
    "The test persons that a user added to a session, in the order in which they are compared. The list shows " +
      "neither names nor dates of birth"
  )

const profile = HttpApiGroup.make("profile")
  .add(HttpApiEndpoint.get("get")`/sessions/${customerId}/profile`.addSuccess(Profile.Profile).addError(SessionUnknown))
  .add(
    HttpApiEndpoint.patch("change")`/sessions/${customerId}/profile`.setPayload(Profile.Patch)
      .addSuccess(Profile.Profile).addError(ControlRefused).addError(SessionUnknown)
  )
  .annotate(
    OpenApi.Description,
    "The choice of the session for each behaviour that the service document leaves unspecified"
  )

const tokens = HttpApiGroup.make("tokens")
  .add(
    HttpApiEndpoint.get("list")`/sessions/${customerId}/tokens`.addSuccess(Schema.Array(TokenInfo))
      .addError(SessionUnknown)
  )
  .add(
    HttpApiEndpoint.post("revoke")`/sessions/${customerId}/tokens/revoke`.setPayload(Revocation)
      .addSuccess(Revoked).addError(ControlRefused).addError(SessionUnknown)
  )
  .annotate(OpenApi.Description, "The tokens of a session, without their text")

const journal = HttpApiGroup.make("journal")
  .add(
    HttpApiEndpoint.get("search")`/sessions/${customerId}/journal`.setUrlParams(search)
      .addSuccess(JournalPage).addError(ControlRefused).addError(SessionUnknown)
  )
  .add(
    HttpApiEndpoint.del("clear")`/sessions/${customerId}/journal`.addSuccess(Schema.Void).addError(SessionUnknown)
  )
  .add(
    HttpApiEndpoint.post("verify")`/sessions/${customerId}/verify`.setPayload(expectation)
      .addSuccess(Schema.Void).addError(ControlRefused).addError(SessionUnknown)
      .addError(Verification.VerificationFailed, { status: 409 })
  )
  .add(
    // The requests that belong to no session.
    HttpApiEndpoint.get("unmatched", "/unmatched").setUrlParams(search)
      .addSuccess(JournalPage).addError(ControlRefused)
  )
  .add(
    HttpApiEndpoint.post("verifyUnmatched", "/unmatched/verify").setPayload(expectation)
      .addSuccess(Schema.Void).addError(ControlRefused)
      .addError(Verification.VerificationFailed, { status: 409 })
  )
  .annotate(OpenApi.Description, "Every exchange of a session with the reason for its response, and their verification")

const Ready = Schema.Struct({ ready: Schema.Literal(true) })

const server = HttpApiGroup.make("server")
  .add(HttpApiEndpoint.get("live", "/live").addSuccess(Schema.Struct({ live: Schema.Literal(true) })))
  .add(HttpApiEndpoint.get("ready", "/ready").addSuccess(Ready).addError(NotReady))
  .add(
    HttpApiEndpoint.get("metrics", "/metrics")
      .addSuccess(HttpApiSchema.Text({ contentType: "text/plain; version=0.0.4" }))
  )
  .annotate(OpenApi.Description, "The server as a whole")

/**
 * All groups of the control API.
 *
 * @category api
 * @since 0.1.0
 */
export class ControlApi extends HttpApi.make("idv-mock")
  .add(sessions)
  .add(clock)
  .add(faults)
  .add(testPersons)
  .add(profile)
  .add(tokens)
  .add(journal)
  .add(server)
  .prefix("/_mock")
  .annotate(OpenApi.Title, "idv-mock: the control API")
  .annotate(OpenApi.Transform, ControlOpenApi.transform)
{}
