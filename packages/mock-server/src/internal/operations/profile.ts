/** The operations on the profile of a session. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as Effect from "effect/Effect"
import * as Profile from "../../Profile.ts"
import { ControlRefused, SessionUnknown } from "./controlErrors.ts"
import * as Operation from "./operation.ts"
import { options } from "./sessionOptions.ts"

const { apply, read } = options.profile

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
