/** The circumstances of a run, as a report shows them: which server, when, by which version, and at what cost. */
import * as DateTime from "effect/DateTime"
import type * as Contract from "../../Contract.ts"
import type { Report, RunInfo } from "../results.ts"
import * as TargetOptions from "../targetOptions.ts"

/** The shown circumstances. The customer is not among them. */
export interface ShownRunInfo {
  readonly authUrl?: string
  readonly baseUrl?: string
  readonly startedAt?: string
  readonly version?: string
  readonly claimsSha256?: string
  readonly contractVersion?: number
  /** The SHA-256 digest of the service document. */
  readonly documentSha256?: string
  readonly requests: number
  /** Only for a sandbox. */
  readonly budget?: number
  readonly checks?: number
}

export const of = (
  { kind, requests }: Report,
  { document, version: contractVersion }: Contract.Contract,
  { authUrl, baseUrl, budget = TargetOptions.defaultBudget, checks, claimsSha256, startedAt, version }: RunInfo
): ShownRunInfo => ({
  ...(authUrl !== undefined && { authUrl: TargetOptions.shownAddress(authUrl) }),
  ...(baseUrl !== undefined && { baseUrl: TargetOptions.shownAddress(baseUrl) }),
  ...(startedAt !== undefined && { startedAt: DateTime.formatIso(startedAt) }),
  ...(version !== undefined && { version }),
  ...(claimsSha256 !== undefined && { claimsSha256 }),
  ...(contractVersion !== undefined && { contractVersion }),
  ...(document !== undefined && { documentSha256: document.sha256 }),
  requests,
  ...(kind === "sandbox" && { budget }),
  ...(checks !== undefined && { checks })
})
