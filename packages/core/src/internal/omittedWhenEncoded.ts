import { constant } from "effect/Function"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/**
 * A field that is there in memory and never encoded, so that what is stored or sent on is without it.
 * When decoded it is passed over.
 */
export const undisclosed = <A, I>(schema: Schema.Schema<A, I>) =>
  Schema.optionalToOptional(Schema.Unknown, Schema.typeSchema(schema), {
    decode: constant(Option.none<A>()),
    encode: constant(Option.none<never>())
  })
