import * as Schema from "effect/Schema"

/** Invalid arguments: one line that names the flag, and never repeats a value. */
export class UsageError extends Schema.TaggedError<UsageError>("@effect-idv/rescreening/internal/UsageError")(
  "UsageError",
  { text: Schema.String }
) {
  override get message() {
    return this.text
  }
}
