/**
 * What is written down about a row. Neither names nor dates of birth: a row is known by its line and
 * by its id.
 */
import { AmlCredential, type Evidence, Screening } from "@effect-idv/core"
import { DateTime, Effect, Schema } from "effect"

/** In the order in which a ledger numbers them. The first has no event. */
export const phases = [
  "not_started",
  "started",
  "no_match",
  "potential_match",
  "not_screened",
  "unknown",
  "wrong_row"
] as const

const Line = Schema.Int.pipe(Schema.positive())

const row = { line: Line, id: Schema.String }

/** Written before anything is sent: a row without an outcome after it may have been checked, and billed. */
const Started = Schema.Struct({ event: Schema.Literal("started"), ...row, at: Schema.DateTimeUtc })

const answer = {
  checkId: Schema.UUID,
  searchedOn: Schema.String,
  sentAt: Schema.DateTimeUtc,
  receivedAt: Schema.DateTimeUtc,
  sha256: Schema.String,
  warnings: Schema.Array(Schema.String)
}

/** Two schemas, so that nobody can write down the one answer under the name of the other. */
const NoMatch = Schema.Struct({
  event: Schema.Literal("no_match"),
  ...row,
  matchFound: Schema.Literal("No"),
  ...answer
})

const PotentialMatch = Schema.Struct({
  event: Schema.Literal("potential_match"),
  ...row,
  matchFound: Schema.Literal("Potential match"),
  ...answer
})

/** There is no result. `message` is that of an error of the client, which holds nothing of the person. */
const NoResult = Schema.Struct({
  event: Schema.Literal("not_screened", "unknown"),
  ...row,
  at: Schema.DateTimeUtc,
  error: Schema.String,
  message: Schema.String
})

/** Without an id, if it is not certain that the cell holds one. */
const WrongRow = Schema.Struct({
  event: Schema.Literal("wrong_row"),
  line: Line,
  id: Schema.optionalWith(Schema.String, { exact: true }),
  codes: Schema.Array(Schema.String)
})

export const Event = Schema.Union(Started, NoMatch, PotentialMatch, NoResult, WrongRow)

export type Event = typeof Event.Type

/** How somebody who is screened is known. */
export type Key = { readonly line: number; readonly id: string }

export const started = (key: Key): Effect.Effect<Event> =>
  Effect.map(DateTime.now, (at) => ({ event: "started", ...key, at }))

const columns = { name: "name", dateOfBirth: "date_of_birth" } as const

const ofEvidence = ({ checkId, credential, receivedAt, sentAt, sha256, warnings }: Evidence.Evidence) => ({
  checkId,
  searchedOn: credential.credentials.attributes.searchedOn,
  sentAt,
  receivedAt,
  sha256,
  warnings: warnings.map(({ code, field }) => `${columns[field]}.${code}`)
})

/** The answer is read once more from the credential, and not from the name of the outcome. */
const answered = ({ evidence, key }: { readonly key: Key; readonly evidence: Evidence.Evidence }) =>
  AmlCredential.match(evidence.credential, {
    onNo: (): Event => ({ event: "no_match", ...key, matchFound: "No", ...ofEvidence(evidence) }),
    onPotentialMatch: (): Event => ({
      event: "potential_match",
      ...key,
      matchFound: "Potential match",
      ...ofEvidence(evidence)
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
