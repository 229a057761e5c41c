/**
 * Which refusals can be believed. One says something of what was wrong only if the right request is
 * still answered after it: a service that limits its rate, or that has locked somebody out, refuses
 * everything.
 */
import * as Option from "effect/Option"
import * as Struct from "effect/Struct"
import type { Observation } from "../../Conformance.ts"
import type { Seen } from "../readings/readings.ts"
import { isCredential } from "../readings/responseReadings.ts"
import { grantOf } from "../readings/tokenReadings.ts"
import type { Answered } from "./wire.ts"

/** An endpoint of the document. */
export type Endpoint = "token" | "aml"

/** Whether it gave what it is there for. */
export const isGood = (to: Endpoint, answer: Answered): boolean =>
  to === "token" ? Option.isSome(grantOf(answer)) : isCredential(answer)

interface Doubt {
  readonly to: Endpoint
  readonly at: number
}

/** The last answer, if it was a refusal. */
const doubtOf = (seen: ReadonlyArray<Seen>): Doubt | undefined => {
  const last = seen.at(-1)
  if (last?.exchange._tag !== "Answered" || (last.send.to !== "token" && last.send.to !== "aml")) return undefined
  const { to } = last.send
  return isGood(to, last.exchange) ? undefined : { to, at: last.at }
}

export const isRefused = (seen: ReadonlyArray<Seen>): boolean => doubtOf(seen) !== undefined

/** What was seen of each case in which order, and until when each endpoint was known to be well. */
export const make = () => {
  const doubts = new Map<string, Doubt>()
  const well: Record<Endpoint, number> = { token: -1, aml: -1 }
  return {
    /** What an endpoint answered, as its request of this number. */
    heard: (to: Endpoint, at: number, answer: Answered) => {
      if (isGood(to, answer)) well[to] = Math.max(well[to], at)
    },
    /** What a case was judged by. */
    judged: (id: string, seen: ReadonlyArray<Seen>) => {
      const doubt = doubtOf(seen)
      if (doubt !== undefined) doubts.set(id, doubt)
    },
    /** Whether it was well at some time. */
    isKnown: (to: Endpoint): boolean => well[to] >= 0,
    /** Whether there are refusals since it was well. */
    isDoubtful: (to: Endpoint): boolean =>
      Array.from(doubts.values()).some((doubt) => doubt.to === to && doubt.at > well[to]),
    /** With what cannot be believed as skipped. */
    believed: (reasonOf: (to: Endpoint) => string) => (observation: Observation): Observation => {
      const doubt = doubts.get(observation.case)
      if (doubt === undefined || doubt.at <= well[doubt.to] || observation.skipped !== undefined) return observation
      return { ...Struct.omit(observation, "seen"), skipped: reasonOf(doubt.to) }
    }
  }
}
