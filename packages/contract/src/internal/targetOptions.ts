/** The options of a target: their defaults, and whether a timer can wait for their durations. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Target } from "./model.ts"

/** How many requests a sandbox may receive. */
export const defaultBudget = 60

/** How many checks a sandbox may answer, which may be billed: a fifth of its requests. */
export const checksOf = (budget: number): number => Math.floor(budget / 5)

/** The smallest budget with these requests and checks. */
export const budgetOf = (requests: number, checks: number): number => Math.max(requests, 5 * checks)

/** The smallest budget that allows a check. */
export const smallestBudget = 5

/** How many wrong credentials and bad tokens a sandbox receives by default: it may lock the customer out. */
export const defaultWrongCredentials = 2
export const defaultBadTokens = 12

/** How long a run waits between two requests to a sandbox. */
export const defaultSpacing: Duration.DurationInput = "500 millis"

/** How long a response may take. */
export const defaultDeadline: Duration.DurationInput = "10 seconds"

/** The longest wait of a timer, in milliseconds. */
const longest = 2 ** 31 - 1

const isWait = (input: Duration.DurationInput, shortest: number): boolean =>
  Option.exists(
    Duration.decodeUnknown(input),
    (duration) => Duration.toMillis(duration) >= shortest && Duration.toMillis(duration) <= longest
  )

/** Dies, naming the option, if a duration is invalid: without a deadline, a run might never end. */
export const checkDurations = (
  { deadline = defaultDeadline, spacing = defaultSpacing }: Target
): Effect.Effect<void> => {
  const invalid = (option: string, shortest: number) =>
    Effect.die(new TypeError(`${option} should be a duration from ${shortest} to ${longest} ms (24.8 days)`))
  if (!isWait(deadline, 1)) return invalid("deadline", 1)
  return isWait(spacing, 0) ? Effect.void : invalid("spacing", 0)
}

/** An address without its user, password, query and fragment, which may be secret. */
export const shownAddress = (address: string): string => {
  if (!URL.canParse(address)) return "no address"
  const { origin, pathname } = new URL(address)
  return `${origin}${pathname.replace(/\/+$/, "")}`
}

/** A target whose addresses may be shown. */
export const shown = (target: Target): Target => ({
  ...target,
  authUrl: shownAddress(target.authUrl),
  baseUrl: shownAddress(target.baseUrl)
})
