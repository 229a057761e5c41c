/**
 * What the service says about a person: the AML credential (API document, section 2.3).
 *
 * Decoding fails closed. A credential exists only if every field of the document is there and in
 * its form; in all other cases there is no credential, and so no "No".
 *
 * @since 0.1.0
 */
import type * as Arbitrary from "effect/Arbitrary"
import * as Either from "effect/Either"
import { dual } from "effect/Function"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Address from "./internal/address.ts"
import * as Names from "./internal/arbitraryNames.ts"
import * as Violation from "./Violation.ts"

/**
 * The two answers of the service. `Potential match` asks for a review by a person; it is not a
 * finding. Anything else, in any other spelling, is no answer.
 *
 * @category schemas
 * @since 0.1.0
 */
export const MatchFound = Schema.Literal("Potential match", "No")

/**
 * @category schemas
 * @since 0.1.0
 */
export type MatchFound = typeof MatchFound.Type

const text = (
  description: string,
  predicate: (text: string) => boolean,
  arbitrary: Arbitrary.LazyArbitrary<string>
) =>
  Schema.String.pipe(Schema.filter(predicate, Violation.expecting(description))).annotations({
    arbitrary: () => arbitrary
  })

const matching = (description: string, pattern: RegExp) =>
  Schema.String.pipe(Schema.pattern(pattern, Violation.expecting(description)))

const isHttpUrl = (text: string): boolean => /^https?:\/\/\S+$/i.test(text) && Address.isUrl(text)

