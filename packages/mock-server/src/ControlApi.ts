/**
 * The control API as an `HttpApi`: everything under `/_mock` that reads and changes sessions, their clock, faults,
 * profile, tokens and journal. Its OpenAPI document and its client are derived from it. `Control` is the same API as a
 * service.
 *
 * @since 0.1.0
 */
import * as IdvApi from "@effect-idv/core/IdvApi"
import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Operations from "./internal/operations/all.ts"
import { healthPathOf } from "./internal/wire/request.ts"

type Json = Readonly<Record<string, unknown>>

const members = (value: unknown): Json => Predicate.isRecord(value) ? value : {}

const problem = (description: string) => ({
  description,
  content: {
    "application/problem+json": {
      schema: {
        type: "object",
        required: ["type", "title", "status", "detail"],
        properties: {
          type: { type: "string" },
          title: { type: "string" },
          status: { type: "integer" },
          detail: { type: "string" }
        }
      }
    }
  }
})

const guardResponses = {
  401: problem("The control token is missing or wrong. Only for a server that was started with one"),
  403: problem("The Host header does not name this server, or the request comes from a page of another site"),
  500: problem("The mock server itself failed")
}

const withGuard = (path: string) => (operation: unknown): Json => ({
  ...members(operation),
  responses: {
    ...members(members(operation)["responses"]),
    ...(healthPathOf(path) !== undefined ? { 403: guardResponses[403] } : guardResponses)
  }
})

/** The handlers decode requests themselves, so the decode error of the platform is removed too. */
const transform = (spec: Json): Json => {
  const specWithoutDecodeError = IdvApi.withoutDecodeError(spec)
  return {
    ...specWithoutDecodeError,
    paths: Record.map(
      members(specWithoutDecodeError["paths"]),
      (operations, path) => Record.map(members(operations), withGuard(path))
    )
  }
}

export { ClockChange, ClockReading } from "./internal/operations/clock.ts"
export { ControlRefused, FaultUnknown, NotReady, SessionUnknown } from "./internal/operations/controlErrors.ts"
export { ArmedFault } from "./internal/operations/faults.ts"
export { JournalPage } from "./internal/operations/journal.ts"
export { NewSession, SessionChange, SessionInfo } from "./internal/operations/sessions.ts"
export { Revocation, Revoked, TokenInfo } from "./internal/operations/tokens.ts"

const group = <const Name extends string>(name: Name, description: string) =>
  HttpApiGroup.make(name).annotate(OpenApi.Description, description)

const { clock, faults, journal, profile, server, sessions, testPersons, tokens } = Operations.groups

/**
 * All groups of the control API.
 *
 * @category api
 * @since 0.1.0
 */
export class ControlApi extends HttpApi.make("idv-mock")
  .add(
    group(
      "sessions",
      "One session for each customer id, with its own clock, tokens, faults, profile and journal. The session of a test " +
        "customer begins with its first token request, or when its clock or one of its options is set"
    )
      .add(sessions.list.endpoint)
      .add(sessions.create.endpoint)
      .add(sessions.get.endpoint)
      .add(sessions.change.endpoint)
      .add(sessions.reset.endpoint)
      .add(sessions.remove.endpoint)
  )
  .add(
    group("clock", "The clock of a session, which decides when its tokens expire")
      .add(clock.read.endpoint)
      .add(clock.change.endpoint)
  )
  .add(
    group("faults", "The faults of a session: what fails, when, and how often")
      .add(faults.list.endpoint)
      .add(faults.set.endpoint)
      .add(faults.remove.endpoint)
      .add(faults.clear.endpoint)
  )
  .add(
    group(
      "testPersons",
      "The test persons that a user added to a session, in the order in which they are compared. The list shows " +
        "neither names nor dates of birth"
    )
      .add(testPersons.list.endpoint)
      .add(testPersons.set.endpoint)
  )
  .add(
    group("profile", "The choice of the session for each behaviour that the service document leaves unspecified")
      .add(profile.get.endpoint)
      .add(profile.change.endpoint)
  )
  .add(
    group("tokens", "The tokens of a session, without their text")
      .add(tokens.list.endpoint)
      .add(tokens.revoke.endpoint)
  )
  .add(
    group("journal", "Every exchange of a session with the reason for its response, and their verification")
      .add(journal.search.endpoint)
      .add(journal.clear.endpoint)
      .add(journal.verify.endpoint)
      .add(journal.unmatched.endpoint)
      .add(journal.verifyUnmatched.endpoint)
  )
  .add(
    group("server", "The server as a whole")
      .add(server.live.endpoint)
      .add(server.ready.endpoint)
      .add(server.metrics.endpoint)
  )
  .prefix("/_mock")
  .annotate(OpenApi.Title, "idv-mock: the control API")
  .annotate(OpenApi.Transform, transform)
{}
