/**
 * A row of a run, as reports read it. It has no name and no date of birth.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Run from "./Run.ts"

const Time = Schema.NullOr(Schema.DateTimeUtcFromNumber)

const Words = Schema.transform(Schema.NullOr(Schema.String), Schema.Array(Schema.String), {
  strict: true,
  decode: (text) => text === null || text === "" ? [] : text.split(" "),
  encode: (words) => words.length === 0 ? null : words.join(" ")
})

/**
 * A result that arrived after its row was claimed again.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Late = Schema.Struct({
  state: Run.State,
  checkId: Schema.optional(Schema.String),
  searchedOn: Schema.optional(Schema.String),
  codes: Schema.optional(Schema.String),
  responseDigest: Schema.optional(Schema.String),
  contentDigest: Schema.optional(Schema.String),
  evidence: Schema.optional(Schema.String)
})

const Lates = Schema.transform(Schema.NullOr(Schema.String), Schema.parseJson(Schema.Array(Late)), {
  strict: true,
  decode: (text) => `[${text ?? ""}]`,
  encode: (text) => text === "[]" ? null : text.slice(1, -1)
})

/**
 * @category schemas
 * @since 0.1.0
 */
export const LedgerRow = Schema.Struct({
  /** The line of the file, or the position in the population, from 1. */
  line: Schema.Int,
  /** The key of the person; `null` in a wrong row, because the cell of the key may hold a name. */
  id: Schema.NullOr(Schema.String),
  state: Run.State,
  /** How often a check of this row was sent. If over 1, the row may have been billed more than once. */
  timesSent: Schema.Int,
  /** How often a check of this row was sent and had no response. */
  timesUnknown: Schema.Int,
  /** The problems of a wrong row, or the signs of damage in the name or date. */
  codes: Words,
  /** The tag of the failure, if there is no result. */
  error: Schema.NullOr(Schema.String),
  checkId: Schema.NullOr(Schema.String),
  /** The time of the search, as the service wrote it. Its time zone is not documented. */
  searchedOn: Schema.NullOr(Schema.String),
  sentAt: Time,
  settledAt: Time,
  /** HMAC-SHA-256 of the SHA-256 of the response, in hex, with the salt of the ledger. */
  responseDigest: Schema.NullOr(Schema.String),
  /**
   * HMAC-SHA-256 of the result, the name, the year of birth and the profile address of the response, of the warnings about
   * name and date, and, unless the result is "No", of the name and date of birth of the request.
   */
  contentDigest: Schema.NullOr(Schema.String),
  /** The encrypted evidence, if the policy keeps it. */
  evidence: Schema.NullOr(Schema.String),
  /** The results that arrived after the row was claimed again. */
  late: Lates
})

/**
 * @category models
 * @since 0.1.0
 */
export interface LedgerRow extends Schema.Schema.Type<typeof LedgerRow> {}
