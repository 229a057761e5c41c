/** All operations, by their groups. */
import { clock } from "./clock.ts"
import { faults } from "./faults.ts"
import { journal } from "./journal.ts"
import type * as Operation from "./operation.ts"
import { server } from "./server.ts"
import { profile, sessions, testPersons } from "./sessions.ts"
import { tokens } from "./tokens.ts"

export const groups = { sessions, clock, faults, testPersons, profile, tokens, journal, server }

export const operations: ReadonlyArray<Operation.AnyOperation> = Object.values(groups).flatMap((group) =>
  Object.values<Operation.AnyOperation>(group)
)
