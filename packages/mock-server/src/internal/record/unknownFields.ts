/** The fields of a body that the schema does not know. */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as WireFields from "../journal/wireFields.ts"
import { objectIn } from "./exchange.ts"

/** A name of a field that may be written. A longer one, or one with other characters, may be a value. */
const isName = (name: string): boolean => /^[A-Za-z_][A-Za-z_-]{0,39}$/.test(name)

const pathsIn = (
  fields: Readonly<Record<string, unknown>>,
  parent: string,
  isSecret: (text: string) => boolean
): ReadonlyArray<string> =>
  Object.entries(fields).flatMap(([name, inner]) => {
    const pathOf = (shown: string) => parent === "" ? shown : `${parent}.${shown}`
    return WireFields.isKnown(parent, name)
      ? Predicate.isRecord(inner) ? pathsIn(inner, pathOf(name), isSecret) : []
      : [pathOf(isName(name) && !isSecret(name) ? name : "***")]
  })

/** Their paths. `isSecret`: whether a text is part of the person, the key or a token of the exchange. */
export const of = (body: Uint8Array, isSecret: (text: string) => boolean): ReadonlyArray<string> =>
  Option.match(objectIn(body), { onNone: () => [], onSome: (fields) => pathsIn(fields, "", isSecret) })
