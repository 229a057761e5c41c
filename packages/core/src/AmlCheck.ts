/**
 * The record of one check: its result, and the evidence for an audit. That is what was sent, when, where and by whom, the
 * exact bytes of the response, and the findings about the input.
 *
 * @since 0.1.0
 */
import { sha256 } from "@noble/hashes/sha2.js"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import { dual } from "effect/Function"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { AmlCredential, decodeJson } from "./AmlCredential.ts"
import * as DateOfBirth from "./DateOfBirth.ts"
import { NameEcho } from "./internal/check/checkOptions.ts"
import * as PersonInput from "./internal/names/personInput.ts"
import { omittedWhenEncoded } from "./internal/schema/fields.ts"
import * as Person from "./Person.ts"
import * as PersonName from "./PersonName.ts"
import * as Violation from "./Violation.ts"

/**
 * The three results of a check. Only this field decides, and not the `match_found` of the credential:
 *
 * - `No`: the service says "No", about a person without a sign of damage.
 * - `Doubtful No`: the service says "No", but about a name or date that looks damaged or was assumed, or with a name in
 *   other words than those of the request. The lists may not contain such a name, so a person should review.
 * - `Potential match`: the service says "Potential match", which requires a review and is not a confirmed match.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Result = Schema.Literal("No", "Doubtful No", "Potential match")

/**
 * One of the three results of a check.
 *
 * @category schemas
 * @since 0.1.0
 */
export type Result = typeof Result.Type

/** Whether a "No" is doubtful after this warning. */
const isDoubtful: Record<PersonInput.Warning["code"], boolean> = {
  html_entity: true,
  mojibake: true,
  question_mark: true,
  family_name_first: true,
  title: true,
  unknown_part: true,
  other_marks: false,
  other_form: true,
  other_name: true,
  very_old: false
}

const resultOf = ({ changes, credential, warnings }: Findings): Result =>
  credential.credentials.attributes.matchFound !== "No"
    ? "Potential match"
    : warnings.some(({ code }) => isDoubtful[code]) || changes.some(({ code }) => code === "assumed")
    ? "Doubtful No"
    : "No"

interface Findings {
  readonly credential: AmlCredential
  readonly changes: ReadonlyArray<PersonInput.Change>
  readonly warnings: ReadonlyArray<PersonInput.Warning>
}

const Body = Schema.Redacted(Schema.Uint8ArrayFromBase64)

const Sha256 = Schema.String.pipe(
  Schema.pattern(/^[\da-f]{64}$/, Violation.expecting("a SHA-256 in lower case hex"))
)

const fields = {
  /** The result, which {@link match} handles. */
  result: Result,
  /** The UUID of the check, which is also an attribute of its span. */
  checkId: Schema.UUID,
  /** The body of the request: what the service was asked. When encoded, it shows the name and the date of birth. */
  request: Schema.Struct({ ...Person.RequestBody.fields, dob: Schema.Redacted(DateOfBirth.FromWire) }),
  /** Where the request was sent, for whom, and by which version. */
  origin: Schema.Struct({
    /** The `host:port` of `baseUrl`. */
    host: Schema.String,
    /** The option `environment`, such as `sandbox`. */
    environment: Schema.optionalWith(Schema.String, { exact: true }),
    /** The SHA-256 of the customer id, in hex. Absent if an effect returns the credentials. */
    customer: Schema.optionalWith(Sha256, { exact: true }),
    /** The name and the version of this package. */
    client: Schema.String
  }),
  /** The options that decided whether the response is about the person and recent. */
  policy: Schema.Struct({ nameEcho: NameEcho, searchedOnTolerance: Schema.DurationFromMillis }),
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
  sha256: Sha256,
  /** The credential read from `body`. When encoded, it shows the name and the year of birth. */
  credential: AmlCredential
}

interface Stored extends Findings {
  readonly result: Result
  readonly request: Schema.Schema.Type<typeof fields.request>
}

/** A stored record whose result or person was changed, or that lost its warnings, is not valid. */
const hasResult = ({ request, result, ...findings }: Stored): boolean => {
  const { birthYear, name } = findings.credential.credentials.attributes
  const isSameName = PersonName.isEquivalent(request.name, Redacted.value(name)) ||
    findings.warnings.some(({ code }) => code === "other_marks" || code === "other_form" || code === "other_name")
  return result === resultOf(findings) && isSameName &&
    Number(Redacted.value(birthYear)) === Redacted.value(request.dob).year
}

