/** Parameters of the control API that select or verify entries. */
import * as Schema from "effect/Schema"
import * as Verification from "../../Verification.ts"
import { queryParameter } from "../schema/parameters.ts"
import { Operation } from "./entry.ts"

/** The fields of a pattern as query parameters, which the handler decodes. */
export const search = Schema.Struct({
  operation: queryParameter({ type: "string", enum: Operation.literals }),
  status: queryParameter({ type: "integer", minimum: 100, maximum: 599 }),
  rule: queryParameter({ type: "string", minLength: 1 }),
  fault: queryParameter({ type: "string", minLength: 1 }),
  unexpected: queryParameter({ type: "boolean" })
})

/** An expectation as a body. A client needs it in a struct, because a payload cannot be a union. */
export const expectation = Schema.transform(
  Verification.Expectation,
  Schema.typeSchema(Schema.Struct({ expectation: Verification.Expectation })),
  {
    strict: true,
    decode: (expectation) => ({ expectation }),
    encode: ({ expectation }) => expectation
  }
)
