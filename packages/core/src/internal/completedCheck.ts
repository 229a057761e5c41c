/** A completed check: the credential, and how it was obtained. */
import * as DateTime from "effect/DateTime"
import * as Redacted from "effect/Redacted"
import type { AmlCredential } from "../AmlCredential.ts"
import * as Evidence from "../Evidence.ts"
import type { Person } from "../Person.ts"

/**
 * The result of one check. Times are in milliseconds of the wall clock. Tracers receive it as the exit of the span, so
 * it holds no person, and the bytes of the body are redacted.
 */
export interface CompletedCheck extends Pick<Person, "changes" | "warnings"> {
  readonly checkId: string
  readonly credential: AmlCredential
  readonly status: Evidence.Evidence["status"]
  readonly body: Redacted.Redacted<Uint8Array>
  readonly attempts: number
  readonly sentAt: number
  readonly receivedAt: number
}

/** The evidence of a completed check. */
export const toEvidence = ({ receivedAt, sentAt, ...checked }: CompletedCheck): Evidence.Evidence => ({
  ...checked,
  sentAt: DateTime.unsafeMake(sentAt),
  receivedAt: DateTime.unsafeMake(receivedAt),
  sha256: Evidence.digest(Redacted.value(checked.body))
})
