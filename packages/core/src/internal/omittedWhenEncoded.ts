import { constant } from "effect/Function"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/** A field that exists in memory only: it is omitted when encoded, and ignored when decoded. */
export const omittedWhenEncoded = <A, I>(schema: Schema.Schema<A, I>) =>
  Schema.optionalToOptional(Schema.Unknown, Schema.typeSchema(schema), {
    decode: constant(Option.none<A>()),
    encode: constant(Option.none<never>())
  })
