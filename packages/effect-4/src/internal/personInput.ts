/** The findings about the input for a person, with the codes of the engine. They contain no part of the input. */
import * as Person3 from "@effect-idv/core/Person"
import * as Schema from "effect/Schema"

const Field = Schema.Literals(["name", "dateOfBirth"])

const Index = Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)))

const keys = <K extends string>(record: Readonly<Record<K, string>>): ReadonlyArray<K> =>
  Object.keys(record) as Array<K>

/**
 * Why one field of a person cannot be sent.
 *
 * @category models
 * @since 0.1.0
 */
export class Issue extends Schema.Class<Issue>("@effect-idv/effect-4/Person/Issue")({
  field: Field,
  /** A code, described in {@link issues}. */
  code: Schema.Literals(keys(Person3.issues)),
  /** The first position in the input, in UTF-16 units. */
  index: Index
}) {
  /** For example `name at 3: an invisible character (invisible_character)`. */
  override toString(): string {
    return String(new Person3.Issue({ ...this }))
  }
}

/**
 * A sign of damage in one field.
 *
 * @category models
 * @since 0.1.0
 */
export class Warning extends Schema.Class<Warning>("@effect-idv/effect-4/Person/Warning")({
  field: Field,
  /** A code, described in {@link warnings}. */
  code: Schema.Literals(keys(Person3.warnings)),
  /** The first position in the input, in UTF-16 units. */
  index: Index
}) {
  /** For example `name at 0: it starts with a title (title)`. */
  override toString(): string {
    return String(new Person3.Warning({ ...this }))
  }
}

/**
 * A change to one field.
 *
 * @category models
 * @since 0.1.0
 */
export class Change extends Schema.Class<Change>("@effect-idv/effect-4/Person/Change")({
  field: Field,
  /** A code, described in {@link changes}. */
  code: Schema.Literals(keys(Person3.changes))
}) {
  /** For example `name: letters and their marks were composed (NFC) (composed)`. */
  override toString(): string {
    return String(new Person3.Change({ ...this }))
  }
}
