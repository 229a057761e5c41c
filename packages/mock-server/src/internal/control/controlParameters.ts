/** The path parameters, query parameters and payloads of the control API that are not plain structs. */
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as Schema from "effect/Schema"
import * as Journal from "../../Journal.ts"

/** Encoded here, because the client of an `HttpApi` does not encode path parameters. The server's router decodes them. */
const Segment = Schema.transform(Schema.String, Schema.String, {
  strict: true,
  decode: (id) => id,
  encode: encodeURIComponent
})
export const customerId = HttpApiSchema.param("customerId", Segment)
export const faultId = HttpApiSchema.param("faultId", Segment)

/** The handler decodes the value. The `HttpApi` accepts repeated parameters too, because its own errors repeat values. */
const parameter = (jsonSchema: object) =>
  Schema.optional(Schema.Union(Schema.String, Schema.Array(Schema.String)).annotations({ jsonSchema }))

export const search = Schema.Struct({
  operation: parameter({ type: "string", enum: Journal.Operation.literals }),
  status: parameter({ type: "integer", minimum: 100, maximum: 599 }),
  rule: parameter({ type: "string", minLength: 1 }),
  fault: parameter({ type: "string", minLength: 1 }),
  unexpected: parameter({ type: "boolean" })
})

/** The wire has the expectation itself. The client needs an object around it, because its payload types reject unions. */
export const expectation = Schema.transform(
  Journal.Expectation,
  Schema.typeSchema(Schema.Struct({ expectation: Journal.Expectation })),
  {
    strict: true,
    decode: (expectation) => ({ expectation }),
    encode: ({ expectation }) => expectation
  }
)
