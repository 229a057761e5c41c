/**
 * The AML credential: the result of the service about a person (service document, section 2.3).
 *
 * @since 0.1.0
 */
import type * as Redacted from "effect/Redacted"

/**
 * One of the two results of the service. `Potential match` requires a review, and is not a confirmed match.
 *
 * @category models
 * @since 0.1.0
 */
export type MatchFound = "Potential match" | "No"

/**
 * The attributes of a credential (service document, section 2.3).
 *
 * @category models
 * @since 0.1.0
 */
export interface Attributes {
  /** The name that the service searched. */
  readonly name: Redacted.Redacted<string>
  /** The year of birth that the service searched. */
  readonly birthYear: Redacted.Redacted<string>
  /**
   * When the service searched: `YYYY-MM-DD HH:MM:SS`, as received. Its time zone is unspecified, so it is not converted
   * to an instant. A check accepts it within `searchedOnTolerance` of its clock.
   */
  readonly searchedOn: string
  readonly matchFound: MatchFound
  /** The URL of the profile. It is present with both results, so its presence means nothing. */
  readonly amlProfile: Redacted.Redacted<string>
}

/**
 * A decoded credential.
 *
 * @category models
 * @since 0.1.0
 */
export interface AmlCredential {
  readonly credentialType: "aml"
  readonly credentialName: string
  readonly issuedBy: string
  readonly issuerId: string
  readonly credVersion: string
  readonly credentials: { readonly attributes: Attributes }
}
