/** What the ledger stores about a response or a failure. */
import * as AmlCredential from "@effect-idv/core/AmlCredential"
import * as Evidence from "@effect-idv/core/Evidence"
import * as Failure from "@effect-idv/core/Failure"
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { createHmac } from "node:crypto"
import * as Population from "../Population.ts"
import type * as Run from "../Run.ts"
import type * as Ledger from "./ledgerService.ts"

const without = (fields: ReadonlyArray<string>, body: string): string =>
  Either.getOrElse(
    Either.try(() => {
      const response: unknown = JSON.parse(body)
      if (
        Predicate.hasProperty(response, "credentials") && Predicate.hasProperty(response.credentials, "attributes") &&
        Predicate.isRecord(response.credentials.attributes)
      ) {
        for (const field of fields) Reflect.deleteProperty(response.credentials.attributes, field)
      }
      return JSON.stringify(response)
    }),
    () => body
  )

/**
 * Of all that the response says but when it was searched, so that the same evidence of two nights has the same digest.
 * Keyed: without the salt of the ledger nobody can try names.
 */
const contentDigest = (salt: Redacted.Redacted, { profileAddress }: Run.Policy, body: Uint8Array): string => {
  const fields = ["searched_on", ...(profileAddress === "ignored" ? ["aml_profile"] : [])]
  return createHmac("sha256", Redacted.value(salt)).update(without(fields, new TextDecoder().decode(body))).digest(
    "hex"
  )
}

/** The evidence as JSON, to be encrypted. */
export const evidenceText = Schema.encode(Schema.parseJson(Evidence.Evidence))

export const ofEvidence = (
  evidence: Evidence.Evidence,
  salt: Redacted.Redacted,
  policy: Run.Policy
): Ledger.Outcome => {
  const codes = Population.personCodes(evidence.warnings)
  return {
    // The result is read from the credential, and not from anything else.
    state: AmlCredential.match(evidence.credential, {
      onNo: () => codes.length === 0 ? "no_match" as const : "no_match_doubtful" as const,
      onPotentialMatch: () => "potential_match" as const
    }),
    codes: codes.length === 0 ? undefined : codes.join(" "),
    checkId: evidence.checkId,
    searchedOn: evidence.credential.credentials.attributes.searchedOn,
    sha256: evidence.sha256,
    contentDigest: evidence.body === undefined ? undefined : contentDigest(salt, policy, Redacted.value(evidence.body))
  }
}

/** How often a row is sent that was certainly not performed, before it ends as not screened. */
const mostAttempts = 10

export interface Consequence {
  /** What becomes of the row: an outcome, or `release` to try again. */
  readonly row: Ledger.Outcome | "release"
  /** Why all workers must stop. */
  readonly stop: string | undefined
  /** Whether it counts as a failure that says nothing about the person. `undefined` if it says nothing of the service. */
  readonly isServiceFailure: boolean | undefined
  /** For how long nobody may send, where the service asks for a pause. */
  readonly pause: { readonly millis: number | undefined } | undefined
}

/** Whether the service refused for now, and asks to wait. */
const isBusy = (error: Failure.Failure, { retryAfter }: Failure.Facts): boolean =>
  error._tag === "AmlRateLimited" ||
  (error._tag === "AmlUnavailable" && error.status === 503 && retryAfter !== undefined)

const ofRow = (error: Failure.Failure, facts: Failure.Facts, timesSent: number): Consequence["row"] => {
  const { concerns, sent } = facts
  if (sent === "unknown") return { state: "unknown", error: error._tag }
  const wasNotPerformed = isBusy(error, facts) || sent === "no" || concerns === "everyone"
  return error._tag !== "AmlInputRejected" && wasNotPerformed && timesSent < mostAttempts ? "release" : {
    state: "not_screened",
    error: error._tag,
    codes: error._tag === "AmlInputRejected" ? Population.personCodes(error.issues).join(" ") : undefined
  }
}

export const ofFailure = (error: Failure.Failure, timesSent: number): Consequence => {
  const facts = Failure.facts(error)
  const { concerns, retryAfter } = facts
  return {
    row: ofRow(error, facts, timesSent),
    stop: concerns === "everyone" ? `${error._tag}: ${error.message}` : undefined,
    isServiceFailure: error._tag === "AmlRateLimited" || error._tag === "AmlInputRejected"
      ? undefined
      : concerns === "service",
    pause: isBusy(error, facts)
      ? { millis: retryAfter === undefined ? undefined : Duration.toMillis(retryAfter) }
      : undefined
  }
}
