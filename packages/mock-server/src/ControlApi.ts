/**
 * The control plane as an `HttpApi`: everything under `/_mock` that moves a session's clock, sets
 * its faults and its profile, ends its tokens, and reads its journal. Its OpenAPI document and its
 * client come from here. `Control` is the same as a service.
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
import * as Refusals from "./internal/control/controlOpenApi.ts"
import { expectation, search } from "./internal/journal/journalParameters.ts"
import { DurationText } from "./internal/schema/durationText.ts"
import { closed, whole } from "./internal/schema/fields.ts"
import { Instant } from "./internal/schema/instantText.ts"
import { pathParameter } from "./internal/schema/parameters.ts"
import { uniqueBy } from "./internal/schema/uniqueIds.ts"
import * as Journal from "./Journal.ts"
import * as Profile from "./Profile.ts"
import * as Verification from "./Verification.ts"

const optional = { exact: true } as const

/**
 * What a request holds is not what it may hold: where, and what is allowed there. Never the value. A
 * body is JSON of at most 64 KiB, and says so: `Content-Type: application/json`, which pages of other
 * sites cannot send. Without a body, it is the empty object.
 *
 * @category errors
 * @since 0.1.0
 */
export class ControlRefused extends Schema.TaggedError<ControlRefused>("@effect-idv/mock-server/ControlRefused")(
  "ControlRefused",
  { violations: Schema.Array(Violation.Violation.annotations({ identifier: "Violation" })) },
  HttpApiSchema.annotations({
    status: 400,
    identifier: "ControlRefused",
    description: "What the request holds is not what it may hold"
  })
) {
  override get message() {
    return Violation.format(this.violations)
  }
}

/**
 * There is no session of this customer. One of a test customer begins with its first token request,
 * when its clock, its faults or its profile are set, when it is reset, or when it is created.
 *
 * @category errors
 * @since 0.1.0
 */
export class SessionUnknown extends Schema.TaggedError<SessionUnknown>("@effect-idv/mock-server/SessionUnknown")(
  "SessionUnknown",
  { customerId: Schema.String },
  HttpApiSchema.annotations({
    status: 404,
    identifier: "SessionUnknown",
    description: "There is no session of this customer"
  })
) {
  override get message() {
    return `There is no session of ${this.customerId}: one begins when it is created; that of a test customer also with its first token, or when a fault, its clock or its profile is set`
  }
}

/**
 * There is no fault of this id, or not any more.
 *
 * @category errors
 * @since 0.1.0
 */
export class FaultUnknown extends Schema.TaggedError<FaultUnknown>("@effect-idv/mock-server/FaultUnknown")(
  "FaultUnknown",
  { id: Schema.String },
  HttpApiSchema.annotations({ status: 404, identifier: "FaultUnknown", description: "There is no fault of this id" })
) {
  override get message() {
    return `There is no fault ${this.id}`
  }
}

/**
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
 * What to do with the clock, in this order: `set` it, `advance` it, stop it or let it run.
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

/** Dots alone are no part of a path. */
const CustomerId = Schema.String.annotations(customerIdExpected).pipe(
  Schema.pattern(/^[\x21-\x39\x3b-\x7e]{1,128}$/, customerIdExpected),
  Schema.filter((id) => id !== "." && id !== "..", { ...customerIdExpected, jsonSchema: {} })
)

const keyExpected = Violation.expecting("1 to 256 characters, none of them a control")

/**
 * A session to begin, unless there is one of this customer: that stays as it is, with its own key.
 * `customerKey` is `test-key` if absent.
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
  seed: Schema.optionalWith(whole(0, 2 ** 32 - 1), optional),
  profile: Schema.optionalWith(Profile.Patch, optional),
  faults: Schema.optionalWith(uniqueBy(Schema.Array(Fault.Fault), "id"), optional)
}).annotations({ ...closed, description: "an object with customerId, and any of customerKey, seed, profile, faults" })

/**
 * @category schemas
 * @since 0.1.0
 */
export interface NewSession extends Schema.Schema.Type<typeof NewSession> {}

/**
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
 * A fault that is set: at how many requests it looked, and at how many of them it fired.
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
 * How many tokens are over that were valid before.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Revoked = Schema.Struct({ revoked: Schema.NonNegativeInt })

/**
 * `token`: the one to revoke; all of the session if absent.
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
 * A token, without its text.
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
 * @category schemas
 * @since 0.1.0
 */
export const JournalPage = Schema.Struct({
  dropped: Schema.NonNegativeInt.annotations({ description: "how many older entries are not kept any more" }),
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
      .addSuccess(SessionInfo.annotations({ description: "The session, which has begun" }), { status: 201 })
      .addSuccess(SessionInfo.annotations({ description: "The session that was there already, unchanged" }))
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
    "One session for each customer id: its own clock, tokens, faults, profile, journal. That of a test customer " +
      "begins with its first token request, or when its clock, faults or profile are set"
  )

const clock = HttpApiGroup.make("clock")
  .add(HttpApiEndpoint.get("read")`/sessions/${customerId}/clock`.addSuccess(ClockReading).addError(SessionUnknown))
  .add(
    HttpApiEndpoint.post("change")`/sessions/${customerId}/clock`.setPayload(ClockChange)
      .addSuccess(ClockReading).addError(ControlRefused).addError(SessionUnknown)
  )
  .annotate(OpenApi.Description, "The time of a session, which decides when its tokens expire")

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
  .annotate(OpenApi.Description, "What goes wrong in a session, when, and how often")

const profile = HttpApiGroup.make("profile")
  .add(HttpApiEndpoint.get("get")`/sessions/${customerId}/profile`.addSuccess(Profile.Profile).addError(SessionUnknown))
  .add(
    HttpApiEndpoint.patch("change")`/sessions/${customerId}/profile`.setPayload(Profile.Patch)
      .addSuccess(Profile.Profile).addError(ControlRefused).addError(SessionUnknown)
  )
  .annotate(OpenApi.Description, "How the session does what the API document does not show")

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
    HttpApiEndpoint.get("strangers", "/strangers").setUrlParams(search)
      .addSuccess(JournalPage).addError(ControlRefused)
  )
  .annotate(OpenApi.Description, "Every exchange of a session, why it was answered so, and verification over them")

const Ready = Schema.Struct({ ready: Schema.Literal(true) })

/**
 * The server does not take requests yet, or not any more.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotReady extends Schema.TaggedError<NotReady>("@effect-idv/mock-server/NotReady")(
  "NotReady",
  {},
  HttpApiSchema.annotations({
    status: 503,
    identifier: "NotReady",
    description: "The server does not take requests yet, or not any more"
  })
) {}

const server = HttpApiGroup.make("server")
  .add(HttpApiEndpoint.get("live", "/live").addSuccess(Schema.Struct({ live: Schema.Literal(true) })))
  .add(HttpApiEndpoint.get("ready", "/ready").addSuccess(Ready).addError(NotReady))
  .add(
    HttpApiEndpoint.get("metrics", "/metrics")
      .addSuccess(HttpApiSchema.Text({ contentType: "text/plain; version=0.0.4" }))
  )
  .annotate(OpenApi.Description, "The server as a whole")

/**
 * @category api
 * @since 0.1.0
 */
export class ControlApi extends HttpApi.make("idv-mock")
  .add(sessions)
  .add(clock)
  .add(faults)
  .add(profile)
  .add(tokens)
  .add(journal)
  .add(server)
  .prefix("/_mock")
  .annotate(OpenApi.Title, "idv-mock: the control plane")
  .annotate(OpenApi.Transform, Refusals.transform)
{}
