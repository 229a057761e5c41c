/** What requests to the control plane have in their paths, queries and bodies beside plain structs. */
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as Schema from "effect/Schema"
import * as Journal from "../../Journal.ts"

/** Encoded here, because the client of an `HttpApi` does not; the server has it decoded by its router. */
const Segment = Schema.transform(Schema.String, Schema.String, {
  strict: true,
  decode: (id) => id,
  encode: encodeURIComponent
})
export const customerId = HttpApiSchema.param("customerId", Segment)
export const faultId = HttpApiSchema.param("faultId", Segment)

/** One text. More than one is refused by the handler, for the `HttpApi` would repeat them. */
const parameter = (jsonSchema: object) =>
  Schema.optional(Schema.Union(Schema.String, Schema.Array(Schema.String)).annotations({ jsonSchema }))

export const search = Schema.Struct({
  operation: parameter({ type: "string", enum: Journal.Operation.literals }),
  status: parameter({ type: "integer", minimum: 100, maximum: 599 }),
  rule: parameter({ type: "string", minLength: 1 }),
  fault: parameter({ type: "string", minLength: 1 }),
  unexpected: parameter({ type: "boolean" })
})

/** On the wire it is the expectation itself; the types of a client cannot have a union for a payload. */
export const expectation = Schema.transform(
  Journal.Expectation,
  Schema.typeSchema(Schema.Struct({ expectation: Journal.Expectation })),
  {
    strict: true,
    decode: (expectation) => ({ expectation }),
    encode: ({ expectation }) => expectation
  }
)
