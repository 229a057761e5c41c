/** Converts a response or a failure to the outcome that the ledger stores. */
import * as AmlCheck from "@effect-idv/core/AmlCheck"
import * as AmlCredential from "@effect-idv/core/AmlCredential"
import type * as AmlError from "@effect-idv/core/AmlError"
import * as Failure from "@effect-idv/core/Failure"
import type * as Person from "@effect-idv/core/Person"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import { createHmac } from "node:crypto"
import * as Population from "../../Population.ts"
import type * as Run from "../../Run.ts"
import type * as Ledger from "../ledger/service.ts"
import * as PersonText from "../people/personText.ts"

/** Keyed with the ledger's salt, so that nobody can test guessed names without the salt. */
const keyed = (salt: Redacted.Redacted, text: string): string =>
  createHmac("sha256", Redacted.value(salt)).update(text).digest("hex")

/**
 * What a reviewer decides about: the fields of the response about the person, the codes, and the name and date of birth of
 * the request. Equal evidence of two runs has the same digest, also if the service adds a field.
 */
const contentOf = (
  { credential: { credentials: { attributes } }, result }: AmlCheck.AmlCheck,
  { codes, person, policy }: { readonly codes: string; readonly person: Person.Person; readonly policy: Run.Policy }
) =>
  JSON.stringify([
    attributes.matchFound,
    Redacted.value(attributes.name),
    Redacted.value(attributes.birthYear),
    policy.profileAddress === "ignored" ? null : Redacted.value(attributes.amlProfile),
    codes,
    ...(result === "No" ? [] : PersonText.encode(person))
  ])

/** The documented fields of a response, as paths. */
const fieldsOf = (ast: SchemaAST.AST, path: ReadonlyArray<string>): ReadonlyArray<string> =>
  SchemaAST.getPropertySignatures(ast).flatMap(({ name, type }) => {
    const field = [...path, String(name)]
    return [field.join("."), ...fieldsOf(type, field)]
  })

const documented: ReadonlySet<string> = new Set(fieldsOf(Schema.encodedSchema(AmlCredential.AmlCredential).ast, []))

const decodeJson = Schema.decodeUnknownOption(Schema.parseJson())

/** The first field of each branch that the service document does not have. An unusual name may hold anything. */
const undocumentedFields = (value: unknown, path: ReadonlyArray<string>): ReadonlyArray<string> =>
  Predicate.isReadonlyRecord(value)
    ? Object.entries(value).flatMap(([name, inner]) => {
      const field = [...path, name]
      if (documented.has(field.join("."))) return undocumentedFields(inner, field)
      return [[...path, /^[\w-]{1,40}$/.test(name) ? name : "(other)"].join(".")]
    })
    : []

/** What a response has beyond the service document: the paths of fields, and another version. */
export const undocumented = ({ body, credential: { credVersion } }: AmlCheck.AmlCheck): ReadonlyArray<string> => [
  ...(credVersion === "1.0" ? [] : [`cred_version=${credVersion}`]),
  ...(body === undefined
    ? []
    : Option.match(decodeJson(new TextDecoder().decode(Redacted.value(body))), {
      onNone: () => [],
      onSome: (value) => undocumentedFields(value, [])
    }))
]

/** The check as JSON, to be encrypted. */
export const evidenceText = Schema.encode(Schema.parseJson(AmlCheck.AmlCheck))

const states = {
  "No": "no_match",
  "Doubtful No": "no_match_doubtful",
  "Potential match": "potential_match"
} as const satisfies Record<AmlCheck.Result, Ledger.Outcome["state"]>

export const ofCheck = (
  check: AmlCheck.AmlCheck,
  person: Person.Person,
  salt: Redacted.Redacted,
  policy: Run.Policy
): Ledger.Outcome => {
  const { changes, checkId, credential, result, sha256, warnings } = check
  const assumed = changes.filter(({ code }) => code === "assumed")
  const codes = Population.personCodes([...warnings, ...assumed]).join(" ")
  return {
    state: states[result],
    codes: codes === "" ? undefined : codes,
    checkId,
    searchedOn: credential.credentials.attributes.searchedOn,
    responseDigest: keyed(salt, sha256),
    contentDigest: keyed(salt, contentOf(check, { codes, person, policy }))
  }
}

/**
 * How often a row is sent if the service certainly does not perform it. Then it ends as not screened. A pause does not
 * count: it concerns all rows, and the run ends after several pauses in a row.
 */
const maxAttempts = 10

/** The outcome of a person who cannot be sent. */
export const ofRejected = (error: AmlError.AmlInputRejected): Ledger.Outcome => ({
  state: "not_screened",
  error: error._tag,
  codes: Population.personCodes(error.issues).join(" ")
})

export interface Consequence {
  /** The outcome of the row, or `release` to try again. */
  readonly row: Ledger.Outcome | "release"
  /** The reason why all workers must stop, if they must. */
  readonly stop: string | undefined
  /**
   * Whether the failure concerns the service. `undefined` if it neither counts as such a failure nor ends the count.
   */
  readonly isServiceFailure: boolean | undefined
  /** The pause of all workers, if the service asks for one. */
  readonly pause: { readonly millis: number | undefined } | undefined
}

/** Whether the service temporarily refused the check and asked the client to wait. */
const isBusy = (error: Failure.Failure, { retryAfter }: Failure.Facts): boolean =>
  error._tag === "AmlRateLimited" ||
  (error._tag === "AmlUnavailable" && error.status === 503 && retryAfter !== undefined)

/**
 * Whether a web page arrived in place of a result. A proxy or a wrong address responds so to every check, and the
 * response does not show whether the service performed the check.
 */
const isPage = (error: Failure.Failure, { concerns }: Failure.Facts): boolean =>
  // A redirect may have a page too, but it was not followed.
  error._tag === "AmlResponseInvalid" && concerns !== "everyone" && error.contentType === "text/html"

const ofRow = (error: Failure.Failure, facts: Failure.Facts, timesSent: number): Consequence["row"] => {
  const { concerns, sent } = facts
  if (sent === "unknown" || isPage(error, facts)) return { state: "unknown", error: error._tag }
  const wasNotPerformed = sent === "no" || concerns === "everyone"
  const isAgain = isBusy(error, facts) || (wasNotPerformed && timesSent < maxAttempts)
  if (error._tag === "AmlInputRejected") return ofRejected(error)
  return isAgain ? "release" : { state: "not_screened", error: error._tag }
}

export const ofFailure = (error: Failure.Failure, timesSent: number): Consequence => {
  const facts = Failure.facts(error)
  const { concerns, retryAfter } = facts
  return {
    row: ofRow(error, facts, timesSent),
    stop: concerns === "everyone" || isPage(error, facts) ? `${error._tag}: ${error.message}` : undefined,
    isServiceFailure: error._tag === "AmlRateLimited" || error._tag === "AmlInputRejected"
      ? undefined
      : concerns === "service",
    pause: isBusy(error, facts)
      ? { millis: retryAfter === undefined ? undefined : Duration.toMillis(retryAfter) }
      : undefined
  }
}
