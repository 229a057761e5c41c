/**
 * The faults that simulate a gateway in front of the service: the gateway responds, and the service never receives the
 * request.
 */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import type { Profile } from "../../Profile.ts"
import * as Damage from "../faults/damage.ts"
import type { Firing } from "../session/sessionFaults.ts"
import { type Decision, refused } from "./decision.ts"
import * as ResponseFormat from "./responseFormat.ts"

/** Returns the decision of the gateway if the fault simulates one. */
export const decide = (
  { retryIn, what }: Pick<Firing, "retryIn" | "what">,
  profile: Profile,
  now: number
): Option.Option<Decision> => {
  switch (what.kind) {
    case "status":
      return Option.some({
        rule: "fault.status",
        facts: { kind: "other", what: "The service did not see the request" },
        claims: [],
        unexpected: false,
        response: Damage.statusResponse(what, now)
      })
    case "quota":
      return Option.some({
        rule: "fault.quota",
        facts: refused(`The quota of ${what.limit} requests per ${Duration.format(what.per)} is exceeded`),
        claims: ["limits.rate.retry-after"],
        unexpected: false,
        response: ResponseFormat.rateLimited(profile, Duration.millis(retryIn), now, what.retryAfter)
      })
    default:
      return Option.none()
  }
}
