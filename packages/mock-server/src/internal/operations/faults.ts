/** The operations on the faults of a session. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Fault from "../../Fault.ts"
import * as FaultText from "../faults/faultText.ts"
import type { FaultState } from "../session/sessionFaults.ts"
import { ControlRefused, FaultUnknown, SessionUnknown } from "./controlErrors.ts"
import * as Operation from "./operation.ts"

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

const toArmedFault = ({ fault, fired, id, seen }: FaultState): ArmedFault => ({ id, fault, seen, fired })

const line = ({ fault, fired, id, seen }: ArmedFault) =>
  `${id}: fired at ${fired} of ${seen} requests: ${JSON.stringify(Fault.encode(fault))}`

export const faults = {
  list: Operation.make({
    endpoint: HttpApiEndpoint.get("list")`/sessions/${Operation.customerIdParameter}/faults`.addSuccess(
      Schema.Array(ArmedFault)
    )
      .addError(SessionUnknown),
    description: "Lists the faults of a session, and how often each fired",
    on: Operation.session,
    accepts: Operation.nothing,
    run: ({ faults }) => Effect.map(faults.list, (list) => list.map(toArmedFault)),
    commands: [{
      usage: "fault list",
      help: "Show the faults, and how often each fired",
      print: (list) => list.map(line),
      none: "The session has no faults: idv-mock fault set adds one"
    }]
  }),
  set: Operation.make({
    endpoint: HttpApiEndpoint.post("set")`/sessions/${Operation.customerIdParameter}/faults`.setPayload(Fault.Fault)
      .addSuccess(ArmedFault, { status: 201 }).addError(ControlRefused).addError(SessionUnknown),
    description: "Sets a fault, such as aml:status=503:nth=2. A fault with the same id is replaced",
    on: Operation.begunSession,
    accepts: Operation.accept(Fault.Fault, "fault"),
    run: ({ faults }, fault) => Effect.map(faults.set(fault), toArmedFault),
    commands: [{
      usage: "fault set <fault...>",
      help: "Set faults, such as aml:hang: all of them, or none if one is invalid",
      input: FaultText.input,
      isRepeated: true,
      print: (fault) => [line(fault)]
    }]
  }),
  remove: Operation.make({
    endpoint: HttpApiEndpoint.del("remove")`/sessions/${Operation.customerIdParameter}/faults/${
      Operation.pathParameter("faultId")
    }`
      .addSuccess(Schema.Void).addError(SessionUnknown).addError(FaultUnknown),
    description: "Removes a fault of a session by its id",
    on: Operation.faultOfSession,
    accepts: Operation.nothing,
    run: ({ faults }, _, { faultId: id = "" }) =>
      Effect.filterOrFail(faults.remove(id), (isRemoved) => isRemoved, () => new FaultUnknown({ id })).pipe(
        Effect.asVoid
      ),
    commands: [{ usage: "fault remove <id>", help: "Remove the fault with this id", parameter: "faultId" }]
  }),
  clear: Operation.make({
    endpoint: HttpApiEndpoint.del("clear")`/sessions/${Operation.customerIdParameter}/faults`.addSuccess(Schema.Void)
      .addError(SessionUnknown),
    description: "Removes all faults of a session",
    on: Operation.session,
    accepts: Operation.nothing,
    run: ({ faults }) => faults.clear,
    commands: [{ usage: "fault clear", help: "Remove all faults" }]
  })
}
