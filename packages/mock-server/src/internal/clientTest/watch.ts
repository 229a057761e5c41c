/** A client that a person operates: the test names each person, and asks what the client said. */
import * as Terminal from "@effect/platform/Terminal"
import * as Effect from "effect/Effect"
import type * as Day from "./day.ts"
import { NotDriven } from "./firstRun.ts"
import type { Door } from "./run.ts"

export interface Options {
  readonly port: number
  readonly customer: Pick<Day.Service, "customerId" | "customerKey">
}

const outcomes: Readonly<Record<string, Day.Outcome>> = { c: "clear", r: "review", e: "error" }

const question = ({ dateOfBirth, name }: Day.Person) =>
  `Check ${name}, born on ${dateOfBirth}. What does the client say? c (clear), r (review), e (error): `

export const door = ({ customer, port }: Options): Effect.Effect<Door, never, Terminal.Terminal> =>
  Effect.map(Terminal.Terminal, ({ display, readLine }) => {
    const ask = (text: string): Effect.Effect<Day.Outcome, Terminal.QuitException> =>
      Effect.flatMap(Effect.zipRight(Effect.orDie(display(text)), readLine), (line) => {
        const outcome = outcomes[line.trim().toLowerCase().slice(0, 1)]
        return outcome === undefined ? ask("c, r or e: ") : Effect.succeed(outcome)
      })
    return {
      isProcess: false,
      isEndpoint: false,
      isOperated: true,
      customer,
      port,
      open: () => (person) =>
        ask(question(person)).pipe(
          Effect.map((outcome) => ({ outcome, texts: [], ended: true })),
          Effect.catchTag("QuitException", () =>
            new NotDriven({ text: "The test ended before the last check", explanation: "" }))
        )
    }
  })
