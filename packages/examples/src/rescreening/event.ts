/**
 * What is written down about a row. Neither names nor dates of birth: a row is known by its line and
 * by its id.
 */
import { AmlCredential, type Evidence, Screening } from "@effect-idv/core"
import { Array, DateTime, Effect, Schema } from "effect"

/** In the order in which a ledger numbers them. The first has no event. */
export const phases = [
  "not_started",
  "started",
  "no_match",
  "no_match_doubtful",
  "potential_match",
  "not_screened",
  "unknown",
  "wrong_row"
] as const

const Line = Schema.Int.pipe(Schema.positive())

/** Of the text of a row, salted: by it a row is known to be the same when a run goes on. */
const digest = Schema.String.pipe(Schema.pattern(/^[\da-f]{16}$/))

const row = { line: Line, id: Schema.String, digest }

/** Written before anything is sent: a row without an outcome after it may have been checked, and billed. */
const Started = Schema.Struct({ event: Schema.Literal("started"), ...row, at: Schema.DateTimeUtc })

const answer = {
  checkId: Schema.UUID,
  searchedOn: Schema.String,
  sentAt: Schema.DateTimeUtc,
  receivedAt: Schema.DateTimeUtc,
  sha256: Schema.String
}

/** Schemas of their own, so that nobody can write down the one answer under the name of the other. */
const NoMatch = Schema.Struct({
  event: Schema.Literal("no_match"),
  ...row,
  matchFound: Schema.Literal("No"),
  ...answer,
  warnings: Schema.Tuple()
})

/** A damaged name is found on no list: "No" means less there. */
const NoMatchDoubtful = Schema.Struct({
  event: Schema.Literal("no_match_doubtful"),
  ...row,
  matchFound: Schema.Literal("No"),
  ...answer,
  warnings: Schema.NonEmptyArray(Schema.String)
})

const PotentialMatch = Schema.Struct({
  event: Schema.Literal("potential_match"),
  ...row,
  matchFound: Schema.Literal("Potential match"),
  ...answer,
  warnings: Schema.Array(Schema.String)
})

/** There is no result. `message` is that of an error of the client, which holds nothing of the person. */
const NoResult = Schema.Struct({
  event: Schema.Literal("not_screened", "unknown"),
  ...row,
  at: Schema.DateTimeUtc,
  error: Schema.String,
  message: Schema.String
})

/** Without an id: of a wrong row it is not certain which cell holds one. */
const WrongRow = Schema.Struct({
  event: Schema.Literal("wrong_row"),
  line: Line,
  digest,
  codes: Schema.Array(Schema.String)
})

export const Event = Schema.Union(Started, NoMatch, NoMatchDoubtful, PotentialMatch, NoResult, WrongRow)

export type Event = typeof Event.Type

/** How somebody who is screened is known. */
export type Key = { readonly line: number; readonly id: string; readonly digest: string }

export const started = (key: Key): Effect.Effect<Event> =>
  Effect.map(DateTime.now, (at) => ({ event: "started", ...key, at }))

const columns = { name: "name", dateOfBirth: "date_of_birth" } as const

const ofEvidence = ({ checkId, credential, receivedAt, sentAt, sha256 }: Evidence.Evidence) => ({
  checkId,
  searchedOn: credential.credentials.attributes.searchedOn,
  sentAt,
  receivedAt,
  sha256
})

const codesOf = ({ warnings }: Evidence.Evidence) => warnings.map(({ code, field }) => `${columns[field]}.${code}`)

const ofNo = (key: Key, evidence: Evidence.Evidence): Event => {
  const warnings = codesOf(evidence)
  const common = { ...key, matchFound: "No", ...ofEvidence(evidence) } as const
  return Array.isNonEmptyArray(warnings)
    ? { event: "no_match_doubtful", ...common, warnings }
    : { event: "no_match", ...common, warnings: [] }
}

/** The answer is read once more from the credential, and not from the name of the outcome. */
const answered = ({ evidence, key }: { readonly key: Key; readonly evidence: Evidence.Evidence }) =>
  AmlCredential.match(evidence.credential, {
    onNo: () => ofNo(key, evidence),
    onPotentialMatch: (): Event => ({
      event: "potential_match",
      ...key,
      matchFound: "Potential match",
      ...ofEvidence(evidence),
      warnings: codesOf(evidence)
    })
  })

const withoutResult = (
  event: "not_screened" | "unknown",
  key: Key,
  { _tag, message }: { readonly _tag: string; readonly message: string }
): Effect.Effect<Event> => Effect.map(DateTime.now, (at) => ({ event, ...key, at, error: _tag, message }))

export const ofOutcome: (outcome: Screening.Outcome<Key>) => Effect.Effect<Event> = Screening.Outcome.$match({
  NoMatch: (outcome) => Effect.succeed(answered(outcome)),
  PotentialMatch: (outcome) => Effect.succeed(answered(outcome)),
  NotScreened: ({ error, key }) => withoutResult("not_screened", key, error),
  Unknown: ({ error, key }) => withoutResult("unknown", key, error)
})
