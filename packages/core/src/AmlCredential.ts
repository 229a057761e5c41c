/**
 * The AML credential: the result of the service about a person (service document, section 2.3).
 *
 * Decoding fails closed: it returns a credential only if every field of the service document is present and valid. In
 * all other cases decoding fails, so an incomplete response never becomes a "No".
 *
 * @since 0.1.0
 */
import type * as Arbitrary from "effect/Arbitrary"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Names from "./internal/names/arbitraryNames.ts"
import * as Address from "./internal/schema/address.ts"
import * as SchemaGuard from "./internal/schema/schemaGuard.ts"
import * as StrictJson from "./internal/schema/strictJson.ts"
import * as Violation from "./Violation.ts"

/**
 * The path of the request that returns a credential (service document, section 4.2).
 *
 * @category schemas
 * @since 0.1.0
 */
export const path = "/api/aml"

/**
 * The two results of the service. `Potential match` requires a review, and is not a confirmed match. Any other value or
 * spelling is invalid.
 *
 * @category schemas
 * @since 0.1.0
 */
export const MatchFound = Schema.Literal("Potential match", "No")

/**
 * One of the two results of the service.
 *
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

const textMatching = (description: string, pattern: RegExp) =>
  Schema.String.pipe(Schema.pattern(pattern, Violation.expecting(description)))

/** A page may show it as a link, so it has no invisible character, quotation mark or tag, and no user before the host. */
const isHttpUrl = (text: string): boolean =>
  /^https?:\/\/(?!\/|[^/?#]*@)[^\s\p{C}\p{Default_Ignorable_Code_Point}"`<>\\]+$/iu.test(text) && Address.isUrl(text)

const timestamp = /^(?!0000)\d{4}-\d{2}-\d{2} (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d$/

/** `Date` turns 31 February into 3 March, so the day is compared. */
const isTimestamp = (text: string): boolean =>
  timestamp.test(text) && new Date(`${text.slice(0, 10)}T00:00:00Z`).getUTCDate() === Number(text.slice(8, 10))

const Name = text("a name", (name) => name.trim() !== "", Names.name)
const Year = textMatching("a year as YYYY", /^\d{4}$/)
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
 * The attributes of a decoded credential (service document, section 2.3). {@link AmlCredential} is the schema of the
 * wire format.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Attributes = Schema.Struct({
  /** The name that the service searched. */
  name: Schema.RedactedFromSelf(Name),
  /** The year of birth that the service searched. */
  birthYear: Schema.RedactedFromSelf(Year),
  /**
   * When the service searched: `YYYY-MM-DD HH:MM:SS`, as received. Its time zone is unspecified, so it is not converted
   * to an instant. A check accepts it within `searchedOnTolerance` of its clock.
   */
  searchedOn: Timestamp,
  matchFound: MatchFound,
  /** The URL of the profile. It is present with both results, so its presence means nothing. */
  amlProfile: Schema.RedactedFromSelf(HttpUrl)
}).annotations(Violation.concealing("the attributes of an AML credential"))

/**
 * The attributes of a decoded credential, see the schema.
 *
 * @category schemas
 * @since 0.1.0
 */
export interface Attributes extends Schema.Schema.Type<typeof Attributes> {}

const credentialType = Schema.Literal("aml")
const credVersion = textMatching("a version 1.x, as major.minor", /^1\.\d+$/)

/** Whether the value of an error field means that there is no error: it is falsy, an empty list or an empty object. */
const isEmpty = (value: unknown): boolean => !value || (Predicate.isObject(value) && Object.keys(value).length === 0)

/** Refuses a credential together with an error, because the check behind it may have failed. */
const noError = Schema.optional(Schema.Unknown.pipe(Schema.filter(isEmpty, Violation.expecting("no error"))))

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

const credentialAnnotations = Violation.concealing("an AML credential")

const Credential = Schema.Struct({
  credentialType,
  credentialName: Schema.String,
  issuedBy: Schema.String,
  issuerId: Schema.UUID,
  credVersion,
  credentials: Schema.Struct({ attributes: Attributes })
}).annotations(credentialAnnotations)

/** Converts the field names of the wire format to those of the code, and redacts personal data. */
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
 * The AML credential. Fields that the service document does not define are ignored, except `error` and `errors`: if one
 * of these has a value other than `null`, `false`, `0`, `""`, `[]` or `{}`, the response is not a credential.
 *
 * The major version of `credVersion` must be 1, because another major version is another format (service document,
 * section 9).
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
}).annotations(credentialAnnotations)

/**
 * A decoded credential.
 *
 * @category schemas
 * @since 0.1.0
 */
export interface AmlCredential extends Schema.Schema.Type<typeof AmlCredential> {}

/**
 * Decodes the bytes of a response. It returns the same as `Violation.decodeJson` with {@link AmlCredential} in a
 * fraction of the time: a predicate compiled from the schema accepts a complete response, and the schema decodes all
 * others.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decodeJson = (bytes: Uint8Array): Either.Either<AmlCredential, Violation.Violations> =>
  Either.flatMap(
    Either.mapLeft(StrictJson.parse(bytes), Violation.whole),
    (value) => isWire(value) ? Either.right(fromWire(value)) : Either.map(decodeWire(value), fromWire)
  )

const isWire = SchemaGuard.make(Wire)
const decodeWire = Violation.decodeUnknown(Wire)
