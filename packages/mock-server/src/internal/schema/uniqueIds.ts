/** Lists in which no two members have the same id, because the second would replace the first. */
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { unexpectedValue } from "./discriminatedUnion.ts"

/** Returns the indexes of the ids that an earlier member already has. */
export const repeatedIndexes = (ids: ReadonlyArray<string | undefined>): ReadonlyArray<number> => {
  const seen = new Set<string>()
  return ids.flatMap((id, index) => {
    if (id === undefined) return []
    if (seen.has(id)) return [index]
    seen.add(id)
    return []
  })
}

/** Refuses a list at each member whose `field` repeats that of an earlier member. */
export const uniqueBy = <Field extends string, A extends { readonly [id in Field]?: string | undefined }, I>(
  list: Schema.Schema<ReadonlyArray<A>, ReadonlyArray<I>>,
  field: Field
) =>
  Schema.transformOrFail(list, Schema.typeSchema(list), {
    strict: true,
    decode: (members, _, ast) => {
      const [first, ...others] = repeatedIndexes(members.map((member) => member[field])).map((index) =>
        new ParseResult.Pointer([index, field], members, unexpectedValue(expected, undefined))
      )
      return first === undefined
        ? ParseResult.succeed(members)
        : ParseResult.fail(new ParseResult.Composite(ast, members, [first, ...others]))
    },
    encode: ParseResult.succeed
  })

export const expected = "an id that no earlier entry of the list has"
