/** Texts as values of flags and fields. */
import * as Violation from "@effect-idv/core/Violation"
import * as Schema from "effect/Schema"

export const matching = (pattern: RegExp, expected: string) =>
  Schema.String.annotations({ description: expected }).pipe(Schema.pattern(pattern, Violation.expecting(expected)))

export const Path = matching(/^\P{Cc}+$/u, "the path of a file")

/** Replaces control characters, so that text from the user is safe on a terminal. */
export const printable = (text: string): string => text.replaceAll(/\p{Cc}/gu, "\ufffd")

export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`
