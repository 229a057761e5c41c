/** A text as a flag or a field of a file, in words. */
import * as Violation from "@effect-idv/core/Violation"
import * as Schema from "effect/Schema"

export const matching = (pattern: RegExp, expected: string) =>
  Schema.String.annotations({ description: expected }).pipe(Schema.pattern(pattern, Violation.expecting(expected)))

export const Path = matching(/^\P{Cc}+$/u, "the path of a file")

/** A text of the user, to be repeated on a terminal. */
export const printable = (text: string): string => text.replaceAll(/\p{Cc}/gu, "\ufffd")
