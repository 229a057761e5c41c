/**
 * The append-only history of a ledger: decisions and their approvals, who looked at whose evidence, exports, holds and
 * erasures. `Ledger.history` reads it.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

const Text = Schema.NullOr(Schema.String)

/**
 * An entry of the history. Nothing changes it; only an erasure deletes it.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Entry = Schema.Struct({
  /** Later entries have higher numbers. */
  entry: Schema.Int,
  /** By the database's clock. */
  at: Schema.DateTimeUtcFromNumber,
  /**
   * - `decided`: `actor` decided about the evidence with this `digest`.
   * - `approved`: `actor` approved the entry `approves`, about the same evidence.
   * - `viewed`, `exported`: `actor` saw personal data and evidence.
   * - `held`, `released`: nothing of this person is erased in between.
   * - `erased`: the data of one person were erased. The entry does not say whose.
   */
  kind: Schema.Literal("decided", "approved", "viewed", "exported", "held", "released", "erased"),
  /** The key of the person. */
  id: Text,
  /** Who did it, as named on the command line. */
  actor: Schema.String,
  run: Text,
  /** The digest of the evidence that the reviewer saw, see `Decisions.digestOf`. */
  digest: Text,
  /** A text of your choice, such as `false_positive`. */
  decision: Text,
  /** A code of your choice for the reason, such as `other_birth_year`. */
  reason: Text,
  /** The number of the approved entry. */
  approves: Schema.NullOr(Schema.Int)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Entry extends Schema.Schema.Type<typeof Entry> {}
