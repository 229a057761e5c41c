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
   * `DISCARDED`: the plan took longer than a day, so another process deleted it.
   */
  code: Schema.String
}) {
  override get message() {
    if (this.code === "42501") {
      return `The database refuses this role a permission (${this.operation}). See the GRANT lists in docs/rescreening.md.`
    }
    if (["53100", "SQLITE_FULL", "ENOSPC"].includes(this.code)) {
      return `The disk of the ledger's database is full (${this.operation}: ${this.code}). Free space, and start again.`
    }
    if (this.code === "DISCARDED") {
      return "The plan took longer than a day, so another process deleted its rows. Plan the run again."
    }
    return `The database of the ledger failed (${this.operation}: ${this.code}). ` +
      "Check that the database is running, and the address in DATABASE_URL or the file of the ledger."
  }
}

/**
 * There is no ledger here, or not one that this version can use.
 *
 * @category errors
 * @since 0.1.0
 */
export class LedgerUnusable extends Schema.TaggedError<LedgerUnusable>("@effect-idv/rescreening/LedgerUnusable")(
  "LedgerUnusable",
  {
    /**
     * - `no_file`: the file of SQLite does not exist.
     * - `no_tables`: the database has no ledger in its `search_path`.
     * - `version`: the tables have another version than this package knows.
     * - `no_salt`: the table `idv_rescreen_meta` has lost the salt of the digests.
     */
    reason: Schema.Literal("no_file", "no_tables", "version", "no_salt"),
    /** The file, or the database and its `search_path`. */
    place: Schema.optionalWith(Schema.String, { exact: true }),
    /** The version of the tables. */
    found: Schema.optionalWith(Schema.Int, { exact: true }),
    /** The version that this package knows. */
    known: Schema.optionalWith(Schema.Int, { exact: true })
  }
) {
  override get message() {
    switch (this.reason) {
      case "no_file":
        return `There is no ledger ${this.place}. Check the path: only start and plan create a file.`
      case "no_tables":
        return `There is no ledger in the ${this.place}. Check DATABASE_URL or the file, or run idv-rescreen migrate once.`
      case "version":
        return `The tables of the ledger have version ${this.found}, and this program needs version ${this.known}. ` +
          ((this.found ?? 0) > (this.known ?? 0) ? "Upgrade @effect-idv/rescreening." : "Run idv-rescreen migrate.")
      case "no_salt":
        return "The ledger has no salt for its digests. Restore the table idv_rescreen_meta from a backup."
    }
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
 * The run exists, and was planned with another population, service or kind of evidence.
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
 * No run has this class.
 *
 * @category errors
 * @since 0.1.0
 */
export class ClassNotFound extends Schema.TaggedError<ClassNotFound>("@effect-idv/rescreening/ClassNotFound")(
  "ClassNotFound",
  { class: Schema.String }
) {
  override get message() {
    return `No run has the class ${this.class}. Check the name; plan --class sets the class of a run.`
  }
}

/**
 * The runs screened different classes of people or in different environments, so everybody would be new or gone.
 *
 * @category errors
 * @since 0.1.0
 */
export class RunsNotComparable extends Schema.TaggedError<RunsNotComparable>(
  "@effect-idv/rescreening/RunsNotComparable"
)("RunsNotComparable", {
  before: Schema.String,
  after: Schema.String,
  /** What differs. */
  differs: Schema.Literal("class", "environment")
}) {
  override get message() {
    return `Runs ${this.before} and ${this.after} have another ${this.differs}, so they cannot be compared. ` +
      `Compare runs of the same ${this.differs}.`
  }
}

/**
 * Decisions or approvals cannot be stored. None of them was.
 *
 * @category errors
 * @since 0.1.0
 */
export class DecisionsRejected extends Schema.TaggedError<DecisionsRejected>(
  "@effect-idv/rescreening/DecisionsRejected"
)("DecisionsRejected", {
  run: Schema.String,
  /**
   * - `malformed`: the decision or its reason is not a code of 1 to 64 characters, or is a word of the report.
   * - `no_result`: the person has no result in the run.
   * - `evidence_changed`: the evidence is not the one with this digest.
   * - `nothing_to_approve`: nobody has stored this decision about this evidence, or another one followed it.
   * - `same_reviewer`: the approver is the person who decided.
   */
  reason: Schema.Literal("malformed", "no_result", "evidence_changed", "nothing_to_approve", "same_reviewer"),
  /** The positions of the rejected decisions, from 1. */
  positions: Schema.Array(Schema.Int)
}) {
  override get message() {
    const those = `(decision ${this.positions.join(", ")} of the list)`
    switch (this.reason) {
      case "malformed":
        return "A decision and its reason should be codes of 1 to 64 letters, digits, dots, hyphens or underscores, " +
          `and not a word that the report uses ${those}`
      case "no_result":
        return `Run ${this.run} has no result for these ids ${those}`
      case "evidence_changed":
        return `The evidence of run ${this.run} does not have this digest, so it is not the one that was reviewed. ` +
          `Review it again ${those}`
      case "nothing_to_approve":
        return `Nobody has stored this decision about this evidence, or another decision followed it ${those}`
      case "same_reviewer":
        return `The reviewer made these decisions, so another person must approve them ${those}`
    }
  }
}

/**
 * The ledger has nothing about this person.
 *
 * @category errors
 * @since 0.1.0
 */
export class PersonNotFound extends Schema.TaggedError<PersonNotFound>("@effect-idv/rescreening/PersonNotFound")(
  "PersonNotFound",
  {}
) {
  override get message() {
    return "The ledger has nothing about a person with this id. Check the id, and DATABASE_URL or the file of the ledger."
  }
}

/**
 * The person is on hold, so nothing was erased.
 *
 * @category errors
 * @since 0.1.0
 */
export class PersonOnHold extends Schema.TaggedError<PersonOnHold>("@effect-idv/rescreening/PersonOnHold")(
  "PersonOnHold",
  {}
) {
  override get message() {
    return "This person is on hold, so nothing was erased. Release the hold first, if you may."
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
   * - `controls_header`: the first line of the controls is not `id,name,date_of_birth,match_found`.
   * - `too_few`: there are fewer rows than expected. The file may be cut in the middle.
   */
  reason: Schema.Literal("empty", "header", "controls_header", "too_few"),
  /** The number of rows, if there are too few. */
  found: Schema.optionalWith(Schema.Int, { exact: true })
}) {
  override get message() {
    switch (this.reason) {
      case "empty":
        return "The population is empty. Check the export that it comes from."
      case "header":
        return "The first line of the population is not id,name,date_of_birth."
      case "controls_header":
        return "The first line of the controls is not id,name,date_of_birth,match_found."
      case "too_few":
        return `The population has only ${this.found} rows, fewer than expected. Check whether the file is complete.`
    }
  }
}

/**
 * The controls cannot be used, so nothing was planned.
 *
 * @category errors
 * @since 0.1.0
 */
export class ControlsRejected extends Schema.TaggedError<ControlsRejected>("@effect-idv/rescreening/ControlsRejected")(
  "ControlsRejected",
  {
    /** The wrong controls by their lines, with codes such as `match_found.not_potential_match` and `name.empty`. */
    controls: Schema.Array(Schema.Struct({ line: Schema.Int, codes: Schema.Array(Schema.String) }))
  }
) {
  override get message() {
    const [first, ...others] = this.controls
    if (first === undefined) return "There is no control. Each one is a person whom the service must find."
    const more = others.length === 0 ? "" : ` (and ${others.length} more)`
    return `The control in line ${first.line} cannot be used: ${first.codes.join(", ")}${more}. ` +
      "Each control needs an id, a name, a date of birth, and Potential match as match_found."
  }
}

/**
 * The job engine did not perform an operation.
 *
 * @category errors
 * @since 0.1.0
 */
export class EngineUnavailable extends Schema.TaggedError<EngineUnavailable>(
  "@effect-idv/rescreening/EngineUnavailable"
)("EngineUnavailable", {
  /** The operation of the engine, such as `fetch`. */
  operation: Schema.String,
  /** The code of the database or of the socket; `unknown` if there is none. */
  code: Schema.String
}) {
  override get message() {
    return `The job engine failed (${this.operation}: ${this.code}). Check its URL and that its database is running.`
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
