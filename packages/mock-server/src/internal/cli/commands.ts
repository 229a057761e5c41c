/** The commands that talk to a running server, by their names. */
import type { ParsedArguments } from "@effect-idv/cli/parsedArguments"
import type { UsageError } from "@effect-idv/cli/usageError"
import * as Effect from "effect/Effect"
import type { ControlUnavailable } from "../../Control.ts"
import type { ControlRefused, FaultUnknown, SessionUnknown } from "../../ControlApi.ts"
import * as Remote from "./remoteCommands.ts"

type Failure = UsageError | ControlRefused | SessionUnknown | FaultUnknown | ControlUnavailable

const commands: Readonly<Record<string, (args: ParsedArguments) => Effect.Effect<void, Failure>>> = {
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

export const run = (command: string, args: ParsedArguments): Effect.Effect<void, Failure> =>
  commands[command]?.(args) ?? Effect.dieMessage(`The command ${command} has no implementation`)
