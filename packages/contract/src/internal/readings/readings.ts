/**
 * What can be read of the exchanges of a case: always one word of a few, so that no reading holds a
 * secret, a name or a date.
 */
import type { Send } from "../cases/requestSpec.ts"
import type { Exchange } from "../run/wire.ts"
import * as AmlReadings from "./credentialReadings.ts"
import * as WireReadings from "./responseReadings.ts"
import * as TokenReadings from "./tokenReadings.ts"

/** A request and what came back, as the request of this number. What the control plane did is left out. */
export interface Seen {
  readonly at: number
  readonly send: Send
  readonly exchange: Exchange
  /** What a refusal must not repeat, of this request. */
  readonly secrets: ReadonlyArray<string>
}

const readings = { ...WireReadings.readings, ...TokenReadings.readings, ...AmlReadings.readings }

export type Reading = keyof typeof readings

/** The word. Where an exchange has no answer, that is the word. */
export const read = (reading: Reading, seen: ReadonlyArray<Seen>): string => {
  const silent = seen.find(({ exchange }) => exchange._tag === "Unanswered")
  return silent?.exchange._tag === "Unanswered" ? silent.exchange.why : readings[reading](seen.flatMap(answeredOf))
}

const answeredOf = ({ exchange, secrets, send }: Seen) =>
  exchange._tag === "Answered" ? [{ send, answer: exchange, secrets }] : []
