/** What a report is worth to who signs it off: who was asked, when, by what, and at what cost. */
import * as DateTime from "effect/DateTime"
import type { Report } from "../../Conformance.ts"
import { defaultBudget } from "../run/runner.ts"
import type { Place } from "../run/stopped.ts"

/**
 * - `startedAt`: when the run began.
 * - `version`: of this package.
 * - `evidenceSha256`: of the file of claims, in hexadecimal digits.
 * - `checks`: how many checks were answered with 2xx, and may be billed.
 */
export interface Circumstances extends Place {
  readonly startedAt?: DateTime.Utc | undefined
  readonly version?: string | undefined
  readonly evidenceSha256?: string | undefined
  readonly checks?: number | undefined
}

/** What is known of a run, to be told. Never who asked. */
export interface Facts {
  readonly authUrl?: string
  readonly baseUrl?: string
  readonly startedAt?: string
  readonly version?: string
  readonly evidenceSha256?: string
  readonly requests: number
  readonly budget?: number
  readonly checks?: number
}

/** Without what may be secret in it. */
const shown = (address: string): string => {
  if (!URL.canParse(address)) return "no address"
  const { origin, pathname } = new URL(address)
  return `${origin}${pathname.replace(/\/+$/, "")}`
}

export const facts = (
  { kind, requests }: Report,
  { authUrl, baseUrl, budget = defaultBudget, checks, evidenceSha256, startedAt, version }: Circumstances
): Facts => ({
  ...(authUrl !== undefined && { authUrl: shown(authUrl) }),
  ...(baseUrl !== undefined && { baseUrl: shown(baseUrl) }),
  ...(startedAt !== undefined && { startedAt: DateTime.formatIso(startedAt) }),
  ...(version !== undefined && { version }),
  ...(evidenceSha256 !== undefined && { evidenceSha256 }),
  requests,
  ...(kind === "sandbox" && { budget }),
  ...(checks !== undefined && { checks })
})
