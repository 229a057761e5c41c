/** Parameters in the paths and queries of the control API. */
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as Schema from "effect/Schema"

/** A path parameter. The client of an `HttpApi` does not encode it, so its schema does; the router decodes it. */
export const pathParameter = <const Name extends string>(name: Name) =>
  HttpApiSchema.param(
    name,
    Schema.transform(Schema.String, Schema.String, { strict: true, decode: (id) => id, encode: encodeURIComponent })
  )

export const customerIdParameter = pathParameter("customerId")

/**
 * An optional query parameter, a single text. The handler refuses duplicates itself, because the
 * `HttpApi` would repeat their values in its error.
 */
export const queryParameter = (jsonSchema: object) =>
  Schema.optional(Schema.Union(Schema.String, Schema.Array(Schema.String)).annotations({ jsonSchema }))
