/**
 * What an auditor asks for: what the service answered, to the byte, when, to which request of ours,
 * and what was done to the input before.
 *
 * @since 0.1.0
 */
import { sha256 } from "@noble/hashes/sha2.js"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { AmlCredential, decodeJson } from "./AmlCredential.ts"
import { undisclosed } from "./internal/omittedWhenEncoded.ts"
import * as PersonInput from "./PersonInput.ts"
import * as Violation from "./Violation.ts"

const Body = Schema.Redacted(Schema.Uint8ArrayFromBase64)

const fields = {
  checkId: Schema.UUID,
  sentAt: Schema.DateTimeUtc,
  receivedAt: Schema.DateTimeUtc,
  status: Schema.Literal(200, 201),
  attempts: Schema.Int.pipe(Schema.positive()),
  changes: Schema.Array(PersonInput.Change),
  warnings: Schema.Array(PersonInput.Warning),
  sha256: Schema.String.pipe(Schema.pattern(/^[\da-f]{64}$/, Violation.expecting("a SHA-256 in lower case hex"))),
  credential: AmlCredential
}

/**
 * The evidence of one check, to be stored as JSON with the body of the answer.
 *
 * - `checkId`: ours, a UUID; also an attribute of the span of the check.
 * - `sentAt`, `receivedAt`: when the request that was answered left, and when its answer was there
 *   to the last byte, by our clock.
 * - `status`: of the answer. `attempts`: how many requests were sent for it, replays included.
 * - `changes`, `warnings`: what was done to the input, and what looked damaged in it, or differed in the name of the
 *   answer.
 * - `body`: the bytes of the answer, without their `Content-Encoding`; in base64 when encoded. With
 *   them are the fields that the document does not have.
 * - `sha256`: of `body`, in hex.
 * - `credential`: what was read from `body`. When encoded, it shows the name and the year of birth.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Evidence = Schema.Struct({ ...fields, body: Schema.optionalWith(Body, { exact: true }) }).annotations(
  Violation.concealing("the evidence of a check")
)

/**
 * @category models
 * @since 0.1.0
 */
export interface Evidence extends Schema.Schema.Type<typeof Evidence> {}

/**
 * The same, to be stored without the body. The credential and the digest stay.
 *
 * @category schemas
 * @since 0.1.0
 */
export const WithoutBody = Schema.Struct({ ...fields, body: undisclosed(Body) }).annotations(
  Violation.concealing("the evidence of a check")
)

/**
 * The evidence does not hold: there is no body to compare with (`no_body`), it is not the one of the
 * digest (`digest`), or the credential is not what it says (`credential`).
 *
 * @category errors
 * @since 0.1.0
 */
export class EvidenceRefuted extends Schema.TaggedError<EvidenceRefuted>("@effect-idv/core/EvidenceRefuted")(
  "EvidenceRefuted",
  { checkId: Schema.String, reason: Schema.Literal("no_body", "digest", "credential") }
) {
  override get message() {
    return `The evidence of check ${this.checkId} does not hold: ${reasons[this.reason]} (${this.reason})`
  }
}

const reasons = {
  no_body: "it was stored without the body, and none was given",
  digest: "the body is not the one of the digest",
  credential: "the credential is not what the body says"
} as const

/**
 * The SHA-256 of some bytes, in hex.
 *
 * @category constructors
 * @since 0.1.0
 */
export const digest = (bytes: Uint8Array): string => Encoding.encodeHex(sha256(bytes))

/**
 * Proves that the credential is what the bytes say, and the bytes those of the digest. Of the other
 * fields, such as the times, it says nothing. For evidence that was stored without its body, give the
 * body, which then counts in place of that of the evidence.
 *
 * @category destructors
 * @since 0.1.0
 */
export const verify = (
  evidence: Evidence,
  body: Redacted.Redacted<Uint8Array> | undefined = evidence.body
): Effect.Effect<void, EvidenceRefuted> => {
  const refute = (reason: EvidenceRefuted["reason"]) => new EvidenceRefuted({ checkId: evidence.checkId, reason })
  if (body === undefined) return refute("no_body")
  const bytes = Redacted.value(body)
  if (digest(bytes) !== evidence.sha256) return refute("digest")
  const read = decodeJson(bytes)
  return Either.isRight(read) && isSame(read.right, evidence.credential) ? Effect.void : refute("credential")
}

const isSame = Schema.equivalence(AmlCredential)
