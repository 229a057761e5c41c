/** The judges of every day. */
import type { Day, Judge } from "../day.ts"
import { headers, leaks, redirects } from "./leaks.ts"
import { cleared, failedMatch, notCleared } from "./outcomes.ts"
import { deadline, floods, repeats } from "./repeats.ts"
import { persons, requests } from "./requests.ts"
import { otherCustomer, tokenReuse } from "./tokens.ts"

/** Judges of how often a client sends requests for one person. */
const frequency: ReadonlyArray<Judge> = [repeats, tokenReuse, floods]

/** The judges of a day. Requests for tokens cannot be attributed to one of several simultaneous checks. */
export const of = (day: Day, isMute: boolean): ReadonlyArray<Judge> => [
  cleared(day),
  ...isMute ? [] : [notCleared],
  ...day.judges,
  requests,
  persons,
  failedMatch,
  ...day.isSimultaneous ? [] : frequency,
  deadline,
  leaks,
  headers,
  otherCustomer,
  redirects
]
