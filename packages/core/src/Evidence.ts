/**
 * The evidence of a check for an audit: the exact bytes of the response, when the request was sent and the response
 * arrived, and the changes to the input.
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
import { omittedWhenEncoded } from "./internal/omittedWhenEncoded.ts"
import * as PersonInput from "./PersonInput.ts"
import * as Violation from "./Violation.ts"

const Body = Schema.Redacted(Schema.Uint8ArrayFromBase64)

const fields = {
  /** The UUID of the check, which is also an attribute of its span. */
  checkId: Schema.UUID,
  /** When the request that led to this response was sent, by the client's clock. */
  sentAt: Schema.DateTimeUtc,
  /** When the whole response had arrived, by the client's clock. */
  receivedAt: Schema.DateTimeUtc,
  /** The status of the response. */
  status: Schema.Literal(200, 201),
  /** How many requests the check made, also those whose connection failed. A replay after a 401 counts too. */
  attempts: Schema.Int.pipe(Schema.positive()),
  /** The changes to the input. */
  changes: Schema.Array(PersonInput.Change),
  /** Signs that the input was damaged before, and differences between the name in the response and in the request. */
  warnings: Schema.Array(PersonInput.Warning),
  /** The SHA-256 of `body`, in hex. */
  sha256: Schema.String.pipe(Schema.pattern(/^[\da-f]{64}$/, Violation.expecting("a SHA-256 in lower case hex"))),
  /** The credential read from `body`. When encoded, it shows the name and the year of birth. */
  credential: AmlCredential
}

/**
 * The schema to store the evidence of one check as JSON, with the body of the response.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Evidence = Schema.Struct({
  ...fields,
  /**
   * The decompressed bytes of the response body. In JSON they are base64. They contain all fields of the response, even
   * those that the service document does not define.
   */
  body: Schema.optionalWith(Body, { exact: true })
}).annotations(Violation.concealing("the evidence of a check"))

/**
 * The evidence of one check, see the schema.
 *
 * @category models
 * @since 0.1.0
 */
export interface Evidence extends Schema.Schema.Type<typeof Evidence> {}

/**
 * The schema to store {@link Evidence} without the body. The credential and the digest are stored.
 *
 * @category schemas
 * @since 0.1.0
 */
export const WithoutBody = Schema.Struct({ ...fields, body: omittedWhenEncoded(Body) }).annotations(
  Violation.concealing("the evidence of a check")
)

/**
 * The evidence could not be verified: there is no body (`no_body`), the body does not match the digest (`digest`), or
 * the credential does not match the body (`credential`).
 *
 * @category errors
 * @since 0.1.0
 */
export class EvidenceRefuted extends Schema.TaggedError<EvidenceRefuted>("@effect-idv/core/EvidenceRefuted")(
  "EvidenceRefuted",
  { checkId: Schema.String, reason: Schema.Literal("no_body", "digest", "credential") }
) {
  override get message() {
    return `The evidence of check ${this.checkId} is not valid: ${reasons[this.reason]} (${this.reason})`
  }
}

const reasons = {
  no_body: "it was stored without the body, and no body was passed to verify",
  digest: "the body does not match the digest",
  credential: "the credential does not match the body"
} as const

/**
 * Returns the SHA-256 of the bytes, in hex.
 *
 * @category constructors
 * @since 0.1.0
 */
export const digest = (bytes: Uint8Array): string => Encoding.encodeHex(sha256(bytes))

/**
 * Verifies that the body matches the digest and the credential matches the body. It does not verify the other fields,
 * such as the times. If the evidence was stored without the body, pass the body as the second argument.
 *
 * @category destructors
 * @since 0.1.0
 */
export const verify = (
  evidence: Evidence,
  body: Redacted.Redacted<Uint8Array> | undefined = evidence.body
): Effect.Effect<void, EvidenceRefuted> => {
  const fail = (reason: EvidenceRefuted["reason"]) => new EvidenceRefuted({ checkId: evidence.checkId, reason })
  if (body === undefined) return fail("no_body")
  const bytes = Redacted.value(body)
  if (digest(bytes) !== evidence.sha256) return fail("digest")
  const credential = decodeJson(bytes)
  return Either.isRight(credential) && isSame(credential.right, evidence.credential)
    ? Effect.void
    : fail("credential")
}

const isSame = Schema.equivalence(AmlCredential)
