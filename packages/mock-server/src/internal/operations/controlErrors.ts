/** The errors of the control API. */
import * as Violation from "@effect-idv/core/Violation"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as Schema from "effect/Schema"

const annotations = <A>(status: number, identifier: string, description: string) =>
  HttpApiSchema.annotations<A>({ status, identifier, description })

/**
 * 400: the request is invalid. `violations` names each field and what is allowed there, and never repeats a value. A
 * request body must be JSON of at most 64 KiB with `Content-Type: application/json`, a type that a page of another
 * site cannot send. A missing body counts as the empty object.
 *
 * @category errors
 * @since 0.1.0
 */
export class ControlRefused extends Schema.TaggedError<ControlRefused>("@effect-idv/mock-server/ControlRefused")(
  "ControlRefused",
  { violations: Schema.Array(Violation.Violation.annotations({ identifier: "Violation" })) },
  annotations(400, "ControlRefused", "The request is invalid: violations lists each field and what is expected there")
) {
  override get message() {
    return Violation.format(this.violations)
  }
}

/** A refusal of one field. An empty path is the whole request. */
export const refusal = (path: string, problem: Violation.Violation["problem"], expected: string): ControlRefused =>
  new ControlRefused({ violations: [new Violation.Violation({ path, problem, expected })] })

/**
 * 404: no session exists for this customer. `create` begins one. For a test customer, so do its first token request,
 * a reset, and a change of its clock, faults or profile.
 *
 * @category errors
 * @since 0.1.0
 */
export class SessionUnknown extends Schema.TaggedError<SessionUnknown>("@effect-idv/mock-server/SessionUnknown")(
  "SessionUnknown",
  { customerId: Schema.String },
  annotations(404, "SessionUnknown", "No session exists for this customer")
) {
  override get message() {
    return `There is no session of ${this.customerId}: create it, or, for a test customer, request a token or set a fault, the clock, the profile or the test persons`
  }
}

/**
 * 404: the session has no fault with this id.
 *
 * @category errors
 * @since 0.1.0
 */
export class FaultUnknown extends Schema.TaggedError<FaultUnknown>("@effect-idv/mock-server/FaultUnknown")(
  "FaultUnknown",
  { id: Schema.String },
  annotations(404, "FaultUnknown", "The session has no fault with this id")
) {
  override get message() {
    return `There is no fault ${this.id} in this session: list its faults for their ids`
  }
}

/**
 * 503: the server does not accept requests yet, or no longer.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotReady extends Schema.TaggedError<NotReady>("@effect-idv/mock-server/NotReady")(
  "NotReady",
  {},
  annotations(503, "NotReady", "The server does not accept requests yet, or no longer")
) {}