const resultExpected = Violation.expecting(
  "a check whose result follows from its request, credential, changes and warnings"
)

/**
 * The schema to store a check as JSON, with the body of the response.
 *
 * @category schemas
 * @since 0.1.0
 */
export const AmlCheck = Schema.Struct({
  ...fields,
  /**
   * The decompressed bytes of the response body. In JSON they are base64. They contain all fields of the response, even
   * those that the service document does not define.
   */
  body: Schema.optionalWith(Body, { exact: true })
}).pipe(Schema.filter(hasResult, resultExpected)).annotations(Violation.concealing("a check"))

/**
 * The record of one check, see the schema.
 *
 * @category models
 * @since 0.1.0
 */
export interface AmlCheck extends Schema.Schema.Type<typeof AmlCheck> {}

/**
 * The schema to store an {@link AmlCheck} without the body. The credential and the digest are stored.
 *
 * @category schemas
 * @since 0.1.0
 */
export const WithoutBody = Schema.Struct({ ...fields, body: omittedWhenEncoded(Body) }).pipe(
  Schema.filter(hasResult, resultExpected)
).annotations(Violation.concealing("a check"))

/**
 * Makes the record of a check from what was observed: sets the result, and the digest when it is read.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  observed: Omit<AmlCheck, "result" | "sha256" | "body"> & { readonly body: Redacted.Redacted<Uint8Array> }
): AmlCheck => ({
  ...observed,
  result: resultOf(observed),
  get sha256() {
    return digest(Redacted.value(observed.body))
  }
})

/**
 * Handles the three results of a check. None of them is a boolean. Throws a `TypeError` for any other result, which only a
 * program without types can pass.
 *
 * @example
 * import { AmlCheck } from "@effect-idv/core"
 *
 * const next = AmlCheck.match({
 *   onNo: () => "clear",
 *   onDoubtfulNo: ({ warnings }) => `review, because of ${warnings.join(", ")}`,
 *   onPotentialMatch: () => "review"
 * })
 *
 * @category pattern matching
 * @since 0.1.0
 */
export const match: {
  <A, B, C>(on: Cases<A, B, C>): (self: AmlCheck) => A | B | C
  <A, B, C>(self: AmlCheck, on: Cases<A, B, C>): A | B | C
} = dual(2, <A, B, C>(self: AmlCheck, on: Cases<A, B, C>): A | B | C => {
  switch (self.result) {
    case "No":
      return on.onNo(self)
    case "Doubtful No":
      return on.onDoubtfulNo(self)
    case "Potential match":
      return on.onPotentialMatch(self)
    default:
      throw new TypeError("AmlCheck.match takes a check with one of the three results")
  }
})

/**
 * A function for each result of a check.
 *
 * @category models
 * @since 0.1.0
 */
export interface Cases<A, B, C> {
  readonly onNo: (check: AmlCheck) => A
  readonly onDoubtfulNo: (check: AmlCheck) => B
  readonly onPotentialMatch: (check: AmlCheck) => C
}

/**
 * The check could not be verified: there is no body (`no_body`), the body does not match the digest (`digest`), or
 * the credential does not match the body (`credential`).
 *
 * @category errors
 * @since 0.1.0
 */
export class AmlCheckRefuted extends Schema.TaggedError<AmlCheckRefuted>("@effect-idv/core/AmlCheckRefuted")(
  "AmlCheckRefuted",
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
 * such as the times. If the check was stored without the body, pass the body as the second argument.
 *
 * @category destructors
 * @since 0.1.0
 */
export const verify = (
  check: AmlCheck,
  body: Redacted.Redacted<Uint8Array> | undefined = check.body
): Effect.Effect<void, AmlCheckRefuted> => {
  const fail = (reason: AmlCheckRefuted["reason"]) => new AmlCheckRefuted({ checkId: check.checkId, reason })
  if (body === undefined) return fail("no_body")
  const bytes = Redacted.value(body)
  if (digest(bytes) !== check.sha256) return fail("digest")
  const credential = decodeJson(bytes)
  return Either.isRight(credential) && isSame(credential.right, check.credential)
    ? Effect.void
    : fail("credential")
}

const isSame = Schema.equivalence(AmlCredential)