const timestamp = /^(?!0000)\d{4}-\d{2}-\d{2} (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d$/

/** 31 February would be another day. */
const isTimestamp = (text: string): boolean =>
  timestamp.test(text) && new Date(`${text.slice(0, 10)}T00:00:00Z`).getUTCDate() === Number(text.slice(8, 10))

const Name = text("a name", (name) => name.trim() !== "", Names.arbitrary)
const Year = matching("a year as YYYY", /^\d{4}$/)
const Timestamp = text(
  "a date and time that exist, as YYYY-MM-DD HH:MM:SS",
  isTimestamp,
  (fc) =>
    fc.date({ min: new Date("2000-01-01"), max: new Date("2100-01-01") }).map((date) =>
      date.toISOString().slice(0, 19).replace("T", " ")
    )
)
const HttpUrl = text("an http or https URL", isHttpUrl, (fc) => fc.webUrl())

const WireAttributes = Schema.Struct({
  name: Name,
  birth_year: Year,
  searched_on: Timestamp,
  match_found: MatchFound,
  aml_profile: HttpUrl
})

/**
 * The AML result (API document, section 2.3, "Fields of credentials.attributes"), as it is in a
 * decoded credential. {@link AmlCredential} is the schema of the wire.
 *
 * - `name`, `birthYear`: whom the service searched.
 * - `searchedOn`: `YYYY-MM-DD HH:MM:SS` as written. The document does not give its time zone
 *   (an assumption never made here), so it is not turned into an instant. A check accepts it within
 *   `searchedOnTolerance` of its clock.
 * - `matchFound`: the answer.
 * - `amlProfile`: URL of the profile, there for both answers: its presence means nothing.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Attributes = Schema.Struct({
  name: Schema.RedactedFromSelf(Name),
  birthYear: Schema.RedactedFromSelf(Year),
  searchedOn: Timestamp,
  matchFound: MatchFound,
  amlProfile: Schema.RedactedFromSelf(HttpUrl)
}).annotations(Violation.concealing("the attributes of an AML credential"))

/**
 * @category schemas
 * @since 0.1.0
 */
export interface Attributes extends Schema.Schema.Type<typeof Attributes> {}

const credentialType = Schema.Literal("aml")
const credVersion = matching("a version 1.x, as major.minor", /^1\.\d+$/)

/** What a service may write that reports no error all the same. */
const isNothing = (value: unknown): boolean => !value || (Predicate.isObject(value) && Object.keys(value).length === 0)

/** A credential beside an error would be a result of a check that failed. */
const noError = Schema.optional(Schema.Unknown.pipe(Schema.filter(isNothing, Violation.expecting("no error"))))

const Wire = Schema.Struct({
  error: noError,
  errors: noError,
  credential_type: credentialType,
  credential_name: Schema.String,
  issued_by: Schema.String,
  issuer_id: Schema.UUID,
  cred_version: credVersion,
  credentials: Schema.Struct({ attributes: WireAttributes })
})

const Credential = Schema.Struct({
  credentialType,
  credentialName: Schema.String,
  issuedBy: Schema.String,
  issuerId: Schema.UUID,
  credVersion,
  credentials: Schema.Struct({ attributes: Attributes })
})

/** The same in the names of the code, and what is personal concealed. */
const fromWire = (
  { cred_version, credential_name, credential_type, credentials: { attributes }, issued_by, issuer_id }:
    typeof Wire.Type
): typeof Credential.Type => ({
  credentialType: credential_type,
  credentialName: credential_name,
  issuedBy: issued_by,
  issuerId: issuer_id,
  credVersion: cred_version,
  credentials: {
    attributes: {
      name: Redacted.make(attributes.name),
      birthYear: Redacted.make(attributes.birth_year),
      searchedOn: attributes.searched_on,
      matchFound: attributes.match_found,
      amlProfile: Redacted.make(attributes.aml_profile)
    }
  }
})

/**
 * The AML credential. Fields that the document does not have are left aside. Two of them must be empty: with an `error`
 * or `errors` of its own, other than `null`, `false`, `0`, `""`, `[]` or `{}`, it is not a credential.
 *
 * `credVersion` must be of major version 1: another major is another format (API document,
 * section 9), and what is not known is not believed.
 *
 * @category schemas
 * @since 0.1.0
 */
export const AmlCredential = Schema.transform(Wire, Credential, {
  strict: true,
  decode: fromWire,
  encode: ({ credVersion, credentialName, credentialType, credentials: { attributes }, issuedBy, issuerId }) => ({
    credential_type: credentialType,
    credential_name: credentialName,
    issued_by: issuedBy,
    issuer_id: issuerId,
    cred_version: credVersion,
    credentials: {
      attributes: {
        name: Redacted.value(attributes.name),
        birth_year: Redacted.value(attributes.birthYear),
        searched_on: attributes.searchedOn,
        match_found: attributes.matchFound,
        aml_profile: Redacted.value(attributes.amlProfile)
      }
    }
  })
}).annotations(Violation.concealing("an AML credential"))

/**
 * @category schemas
 * @since 0.1.0
 */
export interface AmlCredential extends Schema.Schema.Type<typeof AmlCredential> {}

/**
 * Decodes the bytes of an answer, as `Violation.decodeJson` does with {@link AmlCredential}, in half
 * the time: what was checked in the names of the wire is not checked again in those of the code.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decodeJson = (bytes: Uint8Array): Either.Either<AmlCredential, Violation.Violations> =>
  Either.map(decodeWire(bytes), fromWire)

const decodeWire = Violation.decodeJson(Wire)

/**
 * Goes on from a credential. Both answers must be handled, and neither is a boolean.
 *
 * @example
 * import { AmlCredential } from "@effect-idv/core"
 *
 * const next = AmlCredential.match({
 *   onNo: () => "clear",
 *   onPotentialMatch: () => "review"
 * })
 *
 * @category pattern matching
 * @since 0.1.0
 */
export const match: {
  <A, B>(on: {
    readonly onNo: (attributes: Attributes) => A
    readonly onPotentialMatch: (attributes: Attributes) => B
  }): (self: AmlCredential) => A | B
  <A, B>(self: AmlCredential, on: {
    readonly onNo: (attributes: Attributes) => A
    readonly onPotentialMatch: (attributes: Attributes) => B
  }): A | B
} = dual(2, <A, B>({ credentials: { attributes } }: AmlCredential, on: {
  readonly onNo: (attributes: Attributes) => A
  readonly onPotentialMatch: (attributes: Attributes) => B
}): A | B => {
  switch (attributes.matchFound) {
    case "No":
      return on.onNo(attributes)
    case "Potential match":
      return on.onPotentialMatch(attributes)
  }
})
