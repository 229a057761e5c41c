/**
 * The errors of rescreening. None of them holds a name, a date of birth, a key of a person or a secret.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * The database did not execute a statement.
 *
 * @category errors
 * @since 0.1.0
 */
export class LedgerUnavailable extends Schema.TaggedError<LedgerUnavailable>(
  "@effect-idv/rescreening/LedgerUnavailable"
)("LedgerUnavailable", {
  /** The operation of the ledger, such as `claim`. */
  operation: Schema.String,
  /**
   * The code of the database or of the socket, such as `57P01` or `ECONNREFUSED`; `unknown` if there is none.
   * `REPLACED`: the process was suspended while it planned a run, and another process plans the run instead.
   * `SALT_MISSING`: the table `idv_rescreen_meta` has lost its salt. Restore it from a backup.
   */
  code: Schema.String
}) {
  override get message() {
    if (this.code === "SALT_MISSING") {
      return "The ledger has no salt for its digests. Restore the table idv_rescreen_meta from a backup."
    }
    return `The database of the ledger failed (${this.operation}: ${this.code}). ` +
      "Check that the database is running, and the address in DATABASE_URL or the file of the ledger."
  }
}

/**
 * The tables were created by a newer version of this package, so this version must not write to them.
 *
 * @category errors
 * @since 0.1.0
 */
export class LedgerTooNew extends Schema.TaggedError<LedgerTooNew>("@effect-idv/rescreening/LedgerTooNew")(
  "LedgerTooNew",
  {
    /** The version of the tables. */
    found: Schema.Int,
    /** The latest version that this package knows. */
    known: Schema.Int
  }
) {
  override get message() {
    return `The tables of the ledger have version ${this.found}, and this program knows versions up to ` +
      `${this.known}. Upgrade @effect-idv/rescreening.`
  }
}

/**
 * There is no run of this name, or none at all.
 *
 * @category errors
 * @since 0.1.0
 */
export class RunNotFound extends Schema.TaggedError<RunNotFound>("@effect-idv/rescreening/RunNotFound")(
  "RunNotFound",
  {
    /** The name; empty if the newest run was requested and the ledger has none. */
    run: Schema.String
  }
) {
  override get message() {
    return this.run === ""
      ? "The ledger has no run. Plan one first, or check DATABASE_URL or the file of the ledger."
      : `There is no run ${this.run}. Plan it first, or check the name, and DATABASE_URL or the file of the ledger.`
  }
}

/**
 * The run exists, and was planned with another population, service or options.
 *
 * @category errors
 * @since 0.1.0
 */
export class RunConflict extends Schema.TaggedError<RunConflict>("@effect-idv/rescreening/RunConflict")(
  "RunConflict",
  {
    run: Schema.String,
    /** What differs: `population`, `service`, `storage of people`, or the name of an option of the policy. */
    differs: Schema.Array(Schema.String)
  }
) {
  override get message() {
    return `Run ${this.run} was planned with another ${this.differs.join(", ")}. ` +
      "Use the original values, or plan a run with another name."
  }
}

/**
 * The run was paused for all workers.
 *
 * @category errors
 * @since 0.1.0
 */
export class RunPaused extends Schema.TaggedError<RunPaused>("@effect-idv/rescreening/RunPaused")(
  "RunPaused",
  {
    run: Schema.String,
    /** The cause: `operator`, or the tag and the message of the failure that stopped the run. */
    reason: Schema.String
  }
) {
  override get message() {
    return `Run ${this.run} is paused: ${this.reason}. Remove the cause, then resume the run.`
  }
}

/**
 * The data of the run were erased. Only its counts remain.
 *
 * @category errors
 * @since 0.1.0
 */
export class RunErased extends Schema.TaggedError<RunErased>("@effect-idv/rescreening/RunErased")(
  "RunErased",
  { run: Schema.String }
) {
  override get message() {
    return `The people of run ${this.run} were erased. Only its counts remain.`
  }
}

/**
 * Some rows of the run have no outcome yet, so a comparison would report these people as unknown.
 *
 * @category errors
 * @since 0.1.0
 */
export class RunIncomplete extends Schema.TaggedError<RunIncomplete>("@effect-idv/rescreening/RunIncomplete")(
  "RunIncomplete",
  { run: Schema.String }
) {
  override get message() {
    return `Run ${this.run} is not complete, so it cannot be compared. Screen its remaining rows first.`
  }
}

/**
 * The rows are deleted, but a file of SQLite still contains them, because another process reads it.
 *
 * @category errors
 * @since 0.1.0
 */
export class LedgerInUse extends Schema.TaggedError<LedgerInUse>("@effect-idv/rescreening/LedgerInUse")(
  "LedgerInUse",
  {}
) {
  override get message() {
    return "The rows are deleted, but the write-ahead log beside the file of the ledger still contains them, " +
      "because another process reads the file. End that process, then run erase again."
  }
}

/**
 * The key that encrypts people and responses cannot be used.
 *
 * @category errors
 * @since 0.1.0
 */
export class EncryptionKeyError extends Schema.TaggedError<EncryptionKeyError>(
  "@effect-idv/rescreening/EncryptionKeyError"
)("EncryptionKeyError", {
  /**
   * - `malformed`: it is not a list of `id:key` with 32 bytes in base64.
   * - `missing`: no key was provided.
   * - `unknown_id`: the data were encrypted with a key whose id is not in the list.
   * - `wrong_key`: the id is in the list, but the key does not decrypt the data, or the data were changed.
   */
  reason: Schema.Literal("malformed", "missing", "unknown_id", "wrong_key"),
  /** The id of the required key, if known. */
  id: Schema.optionalWith(Schema.String, { exact: true })
}) {
  override get message() {
    const id = this.id === undefined ? "" : ` (key id ${this.id})`
    return `The encryption key cannot be used: ${keyReasons[this.reason]}${id}. ` +
      "Set IDV_RESCREEN_KEY to <id>:<32 bytes in base64>, the newest first, separated by commas; " +
      "openssl rand -base64 32 generates the bytes."
  }
}

const keyReasons = {
  malformed: "it is malformed",
  missing: "there is none",
  unknown_id: "the data were encrypted with another key",
  wrong_key: "it does not decrypt the data"
} as const

/**
 * The population cannot be read.
 *
 * @category errors
 * @since 0.1.0
 */
export class PopulationRejected extends Schema.TaggedError<PopulationRejected>(
  "@effect-idv/rescreening/PopulationRejected"
)("PopulationRejected", {
  /**
   * - `empty`: there is no row. Most likely an export failed, and that must not look like a run without matches.
   * - `header`: the first line is not `id,name,date_of_birth`.
   */
  reason: Schema.Literal("empty", "header")
}) {
  override get message() {
    return this.reason === "empty"
      ? "The population is empty. Check the export that it comes from."
      : "The first line of the population is not id,name,date_of_birth."
  }
}

/**
 * The counts of the ledger and the rows of the report differ, so the report was not written.
 *
 * @category errors
 * @since 0.1.0
 */
export class SumsDiffer extends Schema.TaggedError<SumsDiffer>("@effect-idv/rescreening/SumsDiffer")(
  "SumsDiffer",
  {
    run: Schema.String,
    /** How many rows were planned. */
    planned: Schema.Int,
    /** How many rows were found. */
    found: Schema.Int
  }
) {
  override get message() {
    return `Run ${this.run} was planned with ${this.planned} rows, but the ledger has ${this.found}. ` +
      "Check whether another program changed the database."
  }
}
