/** A client that is a function of this process, such as one in a test. */
import * as Effect from "effect/Effect"
import { inspect } from "node:util"
import type * as Day from "./day.ts"
import { endedAfter } from "./firstRun.ts"
import type { Door } from "./run.ts"

/** Makes a client for the customer of a day. It lives through the day, and may keep its token. */
export type MakeClient = (service: Day.Service) => (person: Day.Person) => Promise<Day.Outcome>

export const driver = { isCommand: false, isProcess: false, isEndpoint: false, isOperated: false }

export const door = (makeClient: MakeClient): Door => ({
  ...driver,
  port: 0,
  open: (service) => {
    const check = makeClient(service)
    return (person, { patience }) =>
      Effect.tryPromise({ try: () => check(person), catch: (error) => inspect(error, { depth: 8 }) }).pipe(
        Effect.match({
          onSuccess: (outcome) => ({ outcome, texts: [], ended: true }),
          onFailure: (text) => ({ outcome: "error" as const, texts: [{ where: "log" as const, text }], ended: true })
        }),
        endedAfter(patience)
      )
  }
})
