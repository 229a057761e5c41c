/** The circumstances of a run, as a report shows them: which server, when, by which version, and at what cost. */
import * as DateTime from "effect/DateTime"
import * as Schema from "effect/Schema"
import type * as Contract from "../../Contract.ts"
import type { Report, RunInfo } from "../results.ts"
import * as TargetOptions from "../targetOptions.ts"

const count = Schema.optionalWith(Schema.NonNegativeInt, { exact: true })

const text = Schema.optionalWith(Schema.String, { exact: true })

/** The shown circumstances. The customer is not among them. */
export const ShownRunInfo = Schema.Struct({
  authUrl: text,
  baseUrl: text,
  startedAt: text,
  version: text,
  claimsSha256: text,
  contractVersion: count,
  /** The SHA-256 digest of the service document. */
  documentSha256: text,
  requests: Schema.NonNegativeInt,
  /** Only for a sandbox. */
  budget: count,
  checks: count
})

export type ShownRunInfo = typeof ShownRunInfo.Type

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
