/** What each command does that talks to a running server, by its words. */
import * as Effect from "effect/Effect"
import type { ControlUnavailable } from "../../Control.ts"
import type { ControlRefused, FaultUnknown, SessionUnknown } from "../../ControlApi.ts"
import type { Given } from "./parsedArguments.ts"
import * as Remote from "./remoteCommands.ts"
import type { Refusal } from "./usageError.ts"

type Failure = Refusal | ControlRefused | SessionUnknown | FaultUnknown | ControlUnavailable

const commands: Readonly<Record<string, (given: Given) => Effect.Effect<void, Failure>>> = {
  "journal": Remote.journal,
  "fault list": Remote.faultList,
  "fault set": Remote.faultSet,
  "fault remove": Remote.faultRemove,
  "fault clear": Remote.faultClear,
  "clock show": Remote.clockShow,
  "clock advance": Remote.clockAdvance,
  "clock set": Remote.clockSet,
  "clock freeze": Remote.clockFreeze,
  "clock resume": Remote.clockResume,
  "sessions": Remote.sessions,
  "reset": Remote.reset
}

export const run = (command: string, given: Given): Effect.Effect<void, Failure> =>
  commands[command]?.(given) ?? Effect.dieMessage(`Nothing is done for ${command}`)
