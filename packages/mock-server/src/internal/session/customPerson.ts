/** The schema of a test person that a user adds: whom it matches, and what the mock server responds. */
import * as Violation from "@effect-idv/core/Violation"
import * as Schema from "effect/Schema"
import { ResponseWhat } from "../faults/kinds.ts"
import { literalOr } from "../schema/discriminatedUnion.ts"
import { closed } from "../schema/fields.ts"
import { IsoDay } from "../schema/instantText.ts"
import * as NameText from "../schema/nameText.ts"

const matchExpected = "an object with one or more of name, nameLast, dateOfBirth"

const optional = { exact: true } as const

/**
 * `isReserved` receives the last word of a name in lower case. A test person must not match a reserved last word,
 * because its response would replace that of the reserved name.
 */
export const schema = (isReserved: (lastWord: string) => boolean) => {
  const text = (expected: string, isValid: (text: string) => boolean) =>
    Schema.optionalWith(
      Schema.Redacted(
        Schema.String.annotations({ description: expected }).pipe(
          Schema.filter(isValid, { ...Violation.expecting(expected), jsonSchema: { minLength: 1 } }),
          Schema.filter((text) => !isReserved(NameText.lastWord(text)), {
            ...Violation.expecting(
              "a last word that is not a reserved name, because reserved names keep their response"
            ),
            jsonSchema: {}
          })
        )
      ),
      optional
    )
  return Schema.Struct({
    /** The persons that this test person stands for: those that match every field. */
    match: Schema.Struct({
      /** The whole name. */
      name: text("a name", (text) => text.trim() !== ""),
      /** The last word of the name. */
      nameLast: text("one word", (text) => /^\s*\S+\s*$/.test(text)),
      /** The date of birth, as `yyyy-mm-dd`. */
      dateOfBirth: Schema.optionalWith(IsoDay, optional)
    }).annotations(closed).pipe(
      Schema.filter((match) => Object.keys(match).length > 0)
    ).annotations(Violation.expecting(matchExpected)),
    /**
     * The result, or a fault that acts on the response: other faults act before the request is decided. A fault hides
     * the result "Potential match".
     */
    response: literalOr(["No", "Potential match"], ResponseWhat)
  }).annotations({ ...closed, description: "an object with match and response" })
}

export interface CustomPerson extends Schema.Schema.Type<ReturnType<typeof schema>> {}
