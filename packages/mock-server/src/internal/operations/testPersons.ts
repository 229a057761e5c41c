/** The operations on the test persons that a user added to a session. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TestPerson from "../../TestPerson.ts"
import { ControlRefused, SessionUnknown } from "./controlErrors.ts"
import * as Operation from "./operation.ts"

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
